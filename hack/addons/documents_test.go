package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitDocuments(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stream string
		want   []document
	}{
		"empty": {stream: ""},
		"one, without a separator": {
			stream: "kind: A\nmetadata: {name: a}",
			want:   []document{{Kind: "A", Name: "a", Text: "kind: A\nmetadata: {name: a}\n"}},
		},
		"comments stay with their object, those between objects go": {
			stream: "# whole file\n---\n---\n# Source: a.yaml\nkind: A\nmetadata:\n  name: \"a\"\n\n---  \n# nothing\n\n  # here\n---\nkind: B\nmetadata: {name: b}\n\n",
			want: []document{
				{Kind: "A", Name: "a", Text: "# Source: a.yaml\nkind: A\nmetadata:\n  name: \"a\"\n"},
				{Kind: "B", Name: "b", Text: "kind: B\nmetadata: {name: b}\n"},
			},
		},
		"a separator in a value is none": {
			stream: "kind: A\nmetadata: {name: a}\ntext: |\n  ---\n  b\n",
			want:   []document{{Kind: "A", Name: "a", Text: "kind: A\nmetadata: {name: a}\ntext: |\n  ---\n  b\n"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := splitDocuments(test.stream)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitDocumentsRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ stream, want string }{
		"no kind":            {"metadata: {name: a}", `document "metadata: {name: a}" has no kind or no name`},
		"no name":            {"kind: A", `document "kind: A" has no kind or no name`},
		"a hidden separator": {"kind: A\nmetadata: {name: a}\n--- # next\nkind: B\n", `separator "--- # next" is not known here`},
		"not YAML":           {"kind: [", `parse document "kind: [": error converting YAML to JSON: yaml: line 1: did not find expected node content`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := splitDocuments(test.stream)
			wantError(t, err, test.want)
			if got != nil {
				t.Errorf("documents: %v", got)
			}
		})
	}
}

func TestJoinDocumentsIsWhatSplitDocumentsTakesApart(t *testing.T) {
	t.Parallel()
	documents := []document{
		{Kind: "A", Name: "a", Text: "kind: A\nmetadata: {name: a}\n"},
		{Kind: "B", Name: "b", Text: "# b\nkind: B\nmetadata: {name: b}\n"},
	}
	stream := joinDocuments("# comment\n", documents...)
	want := "# comment\n---\nkind: A\nmetadata: {name: a}\n---\n# b\nkind: B\nmetadata: {name: b}\n"
	if diff := cmp.Diff(want, stream); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	got, err := splitDocuments(stream)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(documents, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// wantError compares a whole message.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
