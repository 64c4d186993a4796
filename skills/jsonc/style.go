package jsonc

import (
	"bytes"
	"encoding/json"
	"strings"
)

const defaultIndent = "  "

// A style is how a document is laid out, as far as one can tell.
type style struct {
	eol  string // "\n" or "\r\n"
	unit string // one level of indentation
}

func (d *document) style() style {
	s := style{eol: "\n", unit: defaultIndent}
	if n := bytes.IndexByte(d.text, '\n'); n > 0 && d.text[n-1] == '\r' {
		s.eol = "\r\n"
	}
	if c, err := enter(&d.root); err == nil && len(c.entries) > 0 {
		if indent, ok := d.lineIndent(c.entries[0].start); ok && indent != "" {
			s.unit = indent
		}
	}
	return s
}

// lineIndent returns the white space at the start of the line that offset is
// on, and whether there is nothing else before offset.
func (d *document) lineIndent(offset int) (indent string, alone bool) {
	start := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	line := d.text[start:offset]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0 && start > 0
}

// childIndent returns the indentation of c's entries, as they have it or as
// they would.
func (d *document) childIndent(c container, s style) string {
	if n := len(c.entries); n > 0 {
		if indent, alone := d.lineIndent(c.entries[n-1].start); alone {
			return indent
		}
	}
	indent, _ := d.lineIndent(c.open)
	return indent + s.unit
}

// render returns value as JSON, on one line or laid out in the style s for a
// place with the given indentation.
func render(value any, s style, indent string, oneLine bool) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if !oneLine {
		e.SetIndent(indent, s.unit)
	}
	if err := e.Encode(value); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return strings.ReplaceAll(text, "\n", s.eol), nil
}

// quote returns name as a JSON string.
func quote(name string) string {
	text, _ := render(name, style{}, "", true) // a string always has one
	return text
}
