package skills

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"
)

// Name is the name of the skill and of its directory.
const Name = "talking-stick"

// skillFile is the one file that the skill consists of.
const skillFile = "SKILL.md"

//go:embed talking-stick/SKILL.md
var skillText string

//go:embed plugin.js
var openCodePlugin string

// Skill returns the text of the skill, as it is installed.
func Skill() string { return skillText }

// Commands returns the shell commands that the skill shows, each of them one
// fenced block, in their order.
func Commands() []string {
	var commands []string
	for rest := skillText; ; {
		_, after, found := strings.Cut(rest, "\n```sh\n")
		if !found {
			return commands
		}
		command, next, _ := strings.Cut(after, "\n```\n")
		commands = append(commands, command)
		rest = "\n" + next
	}
}

// digest identifies the content of a file of ours in the record.
func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}
