package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRenameNotes(t *testing.T) {
	t.Parallel()
	renamed := func(from, to string) []string {
		return []string{"group " + from + " is removed, and group " + to + " is new with as many machines; a group cannot be renamed: keep the name " + from + " to keep its machines"}
	}
	for name, test := range map[string]struct {
		groups        []string
		removed, want []string
	}{
		"one for another":              {[]string{"old 1.31 -", "new - 1.31"}, []string{"old"}, renamed("old", "new")},
		"one for another, and others":  {[]string{"a 1.31 1.31", "old 1.31 -", "new - 1.31"}, []string{"old"}, renamed("old", "new")},
		"removed only":                 {[]string{"a 1.31 1.31", "old 1.31 -"}, []string{"old"}, nil},
		"created only":                 {[]string{"a 1.31 1.31", "new - 1.31"}, nil, nil},
		"two could be the renamed one": {[]string{"old 1.31 -", "new - 1.31", "newer - 1.31"}, []string{"old"}, nil},
		"either could be renamed":      {[]string{"old 1.31 -", "older 1.31 -", "new - 1.31"}, []string{"old", "older"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := compute(t, input("1.31", "1.31", test.groups...))
			var removed []string
			for _, group := range p.Removed() {
				removed = append(removed, group.Name)
			}
			if diff := cmp.Diff([][]string{test.removed, test.want}, [][]string{removed, p.RenameNotes()}); diff != "" {
				t.Errorf("groups that are removed, and notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRenameNotesOfOtherSizes: a group that is new with another number of machines is no renamed
// one.
func TestRenameNotesOfOtherSizes(t *testing.T) {
	t.Parallel()
	in := input("1.31", "1.31", "old 1.31 -", "new - 1.31")
	in.Target.WorkerNodeGroups[0].Machines = 2
	if notes := compute(t, in).RenameNotes(); len(notes) > 0 {
		t.Errorf("notes %q, want none", notes)
	}
}
