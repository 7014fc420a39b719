package validations_test

import (
	"fmt"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// fromClass is a spec with a ClusterClass of clusterctl-x.
func fromClass(change func(*v1alpha1.Cluster)) func(*v1alpha1.Cluster) {
	return func(c *v1alpha1.Cluster) {
		c.Spec.ClusterClass = &v1alpha1.ClusterClass{Name: "inmemory"}
		change(c)
	}
}

// fromOwnClass is a spec with a ClusterClass of the user's own.
func fromOwnClass(change func(*v1alpha1.Cluster)) func(*v1alpha1.Cluster) {
	return fromClass(func(c *v1alpha1.Cluster) {
		c.Spec.DatacenterRef = v1alpha1.Ref{}
		change(c)
	})
}

const (
	theControlPlane = "spec.controlPlaneConfiguration"
	firstGroup      = "spec.workerNodeGroupConfigurations[0]"
	secondGroup     = "spec.workerNodeGroupConfigurations[1]"
)

func TestSpecClusterClassNames(t *testing.T) {
	t.Parallel()
	const (
		path   = "spec.clusterClass"
		object = "must be the name of an object: at most 253 lower-case letters, digits, dashes and dots that begin and end with a letter or digit"
		label  = "must consist of lower-case letters, digits and dashes, and begin and end with a letter or digit"
	)
	class := func(class v1alpha1.ClusterClass) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ClusterClass = &class }
	}
	invalid := func(name string) specTest {
		return specTest{class(v1alpha1.ClusterClass{Name: name}), []string{path + `.name: Invalid value: "` + name + `": ` + object}}
	}
	testSpec(t, map[string]specTest{
		"name":                       {class(v1alpha1.ClusterClass{Name: "inmemory"}), nil},
		"name with dots":             {class(v1alpha1.ClusterClass{Name: "aws.example.org"}), nil},
		"name of 253 characters":     {class(v1alpha1.ClusterClass{Name: long(253)}), nil},
		"name of 254 characters":     invalid(long(254)),
		"name with a capital":        invalid("Docker"),
		"name with a slash":          invalid("classes/docker"),
		"no name":                    {class(v1alpha1.ClusterClass{Namespace: "classes"}), []string{path + ".name: Required value: the name of a ClusterClass of the management cluster; 'clusterctl-x generate clusterclass' makes one"}},
		"namespace of 63 characters": {class(v1alpha1.ClusterClass{Name: "docker", Namespace: long(63)}), nil},
		"namespace of 64 characters": {class(v1alpha1.ClusterClass{Name: "docker", Namespace: long(64)}), []string{path + `.namespace: Invalid value: "` + long(64) + `": must have at most 63 characters, and has 64; shorten it`}},
		"namespace with a dot":       {class(v1alpha1.ClusterClass{Name: "docker", Namespace: "a.b"}), []string{path + `.namespace: Invalid value: "a.b": ` + label}},
	})
}

func TestSpecClassOfAGroup(t *testing.T) {
	t.Parallel()
	class := func(name string) func(*v1alpha1.Cluster) {
		return fromClass(func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations[1].Class = name })
	}
	pinned := func(change func(*v1alpha1.WorkerNodeGroupConfiguration)) func(*v1alpha1.Cluster) {
		return fromClass(func(c *v1alpha1.Cluster) {
			c.Spec.WorkerNodeGroupConfigurations[1].KubernetesVersion = new(kubernetesVersion("1.34"))
			change(&c.Spec.WorkerNodeGroupConfigurations[1])
		})
	}
	const inNoSequence = ": Forbidden: a group with a kubernetesVersion has no place in the upgrade sequence: remove one of the two"
	groups := func(number int) func(*v1alpha1.Cluster) {
		return fromClass(func(c *v1alpha1.Cluster) {
			c.Spec.WorkerNodeGroupConfigurations = nil
			for i := range number {
				c.Spec.WorkerNodeGroupConfigurations = append(c.Spec.WorkerNodeGroupConfigurations, v1alpha1.WorkerNodeGroupConfiguration{Name: fmt.Sprint("md-", i)})
			}
		})
	}
	testSpec(t, map[string]specTest{
		"another class":       {class("arm64"), nil},
		"256 characters":      {class(long(256)), nil},
		"257 characters":      {class(long(257)), []string{secondGroup + ".class: Invalid value: must have at most 256 bytes, and has 257; shorten it"}},
		"pinned":              {pinned(func(*v1alpha1.WorkerNodeGroupConfiguration) {}), nil},
		"pinned and held":     {pinned(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.HoldUpgradeSequence = true }), []string{secondGroup + ".holdUpgradeSequence" + inNoSequence}},
		"pinned and deferred": {pinned(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.DeferUpgrade = true }), []string{secondGroup + ".deferUpgrade" + inNoSequence}},
		"deferred and held": {fromClass(func(c *v1alpha1.Cluster) {
			c.Spec.WorkerNodeGroupConfigurations[0].DeferUpgrade, c.Spec.WorkerNodeGroupConfigurations[1].HoldUpgradeSequence = true, true
		}), nil},
		"2000 groups": {groups(2000), nil},
		"2001 groups": {groups(2001), []string{"spec.workerNodeGroupConfigurations: Invalid value: has 2001 entries and must have at most 2000 in a cluster with a clusterClass; remove some"}},
	})
}

