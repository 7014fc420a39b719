package validations

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// maxSocketPath is the kernel's limit for the path of a socket.
const maxSocketPath = 107

var (
	kmsName      = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)
	socketForm   = regexp.MustCompile(`^[A-Za-z0-9/._-]+$`)
	resourceForm = regexp.MustCompile(`^([a-z][a-z0-9-]*|\*)(\.|\.\*|(\.[a-z0-9-]+)+)?$`)
)

// encryption of what is in etcd has the rules of the API server's own
// configuration of it.
func encryption(entries []v1alpha1.EtcdEncryption, path *field.Path) field.ErrorList {
	if len(entries) > 1 {
		return field.ErrorList{tooMany(path, len(entries), "must have at most one; put all resources into the first")}
	}
	var errs field.ErrorList
	for i, entry := range entries {
		at := path.Index(i)
		errs = append(errs, encryptionProviders(entry.Providers, at.Child("providers"))...)
		errs = append(errs, resources(entry.Resources, at.Child("resources"))...)
	}
	return errs
}

func encryptionProviders(providers []v1alpha1.EtcdEncryptionProvider, path *field.Path) field.ErrorList {
	switch {
	case len(providers) == 0:
		return field.ErrorList{field.Required(path, "one provider, with kms")}
	case len(providers) > 1:
		return field.ErrorList{tooMany(path, len(providers), "must have one; remove the others")}
	case providers[0].KMS == nil:
		return field.ErrorList{field.Required(path.Index(0).Child("kms"), "the plugin that has the keys")}
	}
	return kms(*providers[0].KMS, path.Index(0).Child("kms"))
}

func kms(config v1alpha1.KMS, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case config.Name == "":
		errs = append(errs, field.Required(path.Child("name"), "a name for the plugin"))
	case !kmsName.MatchString(config.Name):
		errs = append(errs, field.Invalid(path.Child("name"), config.Name, "must consist of letters, digits, dots and dashes"))
	}
	errs = append(errs, socketAddress(config.SocketListenAddress, path.Child("socketListenAddress"))...)
	if size := config.CacheSize; size != nil && (*size == 0 || *size < math.MinInt32 || *size > math.MaxInt32) {
		errs = append(errs, field.Invalid(path.Child("cachesize"), *size, fmt.Sprintf("must be from 1 to %d, or negative for no cache", math.MaxInt32)))
	}
	if timeout := config.Timeout; timeout.Duration%time.Millisecond != 0 {
		errs = append(errs, field.Invalid(path.Child("timeout"), timeout.String(), "must be whole milliseconds, such as 3s or 500ms"))
	}
	return errs
}

// socketAddress is a socket whose directory is mounted into the API server, and
// so holds nothing else.
func socketAddress(address string, at *field.Path) field.ErrorList {
	if address == "" {
		return field.ErrorList{field.Required(at, "the socket that the plugin listens on, such as unix:///var/run/kms/socket.sock")}
	}
	file, unix := strings.CutPrefix(address, "unix://")
	switch {
	case !unix || !absolute(file) || !socketForm.MatchString(file):
		return field.ErrorList{field.Invalid(at, address, "must be unix:// and the absolute path of a socket, such as unix:///var/run/kms/socket.sock")}
	case len(file) > maxSocketPath:
		return field.ErrorList{field.Invalid(at, address, fmt.Sprintf("must have a path of at most %d characters, and has %d; shorten it", maxSocketPath, len(file)))}
	case slices.Contains(sharedDirectories(), path.Dir(file)):
		return field.ErrorList{field.Invalid(at, address, fmt.Sprintf("must be in a directory of its own, which is mounted into the API server; use one below %s, such as unix://%s", path.Dir(file), path.Join(path.Dir(file), "kms", path.Base(file))))}
	}
	return nil
}

// sharedDirectories hold more than a plugin's socket.
func sharedDirectories() []string {
	return []string{
		"/", "/bin", "/boot", "/dev", "/etc", "/etc/kubernetes", "/etc/kubernetes/manifests", "/etc/kubernetes/pki", "/etc/ssl", "/etc/ssl/certs",
		"/home", "/lib", "/lib64", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp",
		"/usr", "/usr/bin", "/usr/local", "/usr/local/bin", "/usr/share", "/var", "/var/lib", "/var/log", "/var/run", "/var/tmp",
	}
}

func resources(names []string, path *field.Path) field.ErrorList {
	if len(names) == 0 {
		return field.ErrorList{field.Required(path, "what to encrypt, such as secrets")}
	}
	var errs field.ErrorList
	type placed struct {
		schema.GroupResource

		at *field.Path
	}
	var earlier []placed
	for i, name := range names {
		at := path.Index(i)
		if invalid := resourceName(name, at); len(invalid) > 0 {
			errs = append(errs, invalid...)
			continue
		}
		parsed := schema.ParseGroupResource(name)
		if j := slices.IndexFunc(earlier, func(other placed) bool { return overlap(parsed, other.GroupResource) }); j >= 0 {
			errs = append(errs, &field.Error{
				Type: field.ErrorTypeDuplicate, Field: at.String(), BadValue: name,
				Detail: fmt.Sprintf("%s encrypts some or all of this already; remove one of the two", earlier[j].at),
			})
		}
		earlier = append(earlier, placed{parsed, at})
	}
	return errs
}

// overlap reports whether one of two is the other, or contains it.
func overlap(a, b schema.GroupResource) bool {
	all := schema.GroupResource{Group: "*", Resource: "*"}
	return a == b || a == all || b == all || a.Group == b.Group && (a.Resource == "*" || b.Resource == "*")
}

func resourceName(name string, path *field.Path) field.ErrorList {
	invalid := func(detail string) field.ErrorList { return field.ErrorList{field.Invalid(path, name, detail)} }
	parsed := schema.ParseGroupResource(name)
	switch {
	case name == "*":
		return invalid("must say of which group; use *. for the core group, or *.* for all")
	case !resourceForm.MatchString(name):
		return invalid("must be a resource in lower case with its group, such as secrets or deployments.apps, or *.apps, *. or *.* for several")
	case slices.Contains([]string{"apiserveripinfo", "serviceipallocations", "servicenodeportallocations"}, name):
		return invalid("cannot be encrypted; remove it")
	case parsed.Group == "events.k8s.io":
		return invalid("is kept in the core group; use events")
	case parsed.Group == "extensions":
		return invalid("is of a group that Kubernetes no longer has; use the group that the resource is in now")
	case parsed.Group == "*" && parsed.Resource != "*":
		return invalid("must say of which group; use *.* for all of them")
	}
	return nil
}
