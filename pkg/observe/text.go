package observe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bareReason is an item that has no words, only the condition's own reason.
var bareReason = regexp.MustCompile(`^ +\* \w+: \w+$`)

// stderr is how the docker provider begins what a failed command of the bootstrap
// wrote last.
const stderr = "    * STDERR:"

// firstItem are the lines of the first item of a list, with those that are
// indented below it. In a summary the others mostly follow from the first. Of
// items without words the first says enough too, and none where others have
// words; of a command that failed its last words do.
func firstItem(message string) []string {
	lines := strings.Split(message, "\n")
	if i := slices.IndexFunc(lines[1:], func(l string) bool { return strings.HasPrefix(l, "* ") }); i >= 0 {
		lines = lines[:i+1]
	}
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, stderr) }); i >= 0 {
		heads := 0
		for heads < i && strings.HasSuffix(lines[heads], ":") {
			heads++
		}
		written := slices.DeleteFunc(slices.Clone(lines[i:]), func(l string) bool { return strings.HasSuffix(l, "* ...") })
		return slices.Concat(lines[:heads], withoutNoise(written))
	}
	head := lines[:1]
	worded := slices.DeleteFunc(slices.Clone(lines[1:]), bareReason.MatchString)
	if len(worded) == 0 && len(lines) > 1 {
		worded = lines[1:2]
	}
	return slices.Concat(head, worded)
}

// noise is kubeadm's output other than its errors: warnings, advice, and the heading of
// a list.
var noise = regexp.MustCompile(`\[WARNING |To see the stack trace|If you know what you are doing|Some fatal errors occurred:$|\* [WI]\d{4} \d\d:`)

// withoutNoise leaves the noise out of what a command wrote, below its heading, unless
// it wrote nothing else. The error comes last, and a line has room for the first.
func withoutNoise(written []string) []string {
	kept := slices.DeleteFunc(slices.Clone(written), noise.MatchString)
	if bare := func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(stderr) }; len(kept) == 0 || !slices.ContainsFunc(kept, func(l string) bool { return !bare(l) }) {
		return written
	} else if !strings.HasPrefix(kept[0], stderr) {
		return append([]string{stderr}, kept...)
	}
	return kept
}

// OneLine joins the lines of a message, such as Cluster API writes, into one of about room
// characters.
func OneLine(message string, room int) string { return line(strings.Split(message, "\n"), room) }

// line joins the lines of a message, which Cluster API writes as an indented
// list. As many of them as there is room for are kept whole.
func line(lines []string, room int) string {
	text := ""
	for i, l := range lines {
		l = strings.TrimSuffix(strings.TrimLeft(strings.Join(strings.FieldsFunc(l, blank), " "), "* "), ".")
		switch {
		case text == "":
			text = shorten(l, room)
		case strings.HasSuffix(text, ":") && len(text) <= room:
			text += " " + shorten(l, max(room-len(text), room/2))
		case len(text)+len(l) > room:
			return fmt.Sprintf("%s; and %d more", text, len(lines)-i)
		default:
			text += "; " + l
		}
	}
	return text
}

// blank reports whether a rune separates words. Conditions hold the output of failed
// programs, so that is more than spaces.
func blank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// shorten takes words out of the middle of a text: errors begin with what was
// tried and end with what went wrong. What was tried ends with a colon, and mostly with the
// name of an object before it: where the cut is in this name, the name stays, if four fifths of
// the room are enough.
func shorten(text string, room int) string {
	runes := []rune(text)
	if len(runes) <= room {
		return text
	}
	head := string(runes[:room/2])
	if i := strings.LastIndex(head, " "); i > 0 {
		rest, _, _ := strings.Cut(string(runes[room/2:]), " ")
		if whole := head + rest; strings.HasSuffix(rest, ":") && utf8.RuneCountInString(whole) <= room*4/5 {
			head = whole
		} else {
			head = head[:i]
		}
	}
	tail := string(runes[len(runes)-min(room/2, room-utf8.RuneCountInString(head)):])
	if i := strings.Index(tail, " "); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	return head + " … " + tail
}
