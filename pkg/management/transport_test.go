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
// the next request but one goes to another server, long before a lock is lost.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	balancer := newBalancer(t, server.Listener.Addr().String())
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	client, err := httpClient(&rest.Config{Host: "https://" + balancer.address, TLSClientConfig: rest.TLSClientConfig{CAData: authority, ServerName: "example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), DefaultRenewDeadline)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+balancer.address, http.NoBody)
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
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	balancer.lost.Store(true)
	began := time.Now()
	if err := ask(); err == nil {
		t.Fatal("the server that is gone answered")
	} else if !isUnreachable(err) {
		t.Errorf("not tried again: %v", err)
	}
	balancer.lost.Store(false)
	if err := ask(); err != nil {
		t.Errorf("another server: %v", err)
	}
	if took := time.Since(began); took > 2*(pingAfter+pingTimeout) {
		t.Errorf("it took %s, want %s or a little more", took, pingAfter+pingTimeout)
	}
}

// balancer passes connections on to a server.
type balancer struct {
	address string
	// lost is true while what comes in is dropped.
	lost atomic.Bool
}

func newBalancer(t *testing.T, server string) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
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
			to, err := net.Dial("tcp", server)
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
	defer to.Close()
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
