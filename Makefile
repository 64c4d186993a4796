# Everything a newcomer needs: make demo, make test. What CI runs: make ci.

GO      ?= go
# What vet finds is the subject of lint. The scripts of tt take minutes, under the race detector on a busy
# machine many.
FLAGS   := -vet=off -timeout 30m
TEST    := $(GO) test $(FLAGS)
BIN     := bin
PREFIX  ?= $(HOME)/.local
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)

PROGRAMS := ./cmd/tt ./cmd/tt-console ./cmd/tt-nats ./cmd/agent-bus
# The server for several hosts is a module of its own, which nothing else depends on.
NATSD    := cmd/tt-natsd
STAMP    := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
INSTALLED := $(notdir $(PROGRAMS))
BUILD    := CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(STAMP) -X main.installer=make'

# rewrite,NAMES: the kernel maps a file that was written from its beginning to its end in larger pieces
# than one that the linker has put together, and the program starts in a sixth less time.
rewrite = cd $(BIN) && for p in $(1); do cp $$p .$$p && mv -f .$$p $$p || exit; done

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GORELEASER  := github.com/goreleaser/goreleaser/v2@v2.15.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
GOTESTSUM   := gotest.tools/gotestsum@v1.13.0

# test,PACKAGES,FLAGS: run tests. In CI, whose machines are shared, up to three that fail are run once more, alone;
# they are named at the end all the same, and a data race is never let pass.
test = $(if $(filter true,$(CI)),$(GO) run $(GOTESTSUM) --format standard-quiet --no-color --hide-summary=skipped --rerun-fails=1 \
	--rerun-fails-max-failures=3 --rerun-fails-abort-on-data-race --packages="$(1)" -- $(FLAGS),$(TEST)) $(2) $(if $(filter true,$(CI)),,$(1))

.PHONY: build natsd demo test test-mcp lint fmt vet bench cross ci install install-natsd uninstall share dist release clean fuzz model torture torture-long torture-hosts torture-hosts-short test-hosts test-engines test-ci test-plain test-race vuln guards test-ui reach sim sim-hosts sim-new mutants net

build: ## the programs, into bin/; the server for several hosts is apart: make natsd
	@mkdir -p $(BIN)
	$(BUILD) -o $(BIN)/ $(PROGRAMS)
	@$(call rewrite,$(INSTALLED))

natsd: ## the server for several hosts; the first time it takes a minute
	@mkdir -p $(BIN)
	cd $(NATSD) && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(CURDIR)/$(BIN)/ .

demo: build ## three agents, real processes, in a scratch tree: one refused, one killed, lost work brought back
	@testdata/demo.sh $(BIN)/tt

# Much of it waits for processes, so more packages run at once than there are processors. What
# tries every step, or many seeds, kills and pairs, tries a part of them: "make ci" does all, as "go test ./..." does.
test: ## what needs no root, no network and no server, in a minute: a part of many seeds, kills and pairs; ci has all
	CGO_ENABLED=0 testdata/memory.sh $(TEST) -short -p 4 -parallel 8 ./...

# SERVER names the server for the tests that need one.
SERVER := TT_TEST_NATSD=$(CURDIR)/$(BIN)/tt-natsd

