package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// randomSpec writes cluster specs, each field with a value as often as not.
// Values that are free in their form are at times of the greatest length, or of
// characters that are special to somebody. Most specs are valid, not all.
type randomSpec struct {
	*rand.Rand
	cluster    string
	datacenter string // the kind
	minor      int    // of the control plane
	count      int    // of its machines
	external   bool   // etcd with endpoints
	managed    bool   // from the ClusterClass of the provider
	lag        int    // minors that groups may be older than the control plane
}

// object is a mapping of a spec.
type object = map[string]any

// newRandomSpec returns the documents of a spec. The same seed gives the same.
func newRandomSpec(t *testing.T, seed uint64, clusters, addOns []string) []byte {
	t.Helper()
	r := randomSpec{Rand: rand.New(rand.NewPCG(seed, 0))}
	r.cluster = pick(r, clusters...)
	r.datacenter = pick(r, "DockerDatacenterConfig", "InMemoryDatacenterConfig")
	r.minor, r.count, r.external, r.lag = 31+r.IntN(6), pick(r, 1, 3, 5), r.IntN(4) == 0, 1+r.IntN(3)
	if r.external {
		r.count = 1 + r.IntN(5)
	}
	r.managed = r.IntN(4) == 0
	var text []byte
	for _, document := range r.documents(addOns) {
		data, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, data...), "---\n"...)
	}
	return text
}

func (r randomSpec) documents(addOns []string) []object {
	spec := object{
		"kubernetesVersion":         fmt.Sprintf("1.%d", r.minor),
		"datacenterRef":             object{"kind": r.datacenter, "name": "any"},
		"clusterNetwork":            r.network(),
		"controlPlaneConfiguration": r.controlPlane(),
	}
	if r.managed {
		spec["clusterClass"] = r.class()
	}
	for range r.IntN(4) {
		groups, _ := spec["workerNodeGroupConfigurations"].([]object)
		spec["workerNodeGroupConfigurations"] = append(groups, r.group(len(groups)))
	}
	r.some(spec, "machineHealthCheck", r.healthCheck())
	r.some(spec, "podIamConfig", object{"serviceAccountIssuer": "https://" + r.host() + "/" + r.word(900)})
	r.some(spec, "etcdEncryption", []object{{
		"providers": []object{{"kms": r.kms()}},
		"resources": r.words(1, 3, "secrets", "configmaps", "deployments.apps", "*.example.org"),
	}})
	r.some(spec, "proxyConfiguration", object{
		"httpProxy": r.host() + ":3128", "httpsProxy": "http://" + r.host() + ":3129", "noProxy": r.words(0, 3, ".example.org", "10.0.0.0/8", "fd00::/8", "host", "10.0.0.1"),
	})
	r.some(spec, "registryMirrorConfiguration", r.mirror())
	if r.external {
		spec["externalEtcdConfiguration"] = object{"endpoints": r.words(1, 3, "https://10.0.0.1:2379", "https://etcd.example.org:2379", "https://[fd00::1]:2379")}
	} else {
		r.some(spec, "externalEtcdConfiguration", object{"count": 3})
	}
	r.some(spec, "managementCluster", object{"name": pick(r, r.cluster, "management")})
	if r.chance() {
		spec["addOns"] = []object{{"name": r.label(20), "strategy": pick(r, "ApplyOnce", "Reconcile"), "resources": []object{{"kind": "ConfigMap", "name": pick(r, addOns...)}, {"kind": "Secret", "name": pick(r, addOns...)}}}}
	}
	policy := object{}
	r.some(policy, "maxConcurrentWorkerGroups", pick(r, 1, 2, 1<<31-1))
	r.some(policy, "maxWorkerVersionSkew", r.lag+r.IntN(4-r.lag))
	r.some(spec, "upgradePolicy", policy)
	documents := r.identity(spec)
	return append(documents, object{"apiVersion": "clusterctl-x.io/v1alpha1", "kind": "Cluster", "metadata": object{"name": r.cluster}, "spec": spec})
}

// identity adds references to identity providers, and returns their documents.
func (r randomSpec) identity(spec object) []object {
	var documents, refs []object
	add := func(kind string, content object) {
		documents = append(documents, object{"apiVersion": "clusterctl-x.io/v1alpha1", "kind": kind, "metadata": object{"name": "login"}, "spec": content})
		refs = append(refs, object{"kind": kind, "name": "login"})
	}
	if r.chance() {
		oidc := object{"clientId": r.text(1000), "issuerUrl": "https://" + r.host()}
		for _, field := range []string{"usernameClaim", "usernamePrefix", "groupsClaim", "groupsPrefix"} {
			r.some(oidc, field, r.text(1024))
		}
		r.some(oidc, "requiredClaims", []object{{"claim": r.word(20), "value": r.text(900)}})
		add("OIDCConfig", oidc)
	}
	if r.chance() {
		add("AWSIamConfig", object{
			"awsRegion": "eu-central-1", "backendMode": r.words(1, 3, "MountedFile", "EKSConfigMap", "CRD"),
			"mapRoles": []object{{"roleARN": "arn:aws:iam::123456789012:role/" + r.word(60), "username": r.text(100), "groups": []string{r.text(50)}}},
			"mapUsers": []object{{"userARN": "arn:aws:iam::123456789012:user/" + r.word(60), "username": r.text(100)}},
		})
	}
	if len(refs) > 0 {
		spec["identityProviderRefs"] = refs
	}
	return documents
}

