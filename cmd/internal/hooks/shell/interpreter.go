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
	o := parse(c.args, slices.Concat(texts, others), true)
	if o.has("--version", "-V", "--help", "--check", "--test") || !edits && o.has("-v") {
		return
	}
	if edits && o.has("-i") {
		c.effect(Effect{Op: c.name + " -i"}, o.words...)
		return
	}
	if _, ok := o.value("-m"); ok {
		c.module(c.args[slices.IndexFunc(c.args, func(a value) bool { return a.text == "-m" })+1:])
		return
	}
	if _, ok := o.value(texts...); !ok && !edits && o.has("-p") && len(o.words) > 0 {
		o.values = []option{{texts[0], o.words[0]}}
	}
	if _, ok := o.value(texts...); ok {
		for _, v := range o.values {
			if slices.Contains(texts, v.flag) {
				c.follow(c.name+" "+v.flag, v.value.source(), o.words)
			}
		}
		return
	}
	switch {
	case len(o.words) == 0:
		c.reads(nil)
	case o.words[0].text == "-":
		c.reads(o.words[1:])
	default:
		s := o.words[0].text
		if name, ok := c.w.program(s); ok && isProgram(name) && name != s {
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
	if len(args) == 0 {
		return
	}
	if r, _ := find(args[0].text); len(r) > 0 {
		c.again(args)
	} else {
		c.w.unknown(c.name + " -m " + args[0].text)
	}
}
