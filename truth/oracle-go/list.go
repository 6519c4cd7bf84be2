package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A listed package is one as the go command builds it: alone, or with its tests.
type listed struct {
	ImportPath string // "example.com/a", "example.com/a [example.com/a.test]"
	Dir        string
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
	ImportMap  map[string]string // from the path in the source to the package that it means
	DepOnly    bool
	Module     *struct{ GoVersion string }
	Error      *struct{ Err string }
}

// path is the path that others import it by.
func (p *listed) path() string {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return path
}

// files are its Go files; there are none of cgo where that is off.
func (p *listed) files() []string {
	names := slices.Concat(p.GoFiles, p.CgoFiles)
	files := make([]string, len(names))
	for i, name := range names {
		files[i] = name
		if !filepath.IsAbs(name) {
			files[i] = filepath.Join(p.Dir, name)
		}
	}
	return files
}

// imports are the packages that it imports, by the path in its source.
func (p *listed) imports() map[string]string {
	meant := map[string]string{}
	for path, id := range p.ImportMap {
		meant[id] = path
	}
	found := map[string]string{}
	for _, id := range p.Imports {
		path, ok := meant[id]
		if !ok {
			path = id
		}
		found[path] = id
	}
	return found
}

// list gives the packages of the module in dir with their tests, and all that they import, by ImportPath.
func list(dir string, env []string) (map[string]*listed, error) {
	command := exec.Command("go", "list", "-e", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,CgoFiles,Imports,ImportMap,DepOnly,Module,Error", "./...")
	command.Dir, command.Env = dir, env
	var said bytes.Buffer
	command.Stderr = &said
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said.String())
	}
	packages := map[string]*listed{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		p := &listed{}
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages[p.ImportPath] = p
	}
}
