package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/hosts/engines"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// A bus is the topics of one data directory and the limits that hold on them.
type bus struct {
	*questions.Dir
	limits topic.Limits
	home   string // the data directory; Path is that of the mirrors if an engine has the topics
	engine string // the URL of that engine, "" for none
}

// openBus returns the bus that the environment names; its topics are those of an engine, if the
// environment or the workspace of the current directory names one. It touches no file, and
// connects to nothing.
func openBus(env *cli.Env) (*bus, error) {
	settings, err := tools.SettingsFrom(env.Lookup)
	if err != nil {
		return nil, err
	}
	dir, err := dataDir(env)
	if err != nil {
		return nil, err
	}
	b := newBus(dir, settings)
	s := session.Find(env, "", "")
	b.Broken = s.NoEngine // each call says why: a server that does not start tells the agent nothing
	if s.Engine != nil {
		b.engine = s.Engine.URL
		b.Path, b.Options, b.Broken = engines.Options(s.Engine, b.home, b.Options)
	}
	return b, nil
}

// ownTopics returns an error if an engine has the topics.
func (b *bus) ownTopics() error {
	if b.engine == "" {
		return nil
	}
	return code.New(topic.InvalidArgument, "the topics are those of the engine at %s, which keeps what it was given", b.engine).
		WithHint("topic_close ends a topic for all hosts; without %s this command is about the topics of this host alone", hosts.EngineVariable)
}

func newBus(dir string, s tools.Settings) *bus {
	return &bus{Dir: &questions.Dir{Path: dir, Options: fsroom.Options{BlindPoll: s.PollInitial, BlindPollMax: s.PollMax}},
		limits: s.Limits, home: dir}
}

// envDataDir names the data directory if it is not to be that of tt.
const envDataDir = "AGENT_BUS_DATA_DIR"

// dataDir returns the data directory that envDataDir names, else that of tt.
func dataDir(env *cli.Env) (string, error) {
	if own := env.Lookup(envDataDir); own != "" {
		dir, err := workspace.GivenDataDir(envDataDir, own)
		if err != nil {
			return "", tools.Translate(err)
		}
		return dir, nil
	}
	dir, err := workspace.DataDir(env.Lookup, env.Home)
	if err != nil {
		e := tools.Translate(err)
		e.Message = strings.Replace(e.Message, "keep rooms", "keep topics", 1)
		return "", e.WithHint("%s, or set %s", e.Hint, envDataDir)
	}
	return dir, nil
}

// resolve finds a topic by name. Same is how many topics have it. The warnings are about unreadable
// topics that have the name or may have it. If only an unreadable topic has the name, its error is
// returned, and missing, if it is not nil, if none has it.
func (b *bus) resolve(name string, allowClosed bool, missing error) (s *topic.State, same int, warnings []tools.Warning, err error) {
	all, err := b.Index()
	if err != nil {
		return nil, 0, nil, err
	}
	doubtful := all.Doubtful(name)
	if s, err = topic.Find(all.States, name, allowClosed); err != nil {
		return nil, 0, nil, withUnreadable(cmp.Or(missing, err), doubtful, name)
	}
	for _, other := range all.States {
		if strings.TrimSpace(other.Name) == name {
			same++
		}
	}
	return s, same, warningsOf(doubtful), nil
}

// busError is [tools.Translate], with hints about the bus in place of the hints of
// storage, which are about tt. Nil stays nil.
func (b *bus) busError(err error) error {
	if err == nil {
		return nil
	}
	e := tools.Translate(err)
	switch code.Of(err) {
	case code.UnsupportedFS:
		e.Hint = "set " + envDataDir + " to a directory on a local disk"
	case code.DataDirUnusable:
		e.Hint = "make the directory writable, or set " + envDataDir + " to another one"
	case code.CorruptRoom:
		e.Hint = "the other topics can be used; look at this one with: TALKING_STICK_DATA_DIR=" + code.ShellWord(b.Path) + " tt doctor"
	case code.UnsupportedFormat:
		e.Hint = b.formatHint(e)
	case code.InDoubt:
		e.Hint = "find out with ask_poll or pending_list whether it happened before doing it again"
	case code.EngineUnreachable:
		e.Hint = "nothing was changed; the other tools do not work either until it is back: call again later, or tell your user"
	case code.DiskFull:
		e.Hint = "free some space and call again"
	}
	return e
}

// formatHint returns the hint for a directory that a newer version has written.
func (b *bus) formatHint(e *code.Error) string {
	switch {
	case e.Details["path"] != b.Path:
		return "update agent-bus; the other topics can be used, and this one was left untouched"
	case sharedWithRooms(b.Path):
		return "update agent-bus, or set " + envDataDir + " to another directory; to wipe the topics would not help, because this " +
			"directory is also that of the rooms of tt"
	}
	return `update agent-bus, or wipe the topics with "agent-bus cli db wipe", or set ` + envDataDir + " to another directory"
}

// The codes of the warnings about a topic that cannot be read.
const (
	warnDamaged = "TOPIC_DAMAGED"
	warnNewer   = "TOPIC_SCHEMA_MISMATCH" // written by a newer version
)

// warningsOf returns a warning about each of the topics.
func warningsOf(list []questions.Unreadable) []tools.Warning {
	var warnings []tools.Warning
	for _, u := range list {
		w := tools.Warning{
			Code:    warnDamaged,
			Message: "a topic was left out: " + tools.Translate(u.Err).Message,
			Context: map[string]any{"topic_id": u.ID},
		}
		if code.Of(u.Err) == code.UnsupportedFormat {
			w.Code = warnNewer
		}
		if u.Name != "" {
			w.Context["name"] = u.Name
		}
		warnings = append(warnings, w)
	}
	return warnings
}

// withUnreadable returns the error of a search by name that failed: the error of the
// unreadable topic that has the name, else err with warnings about the doubtful ones.
func withUnreadable(err error, doubtful []questions.Unreadable, name string) error {
	var e *code.Error
	if u := questions.Named(doubtful, name); u != nil && errors.As(u.Err, &e) {
		named := *e
		named.Message += " (the topic named " + name + `; topic_create with mode "new" makes another one)`
		return named.With("topic_id", u.ID)
	}
	if len(doubtful) > 0 && errors.As(err, &e) {
		return e.With("warnings", warningsOf(doubtful))
	}
	return err
}
