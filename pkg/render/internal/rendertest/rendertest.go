// Package rendertest has what the tests of pkg/render and of its formats share. Non-goal: nothing of it is for programs.
package rendertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Limit is a size of text that no test comes near.
const Limit = 1 << 20

// Content returns a tree of the files of name and text, in their order.
func Content(namesAndTexts ...string) *content.Tree {
	tree := &content.Tree{}
	for i := 0; i < len(namesAndTexts); i += 2 {
		tree.Files = append(tree.Files, content.File{Path: namesAndTexts[i], Data: []byte(namesAndTexts[i+1])})
	}
	return tree
}

// Copy returns an independent copy of a tree.
func Copy(tree *content.Tree) *content.Tree {
	var all []string
	for _, file := range tree.Files {
		all = append(all, file.Path, string(file.Data))
	}
	return Content(all...)
}

// Config returns a ConfigMap document.
func Config(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
}

// ManyConfigs returns the documents of count ConfigMaps, whose names begin with prefix.
func ManyConfigs(prefix string, count int) string {
	var all strings.Builder
	for i := range count {
		all.WriteString(Config(fmt.Sprint(prefix, i)) + "---\n")
	}
	return all.String()
}

// JSONConfig returns a ConfigMap in JSON.
func JSONConfig(name string) string {
	return fmt.Sprintf("{\n \"apiVersion\": \"v1\", \"kind\": \"ConfigMap\",\n \"metadata\": {\"name\": %q}\n}", name)
}

// List returns a document with a list of items.
func List(kind string, items ...string) string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: " + kind + "\nitems:\n")
	for _, item := range items {
		text.WriteString("- " + strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", "\n  ") + "\n")
	}
	return text.String()
}

// Definition returns the document of a CustomResourceDefinition.
func Definition(group, kind, scope string) string {
	return fmt.Sprintf("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %s.%s}\n"+
		"spec: {group: %q, scope: %s, names: {kind: %q}}\n", strings.ToLower(kind)+"s", group, group, scope, kind)
}

// Identities returns the identities of objects, as messages have them.
func Identities(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, object := range objects {
		all = append(all, inventory.IDOf(object).String())
	}
	return all
}

// WantRefusal fails the test unless err has the reason and the whole text of an error.
func WantRefusal(t *testing.T, err error, reason, text string) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted, want %s: %s", reason, text)
	}
	if diff := cmp.Diff(reason+": "+text, content.ReasonOf(err)+": "+err.Error()); diff != "" {
		t.Error(diff)
	}
}

// Growing declares one list of nine aliases after the other, each of the one before.
func Growing(from, to rune) string {
	var text strings.Builder
	for name := from + 1; name <= to; name++ {
		fmt.Fprintf(&text, "%c: &%c [%s]\n", name, name, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", name-1), 9), ","))
	}
	return text.String()
}
