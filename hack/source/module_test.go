package source

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDownload(t *testing.T) {
	t.Parallel()
	exit := errors.New("exit status 1")
	tests := map[string]struct {
		output        string
		runErr        error
		want, wantErr string
	}{
		"downloaded": {output: `{"Path": "m", "Dir": "/cache/m@v1"}`, want: "/cache/m@v1"},
		"refused":    {output: `{"Path": "m", "Error": "no such version"}`, runErr: exit, wantErr: "download m@v1: no such version"},
		"failed":     {output: `{"Path": "m"}`, runErr: exit, wantErr: "download m@v1: exit status 1"},
		"no answer":  {runErr: exit, wantErr: "download m@v1: exit status 1\nunexpected end of JSON input"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseDownload("m@v1", []byte(test.output), test.runErr)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff([]string{test.want, test.wantErr}, []string{got, message}); diff != "" {
				t.Errorf("directory and error (-want +got):\n%s", diff)
			}
		})
	}
}
