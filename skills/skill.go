package skills

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
)

// Name is the name of the skill and of its directory.
const Name = "talking-stick"

// skillFile is the one file that the skill consists of.
const skillFile = "SKILL.md"

//go:embed talking-stick/SKILL.md
var skillText string

//go:embed plugin.js
var openCodePlugin string

// digest identifies the content of a file of ours in the record.
func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}
