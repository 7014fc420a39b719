// Package view writes plans, progress and states for people and for programs.
package view

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Style is how a terminal is written to.
type Style struct {
	Color bool
	// Width is how many columns the terminal has at the moment, 0 where that is not
	// known; nil where it is no terminal.
	Width func() int
}

// colors are the codes that this package writes.
var colors = regexp.MustCompile("\x1b\\[[0-9]*m")

// cut ends a line that is wider than the terminal in an ellipsis, so that it stays
// one line.
func (s Style) cut(line string) string {
	if s.Width == nil {
		return line
	}
	width := s.Width()
	if width <= 0 || utf8.RuneCountInString(colors.ReplaceAllString(line, "")) <= width {
		return line
	}
	var b strings.Builder
	left := width - 1
	for len(line) > 0 && left > 0 {
		if code := colors.FindStringIndex(line); code != nil && code[0] == 0 {
			b.WriteString(line[:code[1]])
			line = line[code[1]:]
			continue
		}
		r, size := utf8.DecodeRuneInString(line)
		b.WriteRune(r)
		line, left = line[size:], left-1
	}
	return b.String() + "…"
}

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// mark is a symbol in front of a line.
type mark string

const (
	done     mark = "✓"
	underWay mark = "…"
	unwell   mark = "✗"
)

// markOf returns the mark of something that is done, unwell, or not done yet.
func markOf(isDone, isUnwell bool) mark {
	switch {
	case isDone:
		return done
	case isUnwell:
		return unwell
	}
	return underWay
}

func (s Style) mark(m mark) string {
	if !s.Color {
		return string(m)
	}
	return map[mark]string{done: green, underWay: yellow, unwell: red}[m] + string(m) + reset
}

// ofPart is the mark of a part of a cluster.
func ofPart(part state.Part) mark { return markOf(part.Done(), part.Unwell()) }

// ofCluster is the mark of a cluster.
func ofCluster(cluster state.Cluster) mark {
	return markOf(cluster.Done(), cluster.Paused || slices.ContainsFunc(cluster.Parts(), state.Part.Unwell))
}
