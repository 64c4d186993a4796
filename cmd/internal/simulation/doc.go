// Package simulation runs the product on a machine that does not exist, and looks whether it keeps its promises
// there. It is a test tool: no program has it.
//
// Commands, hooks, guardians, recorders and jobs are the real ones, run through [ttcmd.Program] with an environment of
// their own, as processes of package machine. One can be made to stop wherever the product calls something that the machine
// stands for, see [ttcmd.Machine]: the clock, the table of processes, the start of a process, a lock, a step that touches the
// disk. Time is that of the bubble; files are real, in memory.
//
//   - world.go, windows.go: windows of a harness, and what it does with our hooks; process.go: what they start, jobs, the tree;
//   - trace.go: the acts, by name. A run is a list of them, and nothing else decides what happens;
//   - random.go: makes a list up from a seed;
//   - oracle.go, writers.go: what must not happen;
//   - run.go: runs a list, and makes it as short as it goes; what has to happen once nothing goes wrong any more.
//
// # The oracles
//
// Two permitted writers, never. What a command or a refusal says of the holder was true at one moment of its
// reading: of processes, at one moment at which nobody had the lock. The history has each number once, and all that was
// acknowledged. Who wants the turn and was told that it is called is called within an hour. Nobody is refused by itself.
// The ledger has what the tree was before the first write of a turn, and each file before an edit; its contents are compared, not the times of files,
// which are those of the real machine. A command that fails with internal, or panics, is a finding, too.
//
// The journal folds to the state. Nobody's turn ends while a tool writes in it, and an undo changes nothing in the turn of the next.
//
// A write counts as permitted when its hook has let it pass. Excepted is a writer against whom no order helps: it was alone
// when its tool began; it, or a person, ended the turn by a command meanwhile; the machine was suspended in the turn for longer
// than an idle holder keeps it; the room was put back from a copy; or the disk was full or could not be used, and nobody else was seen.
//
// # Traces
//
// A line is an act. Acts that begin a process name it; "run NAME N" lets it pass N points, "run NAME" as many as there are
// until it waits. Acts that mean nothing where they stand are left out, so that lines can be removed from a trace: that is
// how one is made short. The lines between them, which begin with a blank, are what happened. A trace runs again by
//
//	go test ./cmd/internal/simulation -run TestReplay -v -sim.replay FILE
//
// Each trace that has ever found something is in testdata/found, and runs always.
package simulation
