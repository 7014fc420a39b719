package manifests

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"text/template/parse"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
)

// trap makes the rendering fail when it is reached.
const trap = "{{ len 0 }}"

// TestGoldenFilesReachEveryBranch puts a trap into one branch of one template
// after the other; a branch that is rendered for no golden file has no test.
func TestGoldenFilesReachEveryBranch(t *testing.T) {
	t.Parallel()
	var inputs []Input
	for _, c := range goldenCases(t) {
		inputs = append(inputs, c.input(t))
	}
	files := templateFiles(t)
	branches := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) != ".tmpl" {
			continue // is not rendered here
		}
		for branch, trapped := range trapEach(t, name, files[name]) {
			branches++
			with := maps.Clone(files)
			with[name] = trapped
			if !slices.ContainsFunc(inputs, func(input Input) bool { return falls(t, input, with) }) {
				t.Errorf("no golden file reaches %s: %s", name, branch)
			}
		}
	}
	if branches < 20 {
		t.Errorf("only %d branches were found", branches)
	}
}

// falls reports whether rendering with these templates goes into the trap.
func falls(t *testing.T, input Input, templates map[string]string) bool {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range templates {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	if input.Provider.Known() {
		var err error
		if input.Provider.Files, err = fs.Sub(fsys, "providers/"+input.Provider.Name); err != nil {
			t.Fatal(err)
		}
	}
	r, err := newRenderer(input, fsys)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.objects()
	_, referencesErr := References(input.Config, input.Provider)
	err = errors.Join(err, referencesErr)
	return err != nil && strings.Contains(err.Error(), "error calling len")
}

// trapEach returns the template once for each of its branches, with the trap
// in it. The branch that is taken where a condition does not hold counts too.
func trapEach(t *testing.T, name, text string) map[string]string {
	t.Helper()
	variants := map[string]string{}
	for n := 0; ; n++ {
		tree := parseTemplate(t, name, text)
		lists := branchesOf(tree.Root)
		if n == len(lists) {
			return variants
		}
		lists[n].set(&parse.ListNode{NodeType: parse.NodeList, Nodes: []parse.Node{&parse.TextNode{NodeType: parse.NodeText, Text: []byte(trap)}}})
		variants[fmt.Sprintf("%d: %s", n, lists[n].name)] = tree.Root.String()
	}
}

// branch is a place of a template that is rendered or is not.
type branch struct {
	name string
	set  func(*parse.ListNode)
}

func branchesOf(list *parse.ListNode) []branch {
	var branches []branch
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		var b *parse.BranchNode
		var kind string
		switch node := node.(type) {
		case *parse.IfNode:
			b, kind = &node.BranchNode, "if"
		case *parse.WithNode:
			b, kind = &node.BranchNode, "with"
		case *parse.RangeNode:
			b, kind = &node.BranchNode, "range"
		default:
			continue
		}
		branches = append(branches, branch{kind + " " + b.Pipe.String(), func(trap *parse.ListNode) { b.List = trap }})
		branches = append(branches, branchesOf(b.List)...)
		if kind == "range" && b.ElseList == nil {
			continue // no list here is ever empty where its range is reached
		}
		branches = append(branches, branch{"else of " + kind + " " + b.Pipe.String(), func(trap *parse.ListNode) { b.ElseList = trap }})
		branches = append(branches, branchesOf(b.ElseList)...)
	}
	return branches
}

func parseTemplate(t *testing.T, name, text string) *parse.Tree {
	t.Helper()
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(text, "", "", map[string]*parse.Tree{}); err != nil {
		t.Fatal(err)
	}
	return tree
}

