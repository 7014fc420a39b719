package management

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestDeadConnection: behind a load balancer that keeps the connection to a server which is gone,
// the next request but one goes to another server before a lock is lost.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	balancer := newBalancer(t, server.Listener.Addr().String())
	url := "https://" + balancer.address
	client, err := httpClient(&rest.Config{Host: url, TLSClientConfig: rest.TLSClientConfig{CAData: authorityOf(server)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(t, client, url); err != nil {
		t.Fatal(err)
	}
	balancer.lost.Store(true)
	if err := ask(t, client, url); err == nil {
		t.Fatal("the server that is gone answered")
	} else if !isUnreachable(err) {
		t.Errorf("not tried again: %v", err)
	}
	balancer.lost.Store(false)
	if err := ask(t, client, url); err != nil {
		t.Errorf("another server: %v", err)
	}
}

// TestServerThatDoesNotAnswer: the request after one that had no answer is made on another
// connection, though the first one lives.
func TestServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	var first atomic.Pointer[string]
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if first.CompareAndSwap(nil, &r.RemoteAddr) || *first.Load() == r.RemoteAddr {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	client, err := httpClient(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authorityOf(server)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(t, within(client, answerWithin+time.Second), server.URL); !isUnreachable(err) {
		t.Fatalf("a request without an answer: %v", err)
	}
	if err := ask(t, client, server.URL); err != nil {
		t.Errorf("the request after it: %v", err)
	}
}

// authorityOf returns the certificate of a server.
func authorityOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// ask sends a request.
func ask(t *testing.T, client *http.Client, url string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), DefaultRenewDeadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	if response.ProtoMajor != 2 {
		t.Errorf("the answer came by %s", response.Proto)
	}
	return response.Body.Close()
}

// balancer passes connections on to a server.
type balancer struct {
	address string
	// lost is true while what comes in is dropped.
	lost atomic.Bool
}

func newBalancer(t *testing.T, server string) *balancer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	b := &balancer{address: listener.Addr().String()}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := new(net.Dialer).DialContext(t.Context(), "tcp", server)
			if err != nil {
				return
			}
			go b.pass(to, from)
			go b.pass(from, to)
		}
	}()
	return b
}

func (b *balancer) pass(to io.WriteCloser, from io.ReadCloser) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if b.lost.Load() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
