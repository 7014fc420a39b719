package supervisor

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/pki"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

// startEtcd runs etcd inside this process. Its log goes to the file log.
func startEtcd(ctx context.Context, dir, log string, ports embedded.Ports, keys pki.PKI) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Name = "embedded"
	config.Dir = dir
	clients, peers := loopback(ports.EtcdClient), loopback(ports.EtcdPeer)
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peers}, []url.URL{peers}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	cert, key := keys.Serving()
	tls := transport.TLSInfo{CertFile: cert, KeyFile: key, TrustedCAFile: keys.CA(), ClientCertAuth: true}
	config.ClientTLSInfo, config.PeerTLSInfo = tls, tls
	config.LogOutputs = []string{log}
	config.LogLevel = "warn"
	config.AutoCompactionMode, config.AutoCompactionRetention = "periodic", "5m"
	// One member: nobody to wait for, so the election need not be slow.
	config.TickMs, config.ElectionMs = 10, 100

	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, os.Chmod(log, 0o600)
	case err := <-server.Err():
		server.Close()
		return nil, fmt.Errorf("starting etcd: %w", err)
	case <-ctx.Done():
		server.Close()
		return nil, fmt.Errorf("starting etcd: %w", context.Cause(ctx))
	}
}

func loopback(port int) url.URL {
	return url.URL{Scheme: "https", Host: fmt.Sprintf("127.0.0.1:%d", port)}
}
