package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

const types = "../../pkg/api/v1alpha1"

func TestCommittedSchemaIsWhatTheTypesGive(t *testing.T) {
	t.Parallel()
	generated, err := generate(types)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(config.SpecSchema), string(generated)); diff != "" {
		t.Errorf("config/schema is not up to date, run 'make schema' (-committed +generated):\n%s", diff)
	}
}

func TestCommittedSchemaOfBundlesIsWhatTheTypesGive(t *testing.T) {
	t.Parallel()
	generated, err := generateBundles(types, "../../"+bundleTypes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(config.BundlesSchema), string(generated)); diff != "" {
		t.Errorf("config/schema/bundles.json is not up to date, run 'make schema' (-committed +generated):\n%s", diff)
	}
}

// TestSchemaOfBundlesTakesThem: the built-in ones have every field.
func TestSchemaOfBundlesTakesThem(t *testing.T) {
	t.Parallel()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.BundlesSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("bundles.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("bundles.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents(t, config.Bundles) {
		if err := schema.Validate(document); err != nil {
			t.Error(err)
		}
	}
}

// TestKindsAreThoseOfTheDecoder compares with what the decoder says there are.
func TestKindsAreThoseOfTheDecoder(t *testing.T) {
	t.Parallel()
	var schema struct {
		OneOf []struct {
			Ref string `json:"$ref"`
		} `json:"oneOf"`
	}
	if err := json.Unmarshal(config.SpecSchema, &schema); err != nil {
		t.Fatal(err)
	}
	var quoted []string
	for _, kind := range schema.OneOf {
		quoted = append(quoted, `"`+strings.TrimPrefix(kind.Ref, reference(""))+`"`)
	}
	slices.Sort(quoted)
	want := "file:1: kind: Unsupported value: \"None\": supported values: " + strings.Join(quoted, ", ")
	got := providers.BuiltIn().Decode("file", []byte("kind: None\n")).Problems.Error()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-schema +decoder):\n%s", diff)
	}
}

// compile returns the schema below a path in the file; the empty path is all.
func compile(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.SpecSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json" + path)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// documents are those of a YAML file, as JSON has them.
func documents(t *testing.T, text []byte) []any {
	t.Helper()
	var all []any
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, value)
	}
}

// validFiles are cluster specs by name.
func validFiles(t *testing.T) map[string][]byte {
	t.Helper()
	paths := []string{"../../config/samples/quickstart.yaml", "../../test/testdata/eks-a-modular-upgrades.yaml"}
	cases, err := filepath.Glob("../../pkg/manifests/testdata/*/cluster.yaml")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no specs in pkg/manifests/testdata: %v", err)
	}
	files := map[string][]byte{}
	for _, path := range append(paths, cases...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = data
	}
	bundles, err := versionsbundle.Parse("bundles.yaml", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	for name, provider := range providers.BuiltIn() {
		text, err := manifests.Sample("prod", provider, bundles)
		if err != nil {
			t.Fatal(err)
		}
		files["clusterconfig of "+name] = text
	}
	return files
}

