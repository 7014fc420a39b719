// Package view writes plans, progress and states for people and for programs.
package view

// Style decides about colour.
type Style struct{ Color bool }

const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// mark stands before something that is done, or is not.
func (s Style) mark(done bool) string {
	sign, color := "✗", yellow
	if done {
		sign, color = "✓", green
	}
	if !s.Color {
		return sign
	}
	return color + sign + reset
}
