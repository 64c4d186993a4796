package shell

import (
	"path"
	"slices"
	"strings"
)

// interpreter follows python, node and the like: a text behind -c or -e, or what they read.
func (c *call) interpreter() {
	texts, others, edits := []string{"-e", "--eval", "--print"}, []string{"-r", "--require", "--import"}, false
	switch {
	case strings.HasPrefix(c.name, "python"), c.name == "pypy3", c.name == "ipython":
		texts, others = []string{"-c"}, []string{"-m", "-W", "-X"}
	case c.name == "php":
		texts, others = []string{"-r"}, []string{"-d"}
	case c.name == "perl", c.name == "ruby":
		texts, others, edits = []string{"-e", "-E"}, []string{"-I", "-M", "-r"}, true
	}
	valued := slices.Concat(texts, others)
	for n := 1; n <= len(c.args) && !edits; n++ {
		c.w.spend(n)
		o := parse(c.args[:n], valued, true)
		if v, ok := o.value(texts...); ok { // behind it are the arguments of the program
			c.follow(c.name+" "+texts[0], v.source(), c.args[n:])
			return
		} else if v, ok := o.value("-m"); ok {
			c.module(append([]value{v}, c.args[n:]...))
			return
		} else if len(o.words) > 0 {
			break
		}
	}
	o := parse(c.args, valued, true)
	if o.has("--version", "-V", "--help", "--check", "--test") || !edits && o.has("-v") {
		return
	}
	if edits && o.has("-i") {
		c.effect(Effect{Op: c.name + " -i"}, o.words...)
	}
	ran := false
	for _, v := range o.values {
		if slices.Contains(texts, v.flag) {
			c.follow(c.name+" "+v.flag, v.value.source(), o.words)
			ran = true
		}
	}
	switch {
	case ran, edits && o.has("-i"):
	case o.has("-p") && !edits && len(o.words) > 0: // of node
		c.follow(c.name+" -p", o.words[0].source(), o.words[1:])
	case len(o.words) == 0:
		c.reads(nil)
	case o.words[0].text == "-":
		c.reads(o.words[1:])
	default:
		s := o.words[0].text
		if name, ok := c.w.program(s); ok && isProgram(name) && (name != s || name == "manage.py") {
			c.again(append([]value{{text: name}}, o.words[1:]...))
		} else {
			c.w.unknown(path.Base(s))
		}
	}
}

// reads follows the program that an interpreter reads.
func (c *call) reads(args []value) {
	if !c.w.in.known {
		c.w.unknown(c.name)
		return
	}
	c.follow(c.name+" -", c.w.in.text, args)
}

// module follows python -m. A program of the table is what it is without that.
func (c *call) module(args []value) {
	if r, _ := find(args[0].text); len(r) > 0 {
		c.again(args)
	} else {
		c.w.unknown(c.name + " -m " + args[0].text)
	}
}
