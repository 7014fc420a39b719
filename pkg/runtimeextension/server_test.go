package runtimeextension

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
)

// running is a server with somebody who asks it.
type running struct {
	url, health string
	client      *http.Client
	log         *logged
	stop        func() error
}

// logged keeps the lines of a log.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, args)
	}, funcr.Options{})
}

// take returns the lines since the last time.
func (l *logged) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func start(t *testing.T, change func(o *Options)) *running {
	t.Helper()
	const host = "127.0.0.1"
	dir := t.TempDir()
	authority, err := OwnCertificate(dir, host, time.Now(), files.WritePrivate)
	if err != nil {
		t.Fatal(err)
	}
	var log logged
	o := Options{Host: host, Port: freePort(t), CertDir: dir, HealthAddress: fmt.Sprintf("%s:%d", host, freePort(t)), Log: log.logger()}
	o.Releases = releasesOf(t)
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, o, func(context.Context) error { close(ready); return nil })
	}()
	stop := sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return &running{url: fmt.Sprintf("https://%s:%d", host, o.Port), health: "http://" + o.HealthAddress, client: trusting(authority), log: &log, stop: stop}
}

// releasesOf are the releases of a server; provider "small" has but a few.
func releasesOf(t *testing.T) ReleasesFunc {
	t.Helper()
	return func(provider string) (upgradeplan.Releases, error) {
		texts := []string{"v1.30.14", "v1.31.14", "v1.32.13", "v1.33.13", "v1.34.4"}
		with := ""
		switch provider {
		case "":
		case "small":
			texts, with = texts[:3], " with a small thing"
		default:
			return upgradeplan.Releases{}, fmt.Errorf("there is no provider %q", provider)
		}
		var versions []v1alpha1.Version
		for _, text := range texts {
			versions = append(versions, v1alpha1.MustParseVersion(text))
		}
		return upgradeplan.Releases{Known: versions, Offered: versions, With: with}, nil
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

func trusting(authority []byte, own ...tls.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: own, MinVersion: tls.VersionTLS12}}}
}

// ask sends a request of Cluster API's own types to a handler, and decodes the answer
// strictly into them.
func (r *running) ask(t *testing.T, hook runtimecatalog.Hook, handler string, request, response runtime.Object) {
	t.Helper()
	catalog := runtimecatalog.New()
	if err := runtimehooksv1.AddToCatalog(catalog); err != nil {
		t.Fatal(err)
	}
	gvh, err := catalog.GroupVersionHook(hook)
	if err != nil {
		t.Fatal(err)
	}
	if err := catalog.ValidateRequest(gvh, request); err != nil {
		t.Fatal(err)
	}
	if err := catalog.ValidateResponse(gvh, response); err != nil {
		t.Fatal(err)
	}
	request.GetObjectKind().SetGroupVersionKind(runtimehooksv1.GroupVersion.WithKind(gvh.Hook + "Request"))
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	assertConforms(t, gvh.Hook+"Request", body)
	status, text := r.post(t, runtimecatalog.GVHToPath(gvh, handler), body)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	assertConforms(t, gvh.Hook+"Response", []byte(text))
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(response); err != nil {
		t.Fatalf("the answer %s is none of Cluster API's: %v", text, err)
	}
}

func (r *running) post(t *testing.T, path string, body []byte) (int, string) {
	t.Helper()
	return send(t, r.client, http.MethodPost, r.url+path, string(body))
}

// send returns the status and the text of the answer to a request.
func send(t *testing.T, client *http.Client, method, url, body string) (int, string) {
	t.Helper()
	status, text, err := trySend(t, client, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, text
}

// trySend is send for requests that may remain without an answer.
func trySend(t *testing.T, client *http.Client, method, url, body string) (status int, text string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	data, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(data), err
}

func cluster(annotations map[string]string) clusterv1.Cluster {
	return clusterv1.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c1", Annotations: annotations},
	}
}

