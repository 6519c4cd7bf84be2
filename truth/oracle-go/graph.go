package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"
)

type place struct{ file, line, character int }

type entry struct {
	symbol      *symbol
	uses, calls map[place]bool
	subtypes    map[string]bool
	found       map[string]bool
}

// A graph gathers what all packages say.
type graph struct {
	fset    *token.FileSet
	dir     string
	files   []string
	numbers map[string]int
	lines   map[string][]string
	entries map[string]*entry
	broken  map[string]bool
	named   map[string]*types.TypeName  // package-level types, by package variant and name
	asked   map[*types.Interface]string // interfaces that running code asks values for, and where it does
	seen    map[*types.Package]bool     // of Go's library
}

func newGraph(fset *token.FileSet, dir string) *graph {
	return &graph{
		fset: fset, dir: dir, numbers: map[string]int{}, lines: map[string][]string{},
		entries: map[string]*entry{}, broken: map[string]bool{}, named: map[string]*types.TypeName{},
		asked: map[*types.Interface]string{types.Universe.Lookup("error").Type().Underlying().(*types.Interface): "error"},
		seen:  map[*types.Package]bool{},
	}
}

// add takes one checked package.
func (g *graph) add(pkg *types.Package, files []*ast.File, info *types.Info) {
	owners := ownersOf(pkg)
	g.askOutside(pkg)
	for ident, object := range info.Defs {
		if object != nil {
			g.use(ident, object, owners)
		}
	}
	for ident, object := range info.Uses {
		g.use(ident, object, owners)
	}
	for node, object := range info.Implicits {
		// The variable of a type switch: one object for each case, all defined where the switch spells it.
		if _, ok := node.(*ast.CaseClause); ok {
			if e := g.entry(object, owners); e != nil {
				e.uses[g.place(object.Pos())] = true
			}
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch of := node.(type) {
			case *ast.TypeAssertExpr:
				g.ask(of.Type, info)
			case *ast.CaseClause:
				for _, one := range of.List {
					g.ask(one, info)
				}
			}
			if call, ok := node.(*ast.CallExpr); ok {
				if ident := calleeOf(call); ident != nil {
					if called, ok := info.Uses[ident].(*types.Func); ok {
						if e := g.entry(called.Origin(), owners); e != nil {
							e.calls[g.place(ident.Pos())] = true
						}
					}
				}
			}
			return true
		})
	}
	for _, name := range pkg.Scope().Names() {
		if typeName, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && !typeName.IsAlias() {
			g.named[fmt.Sprintf("%p.%s", pkg, name)] = typeName
		}
	}
}

// ask notes that running code asks whether a value has the type of an expression, if that is an interface.
func (g *graph) ask(expr ast.Expr, info *types.Info) {
	if value, ok := info.Types[expr]; expr != nil && ok && value.IsType() {
		if under, ok := value.Type.Underlying().(*types.Interface); ok && under.NumMethods() > 0 && under.IsMethodSet() {
			at := g.fset.PositionFor(expr.Pos(), false)
			file, _ := g.relative(at.Filename)
			g.asked[under] = min(fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column), cmp.Or(g.asked[under], "~"))
		}
	}
}

// askedOutside are interfaces of Go's library that it asks values for, by package.
var askedOutside = map[string][]string{
	"fmt":           {"Stringer", "GoStringer", "Formatter"},
	"encoding":      {"TextMarshaler", "TextUnmarshaler", "BinaryMarshaler", "BinaryUnmarshaler"},
	"encoding/json": {"Marshaler", "Unmarshaler"},
	"io":            {"WriterTo", "ReaderFrom", "StringWriter"},
}

// askOutside notes what the packages below one ask for, if they are Go's.
func (g *graph) askOutside(pkg *types.Package) {
	if g.seen[pkg] {
		return
	}
	g.seen[pkg] = true
	for _, name := range askedOutside[pkg.Path()] {
		if found := pkg.Scope().Lookup(name); found != nil {
			if under, ok := found.Type().Underlying().(*types.Interface); ok {
				g.asked[under] = pkg.Path() + "." + name
			}
		}
	}
	for _, imported := range pkg.Imports() {
		g.askOutside(imported)
	}
}

func (g *graph) use(ident *ast.Ident, object types.Object, owners map[types.Object]string) {
	if ident.Name == "_" {
		return
	}
	if e := g.entry(object, owners); e != nil {
		e.uses[g.place(ident.Pos())] = true
	}
}

func calleeOf(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch index := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(index.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(index.X)
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun
	case *ast.SelectorExpr:
		return fun.Sel
	}
	return nil
}