func (r randomSpec) network() object {
	pods, services, mask := "192.168.0.0/16", "10.96.0.0/12", 24
	if r.IntN(4) == 0 {
		pods, services, mask = "fd00:1::/52", "fd00:2::/112", 64
	}
	network := object{"pods": object{"cidrBlocks": []string{pods}}, "services": object{"cidrBlocks": []string{services}}}
	r.some(network, "nodes", object{"cidrMaskSize": mask + r.IntN(3)})
	r.some(network, "dns", object{"resolvConf": object{"path": "/etc/" + r.word(400)}})
	cilium := object{}
	r.some(cilium, "policyEnforcementMode", pick(r, "default", "always", "never"))
	r.some(cilium, "cniExclusive", r.chance())
	r.some(cilium, "egressMasqueradeInterfaces", "eth0,ens+")
	if r.chance() {
		cilium["routingMode"] = "direct"
		cilium["ipv4NativeRoutingCIDR"], cilium["ipv6NativeRoutingCIDR"] = "10.0.0.0/8", "fd00::/8"
	}
	switch {
	case r.chance():
		network["cniConfig"] = object{"cilium": cilium}
	case r.datacenter == "DockerDatacenterConfig":
		network["cni"] = pick(r, "cilium", "kindnetd")
	}
	return network
}