func TestGenerateUpgradePlan(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	success := func(controlPlane, workers string) runtimehooksv1.GenerateUpgradePlanResponse {
		var response runtimehooksv1.GenerateUpgradePlanResponse
		response.Status = runtimehooksv1.ResponseStatusSuccess
		for _, version := range strings.Fields(controlPlane) {
			response.ControlPlaneUpgrades = append(response.ControlPlaneUpgrades, runtimehooksv1.UpgradeStep{Version: version})
		}
		for _, version := range strings.Fields(workers) {
			response.WorkersUpgrades = append(response.WorkersUpgrades, runtimehooksv1.UpgradeStep{Version: version})
		}
		return response
	}
	failure := func(message string) runtimehooksv1.GenerateUpgradePlanResponse {
		var response runtimehooksv1.GenerateUpgradePlanResponse
		response.Status, response.Message = runtimehooksv1.ResponseStatusFailure, message
		return response
	}
	tests := map[string]struct {
		settings          map[string]string
		from, workers, to string
		want              runtimehooksv1.GenerateUpgradePlanResponse
	}{
		"four minors":    {nil, "v1.30.14", "v1.30.14", "v1.34.4", success("v1.31.14 v1.32.13 v1.33.13 v1.34.4", "")},
		"forced workers": {map[string]string{"workersThrough": "1.31"}, "v1.30.14", "v1.30.14", "v1.34.4", success("v1.31.14 v1.32.13 v1.33.13 v1.34.4", "v1.31.14 v1.34.4")},
		"nothing to do":  {nil, "v1.34.4", "", "v1.34.4", success("", "")},
		"down":           {nil, "v1.34.4", "", "v1.33.13", failure("the control plane is at v1.34.4 and cannot be downgraded to v1.33.13")},
		"wrong setting":  {map[string]string{"workers": "some"}, "v1.33.13", "", "v1.34.4", failure(`setting workers is "some": must be efficient, every-minor or every-version`)},
		"no version":     {nil, "1.33", "", "v1.34.4", failure(`fromControlPlaneKubernetesVersion: "1.33" is not a version of Kubernetes such as v1.34.2`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := &runtimehooksv1.GenerateUpgradePlanRequest{Cluster: cluster(nil), FromControlPlaneKubernetesVersion: test.from, FromWorkersKubernetesVersion: test.workers, ToKubernetesVersion: test.to}
			request.Settings = test.settings
			for range 2 { // the same answer each time
				var got runtimehooksv1.GenerateUpgradePlanResponse
				server.log.take()
				server.ask(t, runtimehooksv1.GenerateUpgradePlan, PlanHandler, request, &got)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				failures := 0
				if test.want.Status == runtimehooksv1.ResponseStatusFailure {
					failures = 1
				}
				if lines := server.log.take(); len(lines) != failures {
					t.Errorf("log: %q", lines)
				}
			}
		})
	}
}

// TestHolds asks each hook about a cluster that is held there, and elsewhere.
func TestHolds(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	for _, point := range state.HoldPoints() {
		t.Run(string(point), func(t *testing.T) {
			for _, at := range state.HoldPoints() {
				held := cluster(map[string]string{at.Annotation(): `{"reason":"migration","by":"ann@desk","since":"2026-11-21T09:00:00Z"}`})
				hook, request, response := exchange(point, held)
				server.ask(t, hook, point.Handler(), request, response)
				var want runtimehooksv1.CommonRetryResponse
				want.Status = runtimehooksv1.ResponseStatusSuccess
				if at == point {
					want.RetryAfterSeconds = 5
					want.Message = fmt.Sprintf("held %s by ann@desk since 2026-11-21T09:00:00Z: migration; 'clusterctl-x release cluster c1 -n team %s' lifts it", point, point.Flag())
				}
				var got runtimehooksv1.CommonRetryResponse
				got.Status, got.Message, got.RetryAfterSeconds = response.GetStatus(), response.GetMessage(), response.GetRetryAfterSeconds()
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("held %s (-want +got):\n%s", at, diff)
				}
			}
		})
	}
}

type retryResponse interface {
	runtimehooksv1.RetryResponseObject
	runtime.Object
}

// exchange is what is asked at a place about a cluster, and an empty answer.
func exchange(point state.HoldPoint, c clusterv1.Cluster) (runtimecatalog.Hook, runtime.Object, retryResponse) {
	const from, to = "v1.33.13", "v1.34.4"
	switch point {
	case state.BeforeUpgrade:
		return runtimehooksv1.BeforeClusterUpgrade, &runtimehooksv1.BeforeClusterUpgradeRequest{Cluster: c, FromKubernetesVersion: from, ToKubernetesVersion: to}, &runtimehooksv1.BeforeClusterUpgradeResponse{}
	case state.BeforeControlPlane:
		return runtimehooksv1.BeforeControlPlaneUpgrade, &runtimehooksv1.BeforeControlPlaneUpgradeRequest{Cluster: c, FromKubernetesVersion: from, ToKubernetesVersion: to}, &runtimehooksv1.BeforeControlPlaneUpgradeResponse{}
	case state.AfterControlPlane:
		return runtimehooksv1.AfterControlPlaneUpgrade, &runtimehooksv1.AfterControlPlaneUpgradeRequest{Cluster: c, KubernetesVersion: to}, &runtimehooksv1.AfterControlPlaneUpgradeResponse{}
	case state.BeforeWorkers:
		return runtimehooksv1.BeforeWorkersUpgrade, &runtimehooksv1.BeforeWorkersUpgradeRequest{Cluster: c, FromKubernetesVersion: from, ToKubernetesVersion: to}, &runtimehooksv1.BeforeWorkersUpgradeResponse{}
	case state.AfterWorkers:
		return runtimehooksv1.AfterWorkersUpgrade, &runtimehooksv1.AfterWorkersUpgradeRequest{Cluster: c, KubernetesVersion: to}, &runtimehooksv1.AfterWorkersUpgradeResponse{}
	default:
		return runtimehooksv1.AfterClusterUpgrade, &runtimehooksv1.AfterClusterUpgradeRequest{Cluster: c, KubernetesVersion: to}, &runtimehooksv1.AfterClusterUpgradeResponse{}
	}
}