// entry is what is known of an object, nil if it is not a question: packages, and what no file defines.
func (g *graph) entry(object types.Object, owners map[types.Object]string) *entry {
	switch of := object.(type) {
	case *types.Func:
		object = of.Origin()
	case *types.Var:
		object = of.Origin()
	case *types.PkgName, *types.Builtin, *types.Nil:
		return nil
	}
	if object == errorMethod {
		return g.errors(errorMethod)
	}
	if !object.Pos().IsValid() || object.Pkg() == nil || object.Name() == "_" {
		return nil
	}
	kind, generic, related := describe(object)
	position := g.fset.PositionFor(object.Pos(), false)
	file, outside := g.relative(position.Filename)
	id := fmt.Sprintf("%s:%d:%d:%s", file, position.Line, position.Column, kind)
	if e := g.entries[id]; e != nil {
		return e
	}
	e := &entry{
		symbol: &symbol{
			ID: id, Name: object.Name(), Kind: kind, Pkg: object.Pkg().Path(), Owner: owners[object],
			Generic: generic, Outside: outside, Related: related,
		},
		uses: map[place]bool{}, calls: map[place]bool{}, subtypes: map[string]bool{}, found: map[string]bool{},
	}
	g.entries[id] = e
	return e
}

// errorMethod is `Error` of the type `error`, which no file declares.
var errorMethod types.Object = types.Universe.Lookup("error").Type().Underlying().(*types.Interface).Method(0)

// errors are the uses of errorMethod, which a server takes for those of the methods that implement it.
func (g *graph) errors(object types.Object) *entry {
	const id = "/universe:1:1:method"
	if g.entries[id] == nil {
		g.entries[id] = &entry{
			symbol: &symbol{ID: id, Name: object.Name(), Kind: "method", Outside: true, Related: "Error/0/1"},
			uses:   map[place]bool{}, calls: map[place]bool{}, subtypes: map[string]bool{}, found: map[string]bool{},
		}
	}
	return g.entries[id]
}

// describe says what kind of object it is, whether it is generic, and for a method what gopls may take for the same
// one: a method of the same name, with as many parameters and results, whose types an interface may bring together.
func describe(object types.Object) (kind string, generic bool, related string) {
	top := object.Parent() == object.Pkg().Scope()
	switch of := object.(type) {
	case *types.Func:
		signature := of.Signature()
		generic = signature.TypeParams().Len() > 0
		if signature.Recv() == nil {
			return "func", generic, ""
		}
		generic = signature.RecvTypeParams().Len() > 0
		return "method", generic, fmt.Sprintf("%s/%d/%d", of.Name(), signature.Params().Len(), signature.Results().Len())
	case *types.TypeName:
		if _, ok := of.Type().(*types.TypeParam); ok {
			return "typeparam", true, ""
		}
		if named, ok := of.Type().(*types.Named); ok {
			generic = named.TypeParams().Len() > 0
		}
		if !top {
			return "localtype", generic, ""
		}
		return "type", generic, ""
	case *types.Var:
		switch {
		case of.IsField():
			return "field", false, ""
		case top:
			return "var", false, ""
		}
		return "local", false, ""
	case *types.Const:
		if top {
			return "const", false, ""
		}
		return "local", false, ""
	case *types.Label:
		return "label", false, ""
	}
	return "other", false, ""
}

// ownersOf are the package-level types of methods and fields, by object: of several types with the same fields,
// as `type Key struct { Alt bool }` and `type Message Key`, the one that is declared around them.
func ownersOf(pkg *types.Package) map[types.Object]string {
	owners := map[types.Object]string{}
	claim := func(owner, member types.Object) {
		other := pkg.Scope().Lookup(owners[member])
		isCloser := other == nil || other.Pos() > member.Pos() || owner.Pos() > other.Pos()
		if isCloser && owner.Pos() < member.Pos() {
			owners[member] = owner.Name()
		}
	}
	for _, name := range pkg.Scope().Names() {
		typeName, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || typeName.IsAlias() {
			continue
		}
		named, ok := typeName.Type().(*types.Named)
		if !ok {
			continue
		}
		for method := range named.Methods() {
			owners[method] = name
		}
		switch under := named.Underlying().(type) {
		case *types.Struct:
			for field := range under.Fields() {
				claim(typeName, field)
			}
		case *types.Interface:
			for method := range under.ExplicitMethods() {
				claim(typeName, method)
			}
		}
	}
	return owners
}

