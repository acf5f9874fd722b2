package modulestatus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// UsualNamespaces are those whose templates count without being named: the catalog that a hub keeps in a runtime, and that of a hub.
// Those who run the cluster write there.
var UsualNamespaces = []string{v1beta2.RuntimeNamespace, v1beta2.DefaultNamespace}

// Choice says which namespace's templates count for a module that is installed without the lifecycle manager. A user who may
// write a ModuleTemplate in any namespace could offer such a module, and a higher version than all others.
type Choice struct {
	// Named by a user; empty for none.
	Named string
	// Before is where the template of what is installed came from; empty where nothing is installed, or no namespace had it.
	Before string
}

// Among returns the namespace that counts, of those that have templates of a module. A template that is in no namespace, such as one of a
// file, is in the empty one.
//
//  1. The one that was named.
//  2. The one that what is installed came from: no other can offer an upgrade.
//  3. None at all: a file, a catalog, or the hub of a runtime was requested.
//  4. The first of UsualNamespaces.
//  5. The only one.
//
// The error is an *AbsentError where rules 1 and 2 lead to nothing, and an *AmbiguousError where no rule says which.
func (c Choice) Among(module string, namespaces []string) (string, error) {
	for _, wanted := range []string{c.Named, c.Before} {
		switch {
		case wanted == "":
		case slices.Contains(namespaces, wanted):
			return wanted, nil
		default:
			return "", &AbsentError{Module: module, Namespace: wanted, Named: c.Named != "", Others: namespaces}
		}
	}
	for _, usual := range slices.Concat([]string{""}, UsualNamespaces) {
		if slices.Contains(namespaces, usual) {
			return usual, nil
		}
	}
	if len(namespaces) == 1 {
		return namespaces[0], nil
	}
	return "", &AmbiguousError{Module: module, Namespaces: namespaces}
}

// AmbiguousError is a module that several namespaces offer.
type AmbiguousError struct {
	Module     string
	Namespaces []string
}

// Error names the namespaces.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("module %s is offered from %s: name a namespace whose users you trust",
		e.Module, list(e.Namespaces))
}

// AbsentError is a namespace without templates of a module.
type AbsentError struct {
	Module, Namespace string
	// Named reports whether a user named the namespace; else it is the one that the module came from.
	Named bool
	// Others have some.
	Others []string
}

// Error names the others.
func (e *AbsentError) Error() string {
	others := slices.DeleteFunc(slices.Clone(e.Others), func(namespace string) bool { return namespace == "" })
	text := fmt.Sprintf("namespace %s has no ModuleTemplate of module %s", e.Namespace, e.Module)
	if !e.Named {
		text = fmt.Sprintf("module %s came from namespace %s, which has no ModuleTemplate of it any more", e.Module, e.Namespace)
	}
	if len(others) == 0 {
		return text
	}
	return text + "; it is offered from " + list(others) + ": name that to take it from there"
}

// list names a few namespaces.
func list(namespaces []string) string {
	const shown = 5
	word := "namespace "
	if len(namespaces) > 1 {
		word = "namespaces "
	}
	text := word + strings.Join(namespaces[:min(shown, len(namespaces))], ", ")
	if more := len(namespaces) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// NamespacesOf returns those that templates are in, each once and sorted.
func NamespacesOf(templates []v1beta2.ModuleTemplate) []string {
	var all []string
	for i := range templates {
		all = append(all, templates[i].Namespace)
	}
	return distinct(all)
}

// ReleaseOf returns the release of a module that goes with the templates of a namespace, nil for none: it says which component they mean,
// and what channels offer. Templates that are in no namespace have theirs beside them, or else by the rules of Choice.
func ReleaseOf(module, namespace string, releases []v1beta2.ModuleReleaseMeta) (*v1beta2.ModuleReleaseMeta, error) {
	found := map[string]*v1beta2.ModuleReleaseMeta{}
	var namespaces []string
	for i := range releases {
		if release := &releases[i]; release.Name == module {
			found[release.Namespace] = release
			namespaces = append(namespaces, release.Namespace)
		}
	}
	if namespace != "" || len(found) == 0 {
		return found[namespace], nil
	}
	chosen, err := Choice{}.Among(module, distinct(namespaces))
	return found[chosen], err
}

func distinct(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
