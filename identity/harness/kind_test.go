package harness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// Kinds has every constant, and nothing else is in the table.
func TestKindsAreComplete(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "kind.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Kind
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, value := range spec.Values {
				if lit, ok := value.(*ast.BasicLit); ok {
					text, _ := strconv.Unquote(lit.Value)
					declared = append(declared, Kind(text))
				}
			}
		}
		return true
	})
	if !slices.Equal(declared, Kinds()) || len(declared) == 0 {
		t.Errorf("declared are %q, but Kinds returns %q", declared, Kinds())
	}
	for _, h := range All() {
		for _, e := range h.Hooks.Events {
			if !slices.Contains(Kinds(), e.Kind) {
				t.Errorf("%s runs hooks of the unknown kind %q", h.ID, e.Kind)
			}
		}
	}
}
