package management

import (
	"fmt"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
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
	transport := utilnet.SetTransportDefaults(&http.Transport{
		Proxy: config.Proxy, DialContext: config.Dial, TLSClientConfig: tls, MaxIdleConnsPerHost: 25,
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	})
	wrapped, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		return nil, fmt.Errorf("connecting to the management cluster %s: %w", config.Host, err)
	}
	return &http.Client{Transport: wrapped}, nil
}

// within returns the client with a timeout for each request.
func within(c *http.Client, timeout time.Duration) *http.Client {
	return &http.Client{Transport: c.Transport, Timeout: timeout}
}