// templateFiles maps the templates to their text.
func templateFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, fsys := range []fs.FS{config.Templates, config.Providers} {
		err := fs.WalkDir(fsys, ".", func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".tmpl") && !strings.HasSuffix(name, ".sh") {
				return err
			}
			data, err := fs.ReadFile(fsys, name)
			files[name] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestStringsEnterTemplatesThroughQuote: whatever a template prints is quoted,
// at the place of a whole value, or is on this list.
func TestStringsEnterTemplatesThroughQuote(t *testing.T) {
	t.Parallel()
	unquoted := map[string][]string{
		"templates/cluster.yaml.tmpl":           {"{{.}}"},         // a port
		"templates/control-plane.yaml.tmpl":     {"{{.Replicas}}"}, // an int
		"templates/worker-node-group.yaml.tmpl": {"{{.Replicas}}"}, // an int
		// The whole of these is decoded as YAML.
		"providers/clusterapi/control-plane-annotations.yaml.tmpl": {"{{toYaml (index . \"annotations\")}}"},
		"providers/clusterapi/kubeadm.yaml.tmpl":                   {"{{toYaml .}}"},
		"providers/vsphere/failure-domain.yaml.tmpl":               {"{{quote $name}} is not a whole value"},
		"providers/nutanix/failure-domain.yaml.tmpl":               {`{{quote (printf "%s-%s" .Cluster .FailureDomain.name)}} is not a whole value`},
		// Cluster API renders this one on its way to the machine, with a version.
		"providers/docker/fetch-kubeadm.sh": {"{{.controlPlane.version}}"},
	}
	got := map[string][]string{}
	for name, text := range templateFiles(t) {
		if problems := unquotedIn(parseTemplate(t, name, text).Root); len(problems) > 0 {
			got[name] = problems
		}
	}
	if diff := gocmp.Diff(unquoted, got); diff != "" {
		t.Errorf("what is printed and not quoted (-allowed +got):\n%s", diff)
	}
}

func unquotedIn(list *parse.ListNode) []string {
	if list == nil {
		return nil
	}
	var problems []string
	for i, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.ActionNode:
			if len(node.Pipe.Decl) > 0 {
				continue // sets a variable
			}
			if !quotes(node.Pipe) {
				problems = append(problems, node.String())
			} else if !wholeValue(list.Nodes, i) && !(embeds(node.Pipe) && below(list.Nodes, i)) {
				problems = append(problems, node.String()+" is not a whole value")
			}
		case *parse.TemplateNode:
			problems = append(problems, node.String())
		case *parse.IfNode:
			problems = append(problems, append(unquotedIn(node.List), unquotedIn(node.ElseList)...)...)
		case *parse.WithNode:
			problems = append(problems, append(unquotedIn(node.List), unquotedIn(node.ElseList)...)...)
		case *parse.RangeNode:
			problems = append(problems, append(unquotedIn(node.List), unquotedIn(node.ElseList)...)...)
		}
	}
	return problems
}

func quotes(pipe *parse.PipeNode) bool { return calls(pipe, "quote") || embeds(pipe) }

// embeds reports whether a value is put below its field: nindent N (toYaml V).
func embeds(pipe *parse.PipeNode) bool {
	args := pipe.Cmds[len(pipe.Cmds)-1].Args
	inner, ok := args[len(args)-1].(*parse.PipeNode)
	return ok && calls(pipe, "nindent") && calls(inner, "toYaml")
}

func calls(pipe *parse.PipeNode, name string) bool {
	function, ok := pipe.Cmds[len(pipe.Cmds)-1].Args[0].(*parse.IdentifierNode)
	return ok && function.Ident == name
}

// wholeValue reports whether the i-th node stands alone behind "field: " or "- ".
func wholeValue(nodes []parse.Node, i int) bool {
	return behind(nodes, i, ": ", "- ") && endsLine(nodes, i)
}

// below reports whether the i-th node stands alone below "field:", or is the rest of a
// mapping.
func below(nodes []parse.Node, i int) bool {
	return i == 0 || behind(nodes, i, ":") && endsLine(nodes, i)
}

// behind reports whether the text before the i-th node has one of these ends.
func behind(nodes []parse.Node, i int, ends ...string) bool {
	before, ok := nodes[max(i-1, 0)].(*parse.TextNode)
	return ok && slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(string(before.Text), end) })
}

func endsLine(nodes []parse.Node, i int) bool {
	if i+1 == len(nodes) {
		return true
	}
	after, ok := nodes[i+1].(*parse.TextNode)
	return ok && strings.HasPrefix(string(after.Text), "\n") || !ok && trimmed(nodes[i+1])
}

// trimmed: the line break before such a node was taken by its "{{-".
func trimmed(node parse.Node) bool {
	switch node.(type) {
	case *parse.IfNode, *parse.RangeNode, *parse.WithNode:
		return true
	}
	return false
}
