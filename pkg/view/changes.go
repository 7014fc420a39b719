package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// maxChanges is how many changes of a step are shown; JSON has all.
const maxChanges = 10

// stepChanges returns a line for each change of a step.
func stepChanges(step plan.Step) []string {
	lines := changeLines(step.Changes)
	for _, group := range step.WorkerNodeGroups {
		for _, line := range changeLines(group.Changes) {
			lines = append(lines, group.Name+": "+line)
		}
	}
	if more := len(lines) - maxChanges; more > 0 {
		lines = append(lines[:maxChanges], fmt.Sprintf("and %d more; -o json has all of them", more))
	}
	return lines
}

// changeLines returns a line for each change of a part.
func changeLines(c plan.Changes) []string {
	var lines []string
	for _, change := range c.Fields {
		if change.ReplacesMachines {
			change.Object = "" // which is the part itself
		}
		lines = append(lines, change.String())
	}
	if t := c.Templates; t != nil {
		lines = append(lines, fmt.Sprintf("templates of the machines: %s -> %s", cmp.Or(strings.Join(t.Old, ", "), "not known"), strings.Join(t.New, ", ")))
	}
	if c.Unknown != nil {
		lines = append(lines, unknown(*c.Unknown))
	}
	return lines
}

// unknown says that changes cannot be computed.
func unknown(u plan.Unknown) string {
	why := fmt.Sprintf("ClusterClass %s has patches from runtime extensions", u.ClusterClass)
	if u.Reason == plan.NothingGenerated {
		why = fmt.Sprintf("Cluster API cannot generate the current cluster from ClusterClass %s (%s)", u.ClusterClass, u.Message)
	}
	return why + ": it is not known in advance which machines are replaced by changes other than the version"
}
