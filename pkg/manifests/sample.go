package manifests

import (
	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Sample returns a valid file that describes a cluster of a built-in provider, with
// the newest minor of the bundles.
func Sample(name, provider string, bundles *versionsbundle.Bundles) ([]byte, error) {
	versions := bundles.Versions()
	templates, err := templater.Parse(config.Samples, "samples/clusterconfig.yaml.tmpl")
	if err != nil {
		return nil, err
	}
	newest := versions[len(versions)-1].Minor().String()
	return templates.Render("clusterconfig.yaml.tmpl", struct{ Name, Kind, Version string }{name, providers.BuiltIn()[provider].Spec.Datacenter.Kind, newest})
}
