package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A checker keeps what is outside the examined folder.
type checker struct {
	fset    *token.FileSet
	outside map[string]*types.Package // by system and package ID
}

func newChecker() *checker {
	return &checker{fset: token.NewFileSet(), outside: map[string]*types.Package{}}
}

// A load is one system's packages of one module.
type load struct {
	*checker
	dir, goos string
	packages  map[string]*listed
	checked   map[string]*types.Package
	graph     *graph
}

// examine answers one request.
func (c *checker) examine(asked request) (*answer, error) {
	dir, err := filepath.EvalSymlinks(asked.Dir)
	if err != nil {
		return nil, err
	}
	modules, err := moduleFolders(dir)
	if err != nil {
		return nil, err
	}
	work := "off"
	if path := filepath.Join(dir, "go.work"); exists(path) {
		work = path
	}
	g := newGraph(c.fset, dir)
	for _, goos := range asked.Goos {
		for _, module := range modules {
			if err := c.load(g, dir, module, work, goos); err != nil {
				return nil, err
			}
		}
	}
	return g.answer()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (c *checker) load(g *graph, dir, module, work, goos string) error {
	system, withC := strings.CutSuffix(goos, "+cgo")
	cgo := "CGO_ENABLED=0"
	if withC {
		cgo = "CGO_ENABLED=1"
	}
	env := append(os.Environ(), "GOOS="+system, "GOARCH="+architecture(system), cgo, "GOWORK="+work, "GOFLAGS=", "GOPROXY=off", "GOTOOLCHAIN=local")
	packages, err := list(module, env)
	if err != nil {
		return fmt.Errorf("%s for %s: %w", module, goos, err)
	}
	l := &load{checker: c, dir: dir, goos: goos, packages: packages, checked: map[string]*types.Package{}, graph: g}
	for _, id := range slices.Sorted(maps.Keys(packages)) {
		root := packages[id]
		if root.DepOnly {
			continue
		}
		if root.Error != nil {
			g.broken[root.Error.Err] = true
		}
		if !strings.HasSuffix(root.path(), ".test") {
			l.check(root)
		}
	}
	return nil
}

func (l *load) inside(p *listed) bool {
	for _, file := range p.files() {
		return strings.HasPrefix(file, l.dir+string(filepath.Separator))
	}
	return false
}

// check type-checks a package after what it imports.
func (l *load) check(p *listed) *types.Package {
	if p.ImportPath == "unsafe" {
		return types.Unsafe
	}
	inside := l.inside(p)
	known, key := l.checked, p.ImportPath
	if !inside {
		known, key = l.outside, l.goos+" "+p.ImportPath
	}
	if pkg := known[key]; pkg != nil {
		return pkg
	}
	imports := map[string]*types.Package{}
	for path, id := range p.imports() {
		if imported := l.packages[id]; imported != nil {
			imports[path] = l.check(imported)
		}
	}
	var files []*ast.File
	for _, name := range p.files() {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		mode := parser.SkipObjectResolution
		if inside {
			mode |= parser.ParseComments
		}
		file, err := parser.ParseFile(l.fset, name, nil, mode)
		if err != nil && inside {
			l.graph.broken[err.Error()] = true
		}
		if file != nil {
			files = append(files, file)
		}
	}
	info := &types.Info{}
	if inside {
		info.Defs = map[*ast.Ident]types.Object{}
		info.Uses = map[*ast.Ident]types.Object{}
		info.Implicits = map[ast.Node]types.Object{}
		info.Types = map[ast.Expr]types.TypeAndValue{}
	}
	version := ""
	if p.Module != nil && p.Module.GoVersion != "" {
		version = "go" + p.Module.GoVersion
	}
	config := types.Config{
		Importer:         importer(imports),
		IgnoreFuncBodies: !inside,
		FakeImportC:      true,
		Sizes:            types.SizesFor("gc", "amd64"),
		GoVersion:        version,
		Error: func(err error) {
			if inside {
				l.graph.broken[err.Error()] = true
			}
		},
	}
	pkg, _ := config.Check(p.path(), l.fset, files, info)
	known[key] = pkg
	if inside {
		l.graph.add(pkg, files, info)
	}
	return pkg
}

type importer map[string]*types.Package

// Import is types.Importer.
func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if pkg := i[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("%s was not loaded", path)
}

// architecture is one that Go has for a system.
func architecture(goos string) string {
	switch goos {
	case "aix":
		return "ppc64"
	case "android", "ios":
		return "arm64"
	case "js":
		return "wasm"
	}
	return "amd64"
}

// moduleFolders are the folders with a go.mod that the go command would look into.
func moduleFolders(dir string) ([]string, error) {
	var found []string
	err := walk(dir, false, func(path string, entry fs.DirEntry) {
		if entry.Name() == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
	})
	return found, err
}

// walk visits the files of all folders that the go command does not leave out; with all, also of those that it reads if
// they are named: testdata and _folders.
func walk(dir string, all bool, visit func(path string, entry fs.DirEntry)) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		isLoose := name == "testdata" || name[0] == '_'
		if entry.IsDir() && path != dir && (name == "vendor" || name[0] == '.' || isLoose && !all) {
			return filepath.SkipDir
		}
		if entry.Type().IsRegular() {
			visit(path, entry)
		}
		return nil
	})
}
