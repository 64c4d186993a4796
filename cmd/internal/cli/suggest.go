package cli

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// longestSuggestible bounds the work for arguments that are not misspelled words.
const longestSuggestible = 40

// mostSuggestions is the greatest number of words in a hint.
const mostSuggestions = 3

// Nearest returns the candidates that a misspelled word may stand for, at most
// mostSuggestions. The first is the one that differs by the fewest typing mistakes,
// if these are at most a third of its length. The candidates that begin with the
// word follow.
func Nearest(word string, candidates []string) []string {
	if word == "" || len(word) > longestSuggestible {
		return nil
	}
	word = strings.ToLower(word)
	var found []string
	best, least := "", 0
	for _, candidate := range candidates {
		if len(word) > 1 && strings.HasPrefix(candidate, word) && !slices.Contains(found, candidate) {
			found = append(found, candidate)
		}
		cost := code.Mistakes(word, candidate)
		if cost <= max(1, min(len(word), len(candidate))/3) && (best == "" || cost < least) {
			best, least = candidate, cost
		}
	}
	if best != "" {
		found = append([]string{best}, slices.DeleteFunc(found, func(s string) bool { return s == best })...)
	}
	return found[:min(len(found), mostSuggestions)]
}
