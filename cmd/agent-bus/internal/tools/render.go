package tools

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/talking-stick/tt/fsroom/topic"
)

// RenderAnswers writes answers as Markdown: first a list of them, then each answer
// under a heading with its author and its id.
func RenderAnswers(answers []topic.Answer) string {
	var b strings.Builder
	for _, a := range answers {
		fmt.Fprintf(&b, "- answer %s by %s at %s\n", a.AnswerID, a.AnsweredBy, a.AnsweredAt)
	}
	for _, a := range answers {
		fmt.Fprintf(&b, "\n### %s (answer %s)\n\n", a.AnsweredBy, a.AnswerID)
		if body := Enclosed(a.Payload.Markdown); body != "" {
			fmt.Fprintf(&b, "%s\n", body)
		}
		if len(a.Payload.Pointers) > 0 {
			b.WriteString("\nWhere to look:\n")
			for _, p := range a.Payload.Pointers {
				fmt.Fprintf(&b, "- %s\n", OneLine(p))
			}
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// framing matches the beginning of a line that would read as one of this package's, or of
// an export.
var framing = regexp.MustCompile(`(?m)^ {0,3}(#{2,3} .*(answers|\(.*\))[ \t\r]*$|FOLLOW_UP_REQUIRED|NO_FOLLOWUP_NEEDED|question_id=)`)

// Enclosed returns Markdown after which more Markdown can stand: without white space
// at its end, with a code block closed that it leaves open, and with a backslash before what
// would pass for the frame around it.
func Enclosed(markdown string) string {
	body := framing.ReplaceAllString(strings.TrimRight(markdown, " \t\r\n"), `\$0`)
	if fence := openFence(body); fence != "" {
		body += "\n" + fence
	}
	return body
}

// openFence returns the line that closes the code block which the Markdown leaves
// open, "" if it leaves none open.
func openFence(markdown string) string {
	open := ""
	for line := range strings.SplitSeq(markdown, "\n") {
		text := strings.TrimLeft(line, " ")
		fence := leadingFence(text)
		rest := text[len(fence):]
		switch {
		case len(line)-len(text) > 3 || fence == "":
		case open == "":
			if fence[0] != '`' || !strings.Contains(rest, "`") {
				open = fence
			}
		case fence[0] == open[0] && len(fence) >= len(open) && isBlank(rest):
			open = ""
		}
	}
	return open
}

// leadingFence returns the three or more backticks or tildes at the beginning of a
// line, "" if there are fewer.
func leadingFence(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// FollowUp returns the request to follow up that an asker gets with the answers. On a
// closed topic it does not ask for a call, which would be refused. Without a follow-up to
// choose it is "".
func FollowUp(topicID string, closed bool, answers []topic.Answer) string {
	if len(Followups(answers)) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("---\n")
	if closed {
		b.WriteString("The topic is closed: ask what is left open on another topic.\n\n")
	} else {
		fmt.Fprintf(&b, "FOLLOW_UP_REQUIRED\nChoose ONE follow-up question and call:\nask(topic_id=%q, question=\"<your question>\")\n\n", topicID)
	}
	writeFollowups(&b, Followups(answers))
	b.WriteString("If you fully understand, reply with:\nNO_FOLLOWUP_NEEDED\nand provide a 3-5 bullet summary of what you learned.\n")
	return b.String()
}

// shownChars is how many characters of a follow-up are shown. The answer has all.
const shownChars = 1000

func writeFollowups(b *strings.Builder, followups []string) {
	if len(followups) == 0 {
		return
	}
	b.WriteString("Suggested follow-ups:\n")
	for i, f := range followups {
		fmt.Fprintf(b, "%d) %s\n", i+1, topic.ClipTo(f, shownChars))
	}
	b.WriteByte('\n')
}

// Followups returns the first [topic.MaxFollowups] different follow-ups of the
// answers, in the order in which they were given, each on one line. It leaves out
// blank ones.
func Followups(answers []topic.Answer) []string {
	var merged []string
	seen := make(map[string]bool)
	for _, a := range answers {
		for _, f := range a.Payload.Followups {
			line := OneLine(f)
			if line == "" || seen[line] || len(merged) == topic.MaxFollowups {
				continue
			}
			seen[line] = true
			merged = append(merged, line)
		}
	}
	return merged
}

// OneLine returns the text with each run of white space replaced by a space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
