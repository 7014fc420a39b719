package providers

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// FailureDomain returns the entry of a name in the list of failure domains that the
// provider's document has; empty where there is none.
func (p Provider) FailureDomain(datacenter *v1alpha1.InfrastructureConfig, name string) map[string]any {
	for _, entry := range p.failureDomains(datacenter) {
		if entry["name"] == name {
			return entry
		}
	}
	return map[string]any{}
}

// FailureDomains returns the names of the failure domains in the provider's document, and
// whether it has a list of them at all.
func (p Provider) FailureDomains(datacenter *v1alpha1.InfrastructureConfig) ([]string, bool) {
	var names []string
	for _, entry := range p.failureDomains(datacenter) {
		if name, is := entry["name"].(string); is {
			names = append(names, name)
		}
	}
	return names, p.Spec.FailureDomains != ""
}

func (p Provider) failureDomains(datacenter *v1alpha1.InfrastructureConfig) []map[string]any {
	if datacenter == nil || p.Spec.FailureDomains == "" {
		return nil
	}
	var entries []map[string]any
	list, _ := datacenter.Complete[p.Spec.FailureDomains].([]any)
	for _, item := range list {
		if entry, is := item.(map[string]any); is {
			entries = append(entries, entry)
		}
	}
	return entries
}

// spread returns a spec in which a group that failure domains name is one group in each of
// them, with its share of the machines: a MachineDeployment is in one failure domain. What is
// wrong with these names is added to the problems.
func (p Provider) spread(config *v1alpha1.Config) *v1alpha1.Config {
	if p.Spec.Spread == "" {
		return config
	}
	domains, errs := p.domainsOfGroups(config)
	if len(errs) > 0 {
		other := *config
		other.Problems = append(slices.Clone(config.Problems), config.LocateIn(config.Datacenter, errs)...)
		other.Problems.Sort()
		config = &other
	}
	if len(domains) == 0 {
		return config
	}
	var groups []v1alpha1.WorkerNodeGroupConfiguration
	var origins []int
	for i, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
		in := domains[group.Name]
		if len(in) == 0 {
			groups, origins = append(groups, group), append(origins, i)
		}
		for j, domain := range in {
			groups, origins = append(groups, inDomain(group, domain, j, len(in))), append(origins, i)
		}
	}
	return config.WithGroups(groups, origins)
}

// domainsOfGroups returns the names of the failure domains by the groups that they name.
func (p Provider) domainsOfGroups(config *v1alpha1.Config) (map[string][]string, field.ErrorList) {
	domains := map[string][]string{}
	var errs field.ErrorList
	for i, entry := range p.failureDomains(config.Datacenter) {
		named, _ := entry[p.Spec.Spread].([]any)
		for j, item := range named {
			name, _ := item.(string)
			path := field.NewPath("spec", p.Spec.FailureDomains).Index(i).Child(p.Spec.Spread).Index(j)
			at := slices.IndexFunc(config.Cluster.Spec.WorkerNodeGroupConfigurations, func(g v1alpha1.WorkerNodeGroupConfiguration) bool { return g.Name == name })
			domain, _ := entry["name"].(string)
			switch {
			case at < 0:
				errs = append(errs, field.Invalid(path, name, "the cluster has no worker node group of this name; correct or remove it"))
			case len(config.Cluster.Spec.WorkerNodeGroupConfigurations[at].FailureDomains) > 0:
				errs = append(errs, field.Invalid(path, name, "the group has failureDomains of its own in the Cluster; remove one of the two"))
			case slices.Contains(domains[name], domain):
				errs = append(errs, field.Duplicate(path, name))
			default:
				domains[name] = append(domains[name], domain)
			}
		}
	}
	return domains, errs
}

// inDomain returns the part of a group that is in the i-th of some failure domains. The first
// ones have what does not divide.
func inDomain(group v1alpha1.WorkerNodeGroupConfiguration, domain string, i, domains int) v1alpha1.WorkerNodeGroupConfiguration {
	share := func(count int) int { return (count + domains - 1 - i) / domains }
	group.Name, group.FailureDomains = fmt.Sprintf("%s-%s", group.Name, domain), []string{domain}
	if group.Count != nil {
		group.Count = new(share(*group.Count))
	}
	if bounds := group.AutoscalingConfiguration; bounds != nil {
		group.AutoscalingConfiguration = &v1alpha1.AutoscalingConfiguration{MinCount: share(bounds.MinCount), MaxCount: max(1, share(bounds.MaxCount))}
	}
	return group
}
