package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is a change of a file in one place.
type mutant struct {
	file       string
	source     []byte
	line       int
	start, end int // of what is replaced, in the source
	with       string
}

func (m mutant) String() string {
	short := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	return fmt.Sprintf("%s:%d: %s -> %s", m.file, m.line, short(string(m.source[m.start:m.end])), short(m.with))
}

// text returns the file with the change.
func (m mutant) text() []byte {
	return slices.Concat(m.source[:m.start], []byte(m.with), m.source[m.end:])
}

// mutantsOf returns all mutants of the files of a package but its tests, in the order of the
// source. Some of them do not compile.
func mutantsOf(directory string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		of, err := mutantsOfFile(file, source)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

func mutantsOfFile(file string, source []byte) ([]mutant, error) {
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []mutant
	replace := func(from, to token.Pos, with ...string) {
		start, end := positions.Position(from), positions.Position(to)
		for _, text := range with {
			all = append(all, mutant{file: file, source: source, line: start.Line, start: start.Offset, end: end.Offset, with: text})
		}
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GenDecl:
			return n.Tok == token.CONST || n.Tok == token.VAR
		case *ast.BinaryExpr:
			replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), others()[n.Op]...)
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				replace(n.OpPos, n.OpPos+1, "")
			}
		case *ast.IfStmt:
			condition := string(source[positions.Position(n.Cond.Pos()).Offset:positions.Position(n.Cond.End()).Offset])
			replace(n.Cond.Pos(), n.Cond.End(), "("+condition+") || true", "("+condition+") && false")
		case *ast.Ident:
			switch n.Name {
			case "true":
				replace(n.Pos(), n.End(), "false")
			case "false":
				replace(n.Pos(), n.End(), "true")
			}
		case *ast.BasicLit:
			if number, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
				replace(n.Pos(), n.End(), strconv.Itoa(number+1))
			}
		case *ast.IncDecStmt:
			replace(n.TokPos, n.End(), map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok])
		case *ast.ExprStmt, *ast.BranchStmt:
			replace(n.Pos(), n.End(), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				replace(n.Pos(), n.End(), "")
			}
		}
		return true
	})
	return all, nil
}

// others are what an operator is replaced with.
func others() map[token.Token][]string {
	return map[token.Token][]string{
		token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="}, token.GEQ: {">", "<"},
		token.EQL: {"!="}, token.NEQ: {"=="}, token.LAND: {"||"}, token.LOR: {"&&"},
		token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"},
	}
}
