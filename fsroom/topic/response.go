package topic

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Response is one item of an answer call.
type Response struct {
	QuestionID string
	Payload    Payload
}

// A Payload is what an answer says.
type Payload struct {
	Markdown  string   `json:"answer_markdown"`
	Pointers  []string `json:"repo_pointers"` // never nil
	Followups []string `json:"suggested_followups"`
}

// ParseResponses reads the responses of answer. Lists that are too long are cut
// with a warning; everything else that is wrong in one item refuses all of them,
// as does the same question twice.
func ParseResponses(a Args, l Limits) ([]Response, []Warning, error) {
	items, given, err := a.List("responses")
	if err != nil {
		return nil, nil, err
	}
	if !given {
		return nil, nil, Invalid("responses", "is required")
	}
	if len(items) > l.Batch {
		return nil, nil, Invalid("responses", "has %d items, which exceeds the maximum of %d; send the rest in another call", len(items), l.Batch)
	}
	return parseItems(items, l)
}

func parseItems(items []json.RawMessage, l Limits) (responses []Response, warnings []Warning, err error) {
	seen := make(map[string]int, len(items))
	known := []string{"question_id", "answer_markdown", "repo_pointers", "suggested_followups"}
	var strangers []string
	for i, raw := range items {
		item, err := itemArgs(i, raw)
		if err != nil {
			return nil, nil, err
		}
		r, w, err := item.response(l)
		if err != nil {
			return nil, nil, err
		}
		if first, twice := seen[r.QuestionID]; twice {
			return nil, nil, Invalid(item.prefix+"question_id", "is the same as in responses[%d]: a question is answered once", first)
		}
		seen[r.QuestionID] = i
		responses, warnings = append(responses, r), append(warnings, w...)
		strangers = append(strangers, item.strangers(known)...)
	}
	return responses, append(warnings, unknownArguments("responses[].", strangers, known)...), nil
}

func itemArgs(i int, raw json.RawMessage) (Args, error) {
	name := fmt.Sprintf("responses[%d]", i)
	object, ok := unwrap(raw, '{')
	if !ok {
		return Args{}, Invalid(name, "must be an object, not %s", describe(raw))
	}
	return Args{values: members(object), prefix: name + "."}, nil
}

func (a Args) response(l Limits) (r Response, warnings []Warning, err error) {
	if r.QuestionID, err = a.Required("question_id"); err != nil {
		return r, nil, err
	}
	if r.Payload.Markdown, err = a.markdown(l); err != nil {
		return r, nil, err
	}
	pointers, err := a.texts("repo_pointers", MaxPointers, MaxPointerChars)
	if err != nil {
		return r, nil, err
	}
	followups, err := a.followups()
	if err != nil {
		return r, nil, err
	}
	keep := func(list []string, most int, warning string) []string {
		if len(list) <= most {
			return append([]string{}, list...) // never nil: it is written as []
		}
		warnings = append(warnings, truncated(warning, r.QuestionID, len(list), most))
		return list[:most:most]
	}
	r.Payload.Pointers = keep(pointers, MaxPointers, WarnPointersTruncated)
	r.Payload.Followups = keep(followups, MaxFollowups, WarnFollowupsCut)
	return r, warnings, nil
}

func (a Args) markdown(l Limits) (string, error) {
	text, err := a.Required("answer_markdown")
	if err != nil {
		return "", err
	}
	return text, atMost(a.prefix+"answer_markdown", text, l.AnswerChars)
}

func (a Args) followups() ([]string, error) {
	const name = "suggested_followups"
	list, err := a.texts(name, MaxFollowups, MaxFollowupChars)
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return nil, Invalid(a.prefix+name, "is required and must have at least one entry")
	}
	if i := slices.IndexFunc(list, isBlank); i >= 0 {
		return nil, Invalid(fmt.Sprintf("%s%s[%d]", a.prefix, name, i), "must not be blank")
	}
	return list, nil
}

// texts returns a list of strings, of which the first kept are not too long; nil if there are none.
func (a Args) texts(name string, kept, chars int) ([]string, error) {
	list, _, err := a.Texts(name)
	if err != nil {
		return nil, err
	}
	for i, text := range list[:min(kept, len(list))] {
		if err := atMost(fmt.Sprintf("%s%s[%d]", a.prefix, name, i), text, chars); err != nil {
			return nil, err
		}
	}
	return list, nil
}
