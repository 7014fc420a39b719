package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithVersion(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ rendered, want, wantErr string }{
		"labels, images and arguments": {
			rendered: "    version: \"v0.0.0\"\n        image: \"quay.io/a:v0.0.0\"\n        - --solver=quay.io/b:v0.0.0\n",
			want:     "    version: \"v1.2.3\"\n        image: \"quay.io/a:v1.2.3\"\n        - --solver=quay.io/b:v1.2.3\n",
		},
		"a chart with a version": {
			rendered: "        image: quay.io/a:v1.2.3\n",
			wantErr:  "the chart has no image of v0.0.0; it has a version of its own now",
		},
		"an image of something else": {
			rendered: "        image: quay.io/a:v0.0.0\n        image: quay.io/b:v9\n",
			wantErr:  `image "quay.io/b:v9" is not one of the release v1.2.3`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := withVersion(test.rendered, "v1.2.3")
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff([]string{test.want, test.wantErr}, []string{got, message}); diff != "" {
				t.Errorf("text and error (-want +got):\n%s", diff)
			}
		})
	}
}
