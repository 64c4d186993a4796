package ttcmd

import (
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
)

// topics are the help pages that do not belong to a command.
var topics = []cli.Topic{
	{Name: "agents", Short: "what agents should know that the skill leaves out", Items: reasons, Long: agentsHelp},
	{Name: "environment", Short: "the variables tt reads", Items: variables},
	{Name: "exit-codes", Short: "what the exit status says", Items: exitStatuses, Long: errorsHelp},
	{Name: "handoff", Short: "what a handoff is made of, and how to give it", Items: handoffFields, Long: handoffTopic},
	{Name: "files", Short: "where rooms are kept", Long: filesHelp},
	{Name: "ledger", Short: "what turns changed, and how work comes back", Long: ledgerHelp},
	{Name: "hosts", Short: "rooms that several hosts share", Long: hostsHelp},
}

// reasons are the values of reason in the results of a wait.
func reasons() []cli.Item {
	return []cli.Item{
		{Name: "open_claim", What: "your_turn: nothing was pending"},
		{Name: "sequence", What: "your_turn: after a release, your own where nobody else came"},
		{Name: "direct_pass", What: "your_turn: it was assigned to you"},
		{Name: "already_owner", What: "your_turn: you hold it; if your guardian had ended, a new one runs"},
		{Name: "owner_timeout", What: "takeover_available: the holder was silent until its lease ran out"},
		{Name: "claim_timeout", What: "takeover_available: the one it was reserved for did not come"},
		{Name: "owner_gone", What: "takeover_available: the holder's process has ended"},
		{Name: "recipient_gone", What: "takeover_available: that of the one it was reserved for"},
		{Name: "owner_idle", What: "takeover_available: the holder's model has ended its turn"},
		{Name: "owner_limited", What: "takeover_available: it has reached a limit"},
	}
}

const agentsHelp = `These are the values of reason. While you hold the stick a guardian, guardian_pid, keeps your lease. It needs no care, and must not be killed. reach says how a member hears: with none it is no fault, its next wait tells it.

Waiting. Wait in the background only where you are told when a background command ends, as in Claude Code. In Codex nobody is: there, and where commands run in the foreground alone, wait in the foreground. Where a line at the start of the session says that you are told when the stick is yours, end your turn instead of waiting.

Taking over. takeover_available is an offer; last_seen_at and evidence say why it is made. First make sure that nobody works on it any more: send the agent a message, see in git status and in the times of files whether they still change, and wait once more. Then tell the user, take it, and read what happened before you touch a file:

  tt take --reason "The owner's process has ended in the middle of its turn."
  tt events --target any --json

--operator-requested, and tt kick --force, are for an agent that is alive, and only when the user asks for it in plain words.

Handing over. What does not fit into a status and a next action goes in as JSON; tt help handoff has the fields and the flags for them:

  tt release --stdin <<'JSON'
  {
    "status": "Config reader moved. Two tests are skipped.",
    "next_action": "Enable them.",
    "artifacts": [{"path": "read_test.go", "lines": [40, 72], "role": "edit"}],
    "open_questions": ["Should an unknown key be an error?"],
    "do_not": ["Do not rename the exported types."]
  }
  JSON

tt release gives the stick to the member that never had it, else to the one that had it longest ago. A question in a handoff is for whoever comes next.

Talking. Instead of room name an agent, by its id or by the name of one active member; a question may also go to human. tt ask --wait waits for the answer, which is only for what cannot go on without it, and never with the stick in your hand. tt questions says who owes whom. The MCP server agent-bus has the same questions. A message with --interrupt is for what cannot wait. Where each line of output is an event for you, follow the room; it ends when you leave:

  tt events --follow --brief --json

The end. tt close tells every waiter that the work is done; by the holder, or by anybody while nobody holds the stick. Leave with tt leave when the user says so, after a release if you hold the stick. The last one to leave ends the room, too.

If a hook refuses an edit or holds you back, do what it says. If something is odd, believe tt state --json, and look with tt whoami --explain whether you are the same agent each time; if not, set TT_HARNESS_AGENT_ID.`

func exitStatuses() []cli.Item {
	return []cli.Item{
		{Name: "0", What: "done; also every outcome of a wait, and a stream that was stopped"},
		{Name: "1", What: "refused or failed, the error says why; check without the stick; doctor with a problem; install where a harness failed"},
		{Name: "2", What: "wrong usage"},
		{Name: "3", What: "not_yet, from wait and try with --exit-code; from ask: no answer"},
		{Name: "4", What: "takeover_available, likewise"},
		{Name: "5", What: "closed, likewise"},
		{Name: "6", What: "inbox, from wait with --inbox and --exit-code"},
		{Name: "75", What: "from lock run: the lock was not had in time; from job wait: the job runs on; otherwise both end as COMMAND"},
		{Name: "126", What: "COMMAND cannot be run, from lock run and job run"},
		{Name: "127", What: "there is no COMMAND, likewise"},
		{Name: "129", What: "a wait was ended by SIGHUP; a turn that was granted by then is kept"},
		{Name: "130", What: "likewise by SIGINT"},
		{Name: "143", What: "likewise by SIGTERM"},
	}
}

