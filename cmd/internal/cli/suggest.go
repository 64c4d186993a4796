package cli

import (
	"slices"
	"strings"
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
		cost := mistakes(word, candidate)
		if cost <= max(1, min(len(word), len(candidate))/3) && (best == "" || cost < least) {
			best, least = candidate, cost
		}
	}
	if best != "" {
		found = append([]string{best}, slices.DeleteFunc(found, func(s string) bool { return s == best })...)
	}
	return found[:min(len(found), mostSuggestions)]
}

// mistakes returns how many letters of a must be inserted, deleted, replaced, or
// swapped with their neighbour to get b.
func mistakes(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
