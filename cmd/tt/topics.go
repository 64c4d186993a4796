package main

import (
	"strings"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/turn"
)

// topics are the help pages that belong to no command.
var topics = []front.Topic{
	{Name: "environment", Short: "the variables tt reads", Write: environmentHelp},
	{Name: "exit-codes", Short: "what the exit status says", Long: exitHelp},
	{Name: "handoff", Short: "what a handoff is made of", Long: handoffTopic},
	{Name: "files", Short: "where rooms are kept", Long: filesHelp},
}

const exitHelp = `  0   done; also every outcome of a wait
  1   refused or failed; the error says why
  2   wrong usage
  3   not_yet, from wait and try with --exit-code
  4   takeover_available, likewise
  5   closed, likewise
  130 wait was interrupted by SIGINT (143 by SIGTERM); nothing is half granted

Errors go to standard error: as "tt: MESSAGE (CODE)", or as one JSON object with error, message and details.`

const handoffTopic = `  status          what you did, what you learned, what is unfinished (required)
  next_action     what the next agent should do (required)
  artifacts       a list of {path, lines: [from, to], role, note}
  open_questions  a list of texts
  do_not          a list of texts: what to stay away from

Roles are examine, review, edit, context and output. Other keys are kept as they are. At most 256 KiB.`

const filesHelp = `  DATA/rooms/NAME-HASH/journal.jsonl   the truth: one event per line, append-only
                      /state.json      its projection, rebuilt whenever it is lost
                      /lock            never remove it
                      /agents/         who was seen, who waits, who holds what
  DATA/archive/NAME-HASH/              journals of rooms that have ended

DATA is $TALKING_STICK_DATA_DIR, else $XDG_DATA_HOME/talking-stick, else ~/.local/share/talking-stick. A copy of it is a backup, also while agents work.`

func environmentHelp() string {
	var b strings.Builder
	b.WriteString("  TALKING_STICK_DATA_DIR              where rooms are kept\n" +
		"  TT_HARNESS_AGENT_ID                 act as this agent\n" +
		"  TT_HARNESS_EXPORT=1                 look for a harness among the ancestor processes, and print JSON\n" +
		"  TALKING_STICK_DISABLE_SKILL_SYNC=1  leave installed copies of the skill as they are\n" +
		"  TALKING_STICK_DISABLE_MCP_MIGRATION=1  leave registrations of the old MCP server alone\n" +
		"  NO_COLOR                            no colours\n" +
		"  VISUAL, EDITOR                      for handoffs written on a terminal\n")
	b.WriteString("\n  The limits of new rooms, as durations (45m, 90s):\n")
	for _, l := range turn.Limits() {
		if l.Env != "" {
			b.WriteString("  " + l.Env + strings.Repeat(" ", max(1, 36-len(l.Env))) + l.About + "\n")
		}
	}
	return b.String()
}
