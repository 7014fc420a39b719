package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
)

// kubeadmConstants are the values of kubeadm's constants.go that decide which
// images a cluster runs.
type kubeadmConstants struct {
	KubeAPIServer         string
	KubeControllerManager string
	KubeScheduler         string
	KubeProxy             string
	Etcd                  string
	CoreDNSImageName      string
	CoreDNSVersion        string
	PauseVersion          string
	DefaultEtcdVersion    string
	// SupportedEtcdVersion has the minor versions of Kubernetes as keys.
	SupportedEtcdVersion map[int]string
}

// EtcdVersion chooses as kubeadm does (images.GetEtcdImage with
// constants.EtcdSupportedVersion): the version listed for the minor version,
// for a minor version beyond the list that of the nearest end, and the default
// only if the list has no answer at all.
func (c kubeadmConstants) EtcdVersion(minor int) string {
	if version, ok := c.SupportedEtcdVersion[minor]; ok {
		return version
	}
	if len(c.SupportedEtcdVersion) == 0 {
		return c.DefaultEtcdVersion
	}
	minors := slices.Sorted(maps.Keys(c.SupportedEtcdVersion))
	lowest, highest := minors[0], minors[len(minors)-1]
	switch {
	case minor < lowest:
		return c.SupportedEtcdVersion[lowest]
	case minor > highest:
		return c.SupportedEtcdVersion[highest]
	default:
		return c.DefaultEtcdVersion
	}
}

// parseConstants reads kubeadm's constants.go. The minor version is that of
// the kubeadm the file belongs to: some releases declare the etcd versions
// relative to it.
//
// The file is parsed and not compiled, because compiling kubeadm would need
// the whole of Kubernetes. Every form that the parser does not know is an
// error, so that a new one cannot pass as missing data.
func parseConstants(path string, src []byte, minor int) (kubeadmConstants, error) {
	values, err := parseValues(path, src)
	if err != nil {
		return kubeadmConstants{}, err
	}
	var c kubeadmConstants
	for _, constant := range []struct {
		name   string
		target *string
	}{
		{"KubeAPIServer", &c.KubeAPIServer},
		{"KubeControllerManager", &c.KubeControllerManager},
		{"KubeScheduler", &c.KubeScheduler},
		{"KubeProxy", &c.KubeProxy},
		{"Etcd", &c.Etcd},
		{"CoreDNSImageName", &c.CoreDNSImageName},
		{"CoreDNSVersion", &c.CoreDNSVersion},
		{"PauseVersion", &c.PauseVersion},
		{"DefaultEtcdVersion", &c.DefaultEtcdVersion},
	} {
		if *constant.target, err = values.text(constant.name); err != nil {
			return kubeadmConstants{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	if c.SupportedEtcdVersion, err = values.etcdVersions(minor); err != nil {
		return kubeadmConstants{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// parseImageRepository reads the registry that kubeadm takes images from if it
// is told nothing else.
func parseImageRepository(path string, src []byte) (string, error) {
	values, err := parseValues(path, src)
	if err != nil {
		return "", err
	}
	repository, err := values.text("DefaultImageRepository")
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return repository, nil
}

// packageValues are the expressions that a file gives to its package-level
// constants and variables.
type packageValues map[string]ast.Expr

func parseValues(path string, src []byte) (packageValues, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	values := packageValues{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || (group.Tok != token.CONST && group.Tok != token.VAR) {
			continue
		}
		for _, spec := range group.Specs {
			values.add(spec.(*ast.ValueSpec)) // CONST and VAR hold no other specs.
		}
	}
	return values, nil
}

// add leaves out names without an expression of their own (iota lists, plain
// var declarations): nothing here needs them.
func (v packageValues) add(spec *ast.ValueSpec) {
	if len(spec.Names) != len(spec.Values) {
		return
	}
	for i, name := range spec.Names {
		v[name.Name] = spec.Values[i]
	}
}

// text is the value of a string constant.
func (v packageValues) text(name string) (string, error) {
	expr, ok := v[name]
	if !ok {
		return "", fmt.Errorf("%s is not declared", name)
	}
	value, err := v.evalText(expr)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// evalText follows references to other constants of the file. The compiler
// refuses constants that refer to themselves, so this comes to an end.
func (v packageValues) evalText(expr ast.Expr) (string, error) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if expr.Kind != token.STRING {
			return "", fmt.Errorf("%s is not a string", expr.Value)
		}
		return strconv.Unquote(expr.Value)
	case *ast.Ident:
		return v.text(expr.Name)
	default:
		return "", fmt.Errorf("%T is not a form of string that is known here", expr)
	}
}

// etcdVersions is the value of SupportedEtcdVersion.
func (v packageValues) etcdVersions(minor int) (map[int]string, error) {
	const name = "SupportedEtcdVersion"
	literal, ok := v[name].(*ast.CompositeLit)
	if !ok {
		return nil, fmt.Errorf("%s is not declared as a map", name)
	}
	versions := map[int]string{}
	for _, element := range literal.Elts {
		entry, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil, fmt.Errorf("%s: %T is not an entry of a map", name, element)
		}
		key, err := evalMinor(entry.Key, minor)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if versions[key], err = v.evalText(entry.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return versions, nil
}

// evalMinor is the value of a key of SupportedEtcdVersion: a number, or as in
// Kubernetes 1.35 uint8(getSkewedKubernetesVersion(-1).Minor()), which is
// relative to the minor version of kubeadm itself.
func evalMinor(expr ast.Expr, minor int) (int, error) {
	if skewed, ok := minorOfSkewedVersion(expr); ok {
		skew, err := evalInt(skewed)
		return minor + skew, err
	}
	return evalInt(expr)
}

// minorOfSkewedVersion matches uint8(getSkewedKubernetesVersion(n).Minor())
// and returns n.
func minorOfSkewedVersion(expr ast.Expr) (ast.Expr, bool) {
	conversion, ok := expr.(*ast.CallExpr)
	if !ok || !isIdent(conversion.Fun, "uint8") || len(conversion.Args) != 1 {
		return nil, false
	}
	method, ok := conversion.Args[0].(*ast.CallExpr)
	if !ok || len(method.Args) != 0 {
		return nil, false
	}
	selector, ok := method.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Minor" {
		return nil, false
	}
	call, ok := selector.X.(*ast.CallExpr)
	if !ok || !isIdent(call.Fun, "getSkewedKubernetesVersion") || len(call.Args) != 1 {
		return nil, false
	}
	return call.Args[0], true
}

func isIdent(expr ast.Expr, name string) bool {
	ident, ok := expr.(*ast.Ident)
	return ok && ident.Name == name
}

// evalInt is the value of an integer literal with or without a minus sign.
func evalInt(expr ast.Expr) (int, error) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		value, err := strconv.Atoi(expr.Value)
		if err != nil {
			return 0, fmt.Errorf("%s is not a number: %w", expr.Value, err)
		}
		return value, nil
	case *ast.UnaryExpr:
		if expr.Op != token.SUB {
			return 0, fmt.Errorf("operator %s is not known here", expr.Op)
		}
		value, err := evalInt(expr.X)
		return -value, err
	default:
		return 0, fmt.Errorf("%T is not a form of number that is known here", expr)
	}
}
