package validations

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// maxNoProxy leaves room in a file on a machine for what is around the list.
const maxNoProxy = 8000

func proxy(config *v1alpha1.ProxyConfiguration, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	errs := slices.Concat(
		proxyServer(config.HTTPProxy, path.Child("httpProxy")),
		proxyServer(config.HTTPSProxy, path.Child("httpsProxy")),
	)
	for i, entry := range config.NoProxy {
		errs = append(errs, noProxy(entry, path.Child("noProxy").Index(i))...)
	}
	if length := len(strings.Join(config.NoProxy, ",")); length > maxNoProxy {
		errs = append(errs, withoutValue(path.Child("noProxy"), fmt.Sprintf("must have at most %d bytes together, with commas between, and have %d; use domains and networks for hosts", maxNoProxy, length)))
	}
	return errs
}

func proxyServer(address string, path *field.Path) field.ErrorList {
	if address == "" {
		return field.ErrorList{field.Required(path, "the proxy: HOST:PORT or http://HOST:PORT")}
	}
	scheme, server, found := strings.Cut(address, "://")
	switch {
	case strings.Contains(address, "@"):
		return field.ErrorList{field.Invalid(path, hidden(address), "must not have a user or password, which would be readable in the cluster's templates; use a proxy that needs none from these machines")}
	case !found && !validHostPort(address), found && (scheme != "http" && scheme != "https" || !validHostPort(server)):
		return field.ErrorList{field.Invalid(path, address, "must be HOST:PORT, http://HOST:PORT or https://HOST:PORT and nothing else, the host in lower case or an address")}
	}
	return nil
}

func noProxy(entry string, path *field.Path) field.ErrorList {
	_, err := netip.ParsePrefix(entry)
	switch domain := strings.TrimPrefix(entry, "."); {
	case err == nil, validHost(entry), validDomain(domain):
		return nil
	case strings.HasPrefix(entry, "*."):
		return field.ErrorList{field.Invalid(path, hidden(entry), "must not begin with *, which programs do not understand here; use "+hidden(entry[1:]))}
	}
	return field.ErrorList{field.Invalid(path, hidden(entry), "must be a host, a domain such as .example.com, an address, or a network such as 10.0.0.0/8; one per entry")}
}
