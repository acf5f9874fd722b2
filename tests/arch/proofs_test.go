package arch

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestProofs_WhatTheProofsNameIsThere(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range Proofs(tree) {
		t.Error(place)
	}
	if fields := specFields(tree); len(fields) < 30 {
		t.Errorf("ManifestSpec has only the fields %v", fields)
	}
}

func TestProofs(t *testing.T) {
	page := strings.Join([]string{
		"Prose may name `pkg/a/none_test.go: TestNone`.",
		"| defect | what we do | test |",
		"| --- | --- | --- |",
		"| `remote` | `code` is fine here | `pkg/a/a_test.go: TestA`, `pkg/a/a_test.go: TestA/a case` |",
		"| two | it works | `pkg/a/a_test.go: is what a spec says` |",
		"| three | it works | No test: it has no effect. |",
		"| four | it works | trust me |",
		"| five | it works | `pkg/a/a_test.go: TestGone` |",
		"| six | it works | `pkg/a/a_test.go: TestA/another case` and `pkg/a/gone_test.go: TestA` |",
		"| seven | it works | `pkg/a/a_test.go: is what a spec said` |",
		"| eight | it works | `TestA` |",
	}, "\n")
	files := map[string]string{
		proofsPage:        page,
		"pkg/a/a_test.go": "package a\n\nfunc TestA() { run(\"a case\"); It(\"is what a spec says\", nil) }\n",
		specFile: "package v1beta2\n\ntype ManifestSpec struct {\n\tRemote bool `json:\"remote\"`\n\tConfig *Image `json:\"config,omitempty\"`\n" +
			"\tMore []Image `json:\"more\"`\n}\n\ntype Image struct {\n\tRepo string `json:\"repo\"`\n}\n",
	}
	expect(t, Proofs(fixture(t, files)),
		proofsPage+":7: the row names no test", proofsPage+`:8: pkg/a/a_test.go has no test, case or spec "TestGone"`,
		proofsPage+`:9: pkg/a/a_test.go has no test, case or spec "TestA/another case"`, proofsPage+":9: names the file pkg/a/gone_test.go",
		proofsPage+`:10: pkg/a/a_test.go has no test, case or spec "is what a spec said"`, proofsPage+`:11: "TestA" is no proof`,
		proofsPage+": has no row for `config.repo`", proofsPage+": has no row for `more.repo`")
	expect(t, Proofs(fixture(t, map[string]string{specFile: "package v1beta2\n"})), proofsPage+": cannot be read")
}