func (r randomSpec) controlPlane() object {
	config := r.part()
	config["count"] = r.count
	r.some(config, "certSans", r.words(1, 4, r.host(), "10.0.0.1", "fd00::1", "*.example.org"))
	r.some(config, "apiServerExtraArgs", object{"max-requests-inflight": "800", r.label(200): r.text(1024), "v": ""})
	r.some(config, "auditPolicyContent", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n  namespaces:\n"+strings.Repeat("  - ns-"+r.label(20)+"\n", 1+r.IntN(1000)))
	r.some(config, "upgradeRolloutStrategy", object{"type": "RollingUpdate", "rollingUpdate": object{"maxSurge": pick(r, 1, min(1, max(0, 3-r.count)))}})
	if r.managed {
		r.some(config, "variables", r.variables("apiServerStartup", "etcdStartup"))
	}
	return config
}

// class is one of those that makeReferences makes.
func (r randomSpec) class() object {
	class := object{"name": strings.ToLower(strings.TrimSuffix(r.datacenter, "DatacenterConfig"))}
	r.some(class, "variables", r.variables("machineStartup", "nodeStartup", "apiServerStartup", "etcdStartup"))
	return class
}

// variables are those that no other field of a spec sets: the document of the
// provider is left out.
func (r randomSpec) variables(durations ...string) object {
	variables := object{}
	for _, name := range durations {
		if r.datacenter == "InMemoryDatacenterConfig" {
			r.some(variables, name, pick(r, "0s", "1.5s", "1h0m30s"))
		}
	}
	return variables
}

func (r randomSpec) group(i int) object {
	config := r.part()
	config["name"] = fmt.Sprintf("%s%d", strings.Repeat("g", r.IntN(6)), i)
	if i == 2 {
		config["name"] = strings.Repeat("g", 47-len(r.cluster)) // the longest
	}
	if r.managed {
		r.some(config, "class", "default-worker")
		r.some(config, "variables", r.variables("machineStartup", "nodeStartup"))
		r.some(config, "deferUpgrade", r.chance())
		r.some(config, "holdUpgradeSequence", r.chance())
	} else if r.datacenter == "InMemoryDatacenterConfig" { // others need a kubeadm to fetch, which few releases have
		r.some(config, "kubernetesVersion", fmt.Sprintf("1.%d", max(30, r.minor-r.IntN(r.lag+1))))
	}
	config["count"] = pick(r, 0, 1, 1000, 1<<31-1)
	if r.chance() {
		delete(config, "count")
		least := r.IntN(3)
		config["autoscalingConfiguration"] = object{"minCount": least, "maxCount": least + 1 + r.IntN(1<<20)}
	}
	r.some(config, "failureDomains", []string{r.text(256)})
	r.some(config, "upgradeRolloutStrategy", object{"rollingUpdate": object{"maxSurge": r.IntN(3), "maxUnavailable": 1 + r.IntN(3)}})
	return config
}

// part is what control plane and groups have alike.
func (r randomSpec) part() object {
	config := object{}
	r.some(config, "labels", object{r.key(): r.word(63), "node-role.kubernetes.io/" + r.word(63): r.word(63), "a.node.cluster.x-k8s.io/b": "", "node.kubernetes.io/own": "c"})
	r.some(config, "taints", pick(r, []object{}, []object{
		{"key": r.key(), "value": r.word(63), "effect": pick(r, "NoSchedule", "NoExecute", "PreferNoSchedule")},
		{"key": r.key(), "effect": "PreferNoSchedule"},
	}))
	r.some(config, "kubeletConfiguration", object{"maxPods": r.IntN(500), "evictionHard": object{"memory.available": "5%"}, "allowedUnsafeSysctls": []string{"net.core.somaxconn"}, "clusterDomain": r.host()})
	r.some(config, "machineHealthCheck", r.healthCheck())
	deletion := object{}
	for _, field := range []string{"nodeDrainTimeout", "nodeVolumeDetachTimeout", "nodeDeletionTimeout"} {
		r.some(deletion, field, pick(r, "0s", "1h30m", "596523h"))
	}
	r.some(config, "machineDeletion", deletion)
	r.some(config, "annotations", object{r.key(): r.text(2000), "Example.ORG/" + r.word(63): ""})
	return config
}

func (r randomSpec) healthCheck() object {
	check := object{}
	r.some(check, "nodeStartupTimeout", pick(r, "0s", "30s", "596523h"))
	r.some(check, "unhealthyMachineTimeout", pick(r, "1s", "5m"))
	r.some(check, "maxUnhealthy", pick[any](r, 0, 3, "0%", "100%"))
	return check
}

func (r randomSpec) kms() object {
	kms := object{"name": r.label(60), "socketListenAddress": "unix:///var/run/" + r.label(60) + "/socket.sock"}
	r.some(kms, "cachesize", r.IntN(5000))
	r.some(kms, "timeout", pick(r, "3s", "500ms"))
	return kms
}

func (r randomSpec) mirror() object {
	mirror := object{"endpoint": r.host()}
	r.some(mirror, "port", pick[any](r, 5000, "65535"))
	r.some(mirror, "ociNamespaces", []object{{"registry": "registry.k8s.io", "namespace": r.label(60) + "/" + r.label(60)}, {"registry": "localhost:5000"}})
	r.some(mirror, "authenticate", r.chance())
	r.some(mirror, "insecureSkipVerify", r.chance())
	return mirror
}

func (r randomSpec) chance() bool { return r.IntN(2) == 0 }

// some sets a field as often as not.
func (r randomSpec) some(into object, field string, value any) {
	if r.chance() {
		into[field] = value
	}
}

func pick[T any](r randomSpec, values ...T) T { return values[r.IntN(len(values))] }

// words are some of the values, at least so many.
func (r randomSpec) words(least, most int, values ...string) []string {
	r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	return values[:min(len(values), least+r.IntN(most-least+1))]
}

// length is short most of the time, and else near the longest.
func (r randomSpec) length(most int) int {
	if r.IntN(4) > 0 {
		return 1 + r.IntN(min(8, most))
	}
	return most - r.IntN(2)
}

func (r randomSpec) of(alphabet string, most int) string {
	text := make([]byte, r.length(most))
	for i := range text {
		text[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(text)
}

func (r randomSpec) label(most int) string { return r.of("abcdefghijklmnopqrstuvwxyz", most) }

func (r randomSpec) word(most int) string {
	return r.of("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789", most)
}

// key of a label, with the longest prefix at times.
func (r randomSpec) key() string { return r.host() + "/" + r.word(63) }

func (r randomSpec) host() string {
	host := r.label(63) + ".example.org"
	if r.IntN(8) == 0 {
		host = strings.Repeat(r.of("xyz", 1)+"23456789.", 24) + host
	}
	return host[:min(len(host), 253)]
}

// text is of characters that are special to YAML, shells, templates or people.
func (r randomSpec) text(most int) string {
	return r.of(`abc XYZ 019 "'`+"`"+`{{}}$()|&;<>#%@!*?[]:,=\/~^+-_.`, most)
}

// TestRandomSpecIsReproducible: a failure can be looked at again.
func TestRandomSpecIsReproducible(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b"}
	first, again := newRandomSpec(t, 7, names, names), newRandomSpec(t, 7, names, names)
	if string(first) != string(again) {
		t.Errorf("one seed, two specs:\n%s\n%s", first, again)
	}
}
