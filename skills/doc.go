// Package skills installs Talking Stick into the agent harnesses: the skill that
// teaches agents to take turns, and the guards. It writes them into the directories
// and settings of the harnesses.
//
// It guarantees three things. It writes only for harnesses that are on the machine,
// and never makes their configuration directory. Settings files keep their comments
// and the entries of others; a file that has not been changed since gets its
// original bytes back on removal. Changes that users make by hand are neither
// overwritten nor removed, unless --replace asks for it.
//
// Every command first makes a plan, which changes nothing, and then carries it out;
// a dry run is the plan alone. What was written is recorded in the data directory,
// so that a later version can tell its own files from those of the user.
package skills
