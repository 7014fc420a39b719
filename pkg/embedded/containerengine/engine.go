// Package containerengine asks the Docker Engine that runs the machines of an embedded management
// cluster whether it answers, and makes the network that they need. It speaks Docker's HTTP API
// itself: three requests are not worth its client.
package containerengine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Variables of the environment that Docker's own client reads, as that of Cluster API's
// provider does.
const (
	hostVariable      = "DOCKER_HOST"
	certPathVariable  = "DOCKER_CERT_PATH"
	tlsVerifyVariable = "DOCKER_TLS_VERIFY"
)

// defaultHost is where a Docker Engine listens by default.
const defaultHost = "unix:///var/run/docker.sock"

// answersWithin is how long an engine may take for one answer.
const answersWithin = 10 * time.Second

// Environment returns the variables that say where the Docker Engine is, of those that look up
// finds.
func Environment(lookUp func(string) string) map[string]string {
	found := map[string]string{}
	for _, name := range []string{hostVariable, certPathVariable, tlsVerifyVariable} {
		if value := lookUp(name); value != "" {
			found[name] = value
		}
	}
	return found
}

// Engine is a Docker Engine, whether it runs or not.
type Engine struct {
	// Host is its address, with unix:// or tcp://.
	Host string
	// certPath is the directory of the keys by which it knows its users; empty where it
	// listens without TLS.
	certPath string
	// verify is true where its own certificate is checked.
	verify bool
}

// Of returns the Docker Engine that variables of the environment name.
func Of(environment map[string]string) Engine {
	return Engine{
		Host:     cmp.Or(environment[hostVariable], defaultHost),
		certPath: environment[certPathVariable], verify: environment[tlsVerifyVariable] != "",
	}
}

// UnavailableError reports that a Docker Engine cannot be used.
type UnavailableError struct {
	Host string
	Err  error
}

func (e *UnavailableError) Error() string {
	remedy := "start it, or set DOCKER_HOST to where it listens (contexts of the docker command are not read)"
	if errors.Is(e.Err, fs.ErrPermission) {
		remedy = "add your user to the group of the socket, usually docker, and log in again, or set DOCKER_HOST to the socket of a rootless Docker Engine"
	}
	return fmt.Sprintf("the machines of this cluster are containers, and the Docker Engine at %s cannot be used: %s; %s. The embedded management cluster reads DOCKER_HOST and groups when it starts: 'clusterctl-x management stop' before you try again", e.Host, e.Err, remedy)
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// EnsureNetwork makes a network of a name, unless it is there, and reports whether it made it.
// The error is an UnavailableError where the engine does not answer.
func (e Engine) EnsureNetwork(ctx context.Context, name string) (bool, error) {
	client, base, err := e.client()
	if err != nil {
		return false, &UnavailableError{e.Host, err}
	}
	defer client.CloseIdleConnections()
	status, text, err := ask(ctx, client, http.MethodGet, base+"/networks/"+url.PathEscape(name), nil)
	switch {
	case err != nil:
		return false, &UnavailableError{e.Host, err}
	case status == http.StatusOK:
		return false, nil
	case status != http.StatusNotFound:
		return false, &UnavailableError{e.Host, fmt.Errorf("it answers %d: %s", status, text)}
	}
	for _, wanted := range []network{withIPv6(name), ofIPv4(name)} {
		status, text, err = ask(ctx, client, http.MethodPost, base+"/networks/create", wanted)
		if err != nil {
			return false, &UnavailableError{e.Host, err}
		}
		if status == http.StatusCreated || status == http.StatusConflict { // another was faster
			return status == http.StatusCreated, nil
		}
	}
	return false, fmt.Errorf("making the network %s in the Docker Engine at %s: it answers %d: %s; make it with 'docker network create %s'", name, e.Host, status, text, name)
}

// network is what the engine is asked for.
type network struct {
	Name       string
	Driver     string
	EnableIPv6 bool
	Options    map[string]string
	IPAM       ipam
}

type ipam struct {
	Config []subnet
}

type subnet struct{ Subnet string }

// withIPv6 is the network as kind makes it, where the engine and the host have IPv6.
func withIPv6(name string) network {
	n := ofIPv4(name)
	n.EnableIPv6, n.IPAM = true, ipam{[]subnet{{"fc00:f853:ccd:e793::/64"}}}
	return n
}

func ofIPv4(name string) network {
	return network{Name: name, Driver: "bridge", Options: map[string]string{"com.docker.network.bridge.enable_ip_masquerade": "true"}}
}

// ask sends a request, and returns the status and what the engine says about it.
func ask(ctx context.Context, client *http.Client, method, address string, content any) (status int, text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	body := &bytes.Buffer{}
	if content != nil {
		if err := json.NewEncoder(body).Encode(content); err != nil {
			return 0, "", err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if of := (*url.Error)(nil); errors.As(err, &of) {
		err = of.Err // the address is one of ours
	}
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	data, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return 0, "", err
	}
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(data, &said) != nil || said.Message == "" {
		said.Message = http.StatusText(response.StatusCode)
	}
	return response.StatusCode, said.Message, nil
}

// client returns what requests are sent with, and how their addresses begin.
func (e Engine) client() (*http.Client, string, error) {
	scheme, address, _ := strings.Cut(e.Host, "://")
	transport := &http.Transport{}
	base := "http://docker"
	switch {
	case scheme == "unix":
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", address)
		}
	case (scheme == "tcp" || scheme == "http") && address != "":
		base = "http://" + address
	default:
		return nil, "", errors.New("only addresses with unix:// and tcp:// can be used")
	}
	if e.certPath == "" || scheme == "unix" {
		return &http.Client{Transport: transport}, base, nil
	}
	config, err := e.tlsConfig()
	transport.TLSClientConfig = config
	return &http.Client{Transport: transport}, "https://" + address, err
}

func (e Engine) tlsConfig() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(e.certPath, "cert.pem"), filepath.Join(e.certPath, "key.pem"))
	if err != nil {
		return nil, fmt.Errorf("reading the keys in %s: %w", certPathVariable, err)
	}
	authorities, err := os.ReadFile(filepath.Join(e.certPath, "ca.pem"))
	if err != nil {
		return nil, fmt.Errorf("reading the keys in %s: %w", certPathVariable, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authorities)
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: roots,
		InsecureSkipVerify: !e.verify, //nolint:gosec // Docker's client does so too where DOCKER_TLS_VERIFY is not set
	}, nil
}
