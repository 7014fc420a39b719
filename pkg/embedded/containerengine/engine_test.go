package containerengine_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded/containerengine"
)

// answer of an engine.
type answer struct {
	status int
	text   string
}

// outcome of making sure that there is a network.
type outcome struct {
	Made     bool
	Err      string
	Requests []string
}

// listen has an engine answer on a socket, each request with the given answer.
func listen(t *testing.T, answers map[string][]answer) (host string, requests func() []string) {
	t.Helper()
	var asked []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		request := r.Method + " " + r.URL.Path
		asked = append(asked, request+" "+string(body))
		next := answers[request][0]
		answers[request] = answers[request][1:]
		w.WriteHeader(next.status)
		if _, err := io.WriteString(w, next.text); err != nil {
			t.Error(err)
		}
	}))
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return "unix://" + socket, func() []string { return asked }
}

// TestEnsureNetwork: the network is made once, with IPv6 where the engine has it.
func TestEnsureNetwork(t *testing.T) {
	t.Parallel()
	const (
		look, create = "GET /networks/kind", "POST /networks/create"
		withIPv6     = `POST /networks/create {"Name":"kind","Driver":"bridge","EnableIPv6":true,"Options":{"com.docker.network.bridge.enable_ip_masquerade":"true"},"IPAM":{"Config":[{"Subnet":"fc00:f853:ccd:e793::/64"}]}}` + "\n"
		ofIPv4       = `POST /networks/create {"Name":"kind","Driver":"bridge","EnableIPv6":false,"Options":{"com.docker.network.bridge.enable_ip_masquerade":"true"},"IPAM":{"Config":null}}` + "\n"
	)
	none := []answer{{http.StatusNotFound, `{"message":"network kind not found"}`}}
	failed := answer{http.StatusInternalServerError, `{"message":"no space"}`}
	for name, test := range map[string]struct {
		answers map[string][]answer
		want    outcome
	}{
		"is there":         {map[string][]answer{look: {{http.StatusOK, "{}"}}}, outcome{Requests: []string{look + " "}}},
		"is made":          {map[string][]answer{look: none, create: {{http.StatusCreated, "{}"}}}, outcome{Made: true, Requests: []string{look + " ", withIPv6}}},
		"another made it":  {map[string][]answer{look: none, create: {{http.StatusConflict, "{}"}}}, outcome{Requests: []string{look + " ", withIPv6}}},
		"host has no IPv6": {map[string][]answer{look: none, create: {failed, {http.StatusCreated, "{}"}}}, outcome{Made: true, Requests: []string{look + " ", withIPv6, ofIPv4}}},
		"cannot be made": {map[string][]answer{look: none, create: {failed, failed}}, outcome{
			Err:      "making the network kind in the Docker Engine at HOST: it answers 500: no space; make it with 'docker network create kind'",
			Requests: []string{look + " ", withIPv6, ofIPv4},
		}},
		"is forbidden": {map[string][]answer{look: {{http.StatusForbidden, "no"}}}, outcome{
			Err:      "the machines of this cluster are containers, and the Docker Engine at HOST cannot be used: it answers 403: Forbidden; " + otherwise,
			Requests: []string{look + " "},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, requests := listen(t, test.answers)
			made, err := containerengine.Of(map[string]string{"DOCKER_HOST": host}).EnsureNetwork(t.Context(), "kind")
			got := outcome{Made: made, Err: text(err, host), Requests: requests()}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

const (
	restart   = ". The embedded management cluster reads DOCKER_HOST and groups when it starts: 'clusterctl-x management stop' before you try again"
	otherwise = "start it, or set DOCKER_HOST to where it listens (contexts of the docker command are not read)" + restart
	forbidden = "add your user to the group of the socket, usually docker, and log in again, or set DOCKER_HOST to the socket of a rootless Docker Engine" + restart
)

// TestUnavailable: who has no engine, or may not use it, learns what to do.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "none")
	for name, test := range map[string]struct{ host, want string }{
		"no socket":   {"unix://" + closed, "the Docker Engine at HOST cannot be used: dial unix " + closed + ": connect: no such file or directory; " + otherwise},
		"by ssh":      {"ssh://host", "the Docker Engine at HOST cannot be used: only addresses with unix:// and tcp:// can be used; " + otherwise},
		"no address":  {"tcp://", "the Docker Engine at HOST cannot be used: only addresses with unix:// and tcp:// can be used; " + otherwise},
		"not allowed": {"", "the Docker Engine at HOST cannot be used: permission denied; " + forbidden},
	} {
		var err error = &containerengine.UnavailableError{Host: test.host, Err: os.ErrPermission}
		if test.host != "" {
			_, err = containerengine.Of(map[string]string{"DOCKER_HOST": test.host}).EnsureNetwork(t.Context(), "kind")
		}
		if unavailable := (*containerengine.UnavailableError)(nil); !errors.As(err, &unavailable) {
			t.Errorf("%s: %T, want %T", name, err, unavailable)
		}
		if diff := cmp.Diff("the machines of this cluster are containers, and "+test.want, text(err, test.host)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// text is what an error says, with a placeholder for the address.
func text(err error, host string) string {
	if err == nil {
		return ""
	}
	return strings.Replace(err.Error(), "at "+host, "at HOST", 1)
}

// TestEnvironment: only the variables of the engine are kept, and without any it is where it
// listens by default.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	all := map[string]string{"DOCKER_HOST": "tcp://host:2376", "DOCKER_CERT_PATH": "/keys", "DOCKER_TLS_VERIFY": "1", "HOME": "/root"}
	want := map[string]string{"DOCKER_HOST": "tcp://host:2376", "DOCKER_CERT_PATH": "/keys", "DOCKER_TLS_VERIFY": "1"}
	if diff := cmp.Diff(want, containerengine.Environment(func(name string) string { return all[name] })); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if got := containerengine.Of(nil).Host; got != "unix:///var/run/docker.sock" {
		t.Errorf("without variables it is at %s", got)
	}
}

// TestKeys: an engine that wants keys is not asked without them.
func TestKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := containerengine.Of(map[string]string{"DOCKER_HOST": "tcp://127.0.0.1:1", "DOCKER_CERT_PATH": dir}).EnsureNetwork(t.Context(), "kind")
	const want = "the machines of this cluster are containers, and the Docker Engine at HOST cannot be used: reading the keys in DOCKER_CERT_PATH: open DIR/cert.pem: no such file or directory; " + otherwise
	if diff := cmp.Diff(want, strings.Replace(text(err, "tcp://127.0.0.1:1"), dir, "DIR", 1)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
