package manifests

import (
	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Sample returns a valid file that describes a cluster of a provider, with the newest
// minor of the bundles.
func Sample(name string, provider providers.Provider, bundles *versionsbundle.Bundles) ([]byte, error) {
	versions := bundles.Versions()
	templates, err := templater.Parse(config.Samples, "samples/clusterconfig.yaml.tmpl")
	if err == nil {
		err = templates.Add(provider.Files, providers.SampleTemplate)
	}
	if err != nil {
		return nil, err
	}
	type named struct{ Name, Version string }
	of := named{name, versions[len(versions)-1].Minor().String()}
	documents, err := templates.Render(providers.SampleTemplate, of)
	if err != nil {
		return nil, err
	}
	return templates.Render("clusterconfig.yaml.tmpl", struct {
		named
		Provider, Kind, Machine, Documents string
		Kindnetd                           bool
		Endpoint, EndpointOptional         bool
		// Objects is true where the documents carry objects as they are, so that
		// they can describe a cluster that others made.
		Objects bool
	}{
		of, provider.Name, provider.Spec.Datacenter.Kind, provider.Spec.Machine.Kind, string(documents), provider.Spec.Kindnetd,
		provider.Spec.Endpoint == providers.EndpointOfSpec || provider.Spec.Endpoint == providers.EndpointOfEither, provider.Spec.Endpoint == providers.EndpointOfEither,
		provider.Spec.Objects,
	})
}
