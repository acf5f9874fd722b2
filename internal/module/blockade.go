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
	// namedObjects is how many objects of a kind a Blockade's message names, namedKinds of how many kinds.
	namedObjects = 5
	namedKinds   = 4
)

// BlockingKinds returns the kinds whose objects can block the deletion of a module, each once and in the version that names it first: those
// that the module is associated with, those whose definitions go with it, and last that of its default custom resource (empty: none).
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

// Look is what was seen of a kind, in all namespaces.
type Look struct {
	Kind schema.GroupVersionKind
	// Defined reports whether the definition of the kind goes with the module, and every object of the kind with it.
	Defined bool
	Objects []Object
	// More counts the objects that exist beyond these and were not looked at; -1: there are some.
	More int64
	// Problem is why the kind could not be listed: what was not looked at is not taken for absent.
	Problem string
}

// Object is one of a kind that can block.
type Object struct {
	inventory.ID
	UID types.UID
	// Owners are the UIDs of its owners: it is collected when all of them are gone.
	Owners []types.UID
	// Default: it is the default custom resource, which is deleted with the module.
	Default bool
	// Content: the inventory of the module and the owner mark claim it. Kept: it carries the annotation that keeps it.
	Content, Kept bool
}

// Blockade is what blocks the deletion of a module.
type Blockade struct {
	// Kinds are those of which objects block, with the objects that do.
	Kinds []Look
	// Unseen are those of which it could not be seen whether there are any.
	Unseen []Look
}

// Blocks returns what blocks the deletion of a module. going are the UIDs of everything else that goes with it; of an object that was
// looked at, what was seen counts.
//
//  1. The default custom resource does not, where the module takes it along.
//  2. Neither does what the module itself brought; unless it must be kept, and would go with its definition.
//  3. Neither does what is collected because all of its owners go: what an operator made for the default custom resource.
//  4. Everything else does, whatever made it. What goes with another blocking object, as its owner, is not named beside that.
//  5. What could not be listed, or not to the end, blocks.
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

// goes reports whether an object goes with the module by itself.
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

// uids are some objects.
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

// blockadeOf makes a Blockade of what must be named.
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

// Message returns what must be deleted, and of which kinds nothing is known; the same for the same Blockade.
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
		parts = append(parts, fmt.Sprintf("whether there are objects of kind %s could not be seen: %s", kind, b.Unseen[i].Problem))
	}
	if more := len(b.Unseen) - namedKinds; more > 0 {
		parts = append(parts, fmt.Sprintf("nor of %d more %s", more, english.PluralWord(more, "kind", "")))
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
