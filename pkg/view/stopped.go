package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// WaitingFor says what an upgrade that was stopped was waiting for, after a blank; it is
// empty where that is not known.
func WaitingFor(p engine.Status) string {
	if p.Cluster.Held != nil {
		return " waiting for " + p.Cluster.Obstacle()
	}
	if p.Step == len(p.Plan.Steps) || p.Cluster.Name == "" {
		return "" // of which nothing was seen yet
	}
	if waiting := cmp.Or(p.Plan.Steps[p.Step].Waiting(p.Cluster), p.Cluster.Waiting()); waiting != "" {
		return " waiting for " + waiting
	}
	return ""
}

// EndOfUpgrade says how an upgrade ended that was carried out by a plan, of all of the cluster
// or of a part, in words that follow the name of the cluster.
func EndOfUpgrade(p plan.Plan, last engine.Status, whole bool, after time.Duration) string {
	switch {
	case !last.Done:
		return ": " + NotWaitedFor(last)
	case !whole:
		return fmt.Sprintf(": done after %s: %s", after, Steps(p.Steps))
	default:
		return fmt.Sprintf(" is at %s after %s", p.To.ControlPlane, after)
	}
}

// NotWaitedFor describes what a run left that did not wait: what keeps the next step from
// being begun, where something does, and what continues and what waits.
func NotWaitedFor(p engine.Status) string {
	waiting := strings.TrimPrefix(WaitingFor(p), " ")
	if waiting == "" || p.Cluster.Held == nil && p.Cluster.HealthWait == nil {
		return Left(p)
	}
	return waiting + "; " + Left(p)
}

// Left describes what continues by itself, and what waits for the command to be run
// again.
func Left(p engine.Status) string {
	const again = "run the same command again to continue"
	if p.Step >= len(p.Plan.Steps) && p.Cluster.Held != nil {
		return "every step is done, and the upgrade ends when the hold is lifted: " + again
	}
	if p.Step >= len(p.Plan.Steps) && len(p.Queued) > 0 {
		return fmt.Sprintf("Cluster API continues with what was started; still to be replaced are the machines of %s: %s", strings.Join(p.Queued, ", "), again)
	}
	if p.Step >= len(p.Plan.Steps) {
		return "every step was started, and Cluster API continues with them: " + again
	}
	goesOn, later := goingOn(p)
	text := "nothing was started"
	if p.Step > 0 {
		text = "nothing is under way"
	}
	if len(p.Queued) > 0 {
		text = "Cluster API continues with the changes that wait for no step"
	}
	if len(goesOn) > 0 {
		text = "Cluster API continues with " + strings.Join(goesOn, ", ")
	}
	if len(p.Queued) > 0 {
		later = append([]string{"new machines for " + strings.Join(p.Queued, ", ")}, later...)
	}
	if len(later) > 0 {
		text += "; still to do: " + strings.Join(later, ", ")
	}
	return text + ": " + again
}

// goingOn returns the steps, or parts of one, that continue by themselves, and those
// that wait.
func goingOn(p engine.Status) (goesOn, later []string) {
	for i, step := range p.Plan.Steps[p.Step:] {
		begun, waiting := step.Split(nil)
		switch number := p.Step + i; {
		case number < p.Through:
			begun, waiting = []string{step.String()}, nil
		case i == 0:
			begun, waiting = step.Split(p.Begun)
		}
		number := p.Step + i + 1
		if len(begun) > 0 {
			goesOn = append(goesOn, fmt.Sprintf("step %d (%s)", number, strings.Join(begun, ", ")))
		}
		if len(waiting) > 0 {
			later = append(later, fmt.Sprintf("step %d (%s)", number, strings.Join(waiting, ", ")))
		}
	}
	return goesOn, later
}

// Steps names steps in one line.
func Steps(steps []plan.Step) string {
	texts := make([]string, len(steps))
	for i, step := range steps {
		texts[i] = step.String()
	}
	return strings.Join(texts, "; ")
}