func TestSpecVariables(t *testing.T) {
	t.Parallel()
	const (
		path  = "spec.clusterClass.variables"
		merge = ": Forbidden: cannot be the name of a field: in YAML it merges another mapping; use another name"
		empty = ": Required value: a variable needs a name, one of those in spec.variables of the ClusterClass"
		null  = ": Required value: a variable must have a value; write one, or remove it"
	)
	variables := func(variables map[string]any) func(*v1alpha1.Cluster) {
		return fromClass(func(c *v1alpha1.Cluster) { c.Spec.ClusterClass.Variables = variables })
	}
	many := func(number int) map[string]any {
		all := map[string]any{}
		for i := range number {
			all[fmt.Sprint("v", i)] = i
		}
		return all
	}
	everywhere := func(c *v1alpha1.Cluster) {
		c.Spec.ClusterClass.Variables = map[string]any{"": 1}
		c.Spec.ControlPlaneConfiguration.Variables = map[string]any{"": 1}
		c.Spec.WorkerNodeGroupConfigurations[1].Variables = map[string]any{"a": nil}
	}
	testSpec(t, map[string]specTest{
		"of each form":            {variables(map[string]any{"a": "b", "c": 1, "d": false, "e": []any{1.5, ""}, "f": map[string]any{"a.b/c": nil}}), nil},
		"name with dots":          {variables(map[string]any{"a.b": 1}), nil},
		"name of 256 bytes":       {variables(map[string]any{long(256): 1}), nil},
		"name of 257 bytes":       {variables(map[string]any{long(257): 1}), []string{path + "." + long(257) + ": Invalid value: the name of a variable must have at most 256 bytes, and has 257; shorten it"}},
		"no name":                 {variables(map[string]any{"": 1}), []string{path + `.""` + empty}},
		"no value":                {variables(map[string]any{"a": nil, "b": 1}), []string{path + ".a" + null}},
		"900":                     {variables(many(900)), nil},
		"901":                     {variables(many(901)), []string{path + ": Invalid value: has 901 entries and must have at most 900; remove some"}},
		"name that merges":        {variables(map[string]any{"<<": 1}), []string{path + `."<<"` + merge}},
		"field that merges":       {variables(map[string]any{"a": map[string]any{"b": []any{1, map[string]any{"<<": 1}}}}), []string{path + `.a.b[1]."<<"` + merge}},
		"value that looks so":     {variables(map[string]any{"a": "<<", "b": "<< a"}), nil},
		"in each of three places": {fromClass(everywhere), []string{path + `.""` + empty, theControlPlane + `.variables.""` + empty, secondGroup + ".variables.a" + null}},
		"of a class of one's own": {fromOwnClass(everywhere), []string{path + `.""` + empty, theControlPlane + `.variables.""` + empty, secondGroup + ".variables.a" + null}},
	})
}

// TestSpecFieldsOfAClass: without a ClusterClass nobody would read them.
func TestSpecFieldsOfAClass(t *testing.T) {
	t.Parallel()
	const (
		nothing = ": Forbidden: takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; "
		remove  = nothing + "remove it, or name the class"
		pin     = nothing + "give the group a kubernetesVersion to keep it where it is"
	)
	group := func(change func(*v1alpha1.WorkerNodeGroupConfiguration)) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { change(&c.Spec.WorkerNodeGroupConfigurations[1]) }
	}
	all := func(c *v1alpha1.Cluster) {
		c.Spec.ControlPlaneConfiguration.Variables = map[string]any{"a": 1}
		c.Spec.WorkerNodeGroupConfigurations[0] = v1alpha1.WorkerNodeGroupConfiguration{
			Name: "md-0", Class: "default-worker", Variables: map[string]any{"a": 1}, DeferUpgrade: true, HoldUpgradeSequence: true,
		}
	}
	testSpec(t, map[string]specTest{
		"variables of the control plane": {func(c *v1alpha1.Cluster) { c.Spec.ControlPlaneConfiguration.Variables = map[string]any{"": nil} }, []string{theControlPlane + ".variables" + remove}},
		"class":                          {group(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.Class = "default-worker" }), []string{secondGroup + ".class" + remove}},
		"variables of a group":           {group(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.Variables = map[string]any{"a": 1} }), []string{secondGroup + ".variables" + remove}},
		"no variables":                   {group(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.Variables = map[string]any{} }), nil},
		"deferred":                       {group(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.DeferUpgrade = true }), []string{secondGroup + ".deferUpgrade" + pin}},
		"held":                           {group(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.HoldUpgradeSequence = true }), []string{secondGroup + ".holdUpgradeSequence" + pin}},
		"all with a class":               {fromClass(all), nil},
		"all without one": {all, []string{
			theControlPlane + ".variables" + remove, firstGroup + ".class" + remove, firstGroup + ".variables" + remove, firstGroup + ".deferUpgrade" + pin, firstGroup + ".holdUpgradeSequence" + pin,
		}},
	})
}

