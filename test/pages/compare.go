package pages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// anything is a line of a page that stands for any lines, also none.
const anything = "..."

// varies is what differs from run to run, and nothing else: a change of any other
// character is a difference.
func varies() []replacement {
	const duration = `(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:s|m|h)`
	return []replacement{
		{regexp.MustCompile(`https://127\.0\.0\.1:\d+`), "https://127.0.0.1:PORT"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
		{regexp.MustCompile(`\b(after|created) ` + duration + `\b`), "$1 DURATION"},
		// The time at the beginning of a line of progress, and the column AGE.
		{regexp.MustCompile(`^ *` + duration + `  `), " DURATION  "},
		{regexp.MustCompile(`  ` + duration + `$`), "  DURATION"},
		// The random end that the API server gives to a name.
		{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-RANDOM"},
		{regexp.MustCompile(`\bby \S+@\S+ since\b`), "by USER since"},
	}
}

type replacement struct {
	pattern *regexp.Regexp
	by      string
}

// outOfSupport is a warning that comes with the years, minor by minor.
var outOfSupport = regexp.MustCompile(`^warning: .* has been out of support since `)

// constant replaces what varies, and leaves out what comes with the years.
func constant(output []string) []string {
	var kept []string
	for _, line := range output {
		if outOfSupport.MatchString(line) {
			continue
		}
		for _, r := range varies() {
			line = r.pattern.ReplaceAllString(line, r.by)
		}
		kept = append(kept, line)
	}
	return kept
}

// Differences says where what the commands of a page wrote is not what the page shows.
// A command may fail if the next one shows its exit code.
func (p Page) Differences(outcomes Outcomes) []string {
	var all []string
	for i, s := range p.steps {
		if s.file != "" {
			continue
		}
		got := outcomes[i]
		if _, ok := match(s.output, got.output); !ok {
			all = append(all, fmt.Sprintf("line %d: $ %s (-page +command):\n%s", s.line, s.text,
				cmp.Diff(strings.Join(constant(s.output), "\n"), strings.Join(constant(got.output), "\n"))))
		}
		if shown := i+1 < len(p.steps) && p.steps[i+1].text == "echo $?"; got.code != 0 && !shown {
			all = append(all, fmt.Sprintf("line %d: $ %s: exit code %d, and the next command is not 'echo $?'; it wrote:\n%s", s.line, s.text, got.code, strings.Join(got.output, "\n")))
		}
	}
	return all
}

// match compares the output that a page shows with that of a command. It also returns the
// former with the lines of the latter.
func match(page, output []string) ([]string, bool) {
	if len(page) == 0 {
		if len(constant(output)) > 0 {
			return nil, false
		}
		return output, true
	}
	if page[0] == anything {
		for i := range len(output) + 1 {
			if rest, ok := match(page[1:], output[i:]); ok {
				return append([]string{anything}, rest...), true
			}
		}
		return nil, false
	}
	if len(output) > 0 && slices.Equal(constant(page[:1]), constant(output[:1])) {
		if rest, ok := match(page[1:], output[1:]); ok {
			return append([]string{output[0]}, rest...), true
		}
	}
	// One of the two may have a warning that the other does not have.
	if outOfSupport.MatchString(page[0]) {
		return match(page[1:], output)
	}
	if len(output) > 0 && outOfSupport.MatchString(output[0]) {
		if rest, ok := match(page, output[1:]); ok {
			return append([]string{output[0]}, rest...), true
		}
	}
	return nil, false
}

// Rewrite returns the page with what its commands wrote. A block keeps its lines "..."
// where it still matches, and otherwise has all of the output.
func (p Page) Rewrite(outcomes Outcomes) string {
	text := slices.Clone(p.lines)
	for i, s := range slices.Backward(p.steps) {
		if s.file != "" {
			continue
		}
		output := outcomes[i].output
		if merged, ok := match(s.output, output); ok {
			output = merged
		}
		begin := s.line + strings.Count(s.text, "\n")
		text = slices.Replace(text, begin, begin+len(s.output), output...)
	}
	return strings.Join(text, "\n")
}
