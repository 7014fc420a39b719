package upgradeplan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation/field"
	capiversion "sigs.k8s.io/cluster-api/util/version"
)

// Names of the fields of requests and responses.
const (
	controlPlaneField  = "fromControlPlaneKubernetesVersion"
	workersField       = "fromWorkersKubernetesVersion"
	targetField        = "toKubernetesVersion"
	controlPlaneStages = "controlPlaneUpgrades"
	workersStages      = "workersUpgrades"
)

// Exchange is a request for a plan and its answer, as written in a file.
type Exchange struct {
	// FromControlPlane, FromWorkers and To are the versions of the request; that of
	// the workers is empty where there are none.
	FromControlPlane, FromWorkers, To string
	// ControlPlane and Workers are the versions of the response's steps.
	ControlPlane, Workers []string
}

// String says through which versions the plan goes.
func (e Exchange) String() string {
	workers := "the workers as few times as the version skew policy allows"
	switch {
	case e.FromWorkers == "" || e.FromWorkers == e.To:
		workers = "no workers move"
	case len(e.Workers) > 0:
		workers = "the workers through " + strings.Join(e.Workers, ", ")
	}
	if len(e.ControlPlane) == 0 {
		return fmt.Sprintf("the control plane stays at %s; %s", e.To, workers)
	}
	return fmt.Sprintf("the control plane through %s; %s", strings.Join(e.ControlPlane, ", "), workers)
}

// Check reports everything that Cluster API would reject, and what to write instead.
// Every path names a field of the request or the response.
func Check(e Exchange) field.ErrorList {
	c := checker{Exchange: e}
	c.from = c.parse(field.NewPath(controlPlaneField), e.FromControlPlane)
	c.to = c.parse(field.NewPath(targetField), e.To)
	if e.FromWorkers != "" {
		c.workers = c.parse(field.NewPath(workersField), e.FromWorkers)
	}
	controlPlane := c.parseAll(controlPlaneStages, e.ControlPlane)
	workers := c.parseAll(workersStages, e.Workers)
	if len(c.problems) > 0 {
		return c.problems // what is not read cannot be compared
	}
	c.controlPlane(controlPlane)
	c.workersPlan(controlPlane, workers)
	return c.problems
}

type checker struct {
	Exchange
	from, to stage
	// workers is the zero stage where there are none.
	workers  stage
	problems field.ErrorList
}

// stage is a version with its field.
type stage struct {
	semver.Version
	text string
	path *field.Path
}

func (c *checker) parse(path *field.Path, text string) stage {
	version, err := semver.Parse(strings.TrimPrefix(text, "v"))
	if err != nil {
		c.problems = append(c.problems, field.Invalid(path, text, "must be a version of Kubernetes such as v1.34.2"))
	}
	return stage{Version: version, text: text, path: path}
}

func (c *checker) parseAll(name string, texts []string) []stage {
	stages := make([]stage, len(texts))
	for i, text := range texts {
		stages[i] = c.parse(field.NewPath(name).Index(i).Child("version"), text)
	}
	return stages
}

func (c *checker) wrong(s stage, format string, args ...any) {
	c.problems = append(c.problems, field.Invalid(s.path, s.text, fmt.Sprintf(format, args...)))
}

// noOrder is Cluster API's result for two builds of one patch that have no order.
const noOrder = 2

// compare is negative, 0 or positive where a is older than b, the same or newer, and
// noOrder where they are builds of one patch that have none.
func compare(a, b stage) int {
	return capiversion.Compare(a.Version, b.Version, capiversion.WithBuildTags())
}

// controlPlane checks the steps of the control plane.
func (c *checker) controlPlane(steps []stage) {
	path := field.NewPath(controlPlaneStages)
	if compare(c.from, c.to) == 0 {
		if len(steps) > 0 {
			c.problems = append(c.problems, field.Forbidden(path, fmt.Sprintf("the control plane is at %s already: leave it out", c.To)))
		}
		return
	}
	if len(steps) == 0 {
		c.problems = append(c.problems, field.Required(path, fmt.Sprintf("the steps from %s to %s, one version at least for each minor", c.FromControlPlane, c.To)))
		return
	}
	at := c.from
	for _, step := range steps {
		c.follows(step, at)
		c.notPast(step)
		if missing := at.Minor + 1; step.Major == at.Major && step.Minor > missing {
			c.wrong(step, "skips a minor after %s: put a version of %d.%d before it", at.text, at.Major, missing)
		}
		if step.Major != at.Major {
			c.wrong(step, "must have the major version of %s", at.text)
		}
		at = step
	}
	c.arrives(at)
}

// workersPlan checks the steps of the workers, which may be left to Cluster API.
func (c *checker) workersPlan(controlPlane, steps []stage) {
	path := field.NewPath(workersStages)
	if c.FromWorkers != "" {
		c.notPast(c.workers)
	}
	if len(steps) == 0 {
		if c.FromWorkers != "" && compare(c.workers, c.to) == noOrder && c.FromWorkers != c.FromControlPlane {
			c.problems = append(c.problems, field.Invalid(field.NewPath(workersField), c.FromWorkers, fmt.Sprintf("is another build than %s, and Cluster API cannot tell whether that comes after it: the control plane has left it", c.To)))
		}
		if c.FromWorkers != "" && compare(c.workers, c.to) != 0 && c.from.Minor > c.workers.Minor+maxJump {
			c.problems = append(c.problems, field.Invalid(field.NewPath(workersField), c.FromWorkers, fmt.Sprintf("workers go by %d minors at most in one step, and the control plane is at %s", maxJump, c.FromControlPlane)))
		}
		return
	}
	if c.FromWorkers == "" || compare(c.workers, c.to) == 0 {
		c.problems = append(c.problems, field.Forbidden(path, fmt.Sprintf("there are no workers, or they are at %s already: leave it out", c.To)))
		return
	}
	order := []string{c.FromControlPlane}
	for _, step := range controlPlane {
		order = append(order, step.text)
	}
	at := c.workers
	for _, step := range steps {
		if !slices.Contains(order, step.text) {
			c.wrong(step, "must be %s, where the control plane is, or one of %s", c.FromControlPlane, controlPlaneStages)
		}
		c.follows(step, at)
		c.notPast(step)
		switch {
		case compare(step, at) != noOrder:
		case !slices.Contains(order, at.text):
			c.wrong(step, "is another build than %s, and Cluster API cannot tell whether it comes after it: the control plane has left that", at.text)
		case slices.Index(order, step.text) < slices.Index(order, at.text):
			c.wrong(step, "must come before %s, as in %s", at.text, controlPlaneStages)
		}
		if step.Minor > at.Minor+maxJump {
			c.wrong(step, "is more than %d minors after %s, which the version skew policy forbids: put a version between them", maxJump, at.text)
		}
		at = step
	}
	c.arrives(at)
}

// follows checks that a step is newer than the one before, or another build of it.
func (c *checker) follows(step, before stage) {
	if compare(step, before) <= 0 {
		c.wrong(step, "must be newer than %s, or another build of it", before.text)
	}
}

// notPast checks that a version is not newer than the target.
func (c *checker) notPast(s stage) {
	if compare(s, c.to) == 1 {
		c.wrong(s, "must not be newer than %s, the version asked for", c.To)
	}
}

// arrives checks that the last step is the target.
func (c *checker) arrives(last stage) {
	if compare(last, c.to) != 0 {
		c.wrong(last, "is the last step, which must be %s, the version asked for", c.To)
	}
}