func TestValidFiles(t *testing.T) {
	t.Parallel()
	schema := compile(t, "")
	for name, text := range validFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := documents(t, text)
			if len(all) == 0 {
				t.Error("no documents")
			}
			for _, document := range all {
				if err := schema.Validate(document); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// leaves are where a document breaks a schema, and which keyword of it.
func leaves(err error) []string {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil
	}
	if len(invalid.Causes) == 0 {
		place := strings.Join(invalid.InstanceLocation, ".")
		return []string{strings.TrimSpace(place + " " + strings.Join(invalid.ErrorKind.KeywordPath(), "/"))}
	}
	var all []string
	for _, cause := range invalid.Causes {
		all = append(all, leaves(cause)...)
	}
	slices.Sort(all)
	return all
}

const header = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nmetadata: {name: a}\n"

const network = `  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
`

// complete is a Cluster with more fields in its spec.
func complete(more string) string {
	return header + "spec:\n  kubernetesVersion: 1.34\n  datacenterRef: {kind: DockerDatacenterConfig, name: a}\n" + network + more
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []string
	}{
		"complete":                 {text: complete("")},
		"of EKS Anywhere":          {text: strings.Replace(complete(""), "clusterctl-x.io", "anywhere.eks.amazonaws.com", 1)},
		"another group":            {strings.Replace(complete(""), "clusterctl-x.io", "cluster.x-k8s.io", 1), []string{"apiVersion enum"}},
		"no header":                {"metadata: {name: a}\nspec: {}\n", []string{"required", "spec required"}},
		"no version":               {strings.Replace(complete(""), "  kubernetesVersion: 1.34\n", "", 1), []string{"spec required"}},
		"no name":                  {strings.Replace(complete(""), "{name: a}\nspec", "{}\nspec", 1), []string{"metadata required"}},
		"unknown field":            {complete("  workerNodeGroups: []\n"), []string{"spec additionalProperties"}},
		"unknown field in a list":  {complete("  workerNodeGroupConfigurations: [{replicas: 1}]\n"), []string{"spec.workerNodeGroupConfigurations.0 additionalProperties"}},
		"a class of one's own":     {text: strings.Replace(complete("  clusterClass: {name: a, variables: {b: {c: [1]}}}\n"), "  datacenterRef: {kind: DockerDatacenterConfig, name: a}\n", "", 1)},
		"a class without name":     {complete("  clusterClass: {variables: {}}\n"), []string{"spec.clusterClass required"}},
		"variables are a list":     {complete("  workerNodeGroupConfigurations: [{variables: [a]}]\n"), []string{"spec.workerNodeGroupConfigurations.0.variables type"}},
		"an annotation is no text": {complete("  controlPlaneConfiguration: {annotations: {a: true}}\n"), []string{"spec.controlPlaneConfiguration.annotations.a type"}},
		"another provider":         {strings.Replace(complete(""), "Docker", "Tinkerbell", 1), []string{"spec.datacenterRef.kind enum"}},
		"count is text":            {complete("  controlPlaneConfiguration: {count: '3'}\n"), []string{"spec.controlPlaneConfiguration.count type"}},
		"count is 0":               {complete("  controlPlaneConfiguration: {count: 0}\n"), []string{"spec.controlPlaneConfiguration.count minimum"}},
		"skew of 3":                {text: complete("  upgradePolicy: {maxConcurrentWorkerGroups: 1, maxWorkerVersionSkew: 3}\n")},
		"skew of 4":                {complete("  upgradePolicy: {maxConcurrentWorkerGroups: 0, maxWorkerVersionSkew: 4}\n"), []string{"spec.upgradePolicy.maxConcurrentWorkerGroups minimum", "spec.upgradePolicy.maxWorkerVersionSkew maximum"}},
		"three networks":           {strings.Replace(complete(""), "[10.96.0.0/12]", "[10.96.0.0/12, \"fd00::/112\", 10.0.0.0/12]", 1), []string{"spec.clusterNetwork.services.cidrBlocks maxItems"}},
		"no duration":              {complete("  machineHealthCheck: {nodeStartupTimeout: soon}\n"), []string{"spec.machineHealthCheck.nodeStartupTimeout pattern"}},
		"no effect":                {complete("  controlPlaneConfiguration: {taints: [{key: a, effect: No}]}\n"), []string{"spec.controlPlaneConfiguration.taints.0.effect enum"}},
		"a label is no text":       {complete("  controlPlaneConfiguration: {labels: {a: 1}}\n"), []string{"spec.controlPlaneConfiguration.labels.a type"}},
		"a kubelet's own fields":   {text: complete("  controlPlaneConfiguration: {kubeletConfiguration: {evictionHard: {a: 1}}}\n")},
		"settings of kindnetd":     {strings.Replace(complete(""), "{pods", "{cniConfig: {kindnetd: {mtu: 1}}, pods", 1), []string{"spec.clusterNetwork.cniConfig.kindnetd additionalProperties"}},
		"what EKS Anywhere has":    {complete("  controlPlaneConfiguration: {skipAdmissionForSystemResources: true}\n"), []string{"spec.controlPlaneConfiguration additionalProperties"}},
		"what is ignored":          {text: complete("  bundlesRef: {name: a}\n  controlPlaneConfiguration: {taints: [{key: a, effect: NoExecute, timeAdded: a}]}\nstatus: {a: 1}\n")},
		"what a server adds":       {text: strings.Replace(complete(""), "name: a}", "name: a, uid: b, annotations: {c: d}}", 1)},
		"another kind":             {strings.Replace(complete(""), "kind: Cluster", "kind: Machine", 1), []string{"kind const"}},
		"reference to a docker":    {complete("  identityProviderRefs: [{kind: DockerDatacenterConfig, name: a}]\n"), []string{"spec.identityProviderRefs.0.kind enum"}},
		"both references are good": {text: complete("  identityProviderRefs: [{kind: OIDCConfig, name: a}, {kind: AWSIamConfig, name: a}]\n")},
	}
	whole, cluster := compile(t, ""), compile(t, "#/$defs/Cluster")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document := documents(t, []byte(test.text))[0]
			if diff := cmp.Diff(test.want, leaves(cluster.Validate(document))); diff != "" {
				t.Errorf("mistakes (-want +got):\n%s", diff)
			}
			if refused := whole.Validate(document) != nil; refused != (len(test.want) > 0) {
				t.Errorf("the schema of all kinds refuses it: %t", refused)
			}
		})
	}
}

