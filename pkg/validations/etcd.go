package validations

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// maxEndpoints that Cluster API's objects can hold.
const maxEndpoints = 50

func externalEtcd(config *v1alpha1.ExternalEtcdConfiguration, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	number := len(config.Endpoints)
	switch {
	case number == 0 && config.Count == 0:
		return field.ErrorList{field.Required(path.Child("count"), "an odd number, such as 3; or give endpoints")}
	case number == 0:
		return oddCount(config.Count, "etcd decides by majority", path.Child("count"))
	}
	var errs field.ErrorList
	if config.Count != 0 && config.Count != number {
		errs = append(errs, field.Invalid(path.Child("count"), config.Count, fmt.Sprintf("must be the number of endpoints (%d); correct or remove it", number)))
	}
	if number > maxEndpoints {
		errs = append(errs, tooMany(path.Child("endpoints"), number, fmt.Sprintf("must have at most %d; remove some", maxEndpoints)))
	}
	first := places[string]{}
	for i, endpoint := range config.Endpoints {
		at := path.Child("endpoints").Index(i)
		errs = append(errs, etcdEndpoint(endpoint, at)...)
		errs = append(errs, first.again(endpoint, hidden(endpoint), "endpoint already; remove one of the two", at, at)...)
	}
	return errs
}

func etcdEndpoint(endpoint string, path *field.Path) field.ErrorList {
	if server, secure := strings.CutPrefix(endpoint, "https://"); !secure || !validHostPort(server) {
		return field.ErrorList{field.Invalid(path, hidden(endpoint), "must be https://HOST:PORT and nothing else, such as https://10.0.0.10:2379")}
	}
	return nil
}
