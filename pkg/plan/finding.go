package plan

// Finding is what a preflight found in the way of a plan.
type Finding struct {
	Check  string // its name
	Reason string // with the remedy
}
