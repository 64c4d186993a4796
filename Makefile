# Everything a newcomer needs: make demo, make test. What CI runs: make ci.

GO      ?= go
BIN     := bin
PREFIX  ?= $(HOME)/.local
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)

LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
BUILD   := CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)'

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build demo test race lint fmt vet bench cross ci install clean torture

build: ## both binaries, into bin/
	@mkdir -p $(BIN)
	$(BUILD) -o $(BIN)/ ./cmd/tt

demo: build ## three agents take turns in a scratch room, with real processes
	@testdata/demo.sh $(BIN)/tt

test: ## everything that needs no root, no network and no minutes
	$(GO) test ./...

race: ## the same under the race detector
	CGO_ENABLED=1 $(GO) test -race ./...

fmt: ## fail if anything is not formatted
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }

vet:
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

lint: fmt vet ## formatting, vet on three systems, staticcheck
	$(GO) run $(STATICCHECK) ./...

cross: ## it compiles where it is to run
	GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./...
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./...
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./...

bench: ## Go benchmarks, for benchstat
	$(GO) test -run '^$$' -bench . -benchmem ./journal ./fsroom/... ./lockfile

ci: lint build cross demo test race torture ## what .ci/run calls

install: build ## into $(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 0755 $(BIN)/tt $(DESTDIR)$(PREFIX)/bin/tt

clean:
	rm -rf $(BIN)
