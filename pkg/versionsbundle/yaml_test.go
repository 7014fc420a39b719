package versionsbundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestText: what is written is read again as it was, and begins as people write it.
func TestText(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("built-in", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	text, err := bundles.Text()
	if err != nil {
		t.Fatal(err)
	}
	read, err := versionsbundle.Parse("written", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bundles.Spec, read.Spec, cmpopts.EquateComparable(v1alpha1.Version{}, v1alpha1.Minor{})); diff != "" {
		t.Errorf("versions (-before +after):\n%s", diff)
	}
	const beginning = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Bundles\nmetadata:\n  name: "
	if diff := cmp.Diff(beginning, text[:len(beginning)]); diff != "" {
		t.Errorf("beginning (-want +got):\n%s", diff)
	}
}
