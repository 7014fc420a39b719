package upgradeplan

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Kinds of the documents of an exchange.
const (
	requestKind  = "GenerateUpgradePlanRequest"
	responseKind = "GenerateUpgradePlanResponse"
)

// ErrNoRequest is returned for an exchange without the versions that were asked for.
var ErrNoRequest = errors.New("the request is missing")

// ReadExchange reads a file with a response and, where it is there, the request. The
// versions that are set in asked take the place of the request's.
func ReadExchange(file []byte, asked Exchange) (Exchange, error) {
	if len(file) > strictyaml.MaxFileSize {
		return Exchange{}, fmt.Errorf("it is larger than %d bytes", strictyaml.MaxFileSize)
	}
	d, err := decode(file)
	if err != nil {
		return Exchange{}, err
	}
	switch response := d.response; {
	case response == nil:
		return Exchange{}, errors.New("there is no document of kind " + responseKind)
	case response.Status == runtimehooksv1.ResponseStatusFailure:
		return Exchange{}, fmt.Errorf("status: the extension had no plan: %s", response.Message)
	case response.Status != runtimehooksv1.ResponseStatusSuccess:
		return Exchange{}, fmt.Errorf("status: is %q; write %s or %s", response.Status, runtimehooksv1.ResponseStatusSuccess, runtimehooksv1.ResponseStatusFailure)
	}
	request := cmp.Or(d.request, &runtimehooksv1.GenerateUpgradePlanRequest{})
	exchange := Exchange{
		FromControlPlane: cmp.Or(asked.FromControlPlane, request.FromControlPlaneKubernetesVersion),
		FromWorkers:      cmp.Or(asked.FromWorkers, request.FromWorkersKubernetesVersion),
		To:               cmp.Or(asked.To, request.ToKubernetesVersion),
		ControlPlane:     stepVersions(d.response.ControlPlaneUpgrades),
		Workers:          stepVersions(d.response.WorkersUpgrades),
	}
	if exchange.FromControlPlane == "" || exchange.To == "" {
		return Exchange{}, ErrNoRequest
	}
	return exchange, nil
}

func stepVersions(steps []runtimehooksv1.UpgradeStep) []string {
	var texts []string
	for _, step := range steps {
		texts = append(texts, step.Version)
	}
	return texts
}

// documents are those of a file, nil where the file has none of the kind.
type documents struct {
	request  *runtimehooksv1.GenerateUpgradePlanRequest
	response *runtimehooksv1.GenerateUpgradePlanResponse
}

func decode(file []byte) (documents, error) {
	var d documents
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err == nil {
			err = d.add(document)
		}
		if err != nil {
			return documents{}, err
		}
	}
}

// add decodes a document strictly. One that is empty is left out.
func (d *documents) add(document []byte) error {
	var of metav1.TypeMeta
	if err := yaml.Unmarshal(document, &of); err != nil {
		return err
	}
	var err error
	switch {
	case of == metav1.TypeMeta{}:
		return nil
	case of.Kind == requestKind && d.request == nil:
		err = yaml.UnmarshalStrict(document, &d.request)
		if err != nil && olderRequest(document) {
			err = errors.New("fromKubernetesVersion is of an older form of the request; Cluster API asks with fromControlPlaneKubernetesVersion, and fromWorkersKubernetesVersion where there are workers: write these")
		}
	case of.Kind == responseKind && d.response == nil:
		err = yaml.UnmarshalStrict(document, &d.response)
	default:
		return fmt.Errorf("a document of kind %q is one too many: there is one %s, and at most one %s", of.Kind, responseKind, requestKind)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", of.Kind, err)
	}
	if of.APIVersion != runtimehooksv1.GroupVersion.String() {
		return fmt.Errorf("%s: apiVersion is %q; write %s", of.Kind, of.APIVersion, runtimehooksv1.GroupVersion)
	}
	return nil
}

// olderRequest reports whether a request has the one version that Cluster API's
// proposal had, in place of those of control plane and workers.
func olderRequest(document []byte) bool {
	var older struct {
		FromKubernetesVersion *string `json:"fromKubernetesVersion"`
	}
	return yaml.Unmarshal(document, &older) == nil && older.FromKubernetesVersion != nil
}
