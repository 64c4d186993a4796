package main

import (
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

// resolve finds a topic by name. The warnings are about unreadable topics that have
// the name or may have it. If only an unreadable topic has the name, its error is
// returned.
func (b *bus) resolve(r topic.ResolveRequest) (*topic.State, []tools.Warning, error) {
	all, err := b.Index()
	if err != nil {
		return nil, nil, err
	}
	doubtful := all.Doubtful(r.Name)
	s, err := topic.Find(all.States, r)
	if err != nil {
		return nil, nil, withUnreadable(err, doubtful, r.Name)
	}
	return s, warningsOf(doubtful), nil
}
