package provenance

import (
	"bytes"
	"strings"
	"testing"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

var (
	commit = strings.Repeat("1", 40)
	sum    = strings.Repeat("a", 64)
)

func build() Build {
	return Build{
		Parameters: map[string]any{"version": "1.2.3", "platforms": []any{"linux/amd64", "windows/arm64"}},
		Toolchain:  map[string]any{"go": "go1.26.8"},
		Inputs:     []Resource{{"source", "gitCommit", commit}, {"go.sum", "sha256", sum}},
		Outputs:    []Resource{{"install.yaml", "sha256", sum}},
	}
}

func TestStatement_IsReadByTheLibrary(t *testing.T) {
	text, err := build().Statement()
	if err != nil {
		t.Fatal(err)
	}
	statement := &intoto.Statement{}
	if err := protojson.Unmarshal(text, statement); err != nil {
		t.Fatalf("the library cannot read it: %v\n%s", err, text)
	}
	if err := statement.Validate(); err != nil {
		t.Errorf("the statement is not valid: %v", err)
	}
	subject := statement.GetSubject()
	if statement.GetPredicateType() != PredicateType || len(subject) != 1 || subject[0].GetDigest()["sha256"] != sum {
		t.Errorf("it is about %v as %s", subject, statement.GetPredicateType())
	}
	inner, err := protojson.Marshal(statement.GetPredicate())
	if err != nil {
		t.Fatal(err)
	}
	read := &slsa.Provenance{}
	if err := protojson.Unmarshal(inner, read); err != nil {
		t.Fatalf("the predicate is no SLSA provenance: %v", err)
	}
	if err := read.Validate(); err != nil {
		t.Errorf("the provenance is not valid: %v", err)
	}
	definition := read.GetBuildDefinition()
	if got := definition.GetExternalParameters().GetFields()["version"].GetStringValue(); got != "1.2.3" {
		t.Errorf("version %q", got)
	}
	if got := definition.GetResolvedDependencies()[0].GetDigest()["gitCommit"]; got != commit {
		t.Errorf("commit %q", got)
	}
	if got := read.GetRunDetails().GetBuilder().GetId(); got != LocalBuilder {
		t.Errorf("a build without a builder is by %q", got)
	}
	if read.GetRunDetails().GetMetadata() != nil {
		t.Error("the provenance has times, which differ from build to build")
	}
}

func TestStatement_IsTheSameTwice(t *testing.T) {
	one, err := build().Statement()
	if err != nil {
		t.Fatal(err)
	}
	two, err := build().Statement()
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("the same build gave other bytes (%v)", err)
	}
	if !bytes.HasPrefix(one, []byte("{\n  \"_type\": \"https://in-toto.io/Statement/v1\",\n")) {
		t.Errorf("it is not written in a fixed form:\n%s", one)
	}
}

func TestStatement_NamesTheBuilder(t *testing.T) {
	b := build()
	b.Builder = "https://ci.example.com/release"
	text, err := b.Statement()
	if err != nil || !bytes.Contains(text, []byte(`"id": "https://ci.example.com/release"`)) {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestStatement_RefusesWhatIsIncomplete(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Build)
		want   string
	}{
		"a release without files":      {func(b *Build) { b.Outputs = nil }, "at least one subject"},
		"a file whose digest is none":  {func(b *Build) { b.Outputs[0].Digest = "abc" }, "digest"},
		"a source without a commit":    {func(b *Build) { b.Inputs[0].Digest = "main" }, "digest"},
		"a build without parameters":   {func(b *Build) { b.Parameters = nil }, "externalParameters"},
		"a parameter that is no JSON":  {func(b *Build) { b.Parameters["at"] = func() {} }, "parameters"},
		"a toolchain that is not JSON": {func(b *Build) { b.Toolchain["at"] = struct{}{} }, "toolchain"},
	} {
		t.Run(name, func(t *testing.T) {
			b := build()
			tc.change(&b)
			if _, err := b.Statement(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
