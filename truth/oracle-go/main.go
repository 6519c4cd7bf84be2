// The oracle for Go: what go/types knows of a tree, independent of gopls.
//
// It reads one JSON request a line from stdin, {"dir": FOLDER, "goos": ["linux", …]}, and writes one JSON answer a line:
// for each identifier's object the places where it is spelled, in all packages below the folder with their tests, of all
// modules there and for each of the systems. Objects are told apart by where they are defined, so that the several times
// that a package is checked (alone, with its tests) and the several systems come together. Everything is checked from
// source, dependencies without the bodies of their functions; what is outside the folder is kept between requests.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type request struct {
	Dir  string   `json:"dir"`
	Goos []string `json:"goos"`
}

type answer struct {
	Error   string                      `json:"error,omitempty"`
	Files   []string                    `json:"files"`
	Symbols []*symbol                   `json:"symbols"`
	Broken  []string                    `json:"broken"`
	Unread  map[string]map[string][]int `json:"unread"`
}

// A symbol is one object; places are flat triples of file number, line and character, from 1, in code points.
type symbol struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Pkg      string   `json:"pkg"`
	Owner    string   `json:"owner,omitempty"`
	Generic  bool     `json:"generic,omitempty"`
	Outside  bool     `json:"outside,omitempty"`
	Uses     []int    `json:"uses"`
	Calls    []int    `json:"calls,omitempty"`
	Related  string   `json:"related,omitempty"`
	Subtypes []string `json:"subtypes,omitempty"`
	Found    []string `json:"found,omitempty"`
}

func main() {
	checker := newChecker()
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		given := &answer{}
		if err := json.Unmarshal(line, &asked); err != nil {
			given.Error = err.Error()
		} else if found, err := checker.examine(asked); err != nil {
			given.Error = err.Error()
		} else {
			given = found
		}
		if err := out.Encode(given); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
