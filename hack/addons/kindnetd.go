package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
)

const (
	kindModule    = "sigs.k8s.io/kind@v0.33.0"
	kindFile      = "pkg/build/nodeimage/const_cni.go"
	kindCopyright = "Copyright 2019 The Kubernetes Authors"

	// kindManifest is the constant of that file with the manifest.
	kindManifest = "defaultCNIManifest"

	// kindPods and ourPods are the place of the pod network, in the manifest of
	// kind and in ours. Only the latter is YAML whatever is put there.
	kindPods = "value: {{ .PodSubnet }}\n"
	ourPods  = "value: {{ quote .Pods }}\n"
)

func generateKindnetd(ctx context.Context) (fileSet, error) {
	src, err := source.ReadModuleFile(ctx, kindModule, kindFile)
	if err != nil {
		return nil, err
	}
	manifest, err := stringConstant(kindFile, src, kindManifest)
	if err != nil {
		return nil, err
	}
	converted, err := convertKindnetd(manifest)
	if err != nil {
		return nil, err
	}
	return fileSet{"kindnetd.yaml.tmpl": converted}, nil
}

// convertKindnetd makes the template of kind ours. The comments of its first
// document, which tell kind what to do with it, are left out.
func convertKindnetd(manifest string) (string, error) {
	converted := strings.Replace(manifest, kindPods, ourPods, 1)
	if strings.Count(converted, "{{") != 1 || !strings.Contains(converted, ourPods) {
		return "", errors.New("the manifest does not have the pod network as its one parameter")
	}
	texts, err := splitText(converted)
	if err != nil {
		return "", err
	}
	var kept []document
	for _, text := range texts {
		if !isComment(text) {
			kept = append(kept, document{Text: text})
		}
	}
	comment := header(kindModule+" "+kindFile, kindCopyright, "the pod network is quoted.")
	return joinDocuments(comment, kept...), nil
}

// stringConstant is the value of a constant in a Go file. The file is parsed
// and not compiled, because it is in a package that cannot be imported.
func stringConstant(path string, src []byte, name string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		return "", fmt.Errorf("parse: %w", err)
	}
	constants := map[string]ast.Expr{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			addConstants(constants, spec.(*ast.ValueSpec)) // CONST holds no other specs.
		}
	}
	value, err := evalString(constants, ast.NewIdent(name))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}

// addConstants leaves out names without an expression of their own (iota
// lists): nothing here needs them.
func addConstants(constants map[string]ast.Expr, spec *ast.ValueSpec) {
	if len(spec.Names) != len(spec.Values) {
		return
	}
	for i, name := range spec.Names {
		constants[name.Name] = spec.Values[i]
	}
}

// evalString follows references to other constants. The compiler refuses
// constants that refer to themselves, so this comes to an end.
func evalString(constants map[string]ast.Expr, expr ast.Expr) (string, error) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if expr.Kind != token.STRING {
			return "", fmt.Errorf("%s is not a string", expr.Value)
		}
		return strconv.Unquote(expr.Value)
	case *ast.Ident:
		value, ok := constants[expr.Name]
		if !ok {
			return "", fmt.Errorf("%s is not declared", expr.Name)
		}
		return evalString(constants, value)
	case *ast.BinaryExpr:
		left, leftErr := evalString(constants, expr.X)
		right, rightErr := evalString(constants, expr.Y)
		return left + right, errors.Join(leftErr, rightErr) // Strings have no other operator.
	default:
		return "", fmt.Errorf("%T is not a form of string that is known here", expr)
	}
}