# The tests of tt start thousands of processes, which takes several times as long
# with the race detector in each: here those that wait and stream have it. What tt-nats has of its
# own are scripts with programs that are built without it.
RACING := ^(TestScripts|TestFollowersLoseNothing)$$/^(wait_|race_|turn_race|turn_waiters|events_follow|events_wait|guardian_repair|guardian_stops|stream|lock_[isw])
# ALONE are tests that do much and nothing at the same time: a race detector finds nothing in
# them, and takes minutes.
ALONE := ^(TestScanCommitted|TestAcknowledgedPages|TestRepairAnyDamage|TestScanLostPages|TestScanLongLines|TestScanTornAtEveryByte|TestFindAgainstLinearSearch|TestLostPages|TestDestructiveCommands|TestTreesAreThoseOfGit|TestRepairModel|TestRecordFailsAtEachStep)$$
# PLAIN prints the packages that are tested without the race detector: those two, the simulation, which lets one
# goroutine run at a time in a way that the detector cannot see, and all that start no
# goroutine and have no tests side by side.
PLAIN := $(GO) list -f '{{.Dir}} {{.ImportPath}}' ./... | while read -r dir path; do case $$path in */cmd/internal/ttcmd | */cmd/tt-nats | */cmd/internal/simulation | */simulation/hosts) ;; */questions) continue ;; \
	*) ! grep -qsE '(^|[^[:alnum:]])go func|^[[:blank:]]+go [a-zA-Z]|\.(Go|Parallel)\(' "$$dir"/*.go || continue ;; esac; echo "$$path"; done
test-ci: test-plain test-race ## the tests in random order, with a server, what has goroutines under the race detector
test-plain: natsd
	$(SERVER) $(call test,$$($(PLAIN)),-p 4 -parallel 8 -shuffle=on -skip '$(RACING)')
	$(call test,./journal ./fsroom ./fsroom/ledger ./cmd/internal/changes ./cmd/internal/hosts/shared,-shuffle=on -run '$(ALONE)')
test-race: natsd
	$(SERVER) CGO_ENABLED=1 $(call test,$$($(GO) list ./... | grep -vxF "$$($(PLAIN))"),-race -p 4 -parallel 8 -shuffle=on -skip '$(ALONE)')
	CGO_ENABLED=1 $(call test,./cmd/internal/ttcmd,-race -shuffle=on -run '$(RACING)')
	cd $(NATSD) && CGO_ENABLED=1 $(call test,./...,-race -shuffle=on)

# UI_TESTS are the packages with tests that show something to a browser or a terminal.
UI_TESTS := ./cmd/internal/report/... ./cmd/internal/console
test-ui: build ## what people look at, in a browser and in a terminal; installs both where it can
	.ci/tools chromium,chromium-browser,google-chrome:chromium tmux:tmux
	TT_TEST_UI=1 TT_UI_DIR=$(CURDIR)/$(BIN) $(call test,$(UI_TESTS),-count 1)

test-mcp: build ## the agent bus with the TypeScript SDK and the Inspector, from npm
	testdata/mcp/run.sh $(BIN)/agent-bus

# What the scripts of tt do is the same where an engine has the rooms, and the agents are on several hosts.
SCRIPTS = $(call test,./cmd/internal/ttcmd,-count 1 -run '^TestScripts$$')
# SERVER_TESTS are the packages with tests that need a server.
SERVER_TESTS := ./cmd/tt-nats/... ./cmd/agent-bus ./cmd/internal/console
test-hosts: natsd test-engines ## what needs a server, and all scripts of tt over one, on one host and on several
	TT_TEST_ENGINE=nats $(SERVER) $(SCRIPTS)
	$(SERVER) $(call test,$(SERVER_TESTS),)
	cd $(NATSD) && $(call test,./...,)

# ONE_HOST are the scripts that say something else there than where each agent has a host of its own, and room_copy,
# where a host that was given no name is another case. The others go the same way over an engine, and a longer one.
ONE_HOST = room_copy|$(shell grep -lE '\[!?hosts\]' testdata/script/*.txtar | sed 's,.*/,,; s,\.txtar$$,,' | tr '\n' '|' | sed 's/|$$//')
test-engines: natsd ## the scripts of tt over a server, on several hosts, and what is different there also on one
	TT_TEST_ENGINE=nats TT_TEST_HOSTS=1 $(SERVER) $(SCRIPTS)
	TT_TEST_ENGINE=nats $(SERVER) $(call test,./cmd/internal/ttcmd,-count 1 -run '^TestScripts$$/^($(ONE_HOST))$$')

fmt: ## fail if anything is not formatted
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }

# What "./..." leaves out: tools, and the programs of tests.
TOOLS := ./testdata/baseline ./testdata/empty ./testdata/typecheck ./cmd/internal/ttcmd/testdata/tt ./cmd/internal/ttcmd/testdata/tt-console
vet:
	$(GO) vet ./... && $(GO) vet $(TOOLS) && $(GO) vet -tags engines ./cmd/internal/ttcmd/testdata/tt
	$(GO) vet cmd/internal/torture/run.go && $(GO) vet cmd/internal/simulation/mutants/run.go && $(GO) run cmd/internal/simulation/mutants/run.go -check
	cd $(NATSD) && $(GO) vet ./...

