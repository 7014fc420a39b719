package view

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// Markdown writes a plan as GitHub-flavoured Markdown, for the comment on a pull request:
// the steps as a table, removals set apart, and all fields with old and new values folded
// away.
func Markdown(w io.Writer, p plan.Plan) error {
	var b strings.Builder
	name := escaped(strings.TrimPrefix(p.Metadata.Namespace+"/"+p.Metadata.Name, "/"))
	if p.Empty() {
		fmt.Fprintf(&b, "### Cluster %s: nothing to do\n\nThe cluster %s.\n", name, p.Reached())
	} else {
		fmt.Fprintf(&b, "### Plan for cluster %s: %s\n\nIn all: %s.\n\n", name, Counted(len(p.Steps), "step"), total(p))
		if removed := removed(p); removed != "" {
			fmt.Fprintf(&b, "> [!CAUTION]\n> %s\n\n", escaped(removed))
		}
		if len(p.Findings) > 0 {
			fmt.Fprintf(&b, "> [!WARNING]\n> %s\n", refusedNow)
			for _, finding := range p.Findings {
				fmt.Fprintf(&b, "> - %s: %s\n", escaped(finding.Check), escaped(finding.Reason))
			}
			b.WriteString("\n")
		}
		b.WriteString("| step | part | what | machines | why |\n|---|---|---|---|---|\n")
		for i, step := range p.Steps {
			for j, move := range moves(step) {
				number, why := "", ""
				if j == 0 {
					number, why = fmt.Sprint(i+1), reason(step)
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", number, escaped(move.who), escaped(move.what), escaped(move.machines), escaped(why))
			}
		}
		markdownFields(&b, p)
	}
	for i, note := range p.Notes {
		if i == 0 {
			b.WriteString("\nNotes:\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", escaped(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownFields writes a table of the fields that all steps change.
func markdownFields(b *strings.Builder, p plan.Plan) {
	var rows []string
	for i, step := range p.Steps {
		add := func(c plan.Changes) {
			for _, field := range c.Fields {
				rows = append(rows, markdownRow(i+1, field))
			}
			c.Fields = nil
			for _, line := range changeLines(c) {
				rows = append(rows, fmt.Sprintf("| %d | %s | | | |\n", i+1, escaped(line)))
			}
		}
		add(step.Changes)
		for _, group := range step.WorkerNodeGroups {
			add(group.Changes)
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n<details><summary>Fields</summary>\n\n| step | object | field | old | new |\n|---|---|---|---|---|\n%s\n</details>\n", strings.Join(rows, ""))
	}
}

func markdownRow(step int, c changes.Change) string {
	before, after := code(c.Old.String()), code(c.New.String())
	switch {
	case c.Sensitive:
		before, after = "(sensitive value)", "(sensitive value)"
	case c.Action == changes.Restored:
		after = "(created again)"
	case c.Path == "" && c.Action == changes.Added:
		after = "(created)"
	case c.Path == "":
		after = "(deleted)"
	}
	return fmt.Sprintf("| %d | %s | %s | %s | %s |\n", step, code(c.Object), code(strings.TrimSpace(c.Template+" "+c.Path)), before, after)
}

// code returns a text in the style of code, which Markdown takes as it is.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "<code>" + escaped(text) + "</code>"
}

// escaped returns a text that Markdown shows as it is, in a cell of a table too.
func escaped(text string) string {
	replacer := strings.NewReplacer("\n", " ", "|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "\\", "&#92;", "~", "&#126;")
	return replacer.Replace(html.EscapeString(text))
}
