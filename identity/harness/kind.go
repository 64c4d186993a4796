package harness

// A Kind is what a hook is for: the word after "tt hook".
type Kind string

// The kinds. A new one has its events in the rows of the table, and what it does in
// package hooks of the programs.
const (
	KindStop         Kind = "stop"          // the agent is about to end its turn
	KindEdit         Kind = "edit"          // a tool is about to write a file
	KindSessionStart Kind = "session-start" // a session begins, or goes on
	KindCwdChanged   Kind = "cwd-changed"   // the session has another working directory
	KindFileChanged  Kind = "file-changed"  // the wake file, which the harness watches, has changed
	KindContext      Kind = "context"       // the model is about to be asked
	KindListen       Kind = "listen"        // the agent has ended its turn: the hook may wait for what is new
	KindSessionEnd   Kind = "session-end"   // the session ends
	KindShell        Kind = "shell"         // a tool is about to run a command of the shell
	KindAsks         Kind = "asks"          // the agent asks its user for a permission
	KindFails        Kind = "fails"         // the turn of the model has ended with an error
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{
		KindStop, KindEdit, KindSessionStart, KindCwdChanged, KindFileChanged, KindContext, KindListen, KindSessionEnd,
		KindShell, KindAsks, KindFails,
	}
}
