package supervisor

import (
	"crypto/tls"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStartEtcd(t *testing.T) {
	t.Parallel()
	dir, ports, keys := t.TempDir(), freePorts(t), newKeys(t)
	log := filepath.Join(dir, "etcd.log")
	etcd, err := startEtcd(t.Context(), filepath.Join(dir, "etcd"), log, ports, keys)
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	var addresses []string
	for _, listener := range append(etcd.Clients, etcd.Peers[0].Listener) {
		addresses = append(addresses, listener.Addr().String())
	}
	want := []string{"127.0.0.1:" + strconv.Itoa(ports.EtcdClient), "127.0.0.1:" + strconv.Itoa(ports.EtcdPeer)}
	if diff := cmp.Diff(want, addresses); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	modes := map[string]fs.FileMode{}
	for _, path := range []string{log, filepath.Join(dir, "etcd")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		modes[filepath.Base(path)] = info.Mode()
	}
	if diff := cmp.Diff(map[string]fs.FileMode{"etcd.log": 0o600, "etcd": fs.ModeDir | 0o700}, modes); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}

	// Without a certificate of the instance nobody is let in.
	for _, address := range want {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/health", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := client.Do(request); err == nil {
			t.Errorf("%s answers %s", address, response.Status)
			_ = response.Body.Close()
		}
	}
	admin, err := adminClient(keys)
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{client: admin}
	if !s.answers(t.Context(), "https://"+want[0]+"/health") {
		t.Error("etcd does not answer to a certificate of the instance")
	}
}

func TestStartEtcdOnTakenPort(t *testing.T) {
	t.Parallel()
	dir, ports, keys := t.TempDir(), freePorts(t), newKeys(t)
	address := "127.0.0.1:" + strconv.Itoa(ports.EtcdClient)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nothing was accepted
	etcd, err := startEtcd(t.Context(), filepath.Join(dir, "etcd"), filepath.Join(dir, "log"), ports, keys)
	want := "starting etcd: listen tcp " + address + ": bind: address already in use"
	if etcd != nil || err == nil || err.Error() != want {
		t.Errorf("got %v, %v; want %s", etcd, err, want)
	}
}
