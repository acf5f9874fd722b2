package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {namespace: kcp-system, name: klm-controller-manager}
spec:
  template:
    spec:
      containers:
      - {args: [--a], image: one}
`

func TestDifference(t *testing.T) {
	for name, tc := range map[string]struct{ before, after, objects, definitions, manager string }{
		"the same is no difference":           {"kind: A", "kind: A", "", "", ""},
		"what is new":                         {"kind: A", "kind: A\n---\nkind: B", "kind: B\n", "", ""},
		"what is otherwise":                   {"kind: A\nx: 1", "kind: A\nx: 2", "kind: A\nx: 2\n", "", ""},
		"definitions are told apart":          {"kind: A", "kind: A\n---\nkind: CustomResourceDefinition", "", "kind: CustomResourceDefinition\n", ""},
		"the manager is new with the default": {"kind: A", deployment, "klm-controller-manager", "", ""},
		"what is appended to the manager": {
			deployment, strings.ReplaceAll(deployment, "args: [--a]", "args: [--a, --b], ports: [{name: p}]"), "", "", "args:\n- --b\nports:\n- name: p\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			brings, err := between(t, tc.before, tc.after)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string][]byte{}
			if err := brings.write(files, "part", "a test"); err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]string{"objects": tc.objects, "crds": tc.definitions, "manager": tc.manager} {
				got := strings.TrimPrefix(string(files["files/part/"+file+".yaml"]), "# Written by make chart from a test.\n")
				if (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Errorf("%s: got %q, want %q", file, got, want)
				}
			}
		})
	}
}

func TestDifference_RefusesWhatTemplatesCannotSay(t *testing.T) {
	for name, after := range map[string]string{
		"another image":             strings.ReplaceAll(deployment, "image: one", "image: two"),
		"an argument in front":      strings.ReplaceAll(deployment, "[--a]", "[--b, --a]"),
		"an argument that is gone":  strings.ReplaceAll(deployment, "[--a]", "[]"),
		"a field of the Deployment": strings.ReplaceAll(deployment, "spec:\n  template", "spec:\n  paused: true\n  template"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := between(t, deployment, after); err == nil || !strings.Contains(err.Error(), "otherwise than by appending") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func between(t *testing.T, before, after string) (part, error) {
	t.Helper()
	first, err := decode([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	second, err := decode([]byte(after))
	if err != nil {
		t.Fatal(err)
	}
	return difference(first, second)
}

func TestTableOf(t *testing.T) {
	got, err := tableOf([]byte("a:\n  # Says a.\n  # And more.\n  b: \"\"\n  # Says c.\n  c: {d: 1}\n\n# Says e.\ne: [x]\n"))
	want := "| value | default | what it says |\n|---|---|---|\n" +
		"| `a.b` | `\"\"` | Says a. And more. |\n| `a.c` | `{\"d\":1}` | Says c. |\n| `e` | `[\"x\"]` | Says e. |\n"
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("(-want +got, %v):\n%s", err, diff)
	}
	for name, text := range map[string]string{"a value": "a: 1\n", "an empty mapping": "a:\n  b: {}\n"} {
		if _, err := tableOf([]byte(text)); err == nil || !strings.Contains(err.Error(), "is not described") {
			t.Errorf("%s without a comment: got %v", name, err)
		}
	}
}
