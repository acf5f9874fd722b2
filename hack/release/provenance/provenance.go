// Package provenance answers: from what, by what and for what was a release built? It writes an in-toto statement with a SLSA provenance.
//
// A statement says what the build says of itself. It claims no SLSA level: on a machine of their own, users can write any statement, and
// only a build service that signs what its users cannot change reaches more than the first level. The package signs nothing and records no
// time, so that the same release gives the same bytes.
package provenance

import (
	"bytes"
	"encoding/json"
	"fmt"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// PredicateType is that of SLSA provenance, version 1.
	PredicateType = "https://slsa.dev/provenance/v1"
	// BuildType says what the parameters mean: docs/releasing.md describes them.
	BuildType = "https://github.com/kyma-project/lifecycle-manager/hack/release/v1"
	// LocalBuilder is the builder where no other one is named: a machine that is vouched for by nothing but a signature on the release.
	LocalBuilder = "https://github.com/kyma-project/lifecycle-manager/hack/release/local"
)

// Resource is something with a digest: a file of the release, an image, or what the build reads.
type Resource struct {
	Name string
	// Algorithm is that of the digest, in in-toto's words: sha256, gitCommit. Digest is in hexadecimal.
	Algorithm, Digest string
}

// Build describes a build.
type Build struct {
	// Parameters are those that the caller of the build gave; Toolchain is what the build found: the compiler.
	Parameters, Toolchain map[string]any
	// Inputs are the source and what else the build reads, and Outputs what it made.
	Inputs, Outputs []Resource
	// Builder is the address that identifies who ran the build; empty is a local one.
	Builder string
}

// Statement returns the statement about a build, as JSON.
func (b Build) Statement() ([]byte, error) {
	predicate, err := b.predicate()
	if err != nil {
		return nil, err
	}
	statement := &intoto.Statement{
		Type: intoto.StatementTypeUri, Subject: descriptors(b.Outputs), PredicateType: PredicateType, Predicate: predicate,
	}
	if err := statement.Validate(); err != nil {
		return nil, fmt.Errorf("the provenance is no in-toto statement: %w", err)
	}
	text, err := protojson.Marshal(statement)
	if err != nil {
		return nil, fmt.Errorf("write the provenance: %w", err)
	}
	return canonical(text)
}

// predicate returns the SLSA provenance in the form in which a statement carries it.
func (b Build) predicate() (*structpb.Struct, error) {
	parameters, err := structpb.NewStruct(b.Parameters)
	if err != nil {
		return nil, fmt.Errorf("write the parameters of the build: %w", err)
	}
	toolchain, err := structpb.NewStruct(b.Toolchain)
	if err != nil {
		return nil, fmt.Errorf("write the toolchain of the build: %w", err)
	}
	builder := b.Builder
	if builder == "" {
		builder = LocalBuilder
	}
	provenance := &slsa.Provenance{
		BuildDefinition: &slsa.BuildDefinition{
			BuildType: BuildType, ExternalParameters: parameters, InternalParameters: toolchain, ResolvedDependencies: descriptors(b.Inputs),
		},
		RunDetails: &slsa.RunDetails{Builder: &slsa.Builder{Id: builder}},
	}
	if err := provenance.Validate(); err != nil {
		return nil, fmt.Errorf("the provenance lacks something: %w", err)
	}
	text, err := protojson.Marshal(provenance)
	if err != nil {
		return nil, fmt.Errorf("write the provenance: %w", err)
	}
	predicate := &structpb.Struct{}
	return predicate, protojson.Unmarshal(text, predicate)
}

func descriptors(resources []Resource) []*intoto.ResourceDescriptor {
	all := make([]*intoto.ResourceDescriptor, len(resources))
	for i, r := range resources {
		all[i] = &intoto.ResourceDescriptor{Name: r.Name, Digest: map[string]string{r.Algorithm: r.Digest}}
	}
	return all
}

// canonical writes JSON anew: protojson varies its blanks from one program to the next, so that nothing depends on them.
func canonical(text []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("write the provenance anew: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
