// Command workload is what tests run in a cluster while it is upgraded: 'serve' answers
// requests, 'ask' sends them all the time and reports which ones failed.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	address  = ":8080"
	interval = 100 * time.Millisecond
	// requestTimeout is how long a client waits for an answer, and a server for a request.
	requestTimeout = 3 * time.Second
	// leaving is how long a server that is asked to end answers requests: until then all
	// nodes know that it is no longer an endpoint of its service.
	leaving = 10 * time.Second
	account = "/var/run/secrets/kubernetes.io/serviceaccount/"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		err = listen(ctx, http.HandlerFunc(hello), leaving)
	case len(os.Args) > 2 && os.Args[1] == "ask":
		err = ask(ctx, os.Args[2:])
	default:
		err = errors.New("usage: workload serve | workload ask NAME=URL...")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(1)
	}
}

func hello(w http.ResponseWriter, _ *http.Request) {
	name, err := os.Hostname()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintln(w, name) // whoever asked has gone, or notices
}

// listen serves until it is asked to end, and the given time longer.
func listen(ctx context.Context, handler http.Handler, longer time.Duration) error {
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: requestTimeout}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		time.Sleep(longer)
		ended <- server.Shutdown(context.WithoutCancel(ctx))
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}

// failure is a request that was not answered with 200.
type failure struct {
	Time  time.Time `json:"time"`
	Error string    `json:"error"`
}

// asked is what became of the requests to one address.
type asked struct {
	Requests int       `json:"requests"`
	Failures []failure `json:"failures"`
}

// report is what became of all requests so far.
type report struct {
	mutex sync.Mutex
	asked map[string]*asked
}

func (r *report) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(r.asked); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// ask sends requests to named addresses, and serves the report.
func ask(ctx context.Context, addresses []string) error {
	authority, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	c, r := client(&tls.Config{RootCAs: pool}), &report{asked: map[string]*asked{}}
	for _, a := range addresses {
		name, url, found := strings.Cut(a, "=")
		if !found {
			return fmt.Errorf("%s: want NAME=URL", a)
		}
		r.asked[name] = &asked{Failures: []failure{}}
		go repeat(ctx, r, r.asked[name], c, url)
	}
	return listen(ctx, r, 0)
}

// client connects anew for each request, so that each one chooses an endpoint.
func client(config *tls.Config) *http.Client {
	return &http.Client{Timeout: requestTimeout, Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
}

func repeat(ctx context.Context, r *report, into *asked, c *http.Client, url string) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		begin := time.Now()
		err := get(ctx, c, url)
		r.mutex.Lock()
		into.Requests++
		if err != nil && ctx.Err() == nil {
			into.Failures = append(into.Failures, failure{Time: begin, Error: err.Error()})
		}
		r.mutex.Unlock()
		<-tick.C
	}
}

func get(ctx context.Context, c *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if request.URL.Scheme == "https" { // the API server
		token, err := os.ReadFile(account + "token")
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+string(token))
	}
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
