package plan

// Finding is a problem that a preflight found.
type Finding struct {
	Check  string // its name
	Reason string // with the remedy
}
