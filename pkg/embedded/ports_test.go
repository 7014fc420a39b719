package embedded

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
)

// inHome returns an instance whose directory exists.
func inHome(t *testing.T, home, name string) Instance {
	t.Helper()
	i, err := Find(home, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(i.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return i
}

func TestPortBlock(t *testing.T) {
	t.Parallel()
	want := Ports{
		APIServer: 20000, EtcdClient: 20001, EtcdPeer: 20002, CoreWebhook: 20003, CoreHealth: 20004,
		ProvidersWebhook: 20005, ProvidersHealth: 20006, SimulatorDebug: 20007, Claim: 20008, FirstCluster: 20010, LastCluster: 20999,
	}
	if diff := cmp.Diff(want, portBlock(20000)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func TestChoosePorts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		others map[string]int // first port of an instance's block
		taken  []int          // blocks with a port that another process has
		want   int
		err    string
	}{
		"nothing there":                  {want: 20000},
		"another instance has the first": {others: map[string]int{"b": 20000}, want: 21000},
		"a gap between others":           {others: map[string]int{"b": 20000, "c": 22000}, want: 21000},
		"a process has the first":        {taken: []int{20000}, want: 21000},
		"processes and instances":        {others: map[string]int{"b": 21000}, taken: []int{20000, 22000}, want: 23000},
		"only the last is left":          {taken: []int{20000, 21000, 22000, 23000, 24000, 25000, 26000, 27000, 28000}, want: 29000},
		"none is left": {
			others: map[string]int{"b": 29000}, taken: []int{20000, 21000, 22000, 23000, 24000, 25000, 26000, 27000, 28000},
			err: "no block of 1000 free ports between 20000 and 29999 is left: remove an embedded management cluster that is not needed with 'clusterctl-x management stop --remove --name NAME'",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			i := inHome(t, home, "a")
			for other, first := range test.others {
				if err := writeJSON(inHome(t, home, other).portsFile(), portBlock(first)); err != nil {
					t.Fatal(err)
				}
			}
			var want Ports
			if test.want != 0 {
				want = portBlock(test.want)
			}
			got, err := i.choosePorts(func(p Ports) int {
				if slices.Contains(test.taken, p.APIServer) {
					return p.APIServer
				}
				return 0
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
			if text(err) != test.err {
				t.Errorf("error %v, want %s", err, test.err)
			}
			// What was chosen is what the next start reads.
			if kept, err := i.readPorts(); err == nil && kept != want || err != nil && test.err == "" {
				t.Errorf("kept %v, %v", kept, err)
			}
		})
	}
}

// TestChoosePortsAtOnce has as many instances claim ports at once as there are
// blocks: each gets one of its own.
func TestChoosePortsAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var instances []Instance
	for first := firstBlock; first <= lastBlock; first += blockSize {
		instances = append(instances, inHome(t, home, fmt.Sprintf("a%d", first)))
	}
	got := make([]Ports, len(instances))
	var claims errgroup.Group
	for n, i := range instances {
		claims.Go(func() (err error) {
			got[n], err = i.choosePorts(func(Ports) int { return 0 })
			return err
		})
	}
	if err := claims.Wait(); err != nil {
		t.Fatal(err)
	}
	var want []Ports
	for first := firstBlock; first <= lastBlock; first += blockSize {
		want = append(want, portBlock(first))
	}
	slices.SortFunc(got, func(a, b Ports) int { return a.APIServer - b.APIServer })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all ports, sorted (-want +got):\n%s", diff)
	}
}

// TestClaimPortsAtOnce asks this machine which ports are free.
func TestClaimPortsAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	instances := []Instance{inHome(t, home, "a"), inHome(t, home, "b")}
	got, kept, blocks := make([]Ports, 2), make([]Ports, 2), make([]Ports, 2)
	var claims errgroup.Group
	for n, i := range instances {
		claims.Go(func() (err error) {
			var claim io.Closer
			if got[n], claim, err = i.ClaimPorts(); err != nil {
				return err
			}
			claimed(t, claim)
			blocks[n] = portBlock(got[n].APIServer / blockSize * blockSize)
			kept[n], err = i.readPorts()
			return err
		})
	}
	if err := claims.Wait(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(blocks, got); diff != "" {
		t.Errorf("ports (-blocks +got):\n%s", diff)
	}
	if diff := cmp.Diff(kept, got); diff != "" {
		t.Errorf("ports (-kept +got):\n%s", diff)
	}
	if got[0] == got[1] {
		t.Errorf("both instances have %v", got[0])
	}
}

// claimed ends a claim with the test.
func claimed(t *testing.T, claim io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := claim.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestClaimPortsInTwoHomes: what an instance in one state directory has claimed, and does
// not listen on yet, is taken for one in another.
//
// It runs before the parallel tests, which claim the ports that it gives back.
func TestClaimPortsInTwoHomes(t *testing.T) { //nolint:paralleltest // see above
	first, claim, err := inHome(t, t.TempDir(), "a").ClaimPorts()
	if err != nil {
		t.Fatal(err)
	}
	other := inHome(t, t.TempDir(), "a")
	second, otherClaim, err := other.ClaimPorts()
	if err != nil {
		t.Fatal(err)
	}
	claimed(t, otherClaim)
	if first == second {
		t.Errorf("both have %v", first)
	}
	// Ports that are kept are claimed again at each start.
	again := inHome(t, t.TempDir(), "a")
	if err := writeJSON(again.portsFile(), first); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`port %d of embedded management cluster "a" is taken by another process: end that process, or use another instance with --name`, first.Claim)
	if _, _, err := again.ClaimPorts(); text(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := claim.Close(); err != nil {
		t.Fatal(err)
	}
	got, claim, err := again.ClaimPorts()
	if err != nil || got != first {
		t.Fatalf("got %v, %v", got, err)
	}
	claimed(t, claim)
}

func listen(t *testing.T, address string) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// TestTaken has one port taken at a time; port 0 stands for one that is free.
func TestTaken(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		address string
		ports   func(port int) Ports
	}{
		"API server":                 {address: "127.0.0.1:0", ports: func(p int) Ports { return Ports{APIServer: p} }},
		"etcd's clients":             {address: "127.0.0.1:0", ports: func(p int) Ports { return Ports{EtcdClient: p} }},
		"etcd's peers":               {address: "127.0.0.1:0", ports: func(p int) Ports { return Ports{EtcdPeer: p} }},
		"core webhook":               {address: "127.0.0.1:0", ports: func(p int) Ports { return Ports{CoreWebhook: p} }},
		"core health":                {address: "127.0.0.1:0", ports: func(p int) Ports { return Ports{CoreHealth: p} }},
		"providers' webhook":         {address: "127.0.0.1:0", ports: func(p int) Ports { return Ports{ProvidersWebhook: p} }},
		"providers' health":          {address: "127.0.0.1:0", ports: func(p int) Ports { return Ports{ProvidersHealth: p} }},
		"simulator's debug endpoint": {address: "127.0.0.1:0", ports: func(p int) Ports { return Ports{SimulatorDebug: p} }},
		"API server on all":          {address: ":0", ports: func(p int) Ports { return Ports{APIServer: p} }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := listen(t, test.address)
			assertClaim(t, test.ports(port), port)
		})
	}
}

