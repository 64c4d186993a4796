// Package skills brings Talking Stick to the agent harnesses: it contains the
// skill that teaches agents to take turns, and writes it, and the guards, into
// the harnesses' own directories and settings.
//
// Three promises hold for everything written here. Only a harness that is there
// gets anything, and its own directory is never made for it. Settings files keep
// their comments and the entries of others; one that nobody has changed since gets
// its original bytes back on removal. What a user has changed by hand is neither
// overwritten nor removed without being asked for.
//
// Every command first makes a plan by looking, and then carries it out; a dry run
// is the plan alone. What has been written is recorded in the data directory,
// so that a later version knows its own work from the user's.
package skills
