package input

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Upgrade are the flags that say which upgrade is meant.
type Upgrade struct {
	lifecycle.UpgradeOptions
	// File is that of -f, and From that of --from.
	File, From string
	// PlanFile is that of --out, to write the plan to.
	PlanFile string
	// Name is the argument, of a cluster whose versions alone change.
	Name     string
	Versions Versions
}

// AddTo adds the flags, but for -f and --from.
func (u *Upgrade) AddTo(flags *pflag.FlagSet) {
	flags.BoolVar(&u.Scope.ControlPlaneOnly, "control-plane-only", false, "upgrade the control plane only; worker node groups stay as they are")
	flags.StringSliceVar(&u.Scope.Groups, "worker-node-groups", nil, "upgrade these worker node groups only, comma-separated; everything else stays as it is")
	flags.BoolVar(&u.LatestPatches, "latest-patches", false, "take the newest patch of a minor instead of the one already running")
	flags.StringVar(&u.Versions.KubernetesVersion, "kubernetes-version", "", "without a file: version of the control plane, and of all worker node groups that have none of their own")
	flags.StringArrayVar(&u.Versions.Groups, "worker-node-group", nil, "without a file: GROUP=VERSION, a version for one worker node group; may be repeated")
	flags.StringVar(&u.Versions.Images, "images", "", "without a file: file with what machines of each version are made from, of kind "+ImagesKind)
}

// Narrowed reports whether the flags choose a part of the cluster, or patches.
func (u *Upgrade) Narrowed() bool { return !u.Scope.Whole() || u.LatestPatches }

// Take takes the arguments, which may name the cluster. It refuses a file beside the name, flags
// that need a name, no groups, and parts of a cluster that exclude each other.
func (u *Upgrade) Take(args, files []string) error {
	switch {
	case len(args) == 0 && u.Versions.Given():
		return usage.Errorf("--kubernetes-version, --worker-node-group and --images are for upgrades without a file: name the cluster, or set the versions in the file")
	case len(args) > 0 && len(files) > 0:
		return usage.Errorf("a file describes its cluster: leave %q out, or -f", args[0])
	case len(args) > 0:
		u.Name = args[0]
	}
	if u.Scope.Groups != nil && len(u.Scope.Groups) == 0 { // given, as of a shell variable that is not set
		return usage.Errorf("--worker-node-groups names no group: name some, or leave it out for the control plane and all groups")
	}
	if u.Scope.ControlPlaneOnly && len(u.Scope.Groups) > 0 {
		return usage.Errorf("--control-plane-only and --worker-node-groups exclude each other: leave both out for the control plane and all groups")
	}
	return nil
}

// Wanted is what a live cluster is upgraded to.
type Wanted struct {
	lifecycle.UpgradeOptions
	// Spec describes the cluster.
	Spec lifecycle.Spec
	// Change is what is wanted instead of a spec, and Name the cluster.
	Change *lifecycle.VersionChange
	Name   string
}

// ReadUpgrade reads what the flags ask for: the versions of a cluster, or its file; without either
// what a saved plan was made from, where there is one.
func (r *Reader) ReadUpgrade(u Upgrade, saved *plan.Plan) (Wanted, error) {
	wanted := Wanted{UpgradeOptions: u.UpgradeOptions, Name: u.Name}
	if u.Name != "" {
		change, err := r.ReadVersionChange(u.Versions)
		wanted.Change = &change
		return wanted, err
	}
	err := u.checkPlanFile()
	if err != nil {
		return wanted, err
	}
	if u.File != "" || saved == nil || saved.Source == nil {
		wanted.Spec, err = r.ReadSpec(u.File)
		return wanted, err
	}
	if u.Narrowed() {
		return wanted, usage.Errorf("--plan alone follows the plan as it is: leave --control-plane-only, --worker-node-groups and --latest-patches out, or name the file with -f")
	}
	wanted.UpgradeOptions = lifecycle.UpgradeOptions{Scope: saved.Source.Scope, LatestPatches: saved.Source.LatestPatches}
	if wanted.Change = saved.Source.Change; wanted.Change != nil {
		wanted.Name = saved.Metadata.Name
		return wanted, nil
	}
	wanted.Spec, err = r.Spec(saved.Source.File, []byte(saved.Source.Spec))
	return wanted, err
}

// checkPlanFile refuses to write the plan over a file that it is made from.
func (u Upgrade) checkPlanFile() error {
	out, err := os.Stat(u.PlanFile)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to overwrite
	}
	for _, file := range []string{u.File, u.From} {
		if read, err := os.Stat(file); err == nil && os.SameFile(read, out) {
			return usage.Errorf("--out is %s, which describes the cluster and would be overwritten: name another file", u.PlanFile)
		}
	}
	return nil
}

// ReadBetween reads the file of --from, which describes the current cluster, and that of -f.
func (r *Reader) ReadBetween(u Upgrade) (before, after lifecycle.Spec, err error) {
	if err := u.checkPlanFile(); err != nil {
		return before, after, err
	}
	if u.From == "-" && u.File == "-" {
		return before, after, usage.Errorf("-f and --from cannot both be standard input; give one of them a file")
	}
	if before, err = r.ReadSpecOf("--from names the file that describes the current cluster, and - is standard input", u.From); err != nil {
		return before, after, err
	}
	after, err = r.ReadSpec(u.File)
	return before, after, err
}

// Fleet are the flags of an upgrade that choose several clusters.
type Fleet struct {
	All       bool
	Selection Selection
}

// AddTo adds the flags.
func (f *Fleet) AddTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.All, "all", false, "without a file: plan for all clusters of the namespace")
	f.Selection.AddTo(flags, "with --all: plan for")
}

// Check refuses what has no meaning for several clusters: their names, their files, a part of each,
// and the file of --out.
func (f *Fleet) Check(u Upgrade, args, files []string) error {
	switch {
	case !f.All && f.Selection.Given():
		return usage.Errorf("--all-namespaces and --selector choose among --all")
	case f.All && (len(args) > 0 || len(files) > 0):
		return usage.Errorf("--all plans for all clusters: leave the name and -f out")
	case f.All && (u.PlanFile != "" || u.From != "" || !u.Scope.Whole()):
		return usage.Errorf("--out, --from, --control-plane-only and --worker-node-groups are for one cluster: leave --all out")
	}
	return nil
}
