package topic

import (
	"fmt"
	"strings"
)

// Render writes answers as Markdown for their asker: each under the name of who
// gave it, and then the request to follow up.
func Render(topicID string, answers []Answer) string {
	var b strings.Builder
	for _, a := range answers {
		fmt.Fprintf(&b, "### %s\n\n", a.AnsweredBy)
		if body := strings.TrimRight(a.Payload.Markdown, " \t\r\n"); body != "" {
			fmt.Fprintf(&b, "%s\n\n", body)
		}
	}
	b.WriteString("---\nFOLLOW_UP_REQUIRED\nChoose ONE follow-up question and call:\n")
	fmt.Fprintf(&b, "ask(topic_id=%q, question=\"<your question>\")\n\n", topicID)
	writeFollowups(&b, Followups(answers))
	b.WriteString("If you fully understand, reply with:\nNO_FOLLOWUP_NEEDED\nand provide a 3-5 bullet summary of what you learned.\n")
	return b.String()
}

func writeFollowups(b *strings.Builder, followups []string) {
	if len(followups) == 0 {
		return
	}
	b.WriteString("Suggested follow-ups:\n")
	for i, f := range followups {
		fmt.Fprintf(b, "%d) %s\n", i+1, f)
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
			line := strings.Join(strings.Fields(f), " ")
			if line == "" || seen[line] || len(merged) == MaxFollowups {
				continue
			}
			seen[line] = true
			merged = append(merged, line)
		}
	}
	return merged
}
