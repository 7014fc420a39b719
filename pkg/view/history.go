package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// History writes what happened to a cluster: a row for each run, and then the Events. With
// all columns it has the process and the machine of each run.
func History(w io.Writer, h state.History, columns Columns) error {
	if len(h.Runs)+len(h.Events) == 0 {
		_, err := fmt.Fprintf(w, "nothing is recorded of cluster %s/%s\n", h.Namespace, h.Name)
		return err
	}
	row := func(cells ...string) string { return strings.Join(cells, "\t") + "\n" }
	headers := []string{"BEGAN", "TOOK", "COMMAND", "USER"}
	if columns == AllColumns {
		headers = append(headers, "CLIENT")
	}
	rows := row(append(headers, "PARTS", "FROM", "TO", "STEPS", "RESULT")...)
	for _, run := range h.Runs {
		cells := []string{run.Began.UTC().Format(time.RFC3339), took(run), run.Command, cmp.Or(run.User, none)}
		if columns == AllColumns {
			cells = append(cells, run.Client)
		}
		rows += row(append(cells, cmp.Or(strings.Join(run.Parts, ","), "all"), versions(run.From), versions(run.To), steps(run), result(run))...)
	}
	if err := align(w, rows, columnSpacing); err != nil || len(h.Events) == 0 {
		return err
	}
	rows = "\nEVENT AT\tREASON\tMESSAGE\n"
	for _, event := range h.Events {
		rows += row(event.Time.UTC().Format(time.RFC3339), event.Reason, event.Message)
	}
	return align(w, rows, columnSpacing)
}

func took(run state.Run) string {
	if run.Ended.IsZero() {
		return none
	}
	return run.Ended.Sub(run.Began).Round(time.Second).String()
}

// versions names the version of the control plane, and of groups that have another one.
func versions(of v1alpha1.ClusterVersions) string {
	var all []string
	if !of.ControlPlane.IsZero() {
		all = append(all, of.ControlPlane.String())
	}
	for _, name := range slices.Sorted(maps.Keys(of.WorkerNodeGroups)) {
		if version := of.WorkerNodeGroups[name]; version != of.ControlPlane {
			all = append(all, name+" "+version.String())
		}
	}
	return cmp.Or(strings.Join(all, ", "), none)
}

// steps are how many steps the plan has; a run that only creates or restarts has none.
func steps(run state.Run) string {
	if run.Steps == 0 {
		return none
	}
	return strconv.Itoa(run.Steps)
}

func result(run state.Run) string {
	if run.Reason == "" {
		return string(run.Result)
	}
	return fmt.Sprintf("%s: %s", run.Result, run.Reason)
}
