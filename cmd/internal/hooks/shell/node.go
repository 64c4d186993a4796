package shell

// A node is a command of a script.
type node struct {
	kind   nodeKind
	words  []word   // of a command; the items of a loop, nil for the parameters; the subject of a case
	sets   []assign // the assignments before a command
	redirs []redir
	name   string    // of a function, or the variable of a loop
	lists  [][]*node // what it consists of
}

type nodeKind int

const (
	simple   nodeKind = iota // words
	declares                 // as simple, of export and the like: the assignments stay
	expands                  // a test or arithmetic: only the substitutions in its words count
	both                     // its lists, one after the other
	then                     // a && b
	either                   // a || b
	pipes                    // a | b
	subshell                 // a list in a shell of its own
	choice                   // conditions and branches in turn, at the end perhaps an else
	cases                    // branches
	each                     // a body for each of the words
	function                 // its body
)

// A word is what the shell expands to one field or more.
type word []part

type part struct {
	kind partKind
	text string  // of a literal or a quotation; the name of a parameter
	op   string  // of a parameter: what is done to its value
	all  bool    // of a parameter: ${x[@]}
	args []word  // of a parameter's operator; what stands in "…"; the words of {a,b}
	list []*node // of a substitution
}

type partKind int

const (
	literal      partKind = iota // with its backslashes
	single                       // '…'
	double                       // "…"
	param                        // $x
	substitution                 // $(…)
	number                       // $((…))
	process                      // <(…)
	pattern                      // @(a|b), of Bash's extglob
	braces                       // {a,b}
)

type assign struct {
	name     string
	value    word
	elements []word // of an array
	array    bool
	adds     bool // +=
}

type redir struct {
	op   string
	to   word
	text word // of a here-document
}

// literal returns the word if nothing in it is expanded, else "".
func (w word) literal() (s string) {
	for _, p := range w {
		if p.kind != literal {
			return ""
		}
		s += p.text
	}
	return s
}
