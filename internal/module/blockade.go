package module

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// namedObjects is the number of objects of one kind that a Blockade's message names, namedKinds the number of kinds.
	namedObjects = 5
	namedKinds   = 4
)

// BlockingKinds returns the kinds whose objects can block the deletion of a module, each once and in the version that is listed first:
// those that the module is associated with, those whose definitions are deleted with it, and last the kind of its default custom resource
// (empty: none).
func BlockingKinds(
	associated []metav1.GroupVersionKind, defined []schema.GroupVersionKind, own schema.GroupVersionKind,
) []schema.GroupVersionKind {
	var all, last []schema.GroupVersionKind
	known := map[schema.GroupKind]bool{{}: true}
	add := func(kind schema.GroupVersionKind) {
		switch {
		case known[kind.GroupKind()]:
			return
		case kind.GroupKind() == own.GroupKind():
			last = append(last, kind)
		default:
			all = append(all, kind)
		}
		known[kind.GroupKind()] = true
	}
	for _, kind := range associated {
		add(schema.GroupVersionKind(kind))
	}
	for _, kind := range defined {
		add(kind)
	}
	add(own)
	return append(all, last...)
}

// Look is the result of listing the objects of a kind in all namespaces.
type Look struct {
	Kind schema.GroupVersionKind
	// Defined reports whether the definition of the kind is deleted with the module, and with it every object of the kind.
	Defined bool
	Objects []Object
	// More counts the objects that exist beyond these and were not read; -1: an unknown number.
	More int64
	// Problem is why the kind could not be listed: objects that were not listed are not taken for absent.
	Problem string
}

// Object is an object that can block a deletion.
type Object struct {
	inventory.ID
	UID types.UID
	// Owners are the UIDs of its owners: it is garbage-collected when all of them are gone.
	Owners []types.UID
	// Default reports whether it is the default custom resource, which is deleted with the module.
	Default bool
	// Content reports whether both the module's inventory and the owner mark claim it. Kept reports whether it carries the annotation that
	// keeps it.
	Content, Kept bool
}

// Blockade is what blocks the deletion of a module.
type Blockade struct {
	// Kinds are the kinds with blocking objects, and these objects.
	Kinds []Look
	// Unseen are the kinds that could not be listed.
	Unseen []Look
}

// Blocks returns what blocks the deletion of a module. going are the UIDs of everything else that is deleted with it; for an object in
// looks, its entry there counts.
//
//  1. The default custom resource does not block where it is deleted with the module.
//  2. Neither do objects that the module itself installed, except one that must be kept and would be deleted with its definition.
//  3. Neither do objects that are garbage-collected because all of their owners are deleted, such as those that an operator created for the
//     default custom resource.
//  4. Everything else blocks, whatever created it. An object that would be collected with a blocking owner is not named beside that owner.
//  5. A kind that could not be listed, or not completely, blocks.
func Blocks(looks []Look, going []types.UID) Blockade {
	gone := setOf(going)
	each(looks, func(look *Look, object *Object) {
		if delete(gone, object.UID); goes(look, object) {
			gone.add(object.UID)
		}
	})
	gone.collect(looks)
	holds := func(look *Look, object *Object) bool { return !goes(look, object) && !gone[object.UID] }
	held := uids{}
	each(looks, func(look *Look, object *Object) {
		if holds(look, object) {
			held.add(object.UID)
		}
	})
	root := func(object *Object) bool {
		return object.UID == "" || !slices.ContainsFunc(object.Owners, func(owner types.UID) bool { return held[owner] })
	}
	carried := maps.Clone(gone)
	each(looks, func(look *Look, object *Object) {
		if holds(look, object) && root(object) {
			carried.add(object.UID)
		}
	})
	carried.collect(looks)
	return blockadeOf(looks, func(look *Look, object *Object) bool {
		return holds(look, object) && (root(object) || !carried[object.UID])
	})
}

// goes reports whether an object is deleted with the module in any case.
func goes(look *Look, object *Object) bool {
	return object.Default || object.Content && (!object.Kept || !look.Defined)
}

func each(looks []Look, do func(*Look, *Object)) {
	for i := range looks {
		for j := range looks[i].Objects {
			do(&looks[i], &looks[i].Objects[j])
		}
	}
}

// uids is a set of objects.
type uids map[types.UID]bool

func setOf(all []types.UID) uids {
	s := uids{}
	for _, uid := range all {
		s.add(uid)
	}
	return s
}

func (u uids) add(uid types.UID) {
	if uid != "" {
		u[uid] = true
	}
}

// collect adds, as a garbage collector would, the objects all of whose owners are in the set.
func (u uids) collect(looks []Look) {
	for before := -1; before < len(u); {
		before = len(u)
		each(looks, func(_ *Look, object *Object) {
			if len(object.Owners) > 0 && !slices.ContainsFunc(object.Owners, func(owner types.UID) bool { return !u[owner] }) {
				u.add(object.UID)
			}
		})
	}
}

// blockadeOf returns a Blockade of the objects that must be named.
func blockadeOf(looks []Look, named func(*Look, *Object) bool) Blockade {
	blockade := Blockade{}
	for _, look := range looks {
		if look.Problem != "" {
			blockade.Unseen = append(blockade.Unseen, look)
			continue
		}
		look.Objects = slices.DeleteFunc(slices.Clone(look.Objects), func(object Object) bool { return !named(&look, &object) })
		if len(look.Objects) > 0 || look.More != 0 {
			blockade.Kinds = append(blockade.Kinds, look)
		}
	}
	return blockade
}

// Holds reports whether anything blocks.
func (b Blockade) Holds() bool { return len(b.Kinds)+len(b.Unseen) > 0 }

// Message names the objects that must be deleted and the kinds that could not be listed; it is the same for the same Blockade.
func (b Blockade) Message() string {
	var parts []string
	for i := range b.Kinds[:min(len(b.Kinds), namedKinds)] {
		lead := ""
		if i == 0 {
			lead = "delete "
		}
		parts = append(parts, lead+"the "+b.Kinds[i].names())
	}
	if more := len(b.Kinds) - namedKinds; more > 0 {
		parts = append(parts, fmt.Sprintf("objects of %d more %s", more, english.PluralWord(more, "kind", "")))
	}
	for i := range b.Unseen[:min(len(b.Unseen), namedKinds)] {
		kind := b.Unseen[i].Kind.GroupKind()
		parts = append(parts, fmt.Sprintf("objects of kind %s could not be listed: %s", kind, b.Unseen[i].Problem))
	}
	if more := len(b.Unseen) - namedKinds; more > 0 {
		parts = append(parts, fmt.Sprintf("nor could %d more %s", more, english.PluralWord(more, "kind", "")))
	}
	return strings.Join(parts, "; ")
}

// names lists some objects of a kind.
func (l *Look) names() string {
	shown := min(len(l.Objects), namedObjects)
	names := make([]string, 0, shown)
	for i := range l.Objects[:shown] {
		names = append(names, strings.TrimPrefix(l.Objects[i].Namespace+"/"+l.Objects[i].Name, "/"))
	}
	if shown == 0 {
		return l.Kind.Kind + " objects, none of which could be read"
	}
	text := l.Kind.Kind + " " + strings.Join(names, ", ")
	switch more := int64(len(l.Objects)-shown) + l.More; {
	case l.More < 0:
		text += " and more"
	case more > 0:
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
