// Package supervisor runs the processes of one embedded management cluster:
// etcd within itself, everything else as children that end with it.
package supervisor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/manifests"
	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/pki"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded/containerengine"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
)

const (
	// readyWithin is how long one component may take to become ready. Machines
	// under load are slow; nobody waits this long on a good day.
	readyWithin = 2 * time.Minute
	// A child that ends is started again, unless it ended maxRestarts times
	// within restartWindow.
	maxRestarts   = 5
	restartWindow = time.Minute
	// stopWithin is how long a child may take to end in an orderly way.
	stopWithin = 10 * time.Second
)

// Run starts everything, calls ready, and returns when ctx ends or a child
// cannot be kept alive. It must be called with the goroutine locked to its
// thread: on Linux, children end with the thread that started them.
func Run(ctx context.Context, instance embedded.Instance, ready func() error) (err error) {
	own, err := inTurn(ctx, instance.LockSupervisor)
	if err != nil {
		return fmt.Errorf("embedded management cluster %q: %w", instance.Name, err)
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	lock, err := inTurn(ctx, instance.Lock)
	if err != nil {
		return fmt.Errorf("embedded management cluster %q: %w", instance.Name, err)
	}
	s := &supervisor{
		instance: instance,
		lock:     lock,
		exits:    make(chan exit, 1),
		progress: embedded.Progress{
			SupervisorPID: os.Getpid(), StartedAt: time.Now(), Processes: map[string]int{}, Environment: containerengine.Environment(os.Getenv),
		},
	}
	if err := instance.WriteProgress(s.progress); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, instance.ClearProgress()) }()
	defer func() { s.stop() }()
	if err := s.start(ctx); err != nil {
		return err
	}
	s.progress.Ready, s.progress.ReadyAt = true, time.Now()
	if err := errors.Join(instance.WriteProgress(s.progress), ready()); err != nil {
		return err
	}
	slog.Info("ready", "after", s.progress.ReadyAt.Sub(s.progress.StartedAt).String())
	return s.keepAlive(ctx)
}

