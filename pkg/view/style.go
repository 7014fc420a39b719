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

// visible returns how many columns a line takes that is not wrapped.
func visible(line string) int {
	return utf8.RuneCountInString(colors.ReplaceAllString(line, ""))
}

// wrapped breaks lines that are wider than the terminal at spaces. What is broken off is
// indented.
func (s Style) wrapped(lines []string) []string {
	const indent = "    "
	width := s.width()
	if width <= len(indent) {
		return lines
	}
	var all []string
	for _, line := range lines {
		words := strings.Split(line, " ")
		now := words[0]
		for _, word := range words[1:] {
			if next := now + " " + word; visible(next) <= width || strings.TrimSpace(now) == "" {
				now = next
				continue
			}
			all = append(all, now)
			now = indent + word
		}
		all = append(all, now)
	}
	return all
}

// rows returns how many rows of the terminal lines take, which may have become narrower
// since they were written.
func (s Style) rows(lines []string) int {
	rows, width := 0, s.width()
	for _, line := range lines {
		rows++
		if columns := visible(line); width > 0 && columns > width {
			rows += (columns - 1) / width
		}
	}
	return rows
}

func (s Style) width() int {
	if s.Width == nil {
		return 0
	}
	return s.Width()
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
