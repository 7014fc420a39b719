package validations_test

import (
	"fmt"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecExternalEtcd(t *testing.T) {
	t.Parallel()
	const path = "spec.externalEtcdConfiguration."
	etcd := func(count int, endpoints ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ExternalEtcdConfiguration = &v1alpha1.ExternalEtcdConfiguration{Count: count, Endpoints: endpoints}
		}
	}
	members := func(number int) []string {
		var endpoints []string
		for i := range number {
			endpoints = append(endpoints, fmt.Sprintf("https://10.0.0.%d:2379", i))
		}
		return endpoints
	}
	machines := func(number int, endpoints ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			etcd(0, endpoints...)(c)
			c.Spec.ControlPlaneConfiguration.Count = &number
		}
	}
	wrong := func(shown string) []string {
		return []string{path + `endpoints[0]: Invalid value: "` + shown + `": must be https://HOST:PORT and nothing else, such as https://10.0.0.10:2379`}
	}
	testSpec(t, map[string]specTest{
		"one member":                   {etcd(0, "https://10.0.0.1:2379"), nil},
		"members":                      {etcd(3, "https://etcd-1.example.com:2379", "https://[fd00::1]:2379", "https://etcd-3:1"), nil},
		"another count":                {etcd(3, "https://10.0.0.1:2379", "https://10.0.0.2:2379"), []string{path + "count: Invalid value: 3: must be the number of endpoints (2); correct or remove it"}},
		"even count":                   {etcd(2, "https://10.0.0.1:2379", "https://10.0.0.2:2379"), nil},
		"negative count":               {etcd(-1, "https://10.0.0.1:2379"), []string{path + "count: Invalid value: -1: must be the number of endpoints (1); correct or remove it"}},
		"50 members":                   {etcd(0, members(50)...), nil},
		"51 members":                   {etcd(0, members(51)...), []string{path + "endpoints: Invalid value: has 51 entries and must have at most 50; remove some"}},
		"member twice":                 {etcd(0, "https://a:1", "https://b:1", "https://a:1"), []string{path + `endpoints[2]: Duplicate value: "https://a:1": ` + path + "endpoints[0] has this endpoint already; remove one of the two"}},
		"http":                         {etcd(0, "http://10.0.0.1:2379"), wrong("http://10.0.0.1:2379")},
		"no scheme":                    {etcd(0, "10.0.0.1:2379"), wrong("10.0.0.1:2379")},
		"no port":                      {etcd(0, "https://10.0.0.1"), wrong("https://10.0.0.1")},
		"empty port":                   {etcd(0, "https://10.0.0.1:"), wrong("https://10.0.0.1:")},
		"port 0":                       {etcd(0, "https://10.0.0.1:0"), wrong("https://10.0.0.1:0")},
		"port 65535":                   {etcd(0, "https://10.0.0.1:65535"), nil},
		"port 65536":                   {etcd(0, "https://a:65536"), wrong("https://a:65536")},
		"no host":                      {etcd(0, "https://:2379"), wrong("https://:2379")},
		"path":                         {etcd(0, "https://a:2379/"), wrong("https://a:2379/")},
		"query":                        {etcd(0, "https://a:2379?a=b"), wrong("https://a:2379?a=b")},
		"user, whose password is kept": {etcd(0, "https://me:secret@a:2379"), wrong("https://...@a:2379")},
		"IPv6 without brackets":        {etcd(0, "https://fd00::1:2379"), wrong("https://fd00::1:2379")},
		"IPv6 with a zone":             {etcd(0, "https://[fe80::1%eth0]:2379"), wrong("https://[fe80::1%eth0]:2379")},
		"address that is none":         {etcd(0, "https://10.0.0.256:2379"), wrong("https://10.0.0.256:2379")},
		"host in capitals":             {etcd(0, "https://ETCD:2379"), wrong("https://ETCD:2379")},
		"control plane of 2":           {machines(2, "https://a:1"), nil},
		"control plane of 0":           {machines(0, "https://a:1"), []string{"spec.controlPlaneConfiguration.count: Invalid value: 0: must be 1 or more"}},
		"control plane of 2, no member": {machines(2), []string{
			"spec.controlPlaneConfiguration.count: Invalid value: 2: must be odd: etcd has a member on each control plane machine, and an even number survives no more failures than one less; use 1 or 3",
			path + "count: Required value: an odd number, such as 3; or give endpoints",
		}},
	})
}
