package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// addGuardrails reads policies and their bindings. A field that is misspelt would
// make a policy that refuses too little, so it is an error.
func (m *Manifests) addGuardrails(files fs.FS) error {
	scheme := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
		return err
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	names, err := fs.Glob(files, "guardrails/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if err := m.addPolicies(decoder, data); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return nil
}

func (m *Manifests) addPolicies(decoder runtime.Decoder, documents []byte) error {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(documents)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		decoded, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return err
		}
		switch object := decoded.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			m.Policies = append(m.Policies, *object)
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			m.Bindings = append(m.Bindings, *object)
		default:
			return fmt.Errorf("unexpected %T", decoded)
		}
	}
}