lint: fmt vet vuln ## formatting, vet, go.mod, staticcheck, known vulnerabilities
	$(GO) mod tidy -diff
	$(GO) mod verify
	$(GO) run $(STATICCHECK) ./...
	cd $(NATSD) && $(GO) mod tidy -diff && $(GO) mod verify && $(GO) run $(STATICCHECK) ./...

# Without a network there is no list of vulnerabilities, and that is all that is
# let pass here.
vuln: ## calls of code that is known to be vulnerable
	@echo '$(GO) run $(GOVULNCHECK) ./...'
	@for module in . $(NATSD); do out=$$($(GO) run $(GOVULNCHECK) -C $$module ./... 2>&1) && echo "$$out" || case $$out in \
	*'fetching vulnerabilities:'*) echo "SKIPPED: GOVULNCHECK CHECKED NOTHING, vuln.go.dev cannot be reached from here" ;; \
	*) echo "$$out" >&2; exit 1 ;; esac; done

SYSTEMS := linux/arm64 darwin/arm64
cross: ## tt links where it is to run, and all types are right there, in the tests too
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/tt
	$(GO) build -o $(BIN)/typecheck ./testdata/typecheck
	$(BIN)/typecheck $(SYSTEMS)
	cd $(NATSD) && $(CURDIR)/$(BIN)/typecheck $(SYSTEMS)

guards: build ## the size of tt, its start beside that of an empty program, a free lock beside flock(1)
	$(BUILD) -o $(BIN)/ ./testdata/empty
	@$(call rewrite,empty)
	TT_BENCH_DIR=$(CURDIR)/$(BIN) $(TEST) -count 1 -run '^(TestSizeAndStart|TestFreeLockBesideFlock)$$' -v ./cmd/internal/ttcmd

FUZZTIME ?= 60s
FUZZ     ?= .
fuzz: ## every decoder against random input, side by side, for FUZZTIME: make fuzz FUZZTIME=10m FUZZ='fsroom/turn Handoff'
	GO='$(GO)' testdata/fuzz.sh $(FUZZTIME) '$(FUZZ)'

MODELS ?= 100000
model: ## MODELS random histories of a room, of the rules of the turn and of topics, each against a model of it; some 7 minutes
	$(TEST) ./fsroom ./fsroom/turn ./fsroom/topic -count 1 -run '^(TestAnyStory|TestRandomSchedules)$$' -rapid.checks=$(MODELS) -timeout 0

net: ## what comes back of work that 40 commands took away: the table of docs/ledger.md; some 20 seconds
	$(TEST) ./cmd/internal/ttcmd -count 1 -run '^TestNet$$' -net.whole

REACH ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/talking-stick-reach
reach: ## real harnesses, from npm into REACH, beside a stand-in for their models: the table of docs/harness-authors.md; some 30 minutes
	TT_REACH=$(REACH) $(TEST) ./cmd/internal/reach -count 1 -v -timeout 90m

SEEDS ?= 300
FROM  ?= 1
# SIM is a simulation of seeds; TRACE=1 prints each trace.
SIM = $(TEST) ./cmd/internal/simulation -count 1 -v -timeout 0 -run '^TestSeeds$$' -sim.from=$(FROM) $(if $(TRACE),-sim.trace)
sim: ## SEEDS seeds of a simulated machine, the first of them FROM: make sim SEEDS=3000 FROM=1 TRACE=1
	$(SIM) -sim.seeds=$(SEEDS)

sim-hosts: ## the same of three machines that share a room by an engine in memory, each with a clock of its own
	$(TEST) ./cmd/internal/simulation/hosts -count 1 -v -timeout 0 -sim.seeds=$(SEEDS) -sim.from=$(FROM) $(if $(TRACE),-sim.trace)

sim-new: FROM := $(shell date +%s)000
sim-new: ## a minute of seeds that were never tried
	$(SIM) -sim.for=1m

mutants: ## the program with one fault at a time, each of which the simulation or a test has to notice; some 40 minutes
	$(GO) run cmd/internal/simulation/mutants/run.go $(MUTANTS)

torture: ## kills, failing calls, power cuts: half a minute, as root
	$(GO) run cmd/internal/torture/run.go $(TORTURE)

