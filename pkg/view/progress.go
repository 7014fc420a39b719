package view

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

const (
	// redrawEvery bounds how often a terminal is drawn on.
	redrawEvery = 200 * time.Millisecond
	// heartbeatEvery is how often something is said while nothing changes.
	heartbeatEvery = 30 * time.Second
)

// Mode is how progress is shown.
type Mode string

// Modes of progress.
const (
	Lines    Mode = "lines"    // one line for each change, and a heartbeat
	Terminal Mode = "terminal" // a tree that is drawn anew in its place
	JSON     Mode = "json"     // one JSON object for each change
	Quiet    Mode = "quiet"    // nothing
)

// Progress shows how the state of a cluster changes.
type Progress struct {
	w     io.Writer
	mode  Mode
	style Style

	mu      sync.Mutex
	started time.Time
	changed time.Time // when the last line was written
	latest  state.Cluster
	upgrade *upgrade // nil unless an upgrade is shown
	have    bool
	// dirty is true where something changed since it was drawn, at drawnAt.
	dirty   bool
	drawnAt time.Duration
	// closing is true once nothing more is shown.
	closing bool
	// drawn are the lines on the terminal that are drawn over, finished those that are to
	// stay above them.
	drawn, finished []string
	// stepBegan is when the step under way began.
	stepBegan time.Time
	said      map[string]string // part -> its last line

	stop chan struct{}
	done chan struct{}
}

// NewProgress begins to show progress. Close must be called.
func NewProgress(w io.Writer, mode Mode, style Style) *Progress {
	now := time.Now()
	p := &Progress{w: w, mode: mode, style: style, started: now, changed: now, said: map[string]string{}, stop: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p
}

// Show takes the state of the cluster after a change.
func (p *Progress) Show(cluster state.Cluster) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest, p.have, p.dirty = cluster, true, true
	switch p.mode {
	case Lines:
		p.lines()
	case JSON:
		p.json()
	case Terminal, Quiet:
	}
}

// upgrade is how far an upgrade is.
type upgrade struct {
	plan plan.Plan
	step int // index of the step under way; the number of steps at the end
	// left is true if the plan is the rest of one, and its first step the one under
	// way.
	left bool
}

// ShowUpgrade takes the state of a cluster that is being upgraded after a
// change, with the index of the step under way.
func (p *Progress) ShowUpgrade(plan plan.Plan, step int, cluster state.Cluster) {
	p.mu.Lock()
	p.finishSteps(plan, step)
	p.upgrade = &upgrade{plan: plan, step: step}
	p.mu.Unlock()
	p.Show(cluster)
}

// ShowLeft takes the state of a cluster after a change, with the steps that are
// left; of an empty plan nothing is shown.
func (p *Progress) ShowLeft(left plan.Plan, cluster state.Cluster) {
	p.mu.Lock()
	p.upgrade = &upgrade{plan: left, left: true}
	if left.Empty() {
		p.upgrade = nil
	}
	p.mu.Unlock()
	p.Show(cluster)
}

// title returns the title of the step under way; empty without one.
func (p *Progress) title() string {
	switch {
	case p.upgrade == nil:
		return ""
	case p.upgrade.step == len(p.upgrade.plan.Steps) && p.waiting() != "":
		return "every step was started" // those beside the others may last
	case p.upgrade.step == len(p.upgrade.plan.Steps):
		return "all steps are done"
	case p.upgrade.left:
		return fmt.Sprintf("%s left: %s", Counted(len(p.upgrade.plan.Steps), "step"), p.upgrade.plan.Steps[0])
	case p.latest.HealthWait != nil:
		return fmt.Sprintf("step %d of %d waits at most %s until %s: Cluster API creates no worker machines while the control plane rolls",
			p.upgrade.step+1, len(p.upgrade.plan.Steps), p.latest.HealthWait.Until.Sub(p.latest.HealthWait.Since), healthy(p.latest.HealthWait.Parts))
	}
	return fmt.Sprintf("step %d of %d: %s", p.upgrade.step+1, len(p.upgrade.plan.Steps), p.upgrade.plan.Steps[p.upgrade.step])
}

