package shell

import _ "embed"

// table says what programs write. A line has the names of a program, or of a program and
// its subcommand, and a colon. Behind it are:
//
//	all first second last rest third final   which of the words are written; last only if there are two
//	output=…      the last argument that stands behind no flag but those is written
//	here          the directory of the command, if no such words are given; given: only with words
//	-x:           a flag that has a value
//	into=…        flags that name what is written, instead of the words
//	chdir=…       flags that name the directory
//	only=…        nothing is written without one of these arguments
//	unless=…      nothing is written with one of these arguments
//	below         everything below is written, too
//	moves         the words are gone then; where they come to, nothing that is below is written
//	destroys      what is taken away may be nowhere else; destroys=… with one of these flags
//	git, index    of git: the whole repository; its index and branches only
//	stash         of git: the stash of the repository, unless the last word is the hash of a commit; stash=… if it is named so
//	nested        of git: also what is in repositories and working trees below; own: of others, not that
//	paths=N       of git: words that are paths, if there are N of them or they stand behind "--"; else it is the whole tree,
//	              or for N=0 the directory
//	whole=…       of git: the whole tree only with one of these flags
//	private       of git: nothing is written if the index is another one
//	remote        words with a colon are on other hosts, or no files
//	known         words of which nothing is known do not count
//	long          -name is --name, and not some flags of one letter
//	prefix=N      what stands behind N words is a command
//	dashes        of a prefix: the command stands behind "--"
//	fetched       of a prefix: that command is the program of a package
//	unknown       what it does is not known, unless it writes
//
//	text          the words are a command as a text: each of those, or else all together
//	run=…         flags whose value is a command as a text
//	clone         the second word, or the name of the repository in the first
//
// Without anything, nothing is written. Of several lines, the last one counts.
//
//go:embed table.txt
var table string
