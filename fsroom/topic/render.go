package topic

import (
	"fmt"
	"strings"
)

// RenderAnswers writes answers as Markdown: a list of them first, then each
// under a heading with its author and its id, which no author can know
// beforehand, so that a heading inside an answer does not pass for another one.
func RenderAnswers(answers []Answer) string {
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
				fmt.Fprintf(&b, "- %s\n", oneLineOf(p))
			}
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// Enclosed returns Markdown that can be followed by more of it: without white space
// at its end, and with the end of a code block that it leaves open.
func Enclosed(markdown string) string {
	body := strings.TrimRight(markdown, " \t\r\n")
	if fence := openFence(body); fence != "" {
		body += "\n" + fence
	}
	return body
}

// openFence returns what closes the code block that the Markdown leaves open, ""
// if there is none. What would follow an open block would be part of it.
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

// leadingFence returns the three or more backticks or tildes that a line begins
// with, else "".
func leadingFence(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// FollowUp is the request to follow up that an asker gets with the answers. On a
// closed topic it asks for no call, which would be refused.
func FollowUp(topicID string, closed bool, answers []Answer) string {
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

// longestFollowup is how many characters of one are shown; the answers have all.
const longestFollowup = 1000

func writeFollowups(b *strings.Builder, followups []string) {
	if len(followups) == 0 {
		return
	}
	b.WriteString("Suggested follow-ups:\n")
	for i, f := range followups {
		fmt.Fprintf(b, "%d) %s\n", i+1, clipTo(f, longestFollowup))
	}
	b.WriteByte('\n')
}

// Followups merges what the answers suggest: the first [MaxFollowups] different
// ones in the order in which they were given, each on one line, no blank ones.
func Followups(answers []Answer) []string {
	var merged []string
	seen := make(map[string]bool)
	for _, a := range answers {
		for _, f := range a.Payload.Followups {
			line := oneLineOf(f)
			if line == "" || seen[line] || len(merged) == MaxFollowups {
				continue
			}
			seen[line] = true
			merged = append(merged, line)
		}
	}
	return merged
}

func oneLineOf(text string) string { return strings.Join(strings.Fields(text), " ") }
