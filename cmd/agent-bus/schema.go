package main

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// A param is one argument of a tool, as its input schema describes it. What is
// accepted is decided by the topics.Rules, and more than this: see [tools.Args].
type param struct {
	name         string
	kind         string // the one JSON type
	description  string
	required     bool
	defaultValue any                // nil for none
	choices      []any              // the only values
	items        *jsonschema.Schema // of an array
}

// object is the schema of an object with the params, in their order. It has
// single types, no unions and no references: some clients reject the rest.
func object(params ...param) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: make(map[string]*jsonschema.Schema)}
	for _, p := range params {
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		s.Properties[p.name] = &jsonschema.Schema{Type: p.kind, Description: p.description, Enum: p.choices, Items: p.items}
		if p.defaultValue != nil {
			s.Properties[p.name].Default = toJSON(p.defaultValue)
		}
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

func listOf(kind string) *jsonschema.Schema { return &jsonschema.Schema{Type: kind} }

// toJSON is the JSON of a value that cannot fail to have one.
func toJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic("agent-bus: schema: " + err.Error())
	}
	return data
}
