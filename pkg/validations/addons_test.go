package validations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecAddOns(t *testing.T) {
	t.Parallel()
	const path = "spec.addOns"
	one := func(name string) v1alpha1.AddOn {
		return v1alpha1.AddOn{Name: name, Resources: []v1alpha1.AddOnResource{{Kind: "ConfigMap", Name: "a"}}}
	}
	named := func(cluster string, names ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Metadata.Name = cluster
			for _, name := range names {
				c.Spec.AddOns = append(c.Spec.AddOns, one(name))
			}
		}
	}
	with := func(resources ...v1alpha1.AddOnResource) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.AddOns = []v1alpha1.AddOn{{Name: "a", Resources: resources}} }
	}
	strategy := func(name string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.AddOns = []v1alpha1.AddOn{one("a")}
			c.Spec.AddOns[0].Strategy = name
		}
	}
	many := func(number int) []v1alpha1.AddOnResource {
		var resources []v1alpha1.AddOnResource
		for i := range number {
			resources = append(resources, v1alpha1.AddOnResource{Kind: "Secret", Name: fmt.Sprint("a", i)})
		}
		return resources
	}
	config := func(name string) v1alpha1.AddOnResource { return v1alpha1.AddOnResource{Kind: "ConfigMap", Name: name} }
	taken := func(name string) specTest {
		return specTest{named("prod", name), []string{path + `[0].name: Invalid value: "` + name + `": is the name of an add-on that clusterctl-x installs; use another name`}}
	}
	notNamed := func(name string) []string {
		return []string{path + `[0].resources[0].name: Invalid value: "` + name + `": must be the name of an object: at most 253 lower-case letters, digits, dashes and dots that begin and end with a letter or digit`}
	}
	subdomain := strings.Repeat("abcdefg.", 31) + "abcde"
	testSpec(t, map[string]specTest{
		"names":                   {named("prod", "a", "b-1"), nil},
		"no name":                 {named("prod", "", ""), []string{path + "[0].name: Required value: a name of lower-case letters, digits and dashes", path + "[1].name: Required value: a name of lower-case letters, digits and dashes"}},
		"name with a dot":         {named("prod", "a.b"), []string{path + `[0].name: Invalid value: "a.b": must consist of lower-case letters, digits and dashes, and begin and end with a letter or digit`}},
		"name of 64 characters":   {named("p", long(64)), []string{path + `[0].name: Invalid value: "` + long(64) + `": must have at most 63 characters, and has 64; shorten it`}},
		"together 62 characters":  {named(long(40), long(22)), nil},
		"together 63 characters":  {named(long(40), long(23)), []string{path + `[0].name: Invalid value: "` + long(23) + `": the names of cluster and add-on together must have at most 62 characters, and have 63; shorten one of them`}},
		"of a cluster's own name": {named(long(41), long(63)), []string{`metadata.name: Invalid value: "` + long(41) + `": must have at most 40 characters, and has 41; shorten it`}},
		"name twice":              {named("prod", "a", "b", "a"), []string{path + `[2].name: Duplicate value: "a": ` + path + "[0] has this name already; each add-on needs its own"}},
		"plugin's name":           taken("cni"),
		"authenticator's name":    taken("aws-iam-authenticator"),

		"apply once":       {strategy("ApplyOnce"), nil},
		"reconcile":        {strategy("Reconcile"), nil},
		"another strategy": {strategy("Always"), []string{path + `[0].strategy: Unsupported value: "Always": supported values: "ApplyOnce", "Reconcile"`}},

		"objects":                    {with(config("a"), config("b"), v1alpha1.AddOnResource{Kind: "Secret", Name: "a"}), nil},
		"no objects":                 {with(), []string{path + "[0].resources: Required value: a ConfigMap or Secret with manifests"}},
		"100 objects":                {with(many(100)...), nil},
		"101 objects":                {with(many(101)...), []string{path + "[0].resources: Invalid value: has 101 entries and must have at most 100; make another add-on for the others"}},
		"nothing given":              {with(v1alpha1.AddOnResource{}, v1alpha1.AddOnResource{}), []string{path + "[0].resources[0].kind: Required value: ConfigMap or Secret", path + "[0].resources[0].name: Required value: the name of the object", path + "[0].resources[1].kind: Required value: ConfigMap or Secret", path + "[0].resources[1].name: Required value: the name of the object"}},
		"another kind":               {with(v1alpha1.AddOnResource{Kind: "Deployment", Name: "a"}), []string{path + `[0].resources[0].kind: Unsupported value: "Deployment": supported values: "ConfigMap", "Secret"`}},
		"object twice":               {with(config("a"), config("a")), []string{path + `[0].resources[1]: Duplicate value: "ConfigMap/a": ` + path + "[0].resources[0] has this object already; remove one of the two"}},
		"object of 253 characters":   {with(config(subdomain)), nil},
		"object of 254 characters":   {with(config(subdomain + "f")), notNamed(subdomain + "f")},
		"object with an underscore":  {with(config("a_b")), notNamed("a_b")},
		"object of another's prefix": {with(config("A")), notNamed("A")},
	})
}