// TestRefused sends what Cluster API never does: each is refused and logged once, and
// the server goes on.
func TestRefused(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	const path = "/hooks.runtime.cluster.x-k8s.io/v1alpha1/generateupgradeplan/generate-upgrade-plan"
	good := `{"apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","kind":"GenerateUpgradePlanRequest","cluster":{},"fromControlPlaneKubernetesVersion":"v1.33.13","toKubernetesVersion":"v1.34.4"}`
	tests := map[string]struct {
		method, path, body string
		status             int
		says               string
		logged             int
	}{
		"GET":             {http.MethodGet, path, "", http.StatusMethodNotAllowed, "method GET: use POST\n", 1},
		"PUT":             {http.MethodPut, path, good, http.StatusMethodNotAllowed, "method PUT: use POST\n", 1},
		"broken JSON":     {http.MethodPost, path, `{"kind":`, http.StatusBadRequest, "the body is not JSON: unexpected end of JSON input\n", 1},
		"no body":         {http.MethodPost, path, "", http.StatusBadRequest, "the body is not JSON: unexpected end of JSON input\n", 1},
		"an array":        {http.MethodPost, path, "[]", http.StatusBadRequest, "the body is not JSON: json: cannot unmarshal array into Go value of type v1.TypeMeta\n", 1},
		"another kind":    {http.MethodPost, path, strings.Replace(good, "GenerateUpgradePlanRequest", "DiscoveryRequest", 1), http.StatusBadRequest, `the body is a "DiscoveryRequest" of "hooks.runtime.cluster.x-k8s.io/v1alpha1", and not a request of this hook` + "\n", 1},
		"another version": {http.MethodPost, path, strings.Replace(good, "x-k8s.io/v1alpha1", "x-k8s.io/v9", 1), http.StatusBadRequest, `the body is a "GenerateUpgradePlanRequest" of "hooks.runtime.cluster.x-k8s.io/v9", and not a request of this hook` + "\n", 1},
		"huge body":       {http.MethodPost, path, good + strings.Repeat(" ", maxBody), http.StatusRequestEntityTooLarge, "the body is larger than 4194304 bytes\n", 1},
		"no such path":    {http.MethodPost, "/nowhere", good, http.StatusNotFound, "404 page not found\n", 0},
		"good":            {http.MethodPost, path, good, http.StatusOK, "", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server.log.take()
			status, text := send(t, server.client, test.method, server.url+test.path, test.body)
			if status != test.status || test.says != "" && text != test.says {
				t.Errorf("status %d: %s, want %d: %s", status, text, test.status, test.says)
			}
			if lines := server.log.take(); len(lines) != test.logged {
				t.Errorf("log: %q, want %d lines", lines, test.logged)
			}
		})
	}
	t.Run("plain HTTP", func(t *testing.T) {
		plain := strings.Replace(server.url, "https", "http", 1)
		if status, text := send(t, http.DefaultClient, http.MethodPost, plain+path, good); status != http.StatusBadRequest || text != "Client sent an HTTP request to an HTTPS server.\n" {
			t.Errorf("status %d: %s", status, text)
		}
	})
	t.Run("goes on", func(t *testing.T) {
		if status, text := server.post(t, path, []byte(good)); status != http.StatusOK {
			t.Errorf("status %d: %s", status, text)
		}
		_, text := send(t, http.DefaultClient, http.MethodGet, server.health+"/metrics", "")
		for _, line := range []string{
			`clusterctl_x_runtime_extension_requests_total{hook="generateupgradeplan",outcome="405"} 2`,
			`clusterctl_x_runtime_extension_requests_total{hook="generateupgradeplan",outcome="400"} 5`,
			`clusterctl_x_runtime_extension_requests_total{hook="generateupgradeplan",outcome="413"} 1`,
			`clusterctl_x_runtime_extension_requests_total{hook="generateupgradeplan",outcome="Success"} 2`,
		} {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("the metrics have no line %s", line)
			}
		}
	})
}

