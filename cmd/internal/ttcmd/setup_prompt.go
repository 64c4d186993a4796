package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
)

// forPrompt reports whether the call prints a fragment for a shell's prompt.
func forPrompt(c *cli.Invocation) bool { return c.Declares("prompt") && c.Bool("prompt") }

// printFragment prints the fragment, with --json as {"prompt":…}: what a harness has in its environment does not
// change a prompt.
func printFragment(c *cli.Invocation) error {
	text := currentFragment(c)
	if c.Bool("json") {
		return c.Out.Result(map[string]string{"prompt": text}, nil)
	}
	_ = c.Out.Print(text)
	return nil
}

// currentFragment returns the fragment, "" if there is no room, and after an error. It does not record presence: a
// prompt is printed even if the agent is idle.
func currentFragment(c *cli.Invocation) string {
	client, err := newClient(c)
	if err != nil {
		return ""
	}
	room, snap, err := client.OpenIfAny(locateArg(c))
	if err != nil || room == nil {
		return ""
	}
	now := room.Look(snap)
	return fragment(statusFor(room, now.State, now.Facts))
}

// fragment returns plain ASCII without characters that a shell would expand.
func fragment(r statusResult) string {
	mark := ""
	switch {
	case r.YouOwn && r.HeldBy == 0:
		mark = "tt:mine"
	case r.YourTurnNext:
		mark = "tt:yours"
	case r.Owner != "" && r.State == turn.StateOwned:
		mark = "tt:held"
	case r.Owner != "" || r.State == turn.StateRecipientGone:
		mark = "tt:stuck"
	case r.ReservedFor != "":
		mark = "tt:next"
	default:
		mark = "tt:free"
	}
	if r.Unread > 0 {
		mark += "+" + itoa(min(r.Unread, 99))
	}
	if r.Owed > 0 {
		mark += "?" + itoa(min(r.Owed, 99))
	}
	return mark
}

var promptInitCommand = &cli.Command{
	Name:   "prompt init",
	Reads:  true,
	Traits: cli.Traits{NoSync: true},
	Args:   []cli.Arg{shellArg()},
	Short:  "print the lines that put the stick into your prompt",
	Long: "tt:mine, tt:yours (it is reserved for you), tt:held, tt:next, tt:stuck (somebody is gone) or tt:free; +N for " +
		"unread messages, ?N for questions that you owe an answer.",
	Examples: []cli.Example{
		{Line: `eval "$(tt prompt init bash)"`, What: "in ~/.bashrc"},
		{Line: "tt prompt init fish | source", What: "in config.fish"},
	},
	TextFirst: true,
	Run: func(_ context.Context, c *cli.Invocation) error {
		return printScript(c, promptScripts()[c.Arg("shell")])
	},
}

// promptScripts returns, by shell, the lines that put the fragment before the user's
// own prompt. That prompt may show the status of the last command, so each script
// preserves the status, and in fish the statuses of a whole pipeline.
func promptScripts() map[string]string {
	return map[string]string{
		"bash": `# Talking Stick in the prompt. Load with: eval "$(tt prompt init bash)"
__tt_prompt() {
    local last=$? s
    s=$(command tt status --prompt --text 2>/dev/null)
    [ -z "$s" ] || printf '[%s] ' "$s"
    return $last
}
case "${PS1-}" in *__tt_prompt*) ;; *) PS1='$(__tt_prompt)'"${PS1-}" ;; esac
`,
		"zsh": `# Talking Stick in the prompt. Load with: eval "$(tt prompt init zsh)"
setopt prompt_subst
__tt_prompt() {
    local last=$? s
    s=$(command tt status --prompt --text 2>/dev/null)
    [[ -z $s ]] || print -rn -- "[$s] "
    return $last
}
case "${PROMPT-}" in *__tt_prompt*) ;; *) PROMPT='$(__tt_prompt)'"${PROMPT-}" ;; esac
`,
		"fish": `# Talking Stick in the prompt. Load with: tt prompt init fish | source
if not functions -q __tt_prompt
    function __tt_prompt
        set -l s (command tt status --prompt --text 2>/dev/null)
        test -n "$s"; and echo -n "[$s] "
    end
    function __tt_return
        return $argv[1]
    end
    functions -c fish_prompt __tt_fish_prompt
    function fish_prompt
        set -l last $pipestatus
        __tt_prompt
        eval (string join ' | ' "__tt_return "$last)'; __tt_fish_prompt'
    end
end
`,
	}
}
