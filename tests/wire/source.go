package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// programs are where the code of what users run, and embed, lives.
var programs = []string{"api", "pkg", "internal", "cmd"}

// parseAll parses the Go files of the programs but tests.
func parseAll(root string) ([]*ast.File, error) {
	var all []*ast.File
	for _, dir := range programs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			all = append(all, file)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// literals returns the string literals below a node, but import paths and struct tags.
func literals(node ast.Node) []string {
	var found []string
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if text, err := strconv.Unquote(n.Value); err == nil {
					found = append(found, text)
				}
			}
		}
		return true
	})
	return found
}

// gatherLiterals returns the string literals of the programs that match.
func gatherLiterals(root string, match *regexp.Regexp, within func(*ast.File) bool) ([]string, error) {
	files, err := parseAll(root)
	if err != nil {
		return nil, err
	}
	var facts []string
	for _, file := range files {
		if !within(file) {
			continue
		}
		for _, text := range literals(file) {
			if match.MatchString(text) {
				facts = append(facts, text)
			}
		}
	}
	return facts, nil
}

func everywhere(*ast.File) bool { return true }

// wireName is a name that objects, labels, annotations, finalizers, field managers, Leases, Secrets and ports of ours have: a domain of
// ours, or words of small letters that dashes join, as no sentence and no Go name does.
var wireName = regexp.MustCompile(`^([-a-z0-9./%]*kyma-project\.io[-a-zA-Z0-9./%]*|%?[a-z0-9]+(-[a-z0-9%]+)+)$`)

// gatherNames lists names of objects, labels, annotations, finalizers, field managers and the like.
func gatherNames(root string) ([]string, error) { return gatherLiterals(root, wireName, everywhere) }

// metricWord is the name of a metric or of a label, or the value of a label.
var metricWord = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// gatherMetrics lists the names, labels and values in files that make metrics.
func gatherMetrics(root string) ([]string, error) {
	return gatherLiterals(root, metricWord, func(file *ast.File) bool {
		return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
			return spec.Path.Value == `"github.com/prometheus/client_golang/prometheus"`
		})
	})
}

// apiWord is a word as reasons, types of conditions, states, policies and kinds are.
var apiWord = regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`)

// gatherWords lists the reasons, types of conditions, states and the like: constants that are one word.
func gatherWords(root string) ([]string, error) {
	files, err := parseAll(root)
	if err != nil {
		return nil, err
	}
	var facts []string
	for _, file := range files {
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, text := range literals(group) {
				if apiWord.MatchString(text) {
					facts = append(facts, text)
				}
			}
		}
	}
	return facts, nil
}

// gatherShapes lists the fields of every struct that has a JSON form, as one line: what Status and -o json print, what is stored in
// Secrets and ConfigMaps. Two structs of the same shape are one fact.
func gatherShapes(root string) ([]string, error) {
	files, err := parseAll(root)
	if err != nil {
		return nil, err
	}
	var facts []string
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if made, ok := n.(*ast.StructType); ok {
				if fact := shape(made); fact != "" {
					facts = append(facts, fact)
				}
			}
			return true
		})
	}
	return facts, nil
}

// shape returns the JSON names of a struct in their order, "" for one without any tag.
func shape(made *ast.StructType) string {
	var names []string
	tagged := false
	for _, field := range made.Fields.List {
		tag := ""
		if field.Tag != nil {
			text, _ := strconv.Unquote(field.Tag.Value)
			tag = reflect.StructTag(text).Get("json")
		}
		tagged = tagged || tag != ""
		switch {
		case tag == "-":
		case tag != "":
			names = append(names, tag)
		case len(field.Names) == 0:
			names = append(names, "(embedded)")
		default:
			for _, name := range field.Names {
				if name.IsExported() {
					names = append(names, name.Name)
				}
			}
		}
	}
	if !tagged {
		return ""
	}
	return strings.Join(names, " ")
}
