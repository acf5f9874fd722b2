package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// proofsPage says which test shows what.
	proofsPage = "docs/proofs.md"
	// specFile declares ManifestSpec, each field of which the page has a row for.
	specFile = "api/v1beta2/manifest_types.go"
	// withoutProof begins the last cell of a row for which there is no test, and why.
	withoutProof = "No test:"
)

var (
	// codeSpan matches what stands between backticks.
	codeSpan = regexp.MustCompile("`([^`]+)`")
	// proof matches "file: name", where name is a test function, one of its cases ("TestX/case") or the text of a spec.
	proof = regexp.MustCompile(`^([\w./-]+_test\.go): (.+)$`)
)

// Proofs finds what docs/proofs.md names and what does not exist (any more), rows without a test, and fields of ManifestSpec without a row.
func Proofs(tree *Tree) []string {
	data, err := os.ReadFile(filepath.Join(tree.Root, filepath.FromSlash(proofsPage)))
	if err != nil {
		return []string{proofsPage + ": cannot be read: " + err.Error()}
	}
	files, fields := testFiles(tree), map[string]bool{}
	var found []string
	for i, line := range strings.Split(string(data), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for _, span := range codeSpan.FindAllStringSubmatch(cells[0], -1) {
			fields[span[1]] = true
		}
		for _, message := range judgeRow(files, cells[len(cells)-1]) {
			found = append(found, fmt.Sprintf("%s:%d: %s", proofsPage, i+1, message))
		}
	}
	for _, field := range specFields(tree) {
		if !fields[field] {
			found = append(found, fmt.Sprintf("%s: has no row for `%s`: name the test that shows what the field does", proofsPage, field))
		}
	}
	return found
}

// judgeRow looks at the last cell of a row. Header rows name no code and say "test".
func judgeRow(files map[string]*testFile, cell string) []string {
	var found []string
	spans := codeSpan.FindAllStringSubmatch(cell, -1)
	for _, span := range spans {
		match := proof.FindStringSubmatch(span[1])
		switch {
		case match == nil:
			found = append(found, fmt.Sprintf("%q is no proof: write file_test.go: name", span[1]))
		case files[match[1]] == nil:
			found = append(found, fmt.Sprintf("names the file %s, which does not exist: say where its tests are now", match[1]))
		case !files[match[1]].has(match[2]):
			found = append(found, fmt.Sprintf("%s has no test, case or spec %q: say what shows it now", match[1], match[2]))
		}
	}
	cell = strings.TrimSpace(cell)
	if len(spans) == 0 && cell != "test" && !strings.HasPrefix(cell, withoutProof) {
		found = append(found, "the row names no test: name one, or begin the cell with "+strconv.Quote(withoutProof))
	}
	return found
}

// testFile is what a test file declares.
type testFile struct{ functions, texts map[string]bool }

func (f *testFile) has(name string) bool {
	function, text, cased := strings.Cut(name, "/")
	if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") {
		return f.functions[function] && (!cased || f.texts[text])
	}
	return f.texts[name]
}

func testFiles(tree *Tree) map[string]*testFile {
	files := map[string]*testFile{}
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			if !file.Test {
				continue
			}
			found := &testFile{functions: map[string]bool{}, texts: map[string]bool{}}
			ast.Inspect(file.Syntax, func(node ast.Node) bool {
				switch n := node.(type) {
				case *ast.FuncDecl:
					found.functions[n.Name.Name] = true
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
						found.texts[strings.TrimSpace(text)] = true
					}
				}
				return true
			})
			files[file.Path] = found
		}
	}
	return files
}

// specFields lists the JSON paths of ManifestSpec, and of the structs of the same package that it has as fields.
func specFields(tree *Tree) []string {
	structs := map[string]*ast.StructType{}
	for _, p := range tree.Packages {
		if p.Dir != filepath.ToSlash(filepath.Dir(specFile)) {
			continue
		}
		for _, file := range p.Files {
			ast.Inspect(file.Syntax, func(node ast.Node) bool {
				if spec, ok := node.(*ast.TypeSpec); ok {
					if body, isStruct := spec.Type.(*ast.StructType); isStruct {
						structs[spec.Name.Name] = body
					}
				}
				return true
			})
		}
	}
	return fieldsOf(structs, "ManifestSpec", "")
}

func fieldsOf(structs map[string]*ast.StructType, name, prefix string) []string {
	body := structs[name]
	if body == nil {
		return nil
	}
	var found []string
	for _, field := range body.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
		if tag == "" { // inlined: of another package here
			continue
		}
		below := fieldsOf(structs, typeName(field.Type), prefix+tag+".")
		if len(below) == 0 {
			below = []string{prefix + tag}
		}
		found = append(found, below...)
	}
	slices.Sort(found)
	return found
}

// typeName returns the name of a type of the same package, also behind a pointer or in a list.
func typeName(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ArrayType:
		return typeName(e.Elt)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
