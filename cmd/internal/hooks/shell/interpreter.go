package shell

import (
	"path"
	"strings"
)

// interpreter follows python, node and the like: a text behind -c or -e, or what they read.
func (c *call) interpreter() {
	letter, edits, joins := "e", c.name == "perl" || c.name == "ruby", true
	switch {
	case strings.HasPrefix(c.name, "python"), c.name == "pypy3", c.name == "ipython":
		letter = "c"
	case c.name == "php":
		letter = "r"
	case !edits:
		joins = false
	}
	inPlace := false
	for i, a := range c.args {
		s := a.text
		switch {
		case len(s) < 2 || s[0] != '-':
			switch {
			case inPlace:
				c.effect(Effect{Op: c.name + " -i"}, c.args[i:]...)
			case s == "-":
				c.reads(c.args[i+1:])
			default:
				if name, ok := c.w.program(s); ok && isProgram(name) && name != s {
					c.again(append([]value{{text: name}}, c.args[i+1:]...))
				} else {
					c.w.unknown(path.Base(s))
				}
			}
			return
		case s == "--version" || s == "-V" || s == "--help" || s == "-v" && !edits || s == "--check" || s == "--test":
			return
		case s == "-m" && letter == "c":
			c.module(c.args[i+1:])
			return
		}
		switches, _, _ := strings.Cut(s[1:], ".")
		if s[1] == '-' || s[1] == 'M' || s[1] == 'I' || c.name == "ruby" && s[1] == 'r' {
			switches = ""
		}
		at := strings.Index(switches, letter)
		if n := strings.IndexByte(switches, 'i'); edits && n >= 0 && (at < 0 || n < at) {
			inPlace = true
		}
		if at < 0 && (joins || s != "--eval" && s != "--print" && s != "-p") {
			continue
		}
		text, behind := value{}, c.args[i+1:]
		if joins && at+1 < len(switches) {
			text.text = s[at+2:]
		} else if len(behind) > 0 {
			text, behind = behind[0], behind[1:]
		}
		if !inPlace {
			c.follow(c.name+" "+s, text.all(), behind)
			return
		}
		for len(behind) > 1 && behind[0].text == "-e" {
			behind = behind[2:]
		}
		c.effect(Effect{Op: c.name + " -i"}, parse(behind, nil, true).words...)
		return
	}
	if !inPlace { // else find -exec names the files
		c.reads(nil)
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
