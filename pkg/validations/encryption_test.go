package validations_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecEncryption(t *testing.T) {
	t.Parallel()
	const (
		path   = "spec.etcdEncryption"
		kmsAt  = path + "[0].providers[0].kms."
		socket = "unix:///var/run/kms/socket.sock"
	)
	entry := func(change func(*v1alpha1.EtcdEncryption)) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			entry := v1alpha1.EtcdEncryption{
				Providers: []v1alpha1.EtcdEncryptionProvider{{KMS: &v1alpha1.KMS{Name: "kms", SocketListenAddress: socket}}},
				Resources: []string{"secrets"},
			}
			change(&entry)
			c.Spec.EtcdEncryption = []v1alpha1.EtcdEncryption{entry}
		}
	}
	kms := func(change func(*v1alpha1.KMS)) func(*v1alpha1.Cluster) {
		return entry(func(e *v1alpha1.EtcdEncryption) { change(e.Providers[0].KMS) })
	}
	name := func(name string) func(*v1alpha1.Cluster) { return kms(func(k *v1alpha1.KMS) { k.Name = name }) }
	cache := func(size int) func(*v1alpha1.Cluster) { return kms(func(k *v1alpha1.KMS) { k.CacheSize = &size }) }
	timeout := func(text string) func(*v1alpha1.Cluster) {
		return kms(func(k *v1alpha1.KMS) { k.Timeout = *duration(text) })
	}
	badCache := func(shown string) []string {
		return []string{kmsAt + "cachesize: Invalid value: " + shown + ": must be from 1 to 2147483647, or negative for no cache"}
	}
	testSpec(t, map[string]specTest{
		"valid":         {entry(func(*v1alpha1.EtcdEncryption) {}), nil},
		"two entries":   {func(c *v1alpha1.Cluster) { c.Spec.EtcdEncryption = make([]v1alpha1.EtcdEncryption, 2) }, []string{path + ": Invalid value: has 2 entries and must have at most one; put all resources into the first"}},
		"empty entry":   {func(c *v1alpha1.Cluster) { c.Spec.EtcdEncryption = make([]v1alpha1.EtcdEncryption, 1) }, []string{path + "[0].providers: Required value: one provider, with kms", path + "[0].resources: Required value: what to encrypt, such as secrets"}},
		"two providers": {entry(func(e *v1alpha1.EtcdEncryption) { e.Providers = append(e.Providers, e.Providers[0]) }), []string{path + "[0].providers: Invalid value: has 2 entries and must have one; remove the others"}},
		"no plugin":     {entry(func(e *v1alpha1.EtcdEncryption) { e.Providers[0].KMS = nil }), []string{path + "[0].providers[0].kms: Required value: the plugin that has the keys"}},

		"name":              {name("My.kms-1"), nil},
		"no name":           {name(""), []string{kmsAt + "name: Required value: a name for the plugin"}},
		"name with a colon": {name("a:b"), []string{kmsAt + `name: Invalid value: "a:b": must consist of letters, digits, dots and dashes`}},

		"cache of 1":       {cache(1), nil},
		"no cache":         {cache(-1), nil},
		"cache of 0":       {cache(0), badCache("0")},
		"largest cache":    {cache(1<<31 - 1), nil},
		"too large":        {cache(1 << 31), badCache("2147483648")},
		"least number":     {cache(-1 << 31), nil},
		"less than that":   {cache(-1<<31 - 1), badCache("-2147483649")},
		"timeout":          {timeout("1ms"), nil},
		"parts of a milli": {timeout("1.5ms"), []string{kmsAt + `timeout: Invalid value: "1.5ms": must be whole milliseconds, such as 3s or 500ms`}},
	})
}

