package hosts_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const config = `{"acme": {"url": "nats://10.0.0.7:4222/acme", "nkey": "acme.nk", "ca": "/etc/ca.pem"},
	"empty": {}, "null": null, "nowhere": {"url": "10.0.0.7:4222"}, "secret": {"url": "nats://me:hunter2@10.0.0.7/acme"}, "odd": {"url": "../../bin/x://h"}}`

func TestWhichEngine(t *testing.T) {
	const acme = "nats://10.0.0.7:4222/acme"
	for name, test := range map[string]struct {
		env, file, config string // "-": no such file
		url               string
		code              code.Code
	}{
		"nothing":                             {"", "-", "-", "", ""},
		"an address":                          {acme, "-", "-", acme, ""},
		"an alias":                            {"acme", "-", config, acme, ""},
		"the repository's alias":              {"", "engine: acme\n", config, acme, ""},
		"the environment wins":                {"nats://other/ns", "engine: acme\n", config, "nats://other/ns", ""},
		"a repository that names none":        {"", "room: acme/api\n", config, "", ""},
		"a repository names an address":       {"", "engine: nats://evil.example/ns\n", config, "", code.EngineMissing},
		"one that is an alias, too":           {"", "engine: nats://evil.example/ns\n", `{"nats://evil.example/ns": {"url": "nats://evil.example/ns"}}`, "", code.EngineMissing},
		"a repository with a path":            {"", "engine: ../acme\n", config, "", code.EngineMissing},
		"a repository with an unknown alias":  {"", "engine: other\n", config, "", code.EngineMissing},
		"no file of engines":                  {"acme", "-", "-", "", code.EngineMissing},
		"an engine without an address":        {"empty", "-", config, "", code.EngineMissing},
		"one that is null":                    {"null", "-", config, "", code.EngineMissing},
		"no scheme":                           {"nowhere", "-", config, "", code.Usage},
		"a scheme that is a path":             {"odd", "-", config, "", code.Usage},
		"a password":                          {"secret", "-", config, "", code.Usage},
		"a password in the environment":       {"nats://me:hunter2@h/ns", "-", "-", "", code.Usage},
		"a password and no scheme":            {"me:hunter2@h", "-", config, "", code.Usage},
		"a password with a slash":             {"nats://me:hun/ter2@h/ns", "-", "-", "", code.Usage},
		"broken engines":                      {"acme", "-", "{", "", code.DataDirUnusable},
		"an array of engines":                 {"acme", "-", "[]", "", code.DataDirUnusable},
		"a room file that is not understood":  {"", "enigne: acme\n", config, "", code.NoSharedIdentity},
		"the environment needs no room file":  {"acme", "enigne: acme\n", config, acme, ""},
		"control characters in the room file": {"", "engine: a\x1b[2J\n", config, "", code.EngineMissing},
	} {
		dir := t.TempDir()
		root := filepath.Join(dir, "ws")
		if test.file != "-" {
			write(t, workspace.RoomFilePath(root), test.file)
		}
		if test.config != "-" {
			write(t, filepath.Join(dir, "engines.json"), test.config)
		}
		lookup := func(name string) string {
			if name == hosts.EngineVariable {
				return test.env
			}
			return ""
		}
		s, err := hosts.Find(lookup, "", dir, &workspace.Workspace{Root: root})
		if got := code.Of(err); got != test.code {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil {
			if text := err.Error(); strings.Contains(text, "ter2") || strings.ContainsAny(text, "\x1b\n") {
				t.Errorf("%s: %q", name, text)
			}
			continue
		}
		if s == nil && test.url != "" || s != nil && s.URL != test.url {
			t.Errorf("%s: %+v", name, s)
		}
		if s != nil && s.NKey != "" && (s.NKey != filepath.Join(dir, "acme.nk") || s.CA != "/etc/ca.pem") {
			t.Errorf("%s: the files are %q and %q", name, s.NKey, s.CA)
		}
	}
}

// Who has no program with engines is told how to get it.
func TestMissingProgram(t *testing.T) {
	for _, url := range []string{"nats://h/ns", "tls://h/ns", ""} {
		var e *code.Error
		if err := hosts.Missing(&hosts.Service{Name: url, URL: url}); !errors.As(err, &e) || e.Code != code.EngineMissing || !strings.Contains(e.Hint, "go install") {
			t.Errorf("%s: %+v", url, e)
		}
	}
}
