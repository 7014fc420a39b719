package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// Ports of an instance: one block of consecutive ports, chosen at the first
// start and kept, because kubeconfigs and control plane endpoints name them.
type Ports struct {
	APIServer        int `json:"apiServer"`
	EtcdClient       int `json:"etcdClient"`
	EtcdPeer         int `json:"etcdPeer"`
	CoreWebhook      int `json:"coreWebhook"`
	CoreHealth       int `json:"coreHealth"`
	ProvidersWebhook int `json:"providersWebhook"`
	ProvidersHealth  int `json:"providersHealth"`
	SimulatorDebug   int `json:"simulatorDebug"`
	// Claim is listened on for as long as the instance runs, before any other port is:
	// it keeps the block from instances in other state directories. Instances of older
	// releases have none.
	Claim int `json:"claim,omitempty"`
	// Simulated clusters get FirstCluster to LastCluster, one port each.
	FirstCluster int `json:"firstCluster"`
	LastCluster  int `json:"lastCluster"`
}

const (
	// The blocks lie below the range from which Linux takes ports of outgoing
	// connections (32768 and up), and below NodePorts (30000 and up).
	firstBlock = 20000
	lastBlock  = 29000
	blockSize  = 1000
)

func portBlock(first int) Ports {
	return Ports{
		APIServer:        first,
		EtcdClient:       first + 1,
		EtcdPeer:         first + 2,
		CoreWebhook:      first + 3,
		CoreHealth:       first + 4,
		ProvidersWebhook: first + 5,
		ProvidersHealth:  first + 6,
		SimulatorDebug:   first + 7,
		Claim:            first + 8,
		FirstCluster:     first + 10,
		LastCluster:      first + blockSize - 1,
	}
}

// OnAllAddresses are the ports that upstream opens on every address of the
// machine and gives no setting for; the others are on 127.0.0.1 only.
func (p Ports) OnAllAddresses() []int {
	return []int{p.CoreWebhook, p.SimulatorDebug, p.FirstCluster, p.LastCluster}
}

// taken returns the first of the fixed ports that another process listens on, or 0.
func (p Ports) taken() int {
	for _, port := range []int{p.APIServer, p.EtcdClient, p.EtcdPeer, p.CoreHealth, p.ProvidersWebhook, p.ProvidersHealth} {
		if !free("127.0.0.1", port) {
			return port
		}
	}
	for _, port := range []int{p.CoreWebhook, p.SimulatorDebug} {
		if !free("", port) {
			return port
		}
	}
	return 0
}

func free(host string, port int) bool {
	listener, err := listenOn(host, port)
	return err == nil && listener.Close() == nil
}

func listenOn(host string, port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))) //nolint:noctx // it answers at once
}

func (i Instance) readPorts() (Ports, error) {
	var ports Ports
	err := readJSON(i.portsFile(), &ports)
	return ports, err
}

// ClaimPorts returns the ports of the instance, which are claimed until the closer is
// closed. The first call picks the first block that no other instance owns and
// on which no program listens. It fails, naming the port, where another process has taken one since.
func (i Instance) ClaimPorts() (Ports, io.Closer, error) {
	var claim net.Listener
	take := func(ports Ports) int {
		var err error
		if claim, err = listenOn("127.0.0.1", ports.Claim); err != nil {
			return ports.Claim
		}
		port := ports.taken()
		if port != 0 && claim.Close() != nil {
			return ports.Claim
		}
		return port
	}
	ports, err := i.readPorts()
	if errors.Is(err, fs.ErrNotExist) {
		ports, err = i.choosePorts(take)
		if err == nil {
			return ports, claim, nil
		}
	}
	if err != nil {
		return Ports{}, nil, err
	}
	if port := take(ports); port != 0 {
		return Ports{}, nil, fmt.Errorf("port %d of embedded management cluster %q is taken by another process: end that process, or use another instance with --name", port, i.Name)
	}
	return ports, claim, nil
}

// choosePorts picks the first block without a taken port that the function may claim.
func (i Instance) choosePorts(taken func(Ports) int) (_ Ports, err error) {
	all := filepath.Dir(i.Dir)
	lock, err := acquire(filepath.Join(all, "ports.lock"))
	if err != nil {
		return Ports{}, fmt.Errorf("choosing ports: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()

	owned, err := ownedPorts(all)
	if err != nil {
		return Ports{}, err
	}
	for first := firstBlock; first <= lastBlock; first += blockSize {
		ports := portBlock(first)
		if owner, ok := owned[ports.APIServer]; ok && owner != i.Name || taken(ports) != 0 {
			continue
		}
		return ports, writeJSON(i.portsFile(), ports)
	}
	return Ports{}, fmt.Errorf("no block of %d free ports between %d and %d is left: remove an embedded management cluster that is not needed with 'clusterctl-x management stop --remove --name NAME'",
		blockSize, firstBlock, lastBlock+blockSize-1)
}

// ownedPorts maps the API server's port of every instance to the instance's name.
func ownedPorts(dir string) (map[int]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	owned := map[int]string{}
	for _, entry := range entries {
		ports, err := Instance{Name: entry.Name(), Dir: filepath.Join(dir, entry.Name())}.readPorts()
		if err == nil {
			owned[ports.APIServer] = entry.Name()
		}
	}
	return owned, nil
}
