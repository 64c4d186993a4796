package shell

import "testing"

// TestReach has commands in /w, and whether they may change something in a room in /w/sub of the same repository and in
// another working tree in /w/wt.
func TestReach(t *testing.T) {
	for _, tt := range []struct {
		command string
		sub, wt bool
	}{
		{"rm -rf *", true, true},
		{"rm -rf s*", true, false},
		{"rm -rf ?t", false, true},
		{"rm -rf .*", false, false},
		{"rm -rf src/*", false, false},
		{"rm -f *.o", false, false},
		{"rm *", false, false}, // directories stay
		{"mv * /tmp", true, true},
		{"mv f1 .", false, false},
		{"rm -rf .", true, true},
		{"rm -rf /", true, true},
		{"rm -rf src", false, false},
		{"find . -delete", true, true},
		{"find . -name '*.o' -delete", true, true},
		{"find . -maxdepth 1 -name '*.o' -delete", false, false},
		{"find src -name '*.o' -delete", false, false},
		{"find . -type f | xargs sed -i s/a/b/", true, true},
		{"grep -rl a . | xargs sed -i s/a/b/", true, true},
		{"sed -i s/a/b/ $(git ls-files)", true, true},
		{"sed -i s/a/b/ *.go", false, false},
		{"sed -i s/a/b/ */*.go", true, true},
		{"sed -i s/a/b/ f1 f2", false, false},
		{"for f in *.go; do sed -i s/a/b/ $f; done", false, false},
		{"gofmt -w .", true, true},
		{"gofmt -w main.go", false, false},
		{"go fmt ./...", true, false},
		{"cargo fmt", true, false},
		{"sed -i s/a/b/ **/*.go", true, true},
		{"shopt -s globstar; rm **", true, true},
		{"gofmt -l .", false, false},
		{"prettier --write .", true, true},
		{"cp a .", false, false},
		{"echo x > f1", false, false},
		{"chmod -R 755 .", true, true},
		{"go mod tidy", false, false},
		{"git checkout .", true, false},
		{"git checkout -- sub", true, false},
		{"git checkout -- f1", false, false},
		{"git checkout HEAD f1 f2", false, false},
		{"git checkout HEAD sub/x", true, false},
		{"git checkout main", true, false},
		{"git reset --hard", true, false},
		{"git reset HEAD f1", false, false},
		{"git reset", true, false},
		{"git restore .", true, false},
		{"git restore f1", false, false},
		{"git clean -fd", true, false},
		{"git clean -fdx", true, false},
		{"git clean -ffdx", true, true},
		{"git clean -fd -f", true, true},
		{"git clean -fd src", false, false},
		{"cd src && git clean -fd", false, false},
		{"cd src && git reset --hard", true, false},
		{"cd src && git add -A", true, false},
		{"cd src && git add .", false, false},
		{"git stash -u", true, false},
		{"git stash push -- f1", false, false},
		{"git add -A", true, false},
		{"git add f1", false, false},
		{"git add ':/'", true, false},
		{"git commit -m x", false, false},
		{"git commit -am x", true, false},
		{"git commit -m x sub", true, false},
		{"git pull", true, false},
		{"git submodule update", true, true},
		{"git submodule foreach git reset --hard", true, true},
		{"git reset --hard --recurse-submodules", true, true},
		{"mv -t /tmp *", true, true},
		{"mv -t . f1", false, false},
		{"rm -rf ../w", true, true},
		{"rm -rf ../w*", true, true},
		{"rsync -a --delete /tmp/q/ .", true, true},
		{"git tag -d v1", false, false},
		{"git status", false, false},
	} {
		reaches := func(dir string, nested bool) bool {
			for _, e := range Classify(tt.command, testEnv()).Effects {
				for _, pattern := range e.Reach() {
					if _, ok := e.Reaches(pattern, dir); ok && (!nested || !e.Own) {
						return true
					}
				}
			}
			return false
		}
		if sub, wt := reaches("/w/sub", false), reaches("/w/wt", true); sub != tt.sub || wt != tt.wt {
			t.Errorf("%s: %v and %v, want %v and %v: %+v", tt.command, sub, wt, tt.sub, tt.wt, Classify(tt.command, testEnv()).Effects)
		}
	}
}

// TestReachHidden has commands in /w, and whether they may change something in /w/.hidden/wt.
func TestReachHidden(t *testing.T) {
	for command, want := range map[string]bool{
		"sed -i s/a/b/ **/*.go":                      false,
		"sed -i s/a/b/ ./**/*.go":                    false,
		"sed -i s/a/b/ .hidden/**/*.go":              true,
		"rm **":                                      false,
		"rm -rf **":                                  false,
		"find . -name '*.o' -delete":                 true,
		"gofmt -w .":                                 true,
		"prettier --write .":                         true,
		"find . -type f | xargs sed -i s/a/b/":       true,
		"for f in **/*.go; do sed -i s/a/b/ $f;done": false,
	} {
		got := false
		for _, e := range Classify(command, testEnv()).Effects {
			for _, pattern := range e.Reach() {
				_, ok := e.Reaches(pattern, "/w/.hidden/wt")
				got = got || ok
			}
		}
		if got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}
