package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
)

// DefaultName is the name of the instance that commands use unless set.
const DefaultName = "default"

// Exec is the file name of the supervisor program.
const Exec = "clusterctl-x-embedded"

// ErrNoProgram says that the supervisor program is not installed.
var ErrNoProgram = errors.New("the program " + Exec + " is missing")

// ErrRunning says that processes of the instance live already.
var ErrRunning = errors.New("already running")

// Instance is one embedded management cluster, running or not. Its directory
// holds everything that it keeps: keys, kubeconfig, etcd's data, logs.
type Instance struct {
	Name string
	Dir  string
	// StopGrace is how long the processes have for an orderly end; zero means
	// 20 seconds.
	StopGrace time.Duration
}

var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// Find returns the instance called name below home, the state directory of
// clusterctl-x, whether it exists or not.
func Find(home, name string) (Instance, error) {
	if !validName.MatchString(name) {
		return Instance{}, fmt.Errorf("invalid name %q of an embedded management cluster: use at most 40 lower-case letters, digits and dashes", name)
	}
	return Instance{Name: name, Dir: filepath.Join(instancesDir(home), name)}, nil
}

// List returns every instance below home that was ever started and not
// removed, sorted by name.
func List(home string) ([]Instance, error) {
	entries, err := os.ReadDir(instancesDir(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing embedded management clusters: %w", err)
	}
	var instances []Instance
	for _, entry := range entries {
		if entry.IsDir() && validName.MatchString(entry.Name()) {
			instances = append(instances, Instance{Name: entry.Name(), Dir: filepath.Join(instancesDir(home), entry.Name())})
		}
	}
	return instances, nil
}

// DefaultHome is the state directory of clusterctl-x: CLUSTERCTL_X_HOME, else
// clusterctl-x below XDG_STATE_HOME, else ~/.local/state/clusterctl-x.
func DefaultHome() (string, error) {
	if home := os.Getenv("CLUSTERCTL_X_HOME"); home != "" {
		return filepath.Abs(home)
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "clusterctl-x"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the directory for embedded management clusters: %w; set CLUSTERCTL_X_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "clusterctl-x"), nil
}

func instancesDir(home string) string { return filepath.Join(home, "embedded") }

// Kubeconfig is the path of the administrator's kubeconfig.
func (i Instance) Kubeconfig() string { return filepath.Join(i.Dir, "kubeconfig") }

// EtcdDir is the path of etcd's data.
func (i Instance) EtcdDir() string { return filepath.Join(i.Dir, "etcd") }

// PKIDir is the path of keys and certificates.
func (i Instance) PKIDir() string { return filepath.Join(i.Dir, "pki") }

// LogsDir is the path of the processes' logs.
func (i Instance) LogsDir() string { return filepath.Join(i.Dir, "logs") }

func (i Instance) lockFile() string           { return filepath.Join(i.Dir, "lock") }
func (i Instance) supervisorLockFile() string { return filepath.Join(i.Dir, "supervisor.lock") }
func (i Instance) portsFile() string          { return filepath.Join(i.Dir, "ports.json") }
func (i Instance) progressFile() string       { return filepath.Join(i.Dir, "progress.json") }

// Progress is the supervisor's report about itself.
type Progress struct {
	// SupervisorPID leads the process group that all the processes belong to.
	SupervisorPID int `json:"supervisorPID"`
	// Ready is true once API server, controllers and webhooks answer.
	Ready bool `json:"ready"`
	// StartedAt is when the supervisor began, ReadyAt when it became ready.
	StartedAt time.Time `json:"startedAt"`
	ReadyAt   time.Time `json:"readyAt,omitzero"`
	// Processes maps a component to its process ID.
	Processes map[string]int `json:"processes,omitempty"`
	// Environment has the variables that say where the processes find the Docker Engine. They
	// inherited them; a later command may have others.
	Environment map[string]string `json:"environment,omitempty"`
}

// WriteProgress replaces the supervisor's word about itself.
func (i Instance) WriteProgress(p Progress) error {
	return writeJSON(i.progressFile(), p)
}

// ClearProgress removes the supervisor's word about itself, at its end.
func (i Instance) ClearProgress() error { return os.Remove(i.progressFile()) }

func (i Instance) readProgress() (Progress, error) {
	var p Progress
	err := readJSON(i.progressFile(), &p)
	if errors.Is(err, fs.ErrNotExist) {
		return Progress{}, nil
	}
	return p, err
}

func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return files.WritePrivate(path, append(data, '\n'))
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// Status is what is known about an instance without talking to it.
type Status struct {
	// Progress is the report of the supervisor; it is not ready once it was killed.
	Progress
	// Created is true once the instance was started for the first time.
	Created bool `json:"created"`
	// Running is true while any of its processes lives.
	Running bool  `json:"running"`
	Ports   Ports `json:"ports,omitzero"`
}

// Status reports whether the instance runs, since when, and on which ports.
func (i Instance) Status() (Status, error) {
	running, err := i.locked()
	if err != nil {
		return Status{}, err
	}
	ports, err := i.readPorts()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Status{}, err
	}
	// A first start has the lock before it has ports.
	status := Status{Created: running || err == nil, Running: running, Ports: ports}
	if !running {
		return status, nil
	}
	if status.Progress, err = i.readProgress(); err != nil {
		return Status{}, err
	}
	supervised, err := i.supervised()
	if !supervised {
		status.Ready, status.ReadyAt = false, time.Time{}
	}
	return status, err
}

// ComponentLogs are the paths of the logs that exist, sorted.
func (i Instance) ComponentLogs() []string {
	logs, err := filepath.Glob(filepath.Join(i.LogsDir(), "*.log"))
	if err != nil {
		return nil
	}
	slices.Sort(logs)
	return logs
}

// Remove deletes everything that the stopped instance keeps.
func (i Instance) Remove() error {
	held, err := i.locked()
	if err != nil {
		return err
	}
	if held {
		return fmt.Errorf("removing embedded management cluster %q: %w", i.Name, ErrRunning)
	}
	return os.RemoveAll(i.Dir)
}