func TestSpecKMSSocket(t *testing.T) {
	t.Parallel()
	const at = "spec.etcdEncryption[0].providers[0].kms.socketListenAddress: "
	socket := func(address string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.EtcdEncryption = []v1alpha1.EtcdEncryption{{
				Providers: []v1alpha1.EtcdEncryptionProvider{{KMS: &v1alpha1.KMS{Name: "kms", SocketListenAddress: address}}},
				Resources: []string{"secrets"},
			}}
		}
	}
	wrong := func(address string) specTest {
		return specTest{socket(address), []string{at + `Invalid value: "` + address + `": must be unix:// and the absolute path of a socket, such as unix:///var/run/kms/socket.sock`}}
	}
	shared := func(directory, instead string) specTest {
		address := "unix://" + directory + "/a.sock"
		return specTest{socket(address), []string{at + `Invalid value: "` + address + `": must be in a directory of its own, which is mounted into the API server; use one below ` + directory + `, such as unix://` + instead}}
	}
	tests := map[string]specTest{
		"own directory":        {socket("unix:///kms/a.sock"), nil},
		"107 characters":       {socket("unix:///kms/" + long(102)), nil},
		"108 characters":       {socket("unix:///kms/" + long(103)), []string{at + `Invalid value: "unix:///kms/` + long(103) + `": must have a path of at most 107 characters, and has 108; shorten it`}},
		"nothing":              {socket(""), []string{at + "Required value: the socket that the plugin listens on, such as unix:///var/run/kms/socket.sock"}},
		"no scheme":            wrong("/var/run/kms/a.sock"),
		"another scheme":       wrong("tcp://127.0.0.1:8000"),
		"relative":             wrong("unix://kms/a.sock"),
		"not clean":            wrong("unix:///var/run/kms/../a.sock"),
		"directory":            wrong("unix:///var/run/kms/"),
		"root":                 wrong("unix:///"),
		"with a strange sign":  wrong("unix:///var/run/kms/a;b"),
		"directly below root":  {socket("unix:///a.sock"), []string{at + `Invalid value: "unix:///a.sock": must be in a directory of its own, which is mounted into the API server; use one below /, such as unix:///kms/a.sock`}},
		"in a directory there": {socket("unix:///etc/kubernetes/kms/a.sock"), nil},
	}
	for _, directory := range []string{
		"/bin", "/boot", "/dev", "/etc", "/etc/kubernetes", "/etc/kubernetes/manifests", "/etc/kubernetes/pki", "/etc/ssl", "/etc/ssl/certs",
		"/home", "/lib", "/lib64", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp",
		"/usr", "/usr/bin", "/usr/local", "/usr/local/bin", "/usr/share", "/var", "/var/lib", "/var/log", "/var/run", "/var/tmp",
	} {
		tests[directory] = shared(directory, directory+"/kms/a.sock")
	}
	testSpec(t, tests)
}

func TestSpecEncryptedResources(t *testing.T) {
	t.Parallel()
	const (
		path = "spec.etcdEncryption[0].resources"
		form = "must be a resource in lower case with its group, such as secrets or deployments.apps, or *.apps, *. or *.* for several"
	)
	resources := func(names ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.EtcdEncryption = []v1alpha1.EtcdEncryption{{
				Providers: []v1alpha1.EtcdEncryptionProvider{{KMS: &v1alpha1.KMS{Name: "kms", SocketListenAddress: "unix:///kms/a"}}},
				Resources: names,
			}}
		}
	}
	wrong := func(name, detail string) specTest {
		return specTest{resources(name), []string{path + `[0]: Invalid value: "` + name + `": ` + detail}}
	}
	twice := func(first, second string) specTest {
		return specTest{resources(first, "pods", second), []string{path + `[2]: Duplicate value: "` + second + `": ` + path + "[0] encrypts some or all of this already; remove one of the two"}}
	}
	testSpec(t, map[string]specTest{
		"several":            {resources("secrets", "configmaps", "deployments.apps", "*.example.com", "widgets-2.a.b-c.com"), nil},
		"core group":         {resources("*."), nil},
		"everything":         {resources("*.*"), nil},
		"empty":              wrong("", form),
		"capitals":           wrong("Secrets", form),
		"with a version":     wrong("deployments/v1", form),
		"with a space":       wrong("secrets ", form),
		"two dots":           wrong("secrets..apps", form),
		"star in the name":   wrong("secret*", form),
		"star":               wrong("*", "must say of which group; use *. for the core group, or *.* for all"),
		"star of groups":     wrong("secrets.*", "must say of which group; use *.* for all of them"),
		"events":             wrong("events.events.k8s.io", "is kept in the core group; use events"),
		"events in a star":   wrong("*.events.k8s.io", "is kept in the core group; use events"),
		"extensions":         wrong("ingresses.extensions", "is of a group that Kubernetes no longer has; use the group that the resource is in now"),
		"server's addresses": wrong("apiserveripinfo", "cannot be encrypted; remove it"),
		"services' adresses": wrong("serviceipallocations", "cannot be encrypted; remove it"),
		"services' ports":    wrong("servicenodeportallocations", "cannot be encrypted; remove it"),
		"twice":              twice("secrets", "secrets"),
		"twice in a group":   twice("deployments.apps", "deployments.apps"),
		"star before":        twice("*.apps", "deployments.apps"),
		"star after":         twice("deployments.apps", "*.apps"),
		"all before":         {resources("*.*", "a"), []string{path + `[1]: Duplicate value: "a": ` + path + `[0] encrypts some or all of this already; remove one of the two`}},
		"all after":          {resources("a.b", "*.*"), []string{path + `[1]: Duplicate value: "*.*": ` + path + `[0] encrypts some or all of this already; remove one of the two`}},
		"repeated after a wrong one": {resources("*", "a", "*."), []string{
			path + `[0]: Invalid value: "*": must say of which group; use *. for the core group, or *.* for all`,
			path + `[2]: Duplicate value: "*.": ` + path + `[1] encrypts some or all of this already; remove one of the two`,
		}},
		"of two groups": {resources("a.b", "a.c", "*.d", "e"), nil},
		"wrong and repeated": {resources("*", "*"), []string{
			path + `[0]: Invalid value: "*": must say of which group; use *. for the core group, or *.* for all`,
			path + `[1]: Invalid value: "*": must say of which group; use *. for the core group, or *.* for all`,
		}},
	})
}
