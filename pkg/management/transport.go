package management

import (
	"fmt"
	"net"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// A connection on which nothing arrives for pingAfter is asked whether it lives, and replaced
// unless it answers within pingTimeout. client-go takes 45 s for both. A lock is lost before that
// where the machine of an API server goes away behind a load balancer that keeps the connection:
// DefaultRenewDeadline is 12 s.
const (
	pingAfter   = 3 * time.Second
	pingTimeout = 3 * time.Second
)

// httpClient returns a client for the API server of a config, whose requests have no timeout.
func httpClient(config *rest.Config) (*http.Client, error) {
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the management cluster %s: %w", config.Host, err)
	}
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: requestTimeout, KeepAlive: requestTimeout}).DialContext
	}
	connections := connrotation.NewDialer(dial)
	transport := utilnet.SetTransportDefaults(&http.Transport{
		Proxy: config.Proxy, DialContext: connections.DialContext, TLSClientConfig: tls, MaxIdleConnsPerHost: 25,
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	})
	wrapped, err := rest.HTTPWrappersForConfig(config, &rotating{transport, connections})
	if err != nil {
		return nil, fmt.Errorf("connecting to the management cluster %s: %w", config.Host, err)
	}
	return &http.Client{Transport: wrapped}, nil
}

// rotating is a transport that closes its connections once a request on one of them had no answer
// for answerWithin, so that the next requests are made on new ones, perhaps to another server. One
// whose etcd is gone takes requests, and answers pings, and nothing else.
type rotating struct {
	http.RoundTripper
	connections *connrotation.Dialer
}

// answerWithin is for how long an API server may be busy with a request.
const answerWithin = 4 * time.Second

func (t *rotating) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil && time.Since(began) > answerWithin { // whether the caller gave up or the connection failed
		t.connections.CloseAll()
	}
	return response, err
}

// within returns the client with a timeout for each request.
func within(c *http.Client, timeout time.Duration) *http.Client {
	return &http.Client{Transport: c.Transport, Timeout: timeout}
}
