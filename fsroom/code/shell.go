package code

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShellWord returns text as one word of a shell's command line, which can be printed.
func ShellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+%"
	switch isHidden := func(r rune) bool { return !unicode.IsPrint(r) }; {
	case text != "" && strings.Trim(text, plain) == "":
		return text
	case !utf8.ValidString(text) || strings.ContainsFunc(text, isHidden):
		quoted := strconv.Quote(text) // whose escapes are those of the shell, too
		return "$'" + strings.ReplaceAll(quoted[1:len(quoted)-1], "'", `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
