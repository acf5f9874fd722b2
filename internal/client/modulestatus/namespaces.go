package modulestatus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// UsualNamespaces are the namespaces whose templates count without being named: the catalog that a hub keeps in a runtime, and that of a
// hub. Only the administrators of the cluster write there.
var UsualNamespaces = []string{v1beta2.RuntimeNamespace, v1beta2.DefaultNamespace}

// Choice determines which namespace's templates count for a module that is installed without the lifecycle manager. Otherwise a user who
// may write ModuleTemplates in any one namespace could offer such a module, with a version above all others.
type Choice struct {
	// Named is the namespace that a user named; empty for none.
	Named string
	// Before is the namespace of the installed version's template; empty if nothing is installed, or its template was in no namespace.
	Before string
}

// Among returns the namespace that counts, of those that have templates of a module. Templates outside of a cluster, such as those of a
// file, have the empty namespace.
//
//  1. The named one.
//  2. The one of the installed version: no other can offer an upgrade.
//  3. The empty one: a file, a catalog, or the hub of a runtime was requested.
//  4. The first of UsualNamespaces.
//  5. The only one.
//
// The error is an *AbsentError if the namespace of rule 1 or 2 has no template, and an *AmbiguousError if no rule applies.
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

// Error returns a message with the namespaces.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("module %s is offered from %s: name a namespace whose users you trust",
		e.Module, list(e.Namespaces))
}

// AbsentError is a namespace without templates of a module.
type AbsentError struct {
	Module, Namespace string
	// Named reports whether a user named the namespace; otherwise it is that of the installed version.
	Named bool
	// Others are the namespaces that have templates of the module.
	Others []string
}

// Error returns a message with the other namespaces.
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

// list returns text with a few namespaces.
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

// NamespacesOf returns the namespaces of templates, sorted and without duplicates.
func NamespacesOf(templates []v1beta2.ModuleTemplate) []string {
	var all []string
	for i := range templates {
		all = append(all, templates[i].Namespace)
	}
	return distinct(all)
}

// ReleaseOf returns the release of a module for the templates of a namespace, nil for none: it names the component, and the versions of
// channels. For templates in no namespace, it is the release in no namespace, or else one by the rules of Choice.
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
