// Package usage has the errors about what a user gave: the command line, the environment,
// or a file that these name.
package usage

import (
	"fmt"
	"slices"
	"strings"
)

// Error says that the command line, the environment or a file given on it is wrong.
type Error struct{ Err error }

func (e Error) Error() string { return e.Err.Error() }

func (e Error) Unwrap() error { return e.Err }

// Wrap makes err an Error; nil stays nil.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	return Error{Err: err}
}

// Errorf formats an Error as fmt.Errorf does.
func Errorf(format string, args ...any) error { return Wrap(fmt.Errorf(format, args...)) }

// CheckChoice checks that a flag has one of the allowed values.
func CheckChoice(flag, value string, allowed []string) error {
	if value == "" {
		return Errorf("--%s is required: one of %s", flag, strings.Join(allowed, ", "))
	}
	if err := CheckOneOf(value, allowed); err != nil {
		return Errorf("--%s %w", flag, err)
	}
	return nil
}

// CheckOneOf checks that a value is one of those that are allowed. The error, which is no Error,
// follows the name of where the value stands.
func CheckOneOf(value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("must be one of %s, not %q", strings.Join(allowed, ", "), value)
}