// TestClientCertificates: with --client-ca nobody is answered but who has a certificate
// of that authority.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ours, others := newAuthority(t), newAuthority(t)
	var serverAuthority []byte
	server := start(t, func(o *Options) {
		o.ClientCA = "clients.crt"
		if err := os.WriteFile(filepath.Join(o.CertDir, o.ClientCA), ours.pem, 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if serverAuthority, err = os.ReadFile(filepath.Join(o.CertDir, AuthorityFile)); err != nil {
			t.Fatal(err)
		}
	})
	const path = "/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery"
	const body = `{"apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","kind":"DiscoveryRequest"}`
	tests := map[string]struct {
		certificates []tls.Certificate
		answered     bool
	}{
		"of the authority": {[]tls.Certificate{ours.client(t, now.Add(-time.Hour), now.Add(time.Hour))}, true},
		"none":             {nil, false},
		"expired":          {[]tls.Certificate{ours.client(t, now.Add(-2*time.Hour), now.Add(-time.Hour))}, false},
		"of another one":   {[]tls.Certificate{others.client(t, now.Add(-time.Hour), now.Add(time.Hour))}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := trySend(t, trusting(serverAuthority, test.certificates...), http.MethodPost, server.url+path, body)
			if (err == nil) != test.answered {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// TestCertificates: a server does not start with a certificate that nobody accepts,
// and Cluster API accepts no foreign one.
func TestCertificates(t *testing.T) {
	t.Parallel()
	t.Run("kept", func(t *testing.T) {
		t.Parallel()
		dir, now := filepath.Join(t.TempDir(), "new"), time.Now()
		var before []byte
		for _, at := range []struct {
			name, host string
			now        time.Time
			same       bool
		}{
			{"at first", "127.0.0.1", now, false},
			{"a week later", "127.0.0.1", now.Add(7 * 24 * time.Hour), true},
			{"a month before its end", "127.0.0.1", now.Add(340 * 24 * time.Hour), false},
			{"for another host", "extension.example.org", now, false},
		} {
			authority, err := OwnCertificate(dir, at.host, at.now, files.WritePrivate)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(before, authority) != at.same {
				t.Errorf("%s: the same certificate: %t, want %t", at.name, !at.same, at.same)
			}
			before = authority
		}
		if info, err := os.Stat(filepath.Join(dir, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key: %v, %v", info, err)
		}
	})
	t.Run("expired", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if _, err := OwnCertificate(dir, "127.0.0.1", time.Now(), files.WritePrivate); err != nil {
			t.Fatal(err)
		}
		_, err := Certificate(dir, time.Now().Add(2*365*24*time.Hour))
		if err == nil || !strings.Contains(err.Error(), " expired on ") {
			t.Errorf("error: %v", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if err := Serve(t.Context(), Options{CertDir: t.TempDir(), Log: logr.Discard()}, nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error: %v", err)
		}
	})
	t.Run("foreign", func(t *testing.T) {
		t.Parallel()
		server := start(t, nil)
		_, _, err := trySend(t, trusting(newAuthority(t).pem), http.MethodGet, server.url, "")
		var unknown x509.UnknownAuthorityError
		if !errors.As(err, &unknown) {
			t.Errorf("error: %v", err)
		}
	})
}

// TestHealth: ready as long as it answers with a certificate that is good; it stops
// when it is told to.
func TestHealth(t *testing.T) {
	t.Parallel()
	var dir string
	server := start(t, func(o *Options) { dir = o.CertDir })
	get := func(path string) int {
		status, _ := send(t, http.DefaultClient, http.MethodGet, server.health+path, "")
		return status
	}
	if health, ready := get("/healthz"), get("/readyz"); health != http.StatusOK || ready != http.StatusOK {
		t.Errorf("healthz %d, readyz %d", health, ready)
	}
	if err := os.Remove(filepath.Join(dir, certificateFile)); err != nil {
		t.Fatal(err)
	}
	if health, ready := get("/healthz"), get("/readyz"); health != http.StatusOK || ready != http.StatusInternalServerError {
		t.Errorf("without a certificate: healthz %d, readyz %d", health, ready)
	}
	if err := server.stop(); err != nil {
		t.Error(err)
	}
	if _, _, err := trySend(t, http.DefaultClient, http.MethodGet, server.health+"/healthz", ""); err == nil {
		t.Error("it answers after it was stopped")
	}
}

func TestTwoOnOnePort(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	var port int
	if _, err := fmt.Sscanf(server.url, "https://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := OwnCertificate(dir, "127.0.0.1", time.Now(), files.WritePrivate); err != nil {
		t.Fatal(err)
	}
	err := Serve(t.Context(), Options{Host: "127.0.0.1", Port: port, CertDir: dir, Log: logr.Discard()}, func(context.Context) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("error: %v", err)
	}
}
