package plan

// Finding is a problem that a preflight found.
type Finding struct {
	// Check is the name of the check.
	Check string `json:"check"`
	// Reason says what is wrong, with the remedy.
	Reason string `json:"reason"`
}
