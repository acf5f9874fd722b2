package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// Pure are the packages that decide: on what they are given, the same way every time, and without waiting for anyone.
var Pure = []string{
	"pkg/inventory", "pkg/health", "pkg/conditions", "pkg/crdsafety", "pkg/excerpt", "pkg/fielddiff", "pkg/generated", "pkg/hooks",
	"pkg/moduleversion", "pkg/permissions", "pkg/requirements",
	"internal/module", "internal/module/revision", "internal/module/rollout", "internal/manager/sharding/assignment",
	"internal/client/modulestatus", "internal/client/modulestatus/rootcause",
	"internal/client/rollouts", "internal/client/releasepreview", "internal/client/resourcetree", "internal/takeover",
}

// outside are the imports by which a package reaches the world; a trailing "/" means everything below.
var outside = []struct{ path, what string }{
	{"context", "a context"},
	{"os", "the process"}, {"os/", "the process"}, {"syscall", "the process"}, {"log", "a log"}, {"log/", "a log"},
	{"io/ioutil", "files"}, {"path/filepath", "files"},
	{"net", "the network"}, {"net/http", "the network"}, {"net/http/", "the network"}, {"net/rpc", "the network"},
	{"math/rand", "randomness"}, {"math/rand/", "randomness"}, {"crypto/rand", "randomness"},
	{"k8s.io/client-go/", "a client"}, {"sigs.k8s.io/controller-runtime", "a client"}, {"sigs.k8s.io/controller-runtime/", "a client"},
	{"oras.land/", "a client"}, {"github.com/google/go-containerregistry/", "a client"},
}

// harmless are imports below those of outside that reach nothing.
var harmless = []string{
	"k8s.io/client-go/util/jsonpath", // a parser that lives beside the clients
}

// clocks are the functions by which a package asks for the time or waits for it.
var clocks = map[string][]string{
	"time":                                 {"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Sleep"},
	"k8s.io/apimachinery/pkg/apis/meta/v1": {"Now", "NowMicro"},
}

// Purity finds contexts, clients, clocks, files, the network and randomness in pure packages, and packages of this module
// that are not pure themselves. Test files are free.
func Purity(tree *Tree) []string {
	var found []string
	for _, p := range tree.Packages {
		if !slices.Contains(Pure, p.Dir) {
			continue
		}
		for _, file := range p.Files {
			if file.Test {
				continue
			}
			imports := tree.Imports(file)
			for _, i := range imports {
				if message := impure(i); message != "" {
					found = append(found, fmt.Sprintf("%s: %s is pure and must not import %s (%s): take what it gives as an argument",
						i.At, p.Dir, i.Path, message))
				}
			}
			found = append(found, clockCalls(tree, p, file, imports)...)
		}
	}
	return found
}

func impure(i Import) string {
	if i.Own != "" {
		if slices.Contains(Pure, i.Own) || below(i.Own, []string{"api"}) {
			return ""
		}
		return "not pure"
	}
	if slices.Contains(harmless, i.Path) {
		return ""
	}
	for _, o := range outside {
		if i.Path == o.path || strings.HasSuffix(o.path, "/") && strings.HasPrefix(i.Path, o.path) {
			return o.what
		}
	}
	return ""
}

func clockCalls(tree *Tree, p *Package, file *File, imports []Import) []string {
	names := map[string]string{}
	for _, i := range imports {
		names[i.Name] = i.Path
	}
	var found []string
	ast.Inspect(file.Syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := selector.X.(*ast.Ident)
		if ok && slices.Contains(clocks[names[of.Name]], selector.Sel.Name) {
			found = append(found, fmt.Sprintf("%s: %s is pure and must not ask for the time by %s.%s: take the time as an argument",
				tree.at(selector), p.Dir, of.Name, selector.Sel.Name))
		}
		return true
	})
	return found
}