// assertClaim claims ports that an earlier start chose, of which one is taken
// by another process meanwhile, or none where taken is 0.
func assertClaim(t *testing.T, ports Ports, taken int) {
	t.Helper()
	i := inHome(t, t.TempDir(), "a")
	if err := writeJSON(i.portsFile(), ports); err != nil {
		t.Fatal(err)
	}
	want, wantErr := ports, ""
	if taken != 0 {
		want = Ports{}
		wantErr = fmt.Sprintf(`port %d of embedded management cluster "a" is taken by another process: end that process, or use another instance with --name`, taken)
	}
	got, claim, err := i.ClaimPorts()
	if err == nil {
		claimed(t, claim)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if text(err) != wantErr {
		t.Errorf("error %v, want %s", err, wantErr)
	}
}

func TestClaimPortsOfBrokenFile(t *testing.T) {
	t.Parallel()
	i := inHome(t, t.TempDir(), "a")
	if err := files.WritePrivate(i.portsFile(), []byte("no JSON")); err != nil {
		t.Fatal(err)
	}
	if ports, _, err := i.ClaimPorts(); ports != (Ports{}) || err == nil {
		t.Errorf("got %v, %v", ports, err)
	}
	if got := readDir(t, i.Dir)["ports.json"].Text; got != "no JSON" {
		t.Errorf("the file was replaced by %q", got)
	}
}

func TestClaimPortsWithoutDirectory(t *testing.T) {
	t.Parallel()
	i := Instance{Name: "a", Dir: filepath.Join(t.TempDir(), "none", "a")}
	if ports, _, err := i.ClaimPorts(); ports != (Ports{}) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, %v; want %v", ports, err, os.ErrNotExist)
	}
}