func TestSpecOwnClass(t *testing.T) {
	t.Parallel()
	const needs = ": Forbidden: takes effect only with classes of 'generate clusterclass', and without spec.datacenterRef spec.clusterClass is one of your own: give the class a variable for it and set that in spec.clusterClass.variables, or add the datacenterRef"
	controlPlane := func(change func(*v1alpha1.ControlPlaneConfiguration)) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { change(&c.Spec.ControlPlaneConfiguration) }
	}
	group := func(change func(*v1alpha1.WorkerNodeGroupConfiguration)) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { change(&c.Spec.WorkerNodeGroupConfigurations[1]) }
	}
	kms := []v1alpha1.EtcdEncryption{{Providers: []v1alpha1.EtcdEncryptionProvider{{KMS: &v1alpha1.KMS{Name: "a", SocketListenAddress: "unix:///run/a/socket"}}}, Resources: []string{"secrets"}}}
	fields := map[string]func(*v1alpha1.Cluster){
		theControlPlane + `.labels["example.org/a"]`: controlPlane(func(p *v1alpha1.ControlPlaneConfiguration) {
			p.Labels = map[string]string{"example.org/a": "", "node-role.kubernetes.io/b": ""}
		}),
		theControlPlane + ".taints": controlPlane(func(p *v1alpha1.ControlPlaneConfiguration) { p.Taints = &[]v1alpha1.Taint{} }),
		theControlPlane + ".kubeletConfiguration": controlPlane(func(p *v1alpha1.ControlPlaneConfiguration) {
			p.KubeletConfiguration = map[string]any{"maxPods": 50}
		}),
		theControlPlane + ".certSans":           controlPlane(func(p *v1alpha1.ControlPlaneConfiguration) { p.CertSANs = []string{"api"} }),
		theControlPlane + ".apiServerExtraArgs": controlPlane(func(p *v1alpha1.ControlPlaneConfiguration) { p.APIServerExtraArgs = map[string]string{"v": "1"} }),
		theControlPlane + ".auditPolicyContent": controlPlane(func(p *v1alpha1.ControlPlaneConfiguration) {
			p.AuditPolicyContent = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
		}),
		theControlPlane + ".upgradeRolloutStrategy": controlPlane(func(p *v1alpha1.ControlPlaneConfiguration) {
			p.UpgradeRolloutStrategy = &v1alpha1.ControlPlaneRolloutStrategy{}
		}),
		secondGroup + ".labels[role]": group(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.Labels = map[string]string{"role": "a"} }),
		secondGroup + ".taints":       group(func(g *v1alpha1.WorkerNodeGroupConfiguration) { g.Taints = &[]v1alpha1.Taint{} }),
		secondGroup + ".kubeletConfiguration": group(func(g *v1alpha1.WorkerNodeGroupConfiguration) {
			g.KubeletConfiguration = map[string]any{"maxPods": 50}
		}),
		"spec.clusterNetwork.dns": func(c *v1alpha1.Cluster) {
			c.Spec.ClusterNetwork.DNS.ResolvConf = &v1alpha1.ResolvConf{Path: "/etc/other"}
		},
		"spec.clusterNetwork.nodes": func(c *v1alpha1.Cluster) { c.Spec.ClusterNetwork.Nodes = &v1alpha1.Nodes{} },
		"spec.externalEtcdConfiguration": func(c *v1alpha1.Cluster) {
			c.Spec.ExternalEtcdConfiguration = &v1alpha1.ExternalEtcdConfiguration{Count: 1}
		},
		"spec.identityProviderRefs": func(c *v1alpha1.Cluster) {
			c.Spec.IdentityProviderRefs = []v1alpha1.Ref{{Kind: v1alpha1.OIDCKind, Name: "a"}}
		},
		"spec.podIamConfig": func(c *v1alpha1.Cluster) {
			c.Spec.PodIAMConfig = &v1alpha1.PodIAMConfig{ServiceAccountIssuer: "https://issuer.example.org"}
		},
		"spec.etcdEncryption": func(c *v1alpha1.Cluster) { c.Spec.EtcdEncryption = kms },
		"spec.proxyConfiguration": func(c *v1alpha1.Cluster) {
			c.Spec.ProxyConfiguration = &v1alpha1.ProxyConfiguration{HTTPProxy: "a:1", HTTPSProxy: "a:1"}
		},
		"spec.registryMirrorConfiguration": func(c *v1alpha1.Cluster) {
			c.Spec.RegistryMirrorConfiguration = &v1alpha1.RegistryMirrorConfiguration{Endpoint: "a.example.org"}
		},
	}
	tests := map[string]specTest{"what every class acts on": {fromOwnClass(func(c *v1alpha1.Cluster) {
		c.Spec.ClusterNetwork.Pods.CIDRBlocks, c.Spec.ClusterNetwork.Services.CIDRBlocks = []string{"fd00:1::/52"}, []string{"fd00:2::/112"}
		c.Spec.ControlPlaneConfiguration.Labels = map[string]string{"node-role.kubernetes.io/a": "", "node-restriction.kubernetes.io/b": "", "node.cluster.x-k8s.io/c": ""}
		c.Spec.ControlPlaneConfiguration.Annotations = map[string]string{"a": "b"}
		c.Spec.MachineHealthCheck = &v1alpha1.MachineHealthCheck{}
		c.Spec.WorkerNodeGroupConfigurations[0] = v1alpha1.WorkerNodeGroupConfiguration{
			Name: "md-0", AutoscalingConfiguration: &v1alpha1.AutoscalingConfiguration{MaxCount: 1}, FailureDomains: []string{"a"}, UpgradeRolloutStrategy: &v1alpha1.WorkerRolloutStrategy{},
			MachineDeletion: v1alpha1.MachineDeletion{NodeDrainTimeout: duration("1m")}, DeferUpgrade: true,
		}
	}), nil}}
	for path, change := range fields {
		tests[path] = specTest{fromOwnClass(change), []string{path + needs}}
		tests[path+" with a class of clusterctl-x"] = specTest{fromClass(change), nil}
	}
	testSpec(t, tests)
}