const errorsHelp = `Errors go to standard error: as "tt: MESSAGE (CODE)", or as one JSON object with error, message and details.`

func handoffFields() []cli.Item {
	return []cli.Item{
		{Name: "status", What: "what you did, what you learned, what is unfinished (required)"},
		{Name: "next_action", What: "what the next agent should do (required)"},
		{Name: "artifacts", What: "a list of {path, lines: [from, to], role, note}; role is " + strings.Join(turn.Roles(), ", ")},
		{Name: "open_questions", What: "a list of texts"},
		{Name: "do_not", What: "a list of texts: what to stay away from"},
	}
}

const handoffTopic = `Other keys are kept as they are. At most 256 KiB.

A handoff comes from flags, as JSON from --stdin, or from a file with --file, from one of them only. On a terminal without any, $VISUAL or $EDITOR opens with a template, as for git commit.`

const filesHelp = `  DATA/rooms/NAME-HASH/journal.jsonl  the truth: one event per line, append-only
                      /state.json     its projection, rebuilt when it is lost
                      /lock           never remove it
                      /agents/        who was seen, who waits, who holds what
  DATA/archive/NAME-HASH/             journals of rooms that have ended
  DATA/topics/                        questions, a topic for each room
  DATA/locks/                         named locks, see tt help lock run

DATA is $TALKING_STICK_DATA_DIR, else $XDG_DATA_HOME/talking-stick, else ~/.local/share/talking-stick. A copy of it is a backup, also while agents work.`

const ledgerHelp = `The ledger records the working tree when a turn begins and ends, every minute while it lasts, and, with hooks, before each write of the holder. It has tracked and untracked files; not ignored ones, secrets such as .env, and what is too large.

  tt diff last          what the last turn changed
  tt diff --file FILE   which turns changed a file
  tt undo 7             take turn 7 back, and nothing else
  tt restore            the snapshots that there are
  tt restore --lost     what went by a reset, a clean or a removal
  tt snapshot           record the tree now

tt policy --ledger on|counts|off switches it for a room, TALKING_STICK_LEDGER for this machine. It is in DATA/trees, which tt doctor --prune-ledger removes.`

const hostsHelp = `TALKING_STICK_ENGINE is nats://HOST:PORT/NAMESPACE of a tt-natsd, or an alias in engines.json of the data directory:

  {"acme": {"url": "tls://HOST:PORT/NAMESPACE", "nkey": "user.nk"}}

.talking-stick/room in a repository may name an alias (engine: acme). A workspace is the same room on every host by --room or TALKING_STICK_ROOM, by that file (room: acme/api), or by git's origin. Locks stay on their host. See docs/hosts.md.`

// variables returns the environment variables that tt reads.
func variables() []cli.Item {
	items := []cli.Item{
		{Name: "TALKING_STICK_DATA_DIR", What: "where rooms are kept, an absolute path"},
		{Name: "TALKING_STICK_LEDGER", What: "on, counts or off: whether this machine records what turns change, see tt help diff"},
		{Name: "TALKING_STICK_WAKE_BUDGET", What: "such as 6/10m: how often messages of agents wake an agent, and how often turns that they release"},
		{Name: "TALKING_STICK_ENGINE, TALKING_STICK_ROOM", What: "see tt help hosts"},
		{Name: "XDG_DATA_HOME", What: "else they are in talking-stick below it; else in ~/.local/share/talking-stick"},
		{Name: "TT_HARNESS_AGENT_ID", What: "act as this agent, and print JSON"},
		{Name: "TT_HARNESS_EXPORT", What: "1 or true: look for a harness among the ancestor processes, and print JSON"},
		{Name: "CLAUDECODE, CODEX_THREAD_ID, GEMINI_CLI, …", What: "tell which harness calls; tt whoami --explain says which were seen"},
		{Name: "TT_LOCKS", What: "set by tt lock run: the locks that the command runs under"},
		{Name: "VISUAL, EDITOR", What: "the editor for handoffs and instructions, a line for the shell"},
		{Name: "NO_COLOR", What: "no colours"},
		{Name: "CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME, GROK_HOME, XDG_CONFIG_HOME", What: "where harnesses keep their settings, for install"},
		{Name: "TALKING_STICK_DISABLE_SKILL_SYNC", What: "leave installed copies of the skill as they are"},
		{Name: "TALKING_STICK_DISABLE_MCP_MIGRATION", What: "leave registrations of the old MCP server alone"},
	}
	var names []string
	for _, l := range turn.Limits() {
		if l.Env != "" {
			names = append(names, l.Env)
		}
	}
	for _, w := range turn.Switches() {
		names = append(names, w.Env)
	}
	others := strings.ReplaceAll(strings.Join(names[1:], ", "), "TALKING_STICK_", "…_")
	return append(items, cli.Item{Name: names[0], What: "for new rooms the limit of tt policy that is called so, as 45m; likewise " + others + ", of which the last two are on or off, for this session too"})
}