// TestScalars compares patterns with what the types read.
func TestScalars(t *testing.T) {
	t.Parallel()
	tests := map[reflect.Type]struct{ text, numbers []string }{
		reflect.TypeFor[v1alpha1.KubernetesVersion](): {
			text:    []string{"1.34", "v1.34", "1.34.2", "v1.34.2", "1.34.2+vendor.1", "1", "1.34.", "1.034", "0.1", "1.34.2-rc.1", "1.34.2+", "latest", ""},
			numbers: []string{"1.34", "1.30"},
		},
		reflect.TypeFor[v1alpha1.Duration](): {
			text:    []string{"90s", "1m30s", "1.5h", ".5s", "500ms", "5us", "5µs", "5μs", "0", "0s", "-5s", "5", "s", "1 s", "1d", ""},
			numbers: []string{"0", "5", "-5"},
		},
		reflect.TypeFor[v1alpha1.IntOrPercent](): {
			text:    []string{"0", "3", "40%", "100%", "03", "4.5%", "%", "40 %", "many", ""},
			numbers: []string{"0", "3", "4.5"},
		},
		reflect.TypeFor[v1alpha1.Port](): {
			text:    []string{"1", "443", "9999", "10000", "65535", "65536", "65540", "65600", "66000", "70000", "100000", "0", "0443", "-1", "https", ""},
			numbers: []string{"1", "443", "65535", "65536", "0", "-1", "4.5"},
		},
		reflect.TypeFor[v1alpha1.Content](): {text: []string{"", "a", "a\nb\tc"}},
	}
	if diff := cmp.Diff(len(scalars()), len(tests)); diff != "" {
		t.Errorf("number of scalars (-want +got):\n%s", diff)
	}
	for scalar, test := range tests {
		t.Run(scalar.Name(), func(t *testing.T) {
			t.Parallel()
			schema := compile(t, "#/$defs/"+fieldOf(t, scalar))
			for _, text := range test.text {
				compareScalar(t, scalar, schema, text, text)
			}
			for _, number := range test.numbers {
				compareScalar(t, scalar, schema, number, json.Number(number))
			}
		})
	}
}

func compareScalar(t *testing.T, scalar reflect.Type, schema *jsonschema.Schema, text string, value any) {
	t.Helper()
	read := reflect.New(scalar).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	if valid := schema.Validate(value); (valid == nil) != (read == nil) {
		t.Errorf("%#v: schema says %v, decoder says %v", value, valid, read)
	}
}

// fieldOf is the path in $defs of the first field of a type.
func fieldOf(t *testing.T, scalar reflect.Type) string {
	t.Helper()
	found := map[string]bool{}
	walk(func(owner reflect.Type, field reflect.StructField) {
		if field.Type == scalar || field.Type == reflect.PointerTo(scalar) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			found[owner.Name()+"/properties/"+name] = true
		}
	})
	if len(found) == 0 {
		t.Fatalf("no field is of type %s; remove it from scalars", scalar)
	}
	return slices.Min(slices.Collect(maps.Keys(found)))
}

// walk visits the fields of all structs of the documents.
func walk(visit func(owner reflect.Type, field reflect.StructField)) {
	seen := map[reflect.Type]bool{}
	var into func(reflect.Type)
	into = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if _, scalar := scalars()[t]; scalar || t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			visit(t, t.Field(i))
			into(t.Field(i).Type)
		}
	}
	for _, kind := range kinds() {
		into(kind)
	}
}

// TestEveryScalarIsKnown fails on a type that reads itself and that the schema
// would take for an object.
func TestEveryScalarIsKnown(t *testing.T) {
	t.Parallel()
	walk(func(owner reflect.Type, field reflect.StructField) {
		value := field.Type
		for value.Kind() == reflect.Pointer || value.Kind() == reflect.Slice || value.Kind() == reflect.Map {
			value = value.Elem()
		}
		_, known := scalars()[value]
		if reads := reflect.PointerTo(value).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()); reads != known {
			t.Errorf("%s.%s: %s reads text itself: %t; it is in scalars: %t", owner.Name(), field.Name, value, reads, known)
		}
	})
}

// TestEveryFieldIsDescribed: a field without a comment has that of its type.
func TestEveryFieldIsDescribed(t *testing.T) {
	t.Parallel()
	comments, err := readComments(types)
	if err != nil {
		t.Fatal(err)
	}
	walk(func(owner reflect.Type, field reflect.StructField) {
		byGenerator := []string{"APIVersion", "Kind"}
		if comments.lookup(owner, field.Name) == "" && !slices.Contains(byGenerator, field.Name) {
			t.Errorf("%s.%s has no comment", owner.Name(), field.Name)
		}
	})
}

func TestRun(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "schema.json")
	tests := map[string]struct {
		args []string
		want string
	}{
		"no file":        {nil, "-out is required: the file to write"},
		"an argument":    {[]string{"-out", out, "more"}, `unexpected argument "more"`},
		"no types":       {[]string{"-out", out, "-types", "testdata/none"}, "read the comments in testdata/none: lstat testdata/none: no such file or directory"},
		"no such place":  {[]string{"-out", filepath.Join(out, "a"), "-types", types}, "write the schema: open " + filepath.Join(out, "a") + ": no such file or directory"},
		"help":           {[]string{"-h"}, ""},
		"another source": {[]string{"-out", out, "-types", "."}, "no type with a comment in ."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := run(test.args, io.Discard); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunWritesTheFile(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "schema.json")
	if err := run([]string{"-out", out, "-types", types}, io.Discard); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(config.SpecSchema), string(got)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}
