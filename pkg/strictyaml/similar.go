package strictyaml

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agext/levenshtein"
)

// Similar returns the candidate that a misspelt name most probably means, or
// nothing. Letters in the wrong order are a small mistake, whatever their
// distance. Words that two names end with alike say nothing about the rest of
// them.
func Similar(name string, candidates []string) string {
	best, bestScore := "", 0.0
	for _, candidate := range candidates {
		score := similarity(strings.ToLower(name), strings.ToLower(candidate))
		if own, other := unlikeWords(name, candidate); own != "" && other != "" {
			score = min(score, similarity(own, other))
		}
		if score > bestScore {
			best, bestScore = candidate, score
		}
	}
	const alike = 0.6
	if bestScore < alike {
		return ""
	}
	return best
}

func similarity(a, b string) float64 {
	score := levenshtein.Match(a, b, nil)
	if sortedLetters(a) == sortedLetters(b) {
		score = max(score, 0.9)
	}
	// One name is a part of the other one, and more than a letter or two.
	const least = 4
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) >= least && !strings.Contains(long, ".") && (strings.HasPrefix(long, short) || strings.HasSuffix(long, short)) {
		score = max(score, 0.7)
	}
	return score
}

// unlikeWords returns what is left of two names in camel case without the words that
// both end with, in lower case.
func unlikeWords(a, b string) (string, string) {
	as, bs := words(a), words(b)
	for len(as) > 0 && len(bs) > 0 && as[len(as)-1] == bs[len(bs)-1] {
		as, bs = as[:len(as)-1], bs[:len(bs)-1]
	}
	return strings.Join(as, ""), strings.Join(bs, "")
}

// words returns the words of a name in camel case, in lower case.
func words(name string) []string {
	var all []string
	begin := 0
	for i, char := range name {
		if i > begin && unicode.IsUpper(char) {
			all = append(all, strings.ToLower(name[begin:i]))
			begin = i
		}
	}
	return append(all, strings.ToLower(name[begin:]))
}

func sortedLetters(name string) string {
	return string(slices.Sorted(slices.Values([]rune(strings.ToLower(name)))))
}