torture-long: ## every attack with the numbers of a release, fuzzing, the models, leaks: some 40 minutes
	$(MAKE) --no-print-directory fuzz FUZZTIME=10m
	$(MAKE) --no-print-directory model
	$(TEST) ./fsroom -count 1 -run NothingLeaks -leak.changes=10000
	$(TEST) ./cmd/internal/ttcmd -count 1 -run 'JobsUnderKills|Storm|BetweenTreesUnderKills|InterruptedNames' -jobs.killed=500 \
		-trees.locks=40 -trees.messages=100 -trees.interruptions=20 -trees.turns=500 -timeout 0
	$(GO) run cmd/internal/torture/run.go -size long $(TORTURE)

# HOSTS is how much is tried: short (what CI runs), normal or long (half an hour, for a release).
HOSTS ?= normal
torture-hosts: ## servers killed, stopped and cut off while hosts share a room: some minutes, as root
	$(GO) run cmd/internal/torture/run.go -hosts -size $(HOSTS) $(TORTURE)

torture-hosts-short: HOSTS = short
torture-hosts-short: torture-hosts ## the same in some 80 seconds

bench: build natsd ## whole commands beside a baseline of bare system calls, then the parts; for benchstat
	$(BUILD) -o $(BIN)/ ./testdata/baseline
	@$(call rewrite,baseline)
	TT_BENCH_DIR=$(CURDIR)/$(BIN) $(TEST) -run '^$$' -bench Command -benchtime 200x ./cmd/internal/ttcmd
	TT_BENCH_DIR=$(CURDIR)/$(BIN) $(TEST) -run '^$$' -bench 'Handoff|Eight' -benchtime 40x ./cmd/internal/ttcmd
	TT_BENCH_DIR=$(CURDIR)/$(BIN) $(TEST) -run '^$$' -bench Ledger -benchtime 100x ./cmd/internal/ttcmd
	TT_BENCH_DIR=$(CURDIR)/$(BIN) $(SERVER) $(TEST) -run '^$$' -bench Hosts -benchtime 60x ./cmd/internal/ttcmd
	$(TEST) -run '^$$' -bench . -benchmem ./journal ./fsroom/... ./lockfile

# Two steps run at once, for much of each waits; what measures has the machine to itself. Of
# test-hosts, test-ci has what needs a server, under the race detector.
ci: guards natsd ## what .ci/run calls
	$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) \
		test-race torture-hosts-short torture sim-new test-plain test-engines lint cross test-ui test-mcp net demo

# share,DIR: completions and manual pages, into DIR/share
define share
	install -d $(1)/share/bash-completion/completions $(1)/share/zsh/site-functions $(1)/share/fish/vendor_completions.d
	$(BIN)/tt completion bash > $(1)/share/bash-completion/completions/tt
	$(BIN)/tt completion zsh > $(1)/share/zsh/site-functions/_tt
	$(BIN)/tt completion fish > $(1)/share/fish/vendor_completions.d/tt.fish
	$(BIN)/tt man --text $(1)/share/man/man1 >/dev/null
endef

install: build ## programs, completions and manual pages, into $(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 0755 $(addprefix $(BIN)/,$(INSTALLED)) $(DESTDIR)$(PREFIX)/bin/
	$(call share,$(DESTDIR)$(PREFIX))
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo 'Add $(PREFIX)/bin to your PATH.' ;; esac
	@echo 'Installed into $(PREFIX)/bin. Next, for your agents: tt install --all'

install-natsd: natsd ## the server for several hosts too
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 0755 $(BIN)/$(notdir $(NATSD)) $(DESTDIR)$(PREFIX)/bin/

# The list of files is what an installation of this version makes.
uninstall: build ## remove what "make install" has put into $(PREFIX); run "tt uninstall --all" first
	rm -rf $(BIN)/installed
	$(call share,$(BIN)/installed)
	cd $(BIN)/installed && find share -type f -exec rm -f '$(DESTDIR)$(PREFIX)/{}' ';'
	rm -rf $(BIN)/installed
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(INSTALLED) $(notdir $(NATSD)))
	@echo 'Rooms and settings stay in the data directory (default: ~/.local/share/talking-stick).'

share: build ## completions and manual pages, into bin/share
	rm -rf $(BIN)/share
	$(call share,$(BIN))

dist: ## archives, packages, checksums and a Homebrew formula, into dist/; see .goreleaser.yaml
	$(GO) run $(GORELEASER) release --clean --snapshot

release: ## the same for the tag that is checked out, put on GitHub as a draft
	$(GO) run $(GORELEASER) release --clean

clean:
	rm -rf $(BIN) dist