func (g *graph) relative(file string) (string, bool) {
	if rest, ok := strings.CutPrefix(file, g.dir+string(filepath.Separator)); ok {
		return filepath.ToSlash(rest), false
	}
	return file, true
}

func (g *graph) place(pos token.Pos) place {
	position := g.fset.PositionFor(pos, false)
	file, _ := g.relative(position.Filename)
	return place{g.number(file), position.Line, g.character(position)}
}

func (g *graph) number(file string) int {
	number, ok := g.numbers[file]
	if !ok {
		number = len(g.files)
		g.numbers[file] = number
		g.files = append(g.files, file)
	}
	return number
}

// character counts code points where go/token counts bytes.
func (g *graph) character(position token.Position) int {
	lines, ok := g.lines[position.Filename]
	if !ok {
		text, _ := os.ReadFile(position.Filename)
		lines = strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
		g.lines[position.Filename] = lines
	}
	if position.Line > len(lines) || position.Column-1 > len(lines[position.Line-1]) {
		return position.Column
	}
	return utf8.RuneCountInString(lines[position.Line-1][:position.Column-1]) + 1
}

// relate finds which concrete types implement which interfaces.
func (g *graph) relate() {
	for _, interfaceName := range g.named {
		under, ok := interfaceName.Type().Underlying().(*types.Interface)
		if !ok || under.NumMethods() == 0 || isGeneric(interfaceName) || !under.IsMethodSet() {
			continue
		}
		e := g.entry(interfaceName, nil)
		for _, other := range g.named {
			if types.IsInterface(other.Type()) || isGeneric(other) {
				continue
			}
			if types.Implements(other.Type(), under) || types.Implements(types.NewPointer(other.Type()), under) {
				e.subtypes[g.entry(other, nil).symbol.ID] = true
			}
		}
	}
}

// find says by which of the asked interfaces running code finds the methods of the package-level types.
func (g *graph) find() {
	for _, name := range g.named {
		if types.IsInterface(name.Type()) || isGeneric(name) {
			continue
		}
		for under, at := range g.asked {
			pointer := types.NewPointer(name.Type())
			if !types.Implements(pointer, under) {
				continue
			}
			for method := range under.Methods() {
				object, _, _ := types.LookupFieldOrMethod(pointer, true, method.Pkg(), method.Name())
				if of, ok := object.(*types.Func); ok {
					if e := g.entry(of, nil); e != nil {
						e.found[at] = true
					}
				}
			}
		}
	}
}

func isGeneric(name *types.TypeName) bool {
	named, ok := name.Type().(*types.Named)
	return ok && named.TypeParams().Len() > 0
}

func (g *graph) answer() (*answer, error) {
	g.relate()
	g.find()
	given := &answer{Broken: sorted(g.broken), Unread: map[string]map[string][]int{}}
	for _, e := range g.entries {
		if len(e.uses) == 0 {
			continue
		}
		e.symbol.Uses, e.symbol.Calls, e.symbol.Subtypes = flat(e.uses), flat(e.calls), sorted(e.subtypes)
		e.symbol.Found = sorted(e.found)
		given.Symbols = append(given.Symbols, e.symbol)
	}
	sort.Slice(given.Symbols, func(i, j int) bool { return given.Symbols[i].ID < given.Symbols[j].ID })
	given.Files = g.files
	err := walk(g.dir, true, func(path string, _ fs.DirEntry) {
		file, _ := g.relative(path)
		if _, read := g.numbers[file]; !read && strings.HasSuffix(file, ".go") {
			given.Unread[file] = g.words(path)
		}
	})
	return given, err
}

// words are the identifiers of a file that no package has, with flat pairs of line and character.
func (g *graph) words(path string) map[string][]int {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	found := map[string][]int{}
	fset := token.NewFileSet()
	file := fset.AddFile(path, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return found
		}
		if kind == token.IDENT {
			position := fset.PositionFor(pos, false)
			found[literal] = append(found[literal], position.Line, g.character(position))
		}
	}
}

func flat(places map[place]bool) []int {
	sortedPlaces := make([]place, 0, len(places))
	for p := range places {
		sortedPlaces = append(sortedPlaces, p)
	}
	sort.Slice(sortedPlaces, func(i, j int) bool {
		a, b := sortedPlaces[i], sortedPlaces[j]
		if a.file != b.file {
			return a.file < b.file
		}
		if a.line != b.line {
			return a.line < b.line
		}
		return a.character < b.character
	})
	numbers := make([]int, 0, 3*len(places))
	for _, p := range sortedPlaces {
		numbers = append(numbers, p.file, p.line, p.character)
	}
	return numbers
}

func sorted(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
