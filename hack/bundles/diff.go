package main

import (
	"fmt"
	"slices"
	"strings"
)

// diffLines says line by line how to get from the old text to the new one, and
// nothing if they are the same. It gives line numbers of the old text (for
// lines that go) and of the new one (for lines that come).
func diffLines(before, after string) string {
	if before == after {
		return ""
	}
	a, b := splitLines(before), splitLines(after)
	common := commonLengths(a, b)
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || (i < len(a) && common[i+1][j] >= common[i][j+1]):
			writeLine(&out, '-', i, a[i])
			i++
		default:
			writeLine(&out, '+', j, b[j])
			j++
		}
	}
	return out.String()
}

// splitLines keeps the line breaks, so that the last line of a text without one
// differs from the same line of a text with one.
func splitLines(text string) []string {
	return slices.Collect(strings.Lines(text))
}

// commonLengths holds at [i][j] how many lines a[i:] and b[j:] have in common,
// in order. The files have some hundred lines, so the square of that is small.
func commonLengths(a, b []string) [][]int {
	lengths := make([][]int, len(a)+1)
	for i := range lengths {
		lengths[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lengths[i][j] = lengths[i+1][j+1] + 1
				continue
			}
			lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
		}
	}
	return lengths
}

// writeLine makes a missing line break at the end of a file visible, which
// would otherwise be a difference that cannot be seen.
func writeLine(out *strings.Builder, sign rune, index int, line string) {
	text, complete := strings.CutSuffix(line, "\n")
	if !complete {
		text += " (no line break at the end)"
	}
	fmt.Fprintf(out, "%c%5d: %s\n", sign, index+1, text)
}