// inTurn takes a lock, and waits out the moment for which another process
// looks at it.
func inTurn(ctx context.Context, take func() (*os.File, error)) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for {
		lock, err := take()
		if !errors.Is(err, embedded.ErrRunning) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

type supervisor struct {
	instance embedded.Instance
	lock     *os.File
	claim    io.Closer // of the ports
	etcd     *embed.Etcd
	children []*child // in the order of their start
	exits    chan exit
	progress embedded.Progress
	client   *http.Client
}

type child struct {
	component
	process  *os.Process
	done     chan struct{} // closed when the process has ended
	restarts []time.Time   // within the last restartWindow
}

type exit struct {
	child *child
	err   error
}

// start brings up one component after the other, as far as one needs the other.
func (s *supervisor) start(ctx context.Context) error {
	if err := checkDisk(s.instance.Dir); err != nil {
		return err
	}
	ports, claim, err := s.instance.ClaimPorts()
	if err != nil {
		return err
	}
	s.claim = claim
	keys, err := pki.Ensure(s.instance.PKIDir())
	if err != nil {
		return err
	}
	if err := s.writeKubeconfig(ports, keys); err != nil {
		return err
	}
	if s.client, err = adminClient(keys); err != nil {
		return err
	}
	if s.etcd, err = startEtcd(ctx, s.instance.EtcdDir(), filepath.Join(s.instance.LogsDir(), "etcd.log"), ports, keys); err != nil {
		return err
	}
	m, err := loadManifests(ports, keys)
	if err != nil {
		return err
	}
	if err := seed(ctx, s.etcd, m); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	programs, kubeconfig := filepath.Dir(self), s.instance.Kubeconfig()
	// The controllers look at the API server's version when they start.
	if err := s.startAndWait(ctx, apiServer(programs, ports, keys)); err != nil {
		return err
	}
	if err := s.startAndWait(ctx,
		core(programs, kubeconfig, ports, keys),
		providers(self, kubeconfig, ports, keys)); err != nil {
		return err
	}
	return bind(ctx, s.etcd, m)
}

func (s *supervisor) writeKubeconfig(ports embedded.Ports, keys pki.PKI) error {
	config, err := adminKubeconfig(s.instance.Name, ports, keys)
	if err != nil {
		return err
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return files.WritePrivate(s.instance.Kubeconfig(), data)
}

func loadManifests(ports embedded.Ports, keys pki.PKI) (manifests.Manifests, error) {
	ca, err := os.ReadFile(keys.CA())
	if err != nil {
		return manifests.Manifests{}, err
	}
	return manifests.Load(map[manifests.Server]manifests.Endpoint{
		manifests.Core:      {URL: fmt.Sprintf("https://127.0.0.1:%d", ports.CoreWebhook), CABundle: ca},
		manifests.Providers: {URL: fmt.Sprintf("https://127.0.0.1:%d", ports.ProvidersWebhook), CABundle: ca},
	})
}

func (s *supervisor) startAndWait(ctx context.Context, components ...component) error {
	for _, c := range components {
		started := &child{component: c}
		s.children = append(s.children, started)
		if err := s.spawn(started); err != nil {
			return err
		}
	}
	for _, c := range components {
		if err := s.waitReady(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// spawn starts a child in the supervisor's process group. It inherits the
// lock, so that the instance counts as running while any child lives.
func (s *supervisor) spawn(c *child) (err error) {
	log, err := os.OpenFile(filepath.Join(s.instance.LogsDir(), c.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	cmd := exec.Command(c.program, c.args...) //nolint:noctx // it ends in order, see stop
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{s.lock}
	cmd.SysProcAttr = endsWithParent()
	cmd.Env = append(os.Environ(), c.env...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", c.name, err)
	}
	done := make(chan struct{})
	c.process, c.done = cmd.Process, done
	s.progress.Processes[c.name] = cmd.Process.Pid
	go func() {
		err := cmd.Wait()
		if err == nil {
			err = errors.New("exit status 0") // no error to Wait, but a child is not to end at all
		}
		close(done)
		s.exits <- exit{child: c, err: err}
	}()
	return s.instance.WriteProgress(s.progress)
}

func (s *supervisor) waitReady(ctx context.Context, c component) error {
	if c.readyURL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, fmt.Errorf("%s did not become ready within %s", c.name, readyWithin))
	defer cancel()
	for {
		if s.answers(ctx, c.readyURL) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-s.exits:
			return fmt.Errorf("%s ended at its start (%w)", e.child.name, e.err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *supervisor) answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := s.client.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

func adminClient(keys pki.PKI) (*http.Client, error) {
	cert, err := tls.LoadX509KeyPair(keys.Admin())
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(keys.CA())
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("no certificate in %s", keys.CA())
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config}, Timeout: 5 * time.Second}, nil
}

// keepAlive starts children again that end, until ctx ends.
func (s *supervisor) keepAlive(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.etcd.Err():
			return fmt.Errorf("etcd: %w", err)
		case e := <-s.exits:
			if !e.child.mayRestart(time.Now()) {
				return fmt.Errorf("%s ended more than %d times within %s, the last time with: %w", e.child.name, maxRestarts, restartWindow, e.err)
			}
			slog.Warn("a process ended and is started again", "process", e.child.name, "exit", e.err)
			if err := s.spawn(e.child); err != nil {
				return err
			}
		}
	}
}

func (c *child) mayRestart(now time.Time) bool {
	c.restarts = slices.DeleteFunc(c.restarts, func(t time.Time) bool { return now.Sub(t) > restartWindow })
	c.restarts = append(c.restarts, now)
	return len(c.restarts) <= maxRestarts
}

// stop ends the controllers, then the API server, then etcd.
func (s *supervisor) stop() {
	if len(s.children) > 1 {
		terminate(s.children[1:])
	}
	if len(s.children) > 0 {
		terminate(s.children[:1])
	}
	if s.etcd != nil {
		s.etcd.Close()
	}
	if s.claim != nil {
		if err := s.claim.Close(); err != nil {
			slog.Error("giving back the ports", "error", err)
		}
	}
}

func terminate(children []*child) {
	deadline := time.After(stopWithin)
	for _, c := range children {
		signal(c, syscall.SIGTERM)
	}
	for _, c := range children {
		if c.process == nil {
			continue
		}
		select {
		case <-c.done:
		case <-deadline:
			signal(c, syscall.SIGKILL)
			<-c.done
		}
	}
}

func signal(c *child, sig os.Signal) {
	if c.process == nil {
		return
	}
	if err := c.process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		slog.Warn("sending a signal", "process", c.name, "signal", sig, "error", err)
	}
}
