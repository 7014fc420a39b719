package owners

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Takeover says from which field managers fields with other values are taken over. The zero
// value takes none over.
type Takeover struct {
	// All takes fields over from all field managers.
	All bool
	// Managers are the field managers to take fields over from.
	Managers []string
	// People takes fields over from what people write with, such as kubectl: for fields that
	// a person asks for by name. Nothing would write the old values again by itself.
	People bool
}

// Allows reports whether a field of an object may be taken over from the field managers that
// own it.
func (t Takeover) Allows(object metav1.Object, managers []string) bool {
	return t.All || len(managers) > 0 && !slices.ContainsFunc(managers, func(manager string) bool {
		return !slices.Contains(t.Managers, manager) && !(t.People && OfManager(object, manager).Personal())
	})
}

// Set adds what a command line says: field managers with commas between, or true for all.
func (t *Takeover) Set(text string) error {
	switch text {
	case "true", "false":
		*t = Takeover{All: text == "true"}
		return nil
	}
	for manager := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(manager) == "" {
			return errors.New("the name of a field manager must not be empty")
		}
		t.Managers = append(t.Managers, strings.TrimSpace(manager))
	}
	return nil
}

// String returns what Set takes.
func (t Takeover) String() string {
	if t.All {
		return "true"
	}
	return strings.Join(t.Managers, ",")
}

// Type names the values of Set.
func (t Takeover) Type() string { return "managers" }

// ManagersOf returns the field managers of an object, other than the given one, that own a
// field, sorted. The path is written as the API server writes it in conflicts.
func ManagersOf(object metav1.Object, path, besides string) ([]string, error) {
	var found []string
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == besides || entry.FieldsV1 == nil {
			continue
		}
		var fields fieldpath.Set
		if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, fmt.Errorf("reading who owns the fields of %s: %w", object.GetName(), err)
		}
		fields.Iterate(func(owned fieldpath.Path) {
			if owned.String() == path {
				found = append(found, entry.Manager)
			}
		})
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// LastManager returns the field manager, other than the given one, controllers and those of the
// status, that wrote an object last; it is empty where that is not known.
func LastManager(object metav1.Object, besides string) string {
	name, at := "", metav1.Time{}
	for _, entry := range object.GetManagedFields() {
		if entry.Time == nil || entry.Subresource == "status" || entry.Manager == besides || IsController(entry.Manager) || entry.Time.Before(&at) {
			continue
		}
		name, at = entry.Manager, *entry.Time
	}
	return name
}