// healthy says that parts are healthy; none of them is the cluster as a whole.
func healthy(parts []string) string {
	switch last := len(parts) - 1; last {
	case -1:
		return "the cluster is healthy"
	case 0:
		return parts[0] + " is healthy"
	default:
		return strings.Join(parts[:last], ", ") + " and " + parts[last] + " are healthy"
	}
}

// waiting is the one thing that is being waited for.
func (p *Progress) waiting() string {
	if p.upgrade != nil && p.upgrade.step < len(p.upgrade.plan.Steps) {
		if waiting := p.upgrade.plan.Steps[p.upgrade.step].Waiting(p.latest); waiting != "" {
			return waiting
		}
	}
	return p.latest.Waiting()
}

// Close draws the last state and ends.
func (p *Progress) Close() {
	close(p.stop)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	// Once more in any case: over what was typed, as ^C, which the next line would follow.
	p.closing = true
	p.redraw()
}

func (p *Progress) run() {
	defer close(p.done)
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case now := <-ticker.C:
			p.mu.Lock()
			p.redraw()
			p.heartbeat(now)
			p.mu.Unlock()
		}
	}
}

func (p *Progress) lines() {
	switch {
	case p.latest.Infrastructure != "":
		p.say("infrastructure", "infrastructure: "+p.latest.Infrastructure)
	case p.said["infrastructure"] != "":
		p.say("infrastructure", "infrastructure: provisioned")
	}
	for _, part := range p.latest.Parts() {
		if p.latest.Deleting || !part.Version.IsZero() {
			p.say(part.Name, p.partLine(part))
		}
	}
	for _, addOn := range p.latest.AddOns {
		if addOn.Applied && !p.latest.Deleting {
			p.say("add-on "+addOn.Name, "add-on "+addOn.Name+" applied")
		}
	}
	switch {
	case p.latest.Held != nil:
		p.say("hold", p.latest.Held.String())
	case p.said["hold"] != "":
		p.say("hold", "the hold was lifted")
	}
	if t := p.latest.Topology; t != nil && t.Failed {
		p.say("topology", "Cluster API cannot reconcile the topology: "+t.Reason)
	} else if p.said["topology"] != "" {
		p.say("topology", "Cluster API reconciles the topology again")
	}
	// The end of a step is printed before the next one.
	if title := p.title(); title != "" {
		p.say("step", title)
	}
}

// partLine returns the progress of a part in one line.
func (p *Progress) partLine(part state.Part) string {
	if p.latest.Deleting {
		return fmt.Sprintf("%s: machines left: %d", part.Name, len(part.Machines))
	}
	return fmt.Sprintf("%s %s: %s", part.Name, part.Version, part.Count())
}

// say writes a line unless it was the last one about its subject.
func (p *Progress) say(subject, line string) {
	if p.said[subject] == line {
		return
	}
	p.said[subject] = line
	p.changed = time.Now()
	p.write(fmt.Sprintf("%5s  %s\n", p.elapsed(p.changed), line))
}

func (p *Progress) heartbeat(now time.Time) {
	if p.mode == JSON && p.have && now.Sub(p.changed) >= heartbeatEvery {
		p.changed = now
		delete(p.said, "json")
		p.json()
		return
	}
	if p.mode != Lines || !p.have || now.Sub(p.changed) < heartbeatEvery {
		return
	}
	if waiting := p.waiting(); waiting != "" {
		p.changed = now
		p.write(fmt.Sprintf("%5s  waiting for %s\n", p.elapsed(now), waiting))
	}
}

// write drops the error: the upgrade continues whether or not it is shown.
func (p *Progress) write(text string) { _, _ = io.WriteString(p.w, text) }

func (p *Progress) elapsed(now time.Time) time.Duration { return now.Sub(p.started).Round(time.Second) }

// maxDrawn is how many parts are drawn, so that they fit a small terminal.
const maxDrawn = 15

