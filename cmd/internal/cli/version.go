package cli

import (
	"cmp"
	"context"
	"runtime/debug"
	"strings"
)

func (p *Program) versionCommand() *Command {
	return &Command{
		Name:  "version",
		Reads: true,
		Run:   func(_ context.Context, c *Invocation) error { return p.printVersion(c.Out) },

		Traits: Traits{NoSync: true, NoSubject: true},
	}
}

type version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
}

func (p *Program) printVersion(out *Output) error {
	v := p.build()
	return out.Result(v, func(t *Text) {
		switch {
		case v.Commit == "":
			t.Line("%s %s", v.Name, v.Version)
			return
		case strings.HasPrefix(v.Commit, v.Version): // built between releases
			t.Line("%s %s", v.Name, v.Commit)
			return
		}
		t.Line("%s %s (%s)", v.Name, v.Version, v.Commit)
	})
}

// BuildVersion returns the version of the program, or the one that the build recorded.
func (p *Program) BuildVersion() string { return p.build().Version }

func (p *Program) build() version {
	v := version{p.Name, p.Version, p.Commit}
	if v.Version != "" && v.Commit != "" {
		return v
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(v.Version, info.Main.Version, "(devel)")
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && v.Commit == "" {
			v.Commit = setting.Value[:min(len(setting.Value), shortCommit)]
		}
	}
	return v
}

// shortCommit is the number of digits of a commit that the version shows.
const shortCommit = 12