// TestSpecDatacenterOfAClass: a class of the user's own needs none.
func TestSpecDatacenterOfAClass(t *testing.T) {
	t.Parallel()
	ref := func(kind, name string) func(*v1alpha1.Cluster) {
		return fromClass(func(c *v1alpha1.Cluster) { c.Spec.DatacenterRef = v1alpha1.Ref{Kind: kind, Name: name} })
	}
	testSpec(t, map[string]specTest{
		"docker":           {ref("DockerDatacenterConfig", "prod"), nil},
		"none":             {ref("", ""), nil},
		"another provider": {ref("VSphereDatacenterConfig", "prod"), []string{`spec.datacenterRef.kind: Unsupported value: "VSphereDatacenterConfig": supported values: "DockerDatacenterConfig", "InMemoryDatacenterConfig"`}},
		"no kind":          {ref("", "prod"), []string{"spec.datacenterRef.kind: Required value: the provider: DockerDatacenterConfig or InMemoryDatacenterConfig"}},
		"no name":          {ref("DockerDatacenterConfig", ""), []string{"spec.datacenterRef.name: Required value: the name of the provider document; if there is none, any name"}},
	})
}

// TestSpecEncryptionOfAClass: a class tells API servers of all versions the same.
func TestSpecEncryptionOfAClass(t *testing.T) {
	t.Parallel()
	const older = "spec.etcdEncryption: Forbidden: with a clusterClass it needs Kubernetes 1.29 or newer: older API servers need another value, and a class has one value for all versions; leave it out, or use a newer version"
	encrypted := func(version v1alpha1.KubernetesVersion) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.KubernetesVersion = version
			c.Spec.EtcdEncryption = []v1alpha1.EtcdEncryption{{Providers: []v1alpha1.EtcdEncryptionProvider{{KMS: &v1alpha1.KMS{Name: "a", SocketListenAddress: "unix:///run/a/socket"}}}, Resources: []string{"secrets"}}}
		}
	}
	testSpec(t, map[string]specTest{
		"1.29":                 {fromClass(encrypted(kubernetesVersion("1.29"))), nil},
		"1.28":                 {fromClass(encrypted(kubernetesVersion("1.28.15"))), []string{older}},
		"1.28 without a class": {encrypted(kubernetesVersion("1.28")), nil},
		"no version":           {fromClass(encrypted(v1alpha1.KubernetesVersion{})), nil},
	})
}
