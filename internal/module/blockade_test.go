package module

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestBlockingKinds(t *testing.T) {
	kind := func(text string) schema.GroupVersionKind {
		version, name, _ := strings.Cut(text, " ")
		return schema.FromAPIVersionAndKind(version, name)
	}
	for name, test := range map[string]struct {
		associated, defined []string
		own                 string
		want                string
	}{
		"nothing at all":                           {nil, nil, "", ""},
		"the default resource's kind alone":        {nil, nil, "a/v1 Note", "a/v1 Note"},
		"the default resource's kind comes last":   {[]string{"a/v1 Note", "a/v1 Page"}, []string{"a/v1 Note", "a/v1 Ink"}, "a/v2 Note", "a/v1 Page, a/v1 Ink, a/v1 Note"},
		"each once, in the version listed first":   {[]string{"a/v1 Page", "a/v2 Page"}, []string{"a/v3 Page"}, "", "a/v1 Page"},
		"the same name in two groups is two kinds": {[]string{"a/v1 Page", "b/v1 Page"}, nil, "", "a/v1 Page, b/v1 Page"},
		"associated kinds come first":              {[]string{"b/v1 Pen"}, []string{"a/v1 Ink"}, "a/v1 Note", "b/v1 Pen, a/v1 Ink, a/v1 Note"},
	} {
		t.Run(name, func(t *testing.T) {
			var associated []metav1.GroupVersionKind
			var defined []schema.GroupVersionKind
			for _, text := range test.associated {
				associated = append(associated, metav1.GroupVersionKind(kind(text)))
			}
			for _, text := range test.defined {
				defined = append(defined, kind(text))
			}
			var got []string
			for _, found := range BlockingKinds(associated, defined, kind(test.own)) {
				got = append(got, found.GroupVersion().String()+" "+found.Kind)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

var noteKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Note"}

// found returns a Note, whose UID is its name.
func found(name string, owners ...types.UID) Object {
	id := inventory.ID{Group: noteKind.Group, Kind: noteKind.Kind, Namespace: "default", Name: name}
	return Object{ID: id, UID: types.UID(name), Owners: owners}
}

func with(object Object, change func(*Object)) Object {
	change(&object)
	return object
}

func TestBlocks(t *testing.T) {
	standard := func(o *Object) { o.Default = true }
	content := func(o *Object) { o.Content = true }
	kept := func(o *Object) { o.Content, o.Kept = true, true }
	for name, test := range map[string]struct {
		objects []Object
		defined bool
		going   []types.UID
		want    string
	}{
		"no object blocks nothing":                             {nil, true, nil, ""},
		"a user's object blocks":                               {[]Object{found("mine")}, true, nil, "mine"},
		"a user's object blocks when its definition stays":     {[]Object{found("mine")}, false, nil, "mine"},
		"the default resource does not block":                  {[]Object{with(found("default"), standard)}, true, nil, ""},
		"the module's own content does not block":              {[]Object{with(found("brought"), content)}, true, nil, ""},
		"kept content would be deleted with its definition":    {[]Object{with(found("kept"), kept)}, true, nil, "kept"},
		"kept content that the inventory lists, too":           {[]Object{with(found("kept"), kept)}, true, []types.UID{"kept"}, "kept"},
		"kept content stays when its definition stays":         {[]Object{with(found("kept"), kept)}, false, nil, ""},
		"objects of the default resource are collected":        {[]Object{with(found("default"), standard), found("made", "default")}, true, nil, ""},
		"objects that those own, too":                          {[]Object{found("last", "made"), found("made", "default"), with(found("default"), standard)}, true, nil, ""},
		"objects of the Deployment are collected":              {[]Object{found("made", "deployment")}, true, []types.UID{"deployment"}, ""},
		"an object with another owner stays":                   {[]Object{with(found("default"), standard), found("shared", "default", "other")}, true, nil, "shared"},
		"an object of an unknown owner blocks":                 {[]Object{found("made", "unknown")}, true, nil, "made"},
		"an object of a user's object is not named beside it":  {[]Object{found("made", "mine"), found("mine")}, true, nil, "mine"},
		"an object of both is not named either":                {[]Object{found("made", "mine", "default"), found("mine"), with(found("default"), standard)}, true, nil, "mine"},
		"objects that own each other are all named":            {[]Object{found("a", "b"), found("b", "a")}, true, nil, "a, b"},
		"an object without a known UID blocks":                 {[]Object{with(found("blank"), func(o *Object) { o.UID = "" })}, true, []types.UID{""}, "blank"},
		"the default resource need not have a known UID":       {[]Object{with(found("blank"), func(o *Object) { o.UID, o.Default = "", true })}, true, nil, ""},
		"another object of the default resource's kind blocks": {[]Object{with(found("default"), standard), found("mine")}, true, nil, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			blockade := Blocks([]Look{{Kind: noteKind, Defined: test.defined, Objects: test.objects}}, test.going)
			var names []string
			for _, kind := range blockade.Kinds {
				for _, object := range kind.Objects {
					names = append(names, object.Name)
				}
			}
			if got := strings.Join(names, ", "); got != test.want || blockade.Holds() != (test.want != "") {
				t.Errorf("%q block (holds %t), want %q", got, blockade.Holds(), test.want)
			}
		})
	}
}

func TestBlockade_WhatWasNotLookedAtBlocks(t *testing.T) {
	several := func(names ...string) []Object {
		var objects []Object
		for _, name := range names {
			objects = append(objects, found(name))
		}
		return objects
	}
	look := Look{Kind: noteKind, Objects: several("a", "b")}
	many := Look{Kind: noteKind, Objects: several("a", "b", "c", "d", "e", "f"), More: 40}
	open := Look{Kind: noteKind, Objects: several("a"), More: -1}
	unseen := Look{Kind: schema.GroupVersionKind{Group: "b", Version: "v1", Kind: "Ink"}, Problem: "forbidden"}
	whole := with(found("whole"), func(o *Object) { o.Namespace = "" })
	for name, test := range map[string]struct {
		looks []Look
		want  string
	}{
		"one kind":                              {[]Look{look}, "delete the Note default/a, default/b"},
		"five are named and the others counted": {[]Look{many}, "delete the Note default/a, default/b, default/c, default/d, default/e and 41 more"},
		"more objects that were not counted":    {[]Look{open}, "delete the Note default/a and more"},
		"objects without a namespace":           {[]Look{{Kind: noteKind, Objects: []Object{whole}}}, "delete the Note whole"},
		"two kinds":                             {[]Look{look, open}, "delete the Note default/a, default/b; the Note default/a and more"},
		"a kind that could not be listed":       {[]Look{unseen}, "objects of kind Ink.b could not be listed: forbidden"},
		"a listed kind and one that was not":    {[]Look{unseen, look}, "delete the Note default/a, default/b; objects of kind Ink.b could not be listed: forbidden"},
		"more kinds than are named":             {[]Look{open, open, open, open, open, open}, "delete the Note default/a and more; the Note default/a and more; the Note default/a and more; the Note default/a and more; objects of 2 more kinds"},
		"objects that were not read":            {[]Look{{Kind: noteKind, More: 3}}, "delete the Note objects, none of which could be read"},
		"nothing":                               {[]Look{{Kind: noteKind}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			blockade := Blocks(test.looks, nil)
			if diff := cmp.Diff(test.want, blockade.Message()); diff != "" || blockade.Holds() != (test.want != "") {
				t.Errorf("holds %t (-want +got):\n%s", blockade.Holds(), diff)
			}
		})
	}
}

// TestBlockade_NoObjectIsLost checks random ownership graphs: objects that do not block are collected once the module is gone, and as long
// as any other object is left, something is named.
func TestBlockade_NoObjectIsLost(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 1))
	for range 3000 {
		names := []types.UID{"a", "b", "c", "d", "e", "f"}
		look := Look{Kind: noteKind, Defined: random.IntN(2) == 0}
		for _, name := range names {
			object := found(string(name))
			for range random.IntN(3) {
				object.Owners = append(object.Owners, append(names, "going", "unknown")[random.IntN(len(names)+2)])
			}
			object.Default, object.Content, object.Kept = random.IntN(6) == 0, random.IntN(6) == 0, random.IntN(6) == 0
			look.Objects = append(look.Objects, object)
		}
		blockade := Blocks([]Look{look}, []types.UID{"going"})
		left := survivors(look, "going")
		if blockade.Holds() != (len(left) > 0) {
			t.Fatalf("%+v: %v are left, and it says %q", look, left, blockade.Message())
		}
		for _, kind := range blockade.Kinds {
			for _, object := range kind.Objects {
				if !left[object.UID] {
					t.Fatalf("%+v: %s goes by itself, and is named", look, object.Name)
				}
				delete(left, object.UID)
			}
		}
		// Objects that are not named are collected once all named objects are deleted.
		for uid := range survivors(Look{Kind: noteKind, Objects: among(look, left)}, append(goers(look, left), "going")...) {
			t.Fatalf("%+v: %s is left when everything that was named is gone", look, uid)
		}
	}
}

// survivors returns the objects of a look that are left when the module is gone and a garbage collector has run.
func survivors(look Look, gone ...types.UID) map[types.UID]bool {
	left := map[types.UID]Object{}
	dead := map[types.UID]bool{}
	for _, uid := range gone {
		dead[uid] = true
	}
	for _, object := range look.Objects {
		if object.Default || object.Content && (!object.Kept || !look.Defined) {
			dead[object.UID] = true
		} else {
			left[object.UID] = object
		}
	}
	for range len(look.Objects) {
		for uid, object := range left {
			alive := len(object.Owners) == 0
			for _, owner := range object.Owners {
				alive = alive || !dead[owner]
			}
			if !alive {
				dead[uid] = true
				delete(left, uid)
			}
		}
	}
	names := map[types.UID]bool{}
	for uid := range left {
		names[uid] = true
	}
	return names
}

// among returns the objects of a look that are in some, goers the UIDs of the others.
func among(look Look, some map[types.UID]bool) (kept []Object) {
	for _, object := range look.Objects {
		if some[object.UID] {
			kept = append(kept, object)
		}
	}
	return kept
}

func goers(look Look, some map[types.UID]bool) (others []types.UID) {
	for _, object := range look.Objects {
		if !some[object.UID] {
			others = append(others, object.UID)
		}
	}
	return others
}
