package main

import (
	"bytes"
	"encoding/json"
)

// A param is one argument of a tool, as its input schema tells agents. What is
// accepted is decided by the rules, and more than this: see [topic.Args].
type param struct {
	name      string
	kind      string // the one JSON type
	about     string
	required  bool
	otherwise any      // the default, nil for none
	choices   []string // the only values
	items     *schema  // of an array
}

// A schema is that of an object with the params, or with none of them of the
// simple kind. Single types, no unions, no references: some clients reject the
// rest.
type schema struct {
	kind   string // "object" unless set
	params []param
}

func object(params ...param) *schema { return &schema{kind: "object", params: params} }

func listOf(kind string) *schema { return &schema{kind: kind} }

// MarshalJSON writes the members in the order of the table, which is the order
// in which agents read them.
func (s *schema) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"type":` + quoted(s.kind))
	if s.kind == "object" {
		b.WriteString(`,"properties":{`)
		required := []string{}
		for i, p := range s.params {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoted(p.name) + ":")
			p.write(&b)
			if p.required {
				required = append(required, p.name)
			}
		}
		b.WriteByte('}')
		if len(required) > 0 {
			b.WriteString(`,"required":` + quoted(required))
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (p *param) write(b *bytes.Buffer) {
	b.WriteString(`{"type":` + quoted(p.kind) + `,"description":` + quoted(p.about))
	if p.choices != nil {
		b.WriteString(`,"enum":` + quoted(p.choices))
	}
	if p.otherwise != nil {
		b.WriteString(`,"default":` + quoted(p.otherwise))
	}
	if p.items != nil {
		b.WriteString(`,"items":` + quoted(p.items))
	}
	b.WriteByte('}')
}

// quoted is the JSON of what cannot fail to be written.
func quoted(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("agent-bus: schema: " + err.Error())
	}
	return string(data)
}
