package arch

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Tree is the source of one Go module.
type Tree struct {
	Root     string
	Module   string
	Packages []*Package
	// Sources are all hand-written or generated program files, Go and others.
	Sources []Source
	fset    *token.FileSet
}

// Package is a folder with Go files. Dir is its slash-separated path below the root, "." for the root itself.
type Package struct {
	Dir   string
	Name  string
	Files []*File
}

// File is one Go file.
type File struct {
	Path      string
	Test      bool
	Generated bool
	Syntax    *ast.File
}

// Source is a program file with its length.
type Source struct {
	Path      string
	Lines     int
	Generated bool
}

// Import is one import of a file. Own is the folder below the root when the package is of this module, "" otherwise.
type Import struct {
	Path string
	Own  string
	Name string
	At   string
}

// programFiles are the kinds of files besides Go that users write and read as programs.
var programFiles = []string{".sh", ".js", ".ts", ".css", ".html", ".mk", "Makefile", "Dockerfile"}

// skipped are folders that hold no source of this module.
var skipped = []string{"bin", "dist", "testdata", "vendor", "node_modules"}

// Load reads the module whose go.mod stands in root.
func Load(root string) (*Tree, error) {
	module, err := modulePath(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	tree := &Tree{Root: root, Module: module, fset: token.NewFileSet()}
	packages := map[string]*Package{}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(relative, entry.Name())
		}
		return tree.add(packages, name, filepath.ToSlash(relative))
	})
	if err != nil {
		return nil, fmt.Errorf("read the source tree at %s: %w", root, err)
	}
	for _, p := range packages {
		tree.Packages = append(tree.Packages, p)
	}
	slices.SortFunc(tree.Packages, func(a, b *Package) int { return strings.Compare(a.Dir, b.Dir) })
	return tree, nil
}

// enter decides whether a folder can hold source.
func enter(relative, base string) error {
	if relative == "." {
		return nil
	}
	if strings.HasPrefix(base, ".") || slices.Contains(skipped, base) {
		return fs.SkipDir
	}
	return nil
}

func (t *Tree) add(packages map[string]*Package, name, relative string) error {
	base := path.Base(relative)
	isGo := strings.HasSuffix(base, ".go")
	if !isGo && !slices.Contains(programFiles, path.Ext(base)) && !slices.Contains(programFiles, base) {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	// Types of the front end are declared by hand nowhere: a file of declarations is the output of a tool.
	source := Source{Path: relative, Lines: bytes.Count(data, []byte("\n")), Generated: strings.HasSuffix(base, ".d.ts")}
	if isGo && !otherModule(filepath.Dir(name), t.Root) {
		file, err := t.parse(name, relative, data)
		if err != nil || file == nil {
			return err
		}
		source.Generated = file.Generated
		dir := path.Dir(relative)
		if packages[dir] == nil {
			packages[dir] = &Package{Dir: dir}
		}
		packages[dir].append(file)
	}
	t.Sources = append(t.Sources, source)
	return nil
}

// parse returns nil for a file that no build includes, such as the list of dependencies behind //go:build never.
func (t *Tree) parse(name, relative string, data []byte) (*File, error) {
	syntax, err := parser.ParseFile(t.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if neverBuilt(syntax) {
		return nil, nil
	}
	return &File{
		Path:      relative,
		Test:      strings.HasSuffix(relative, "_test.go"),
		Generated: ast.IsGenerated(syntax) || strings.HasPrefix(path.Base(relative), "zz_generated"),
		Syntax:    syntax,
	}, nil
}

// neverBuilt returns whether a file is in no build, with the race detector or without it.
func neverBuilt(file *ast.File) bool { return !builtWith(file, true) && !builtWith(file, false) }

// builtWith returns whether builds for the race detector, or those without it, include a file.
func builtWith(file *ast.File, race bool) bool {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, line := range group.List {
			expression, err := constraint.Parse(line.Text)
			if err == nil && !expression.Eval(func(tag string) bool { return tag != "never" && tag != "ignore" && (race || tag != "race") }) {
				return false
			}
		}
	}
	return true
}

func (p *Package) append(file *File) {
	name := file.Syntax.Name.Name
	if file.Test {
		name = strings.TrimSuffix(name, "_test")
	}
	if p.Name == "" || !file.Test {
		p.Name = name
	}
	p.Files = append(p.Files, file)
}

// Imports lists what a file imports.
func (t *Tree) Imports(file *File) []Import {
	imports := make([]Import, 0, len(file.Syntax.Imports))
	for _, spec := range file.Syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		found := Import{Path: name, Name: path.Base(name), At: t.at(spec)}
		if spec.Name != nil {
			found.Name = spec.Name.Name
		}
		if own, ok := strings.CutPrefix(name, t.Module+"/"); ok {
			found.Own = own
		}
		imports = append(imports, found)
	}
	return imports
}

// at returns where a node stands, as "path:line".
func (t *Tree) at(node ast.Node) string {
	position := t.fset.Position(node.Pos())
	relative, err := filepath.Rel(t.Root, position.Filename)
	if err != nil {
		relative = position.Filename
	}
	return fmt.Sprintf("%s:%d", filepath.ToSlash(relative), position.Line)
}

func otherModule(dir, root string) bool {
	for ; dir != root && len(dir) > len(root); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

func modulePath(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.TrimSpace(name), nil
		}
	}
	return "", errors.New(file + " has no module line")
}
