package state

import "k8s.io/apimachinery/pkg/runtime/schema"

// BootstrapFailure is a condition of a kind of machines of an infrastructure provider that
// says that their bootstrap failed, and is not tried again.
type BootstrapFailure struct {
	Kind schema.GroupVersionKind
	// Condition is the type of the condition, which is false with the reason.
	Condition, Reason string
}
