package randomspec

import (
	"fmt"
	"regexp/syntax"
	"strings"
)

// mostRepeats is how often something is repeated where a pattern sets no limit.
const mostRepeats = 6

// matching returns a text that a regular expression matches. Where the expression is not
// tied to the begin and the end of a text, there is nothing around the match.
func (d *draw) matching(pattern string) (string, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", fmt.Errorf("reading pattern %s: %w", pattern, err)
	}
	var text strings.Builder
	if err := d.match(parsed.Simplify(), &text); err != nil {
		return "", fmt.Errorf("pattern %s: %w", pattern, err)
	}
	return text.String(), nil
}

// match writes a text that an expression matches. The repetitions that have limits were made
// of simpler ones.
func (d *draw) match(of *syntax.Regexp, into *strings.Builder) error {
	repeat := func(least, most int) error {
		for range least + d.IntN(most-least+1) {
			if err := d.match(of.Sub[0], into); err != nil {
				return err
			}
		}
		return nil
	}
	switch of.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
	case syntax.OpLiteral:
		into.WriteString(string(of.Rune))
	case syntax.OpCharClass:
		into.WriteRune(d.oneOf(of.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		into.WriteByte(special[d.IntN(len(special))])
	case syntax.OpCapture:
		return d.match(of.Sub[0], into)
	case syntax.OpStar:
		return repeat(0, mostRepeats)
	case syntax.OpPlus:
		return repeat(1, mostRepeats)
	case syntax.OpQuest:
		return repeat(0, 1)
	case syntax.OpAlternate:
		return d.match(of.Sub[d.IntN(len(of.Sub))], into)
	case syntax.OpConcat:
		for _, part := range of.Sub {
			if err := d.match(part, into); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("no text is made for %s", of.Op)
	}
	return nil
}

// oneOf returns a character of a class, which has pairs of the first and the last one of a
// range. It is one that can be seen, where the class has any.
func (d *draw) oneOf(ranges []rune) rune {
	var visible []rune
	for i := 0; i < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= min(ranges[i+1], '~'); r++ {
			visible = append(visible, r)
		}
	}
	if len(visible) == 0 {
		return ranges[0]
	}
	return visible[d.IntN(len(visible))]
}
