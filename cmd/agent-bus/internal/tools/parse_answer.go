package tools

import (
	"fmt"
	"slices"

	"github.com/talking-stick/tt/fsroom/topic"
)

// ParseResponses reads the responses of answer. A list that is too long is cut, with
// a warning. Anything else that is wrong in one response refuses all of them, and so
// do two responses to the same question.
func ParseResponses(a *Args, l topic.Limits) (responses []topic.Response, warnings []Warning, err error) {
	items := a.List("responses")
	if !a.Given("responses") {
		a.check(topic.Invalid("responses", "is required"))
	}
	if len(items) > l.Batch {
		a.check(topic.Invalid("responses", "has %d items, which exceeds the maximum of %d; send the rest in another call", len(items), l.Batch))
	}
	if a.err != nil {
		return nil, nil, a.err
	}
	known := []string{"question_id", "answer_markdown", "repo_pointers", "suggested_followups"}
	var unknown []string
	first := make(map[string]int, len(items)) // by question
	for i, raw := range items {
		name := fmt.Sprintf("responses[%d]", i)
		object, ok := unwrap(raw, '{')
		if !ok {
			return nil, nil, topic.Invalid(name, "must be an object, not %s", describe(raw))
		}
		item := Args{values: members(object), prefix: name + "."}
		r, cut, err := item.response(l)
		if err != nil {
			return nil, nil, err
		}
		if j, twice := first[r.QuestionID]; twice {
			return nil, nil, topic.Invalid(item.prefix+"question_id", "is %q, as in responses[%d]: a question is answered once",
				topic.Clip(r.QuestionID), j)
		}
		first[r.QuestionID] = i
		responses, warnings = append(responses, r), append(warnings, cut...)
		unknown = append(unknown, item.unknown(known)...)
	}
	return responses, append(warnings, unknownArguments("responses[].", unknown, known)...), nil
}

func (a *Args) response(l topic.Limits) (topic.Response, []Warning, error) {
	r := topic.Response{QuestionID: a.Required("question_id"), Payload: topic.Payload{
		Markdown: a.Required("answer_markdown"), Pointers: a.Texts("repo_pointers"), Followups: a.Texts("suggested_followups"),
	}}
	warnings, err := CheckResponse(a.prefix, &r, l)
	a.check(err)
	if len(r.Payload.Followups) == 0 {
		a.check(topic.Invalid(a.prefix+"suggested_followups", "is required and must have at least one entry"))
	}
	return r, warnings, a.Err()
}

// CheckResponse refuses a response with a text that is blank or too long, and cuts
// its lists to the number of entries that are kept, with a warning. Errors name the
// arguments with the prefix.
func CheckResponse(prefix string, r *topic.Response, l topic.Limits) (warnings []Warning, err error) {
	p := &r.Payload
	if err := checkNotBlank(prefix+"answer_markdown", p.Markdown, l.AnswerChars); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(p.Followups, isBlank); i >= 0 {
		return nil, topic.Invalid(fmt.Sprintf("%ssuggested_followups[%d]", prefix, i), "must not be blank")
	}
	for _, list := range []struct {
		name        string
		texts       *[]string
		kept, chars int
		warning     string
	}{
		{"repo_pointers", &p.Pointers, topic.MaxPointers, topic.MaxPointerChars, WarnPointersTruncated},
		{"suggested_followups", &p.Followups, topic.MaxFollowups, topic.MaxFollowupChars, WarnFollowupsCut},
	} {
		given := *list.texts
		*list.texts = append([]string{}, given[:min(list.kept, len(given))]...) // never nil: it is written as []
		for i, text := range *list.texts {
			if err := checkText(fmt.Sprintf("%s%s[%d]", prefix, list.name, i), text, list.chars); err != nil {
				return nil, err
			}
		}
		if len(given) > list.kept {
			warnings = append(warnings, truncated(list.warning, r.QuestionID, len(given), list.kept))
		}
	}
	return warnings, nil
}
