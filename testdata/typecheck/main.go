// Command typecheck checks the types of all packages of the module that it runs in, and of their
// tests, for systems that are its arguments, such as darwin/arm64. That is what compiling finds,
// without making code.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	failed := make(chan error)
	for _, system := range os.Args[1:] {
		go func() { failed <- check(system) }()
	}
	code := 0
	for range os.Args[1:] {
		if err := <-failed; err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// A listed is a package as go list describes it, one for tests among them.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	DepOnly         bool
}

func check(system string) error {
	goos, arch, _ := strings.Cut(system, "/")
	list := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,DepOnly", "./...")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err == nil {
		err = list.Start()
	}
	if err != nil {
		return err
	}
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for packages := json.NewDecoder(out); ; {
		var p listed
		if err := packages.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return errors.Join(err, list.Wait())
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue // the latter is generated
		}
		if done[p.ImportPath], err = p.check(arch, done); err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
	}
	return list.Wait()
}

// check checks a package whose imports are done. Of the packages of other modules it needs to know
// what they declare only.
func (p listed) check(arch string, done map[string]*types.Package) (*types.Package, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{
		Sizes:            types.SizesFor("gc", arch),
		IgnoreFuncBodies: p.DepOnly,
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			return done[path], nil
		}),
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return config.Check(path, fset, files, nil)
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
