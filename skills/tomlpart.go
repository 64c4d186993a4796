package skills

import (
	"fmt"
	"strings"

	"github.com/talking-stick/tt/skills/block"
)

// A tomlGuards is both guards of Codex as a marked block at the end of its
// config.toml. They go there only for users who keep their hooks there: Codex
// warns when it finds hooks in both of its files.
type tomlGuards struct {
	name string
	file string
	body string
}

func (t tomlGuards) key() string { return t.file + "#" + Name }

func (t tomlGuards) install(p *planner) outcome {
	d, err := p.mixedDraft(t.file)
	if err != nil {
		return failed(t.name, t.file, err)
	}
	body, had := block.Body(d.now)
	switch {
	case had && body == t.body:
		return outcome{t.name, AlreadyPresent, t.file, ""}
	case !had && p.opts.sync:
		return outcome{}
	}
	d.now, d.added = block.Append(d.now, t.body), t.body
	d.records = append(d.records, func() { p.was.Edits[t.key()] = edit{} })
	if had {
		return outcome{t.name, Updated, t.file, ""}
	}
	return outcome{t.name, Added, t.file, ""}
}

func (t tomlGuards) uninstall(p *planner) outcome {
	d, err := p.mixedDraft(t.file)
	if err != nil {
		return failed(t.name, t.file, err)
	}
	d.records = append(d.records, func() { delete(p.was.Edits, t.key()) })
	rest, had := block.Remove(d.now)
	if !had {
		return outcome{t.name, AlreadyAbsent, "", ""}
	}
	d.now = rest
	return outcome{t.name, Removed, t.file, ""}
}

// tomlBody returns event → group as arrays of tables, which may follow anything
// else in a TOML file.
func tomlBody(events []string, groups []group) string {
	var b strings.Builder
	for i, event := range events {
		fmt.Fprintf(&b, "[[hooks.%s]]\n", event)
		if groups[i].Matcher != "" {
			fmt.Fprintf(&b, "matcher = %s\n", literal(groups[i].Matcher))
		}
		for _, h := range groups[i].Hooks {
			fmt.Fprintf(&b, "[[hooks.%s.hooks]]\ntype = %s\ncommand = %s\ntimeout = %d\n", event, literal(h.Type), literal(h.Command), h.Timeout)
		}
	}
	return b.String()
}

// literal returns text as a TOML string. Ours have neither single quotes nor
// control characters.
func literal(text string) string { return "'" + text + "'" }

// keepsHooks reports whether a TOML file has hooks in tables, to which more can
// be added at its end. Hooks in an inline table or array are closed and cannot
// take more.
func keepsHooks(src []byte) bool {
	tables, table, quotes := false, "", ""
	for line := range strings.Lines(string(src)) {
		inside := quotes != ""
		quotes = quotesAfter(quotes, line)
		if inside {
			continue
		}
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "[") {
			name, _, _ := strings.Cut(strings.TrimLeft(text, "[ \t"), "]")
			table = strings.TrimSpace(name)
			// Not [hooks.state]: there Codex notes which hooks are trusted.
			tables = tables || strings.HasPrefix(text, "[[hooks.")
			continue
		}
		name, _, _ := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		closed := table == "" && (name == "hooks" || strings.HasPrefix(name, "hooks.")) || table == "hooks"
		if closed && text != "" && !strings.HasPrefix(text, "#") {
			return false
		}
	}
	return tables
}

// quotesAfter returns the kind of quotes of the multi-line string that is open
// behind line, if the kind quotes was open before it.
func quotesAfter(quotes, line string) string {
	for {
		if quotes == "" {
			basic, raw := strings.Index(line, `"""`), strings.Index(line, `'''`)
			switch {
			case basic < 0 && raw < 0:
				return ""
			case raw < 0 || basic >= 0 && basic < raw:
				quotes, line = `"""`, line[basic+3:]
			default:
				quotes, line = `'''`, line[raw+3:]
			}
			continue
		}
		_, rest, closed := strings.Cut(line, quotes)
		if !closed {
			return quotes
		}
		quotes, line = "", rest
	}
}
