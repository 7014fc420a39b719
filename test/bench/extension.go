package main

import (
	"bufio"
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
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

const (
	// requestsPerSecond are sent at their time, whether or not those before are answered.
	requestsPerSecond = 1000
	rateFor           = 20 * time.Second
	requestsInAll     = 100_000
	connections       = 16
)

// extension asks the runtime extension, which has one processor, for upgrade plans:
// first at the promised rate, then as fast as it answers.
func (b bench) extension(ctx context.Context) (err error) {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	server := exec.CommandContext(ctx, b.cli, "serve", "runtime-extension", "--port", fmt.Sprint(port), "--health-address", "")
	server.Env = append(os.Environ(), "CLUSTERCTL_X_HOME="+b.dir, "GOMAXPROCS=1")
	log, err := server.StderrPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, server.Process.Signal(syscall.SIGTERM))
		if ended := server.Wait(); ended != nil {
			err = errors.Join(err, fmt.Errorf("the server: %w", ended))
		}
	}()
	first, err := bufio.NewReader(log).ReadString('\n')
	if err != nil || !strings.Contains(first, "msg=answering ") {
		return fmt.Errorf("the server says %q, and not that it answers: %w", first, err)
	}
	a := asker{url: fmt.Sprintf("https://127.0.0.1:%d/hooks.runtime.cluster.x-k8s.io/v1alpha1/generateupgradeplan/generate-upgrade-plan", port)}
	if a.body, err = planRequest(); err != nil {
		return err
	}
	if err := a.connect(ctx, filepath.Join(b.dir, "runtime-extension", "127.0.0.1", "ca.crt")); err != nil {
		return err
	}
	latencies, err := a.atRate(ctx)
	if err != nil {
		return err
	}
	slices.Sort(latencies)
	before, err := residentMemory(server.Process.Pid)
	if err != nil {
		return err
	}
	began := time.Now()
	left := requestsInAll - len(latencies)
	if err := a.inTurns(ctx, left); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := residentMemory(server.Process.Pid)
	if err != nil {
		return err
	}
	of := func(share float64) usage { return usage{wall: latencies[int(share*float64(len(latencies)-1))]} }
	b.row(fmt.Sprintf("GenerateUpgradePlan, %d a second of %d bytes, one core", requestsPerSecond, len(a.body)), of(0.5), "", "")
	b.row("99th percentile", of(0.99), "20ms", "")
	b.out.line("memory after %d requests\t\t%d MiB\t\t", len(latencies), before>>20)
	b.out.line("memory after %d requests\t\t%d MiB\tflat\t", requestsInAll, after>>20)
	b.out.line("requests a second, at most\t%.0f\t\t\t", float64(left)/took.Seconds())
	return nil
}

// planRequest is what Cluster API sends for a cluster with a class and ten groups.
func planRequest() ([]byte, error) {
	request := runtimehooksv1.GenerateUpgradePlanRequest{FromControlPlaneKubernetesVersion: "v1.30.14", FromWorkersKubernetesVersion: "v1.30.14", ToKubernetesVersion: "v1.34.4"}
	request.SetGroupVersionKind(runtimehooksv1.GroupVersion.WithKind("GenerateUpgradePlanRequest"))
	request.Cluster = clusterv1.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c1"},
	}
	request.Cluster.Spec.Topology.Version = "v1.34.4"
	for i := range 10 {
		request.Cluster.Spec.Topology.Workers.MachineDeployments = append(request.Cluster.Spec.Topology.Workers.MachineDeployments, clusterv1.MachineDeploymentTopology{
			Class: "default-worker", Name: fmt.Sprintf("md-%d", i), Replicas: new(int32(3)),
			Metadata: clusterv1.ObjectMeta{Labels: map[string]string{v1alpha1.WorkerNodeGroupLabel: fmt.Sprintf("md-%d", i)}},
		})
	}
	return json.Marshal(request)
}

// asker sends one request again and again.
type asker struct {
	url    string
	body   []byte
	client *http.Client
}

// connect makes the connections.
func (a *asker) connect(ctx context.Context, authority string) error {
	pem, err := os.ReadFile(authority)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	a.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections,
	}}
	return a.inTurns(ctx, connections*100)
}

func (a *asker) ask(ctx context.Context) error {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(a.body))
	if err != nil {
		return err
	}
	answer, err := a.client.Do(post)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && !strings.Contains(string(text), `"v1.34.4"`) {
		err = fmt.Errorf("it answers %s: %s", answer.Status, text)
	}
	return err
}

// atRate sends requests at their times, and returns how long each took from then on,
// so that what waits for those before counts.
func (a *asker) atRate(ctx context.Context) ([]time.Duration, error) {
	count := int(rateFor.Seconds() * requestsPerSecond)
	latencies, errs := make([]time.Duration, count), make([]error, count)
	var sent sync.WaitGroup
	began := time.Now()
	for i := range count {
		due := began.Add(time.Duration(i) * time.Second / requestsPerSecond)
		time.Sleep(time.Until(due))
		sent.Go(func() {
			errs[i] = a.ask(ctx)
			latencies[i] = time.Since(due)
		})
	}
	sent.Wait()
	return latencies, errors.Join(errs...)
}

// inTurns sends requests as fast as they are answered.
func (a *asker) inTurns(ctx context.Context, count int) error {
	errs := make([]error, connections)
	var done sync.WaitGroup
	for i := range connections {
		done.Go(func() {
			for range count / connections {
				if errs[i] = a.ask(ctx); errs[i] != nil {
					return
				}
			}
		})
	}
	done.Wait()
	runtime.GC() // of this program, so that it is out of the way
	return errors.Join(errs...)
}

// residentMemory of a process, in bytes.
func residentMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0, err
	}
	return resident * int64(os.Getpagesize()), nil
}

func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.Join(fmt.Errorf("%s is not a TCP address", listener.Addr()), listener.Close())
	}
	return address.Port, listener.Close()
}
