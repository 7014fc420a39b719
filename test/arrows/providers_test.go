package arrows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// providersInCode are the words of providers that code has, by file. Only what is a matter of
// identities or registries may be added; the rest is to go.
func providersInCode() map[string][]string {
	return map[string][]string{
		// Partitions and users of AWS, by which people are known to a cluster; registries.
		"pkg/manifests/iam.go":        {"aws"},
		"pkg/validations/identity.go": {"aws"},
		"pkg/validations/mirror.go":   {"aws", "docker"},
		// Remedies and help that name a provider.
		"pkg/api/v1alpha1/decode.go":       {"inmemory"},
		"pkg/api/v1alpha1/kind_rules.go":   {"clusterapidatacenterconfig", "clusterapimachineconfig"},
		"pkg/cmd/generate/clusterclass.go": {"inmemory"},
		"pkg/cmd/generate/generate.go":     {"inmemory"},
		"pkg/lifecycle/standins.go":        {"docker"},
		// What tests carry out plans against.
		"pkg/engine/enginetest/objects.go": {"devmachine"},
	}
}

// TestNoProviderInCode: what a provider is follows from its folder.
func TestNoProviderInCode(t *testing.T) {
	t.Parallel()
	words := providerWords()
	got := map[string][]string{}
	root := filepath.Join("..", "..")
	for _, directory := range []string{"cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, directory), func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, file)
			name = filepath.ToSlash(name)
			switch {
			case err != nil:
				return err
			case entry.IsDir() && slices.Contains([]string{"cmd/clusterctl-x-embedded", "pkg/embedded"}, name):
				return fs.SkipDir
			case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			if found := wordsIn(t, file, words); len(found) > 0 {
				got[name] = found
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(providersInCode(), got); diff != "" {
		t.Errorf("words of providers in code; ask pkg/providers, and remove from this list what is gone (-allowed +got):\n%s", diff)
	}
}

// providerWords are the names of the built-in providers, and the kinds of their documents and
// objects, in lower case. The name of provider clusterapi is also that of Cluster API.
func providerWords() []string {
	var words []string
	for name, provider := range providers.BuiltIn() {
		words = append(words, name, provider.Spec.Datacenter.Kind, provider.Spec.Machine.Kind)
		if of := provider.Spec.Infrastructure; of != nil {
			words = append(words, of.Cluster, strings.TrimSuffix(of.MachineTemplate, "Template"))
		}
	}
	for i, word := range words {
		words[i] = strings.ToLower(word)
	}
	slices.Sort(words)
	return slices.DeleteFunc(slices.Compact(words), func(word string) bool { return word == "" || word == "clusterapi" })
}

// otherMatters removes the words of AWS's IAM, of EKS Anywhere's API group and of Go's garbage
// collector, which are no matter of the infrastructure.
func otherMatters() *strings.Replacer {
	return strings.NewReplacer("awsiam", "", "aws-iam", "", "aws-auth", "", "awsregion", "", "amazonaws", "", "default=aws", "", "setgcpercent", "")
}

// wordsIn returns which of the words the identifiers and texts of a file have, sorted.
func wordsIn(t *testing.T, file string, words []string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(parsed, func(node ast.Node) bool {
		var text string
		switch n := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Ident:
			text = n.Name
		case *ast.BasicLit:
			text = n.Value
		}
		text = otherMatters().Replace(strings.ToLower(text))
		for _, word := range words {
			if strings.Contains(text, word) {
				found = append(found, word)
			}
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}
