package tools

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/talking-stick/tt/fsroom/topic"
)

// ParseResponses reads the responses of answer. A list that is too long is cut, with
// a warning. Anything else that is wrong in one response refuses all of them, and so
// do two responses to the same question.
func ParseResponses(a Args, l topic.Limits) ([]topic.Response, []Warning, error) {
	items, given, err := a.List("responses")
	if err != nil {
		return nil, nil, err
	}
	if !given {
		return nil, nil, topic.Invalid("responses", "is required")
	}
	if len(items) > l.Batch {
		return nil, nil, topic.Invalid("responses", "has %d items, which exceeds the maximum of %d; send the rest in another call", len(items), l.Batch)
	}
	return parseItems(items, l)
}

func parseItems(items []json.RawMessage, l topic.Limits) (responses []topic.Response, warnings []Warning, err error) {
	seen := make(map[string]int, len(items))
	known := []string{"question_id", "answer_markdown", "repo_pointers", "suggested_followups"}
	var unknown []string
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
			return nil, nil, topic.Invalid(item.prefix+"question_id", "is the same as in responses[%d]: a question is answered once", first)
		}
		seen[r.QuestionID] = i
		responses, warnings = append(responses, r), append(warnings, w...)
		unknown = append(unknown, item.unknown(known)...)
	}
	return responses, append(warnings, unknownArguments("responses[].", unknown, known)...), nil
}

func itemArgs(i int, raw json.RawMessage) (Args, error) {
	name := fmt.Sprintf("responses[%d]", i)
	object, ok := unwrap(raw, '{')
	if !ok {
		return Args{}, topic.Invalid(name, "must be an object, not %s", describe(raw))
	}
	return Args{values: members(object), prefix: name + "."}, nil
}

func (a Args) response(l topic.Limits) (r topic.Response, warnings []Warning, err error) {
	if r.QuestionID, err = a.Required("question_id"); err != nil {
		return r, nil, err
	}
	if r.Payload.Markdown, err = a.markdown(l); err != nil {
		return r, nil, err
	}
	pointers, err := a.texts("repo_pointers", topic.MaxPointers, topic.MaxPointerChars)
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
	r.Payload.Pointers = keep(pointers, topic.MaxPointers, WarnPointersTruncated)
	r.Payload.Followups = keep(followups, topic.MaxFollowups, WarnFollowupsCut)
	return r, warnings, nil
}

func (a Args) markdown(l topic.Limits) (string, error) {
	text, err := a.Required("answer_markdown")
	if err != nil {
		return "", err
	}
	return text, atMost(a.prefix+"answer_markdown", text, l.AnswerChars)
}

func (a Args) followups() ([]string, error) {
	const name = "suggested_followups"
	list, err := a.texts(name, topic.MaxFollowups, topic.MaxFollowupChars)
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return nil, topic.Invalid(a.prefix+name, "is required and must have at least one entry")
	}
	if i := slices.IndexFunc(list, isBlank); i >= 0 {
		return nil, topic.Invalid(fmt.Sprintf("%s%s[%d]", a.prefix, name, i), "must not be blank")
	}
	return list, nil
}

// texts returns a list of strings, nil if it is not given or empty. Of the strings, the first kept
// are checked for their length.
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