// finishSteps notes the steps that were done since the last change, with the time that
// they took together.
func (p *Progress) finishSteps(plan plan.Plan, step int) {
	now := time.Now()
	if p.upgrade == nil || p.mode != Terminal {
		p.stepBegan = now
		return
	}
	for i := p.upgrade.step; i < step; i++ {
		if plan.Steps[i].Concurrent {
			continue // it was begun, and may last
		}
		p.finished = append(p.finished, fmt.Sprintf("%s step %d of %d: %s, %s", p.style.mark(done), i+1, len(plan.Steps), plan.Steps[i], now.Sub(p.stepBegan).Round(time.Second)))
		p.stepBegan = now
	}
}

func (p *Progress) redraw() {
	now := time.Now()
	elapsed := p.elapsed(now)
	if p.mode != Terminal || !p.have || !p.dirty && !p.closing && elapsed == p.drawnAt {
		return
	}
	p.dirty, p.drawnAt = false, elapsed
	lines := p.style.wrapped(p.block(now))
	if len(p.finished) == 0 && !p.closing && slices.Equal(lines, p.drawn) {
		return
	}
	var b strings.Builder
	if rows := p.style.rows(p.drawn); rows > 0 {
		// The cursor may stand behind what was typed, as ^C.
		fmt.Fprintf(&b, "\r\x1b[%dA\x1b[J", rows)
	}
	for _, line := range p.finished {
		fmt.Fprintln(&b, line) // the terminal wraps it
	}
	p.finished = nil
	p.drawn = lines
	for _, line := range p.drawn {
		fmt.Fprintln(&b, line)
	}
	p.write(b.String())
}

// block returns the lines to draw: the parts, unfinished ones first if not all of them
// fit, and what the cluster waits for.
func (p *Progress) block(now time.Time) []string {
	var lines, settled []string
	if title := p.title(); title != "" {
		lines = append(lines, p.bar()+title)
	}
	for _, part := range p.latest.Parts() {
		mark := ofPart(part)
		if p.latest.Deleting {
			mark = underWay
		}
		line := p.style.mark(mark) + " " + p.partLine(part)
		if part.Done() && len(p.latest.WorkerNodeGroups) >= maxDrawn {
			settled = append(settled, line)
		} else {
			lines = append(lines, line)
		}
	}
	lines = append(lines, settled...)
	if left := len(lines) - maxDrawn; left > 0 {
		lines = append(lines[:maxDrawn], fmt.Sprintf("  and %d more worker node groups, %d of %d ready in all", left, len(settled), len(p.latest.Parts())))
	}
	if waiting := p.waiting(); waiting != "" {
		lines = append(lines, fmt.Sprintf("%s  waiting for %s", p.elapsed(now), waiting))
	}
	return lines
}

// barWidth is how many characters the bar of the steps has.
const barWidth = 10

// bar returns how many steps of an upgrade are done, as a bar.
func (p *Progress) bar() string {
	if p.upgrade == nil || p.upgrade.left || p.upgrade.plan.Empty() {
		return ""
	}
	full := barWidth * p.upgrade.step / len(p.upgrade.plan.Steps)
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full) + " "
}

// clusterEvent is the event for each change in mode JSON.
type clusterEvent struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Step is the number of the upgrade's step under way, from 1, and Steps the number
	// of steps; 0 without an upgrade.
	Step    int           `json:"step,omitempty"`
	Steps   int           `json:"steps,omitempty"`
	Done    bool          `json:"done"`
	Waiting string        `json:"waiting,omitempty"`
	Cluster state.Cluster `json:"cluster"`
}

func (p *Progress) json() {
	event := clusterEvent{APIVersion: v1alpha1.APIVersion, Kind: "ClusterEvent", Done: p.latest.Done(), Waiting: p.latest.Waiting(), Cluster: p.latest}
	if p.upgrade != nil {
		steps := len(p.upgrade.plan.Steps)
		event.Step, event.Steps, event.Waiting = min(p.upgrade.step+1, steps), steps, p.waiting()
		event.Done = p.upgrade.step == steps && event.Waiting == ""
	}
	data, err := json.Marshal(event)
	if err != nil || p.said["json"] == string(data) {
		return
	}
	p.said["json"], p.changed = string(data), time.Now()
	p.write(string(data) + "\n")
}
