package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// reasonsFile declares every reason that a condition may carry.
const reasonsFile = "api/v1beta2/conditions.go"

const reasonPrefix = "Reason"

// ownWords are packages that tell reasons where there is no condition: libraries that other operators embed, and what the command line
// prints. Beside those of the API they have reasons of their own, and a page explains each.
var ownWords = []struct{ dir, page string }{
	{"pkg/installer", "docs/engine.md"}, {"pkg/declarative", "docs/engine.md"},
	{"internal/client/directinstall", "docs/cli.md"}, {"internal/client/modulestatus", "docs/cli.md"},
	{"internal/client/versioncontent", "docs/cli.md"},
}

// explained reports whether the page of a package has a word for its reason. A page that is not there has none.
func explained(tree *Tree, dir, reason string) bool {
	for _, own := range ownWords {
		if !below(dir, []string{own.dir}) {
			continue
		}
		page, err := os.ReadFile(filepath.Join(tree.Root, filepath.FromSlash(own.page)))
		if err == nil && strings.Contains(string(page), "`"+reason+"`") {
			return true
		}
	}
	return false
}

// Reason is a declared constant.
type Reason struct {
	Name, Value, At string
}

// Reasons lists the constants Reason* that a file declares.
func Reasons(tree *Tree, file *File) []Reason {
	var found []Reason
	ast.Inspect(file.Syntax, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			if !strings.HasPrefix(name.Name, reasonPrefix) || i >= len(spec.Values) {
				continue
			}
			if value, ok := literal(spec.Values[i]); ok {
				found = append(found, Reason{Name: name.Name, Value: value, At: tree.at(name)})
			}
		}
		return true
	})
	return found
}

// declared returns the values of the constants in reasonsFile, or what is wrong with that file.
func declared(tree *Tree) ([]Reason, []string) {
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			if file.Path == reasonsFile {
				if reasons := Reasons(tree, file); len(reasons) > 0 {
					return reasons, nil
				}
			}
		}
	}
	return nil, []string{reasonsFile + ": declares no constant Reason*, so nothing can be held to it"}
}

// ReasonNames finds declared reasons whose constant and value differ, or whose value was used before.
func ReasonNames(tree *Tree) []string {
	reasons, found := declared(tree)
	seen := map[string]bool{}
	for _, reason := range reasons {
		if reason.Name != reasonPrefix+reason.Value {
			found = append(found, fmt.Sprintf("%s: %s has the value %q: the value is the name without %s",
				reason.At, reason.Name, reason.Value, reasonPrefix))
		}
		if seen[reason.Value] {
			found = append(found, fmt.Sprintf("%s: the value %q stands twice", reason.At, reason.Value))
		}
		seen[reason.Value] = true
	}
	return found
}

// ReasonsDocumented finds declared reasons without a line in docs/spec that names them in backquotes.
func ReasonsDocumented(tree *Tree) []string {
	reasons, found := declared(tree)
	pages, err := filepath.Glob(filepath.Join(tree.Root, "docs", "spec", "*.md"))
	if err != nil || len(pages) == 0 {
		return append(found, "docs/spec: has no page, so no reason is documented")
	}
	var text strings.Builder
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			return append(found, fmt.Sprintf("docs/spec: %v", err))
		}
		text.Write(data)
	}
	for _, reason := range reasons {
		if !strings.Contains(text.String(), "`"+reason.Value+"`") {
			found = append(found, fmt.Sprintf("%s: no page in docs/spec has a line for `%s`: say what it means and what a person does about it",
				reason.At, reason.Value))
		}
	}
	return found
}

// ReasonsDeclared finds reasons that are written in code without being declared: as a string where the API can be imported,
// and as a word that the API does not have in pkg/, which never imports it.
func ReasonsDeclared(tree *Tree) []string {
	reasons, found := declared(tree)
	declared := func(value string) bool {
		return slices.ContainsFunc(reasons, func(r Reason) bool { return r.Value == value })
	}
	parameters := reasonParameters(tree)
	for _, p := range tree.Packages {
		library := below(p.Dir, []string{"pkg"})
		if !library && !below(p.Dir, []string{"api", "internal", "cmd"}) {
			continue
		}
		for _, file := range p.Files {
			if file.Test || file.Generated || file.Path == reasonsFile {
				continue
			}
			for _, use := range reasonLiterals(tree, file, p, parameters) {
				if explained(tree, p.Dir, use.Value) {
					continue
				}
				if message := judgeReason(use, library, declared(use.Value)); message != "" {
					found = append(found, use.At+": "+message)
				}
			}
		}
	}
	return found
}

func judgeReason(use Reason, library, known bool) string {
	switch {
	case use.Value == "" || library && known:
		return ""
	case library:
		return fmt.Sprintf("the reason %q is not declared: pkg uses the words of %s, add it there (or to the page of a package of ownWords)",
			use.Value, reasonsFile)
	case use.Name != "":
		return fmt.Sprintf("%s is declared outside %s: declare it there, with a sentence", use.Name, reasonsFile)
	default:
		return fmt.Sprintf("the reason %q is written as a string: use the constant from %s", use.Value, reasonsFile)
	}
}

// reasonLiterals lists strings that become a reason: in a field Reason, for a parameter named reason, or as a constant Reason*.
func reasonLiterals(tree *Tree, file *File, p *Package, parameters map[string]int) []Reason {
	found := Reasons(tree, file)
	add := func(expression ast.Expr) {
		if value, ok := literal(expression); ok {
			found = append(found, Reason{Value: value, At: tree.at(expression)})
		}
	}
	imports := tree.Imports(file)
	ast.Inspect(file.Syntax, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == reasonPrefix {
				add(n.Value)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if field, ok := left.(*ast.SelectorExpr); ok && field.Sel.Name == reasonPrefix && i < len(n.Rhs) {
					add(n.Rhs[i])
				}
			}
		case *ast.CallExpr:
			if at, ok := parameters[callee(n, p, imports)]; ok && at < len(n.Args) {
				add(n.Args[at])
			}
		}
		return true
	})
	return found
}

// reasonParameters finds the functions of the tree that take a parameter named reason: "pkg/conditions.Set" or ".Method" -> its
// place. Methods are known by name alone, since types are not loaded.
func reasonParameters(tree *Tree) map[string]int {
	found := map[string]int{}
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			for _, declaration := range file.Syntax.Decls {
				function, ok := declaration.(*ast.FuncDecl)
				if !ok {
					continue
				}
				key := p.Dir + "." + function.Name.Name
				if function.Recv != nil {
					key = "." + function.Name.Name
				}
				if at, ok := reasonParameter(function); ok {
					found[key] = at
				}
			}
		}
	}
	return found
}

func reasonParameter(function *ast.FuncDecl) (int, bool) {
	at := 0
	for _, field := range function.Type.Params.List {
		for _, name := range field.Names {
			if name.Name == "reason" {
				return at, true
			}
			at++
		}
		if len(field.Names) == 0 {
			at++
		}
	}
	return 0, false
}

// callee names what is called in the way of reasonParameters.
func callee(call *ast.CallExpr, p *Package, imports []Import) string {
	switch function := call.Fun.(type) {
	case *ast.Ident:
		return p.Dir + "." + function.Name
	case *ast.SelectorExpr:
		if of, ok := function.X.(*ast.Ident); ok {
			for _, i := range imports {
				if i.Name == of.Name {
					return i.Own + "." + function.Sel.Name
				}
			}
		}
		return "." + function.Sel.Name
	default:
		return ""
	}
}

func literal(expression ast.Expr) (string, bool) {
	basic, ok := expression.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(basic.Value)
	return value, err == nil
}
