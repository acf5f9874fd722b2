//go:build !race

// Thousands of documents are decoded one after the other, which the race detector makes about ten times slower and has nothing to find in.

package component_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/open-component-model/ocm/pkg/contexts/ocm"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/accessmethods/localblob"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/accessmethods/ociartifact"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	_ "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/normalizations" // registers them
	_ "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/versions"       // registers the schemas
	"github.com/open-component-model/ocm/pkg/signing"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// FuzzDecodersAgree holds our small decoder to the OCM library's. Fuzzing it compiles the whole library again, with
// counters in it; TestDecodersAgreeOnEverySmallChange goes most of the way in a second.
func FuzzDecodersAgree(f *testing.F) {
	for _, data := range goldens(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { mustAgree(t, data) })
}

func TestDecodersAgreeOnEverySmallChange(t *testing.T) {
	compared := 0
	for _, data := range goldens(t) {
		if !mustAgree(t, data) {
			t.Errorf("the library does not take this golden descriptor:\n%s", data)
		}
		var root any
		if err := yaml.Unmarshal(data, &root); err != nil {
			t.Fatal(err)
		}
		others := []any{nil, "x", map[string]any{}}
		if !bytes.Contains(data, []byte("signatures:")) { // those are large
			others = append(others, "", 7, true, []any{}, "v1", "1.0.0+b", "localBlob", "localOciBlob/v1", "ociArtifact", ones, 1.5)
		}
		change(root, others, func() {
			changed, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			if mustAgree(t, changed) {
				compared++
			}
		})
	}
	t.Logf("compared %d descriptors", compared)
	if compared < 100 {
		t.Errorf("the library took %d of the changed descriptors only: this compares nothing", compared)
	}
}

const ones = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

// mustAgree compares both decoders and tells whether there was something to compare: a descriptor that the library takes,
// ours must take too and read alike. Ours may refuse two things more: keys that occur twice, and names or versions that
// have no place in a registry.
func mustAgree(t *testing.T, data []byte) bool {
	t.Helper()
	library, err := compdesc.Decode(data)
	if err != nil || descriptor.CheckIdentity(library.Name, library.Version) != nil {
		return false
	}
	if _, err := yaml.YAMLToJSONStrict(data); err != nil {
		return false
	}
	theirs, err := facts(t, library)
	if err != nil {
		return false // the library looks into an access only when it is requested the resource
	}
	ours, err := descriptor.Decode(data)
	if err != nil {
		t.Errorf("the library takes this descriptor, ours does not: %v\n%s", err, data)
		return false
	}
	if diff := cmp.Diff(theirs, ours, cmpopts.IgnoreUnexported(descriptor.Component{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("read differently (-library +ours):\n%s\n%s", diff, data)
	}
	mustNormaliseAlike(t, library, data)
	return true
}

// stricter are words of our refusals where the library takes what two readers could read differently.
var stricter = []string{"in one place", "taken for something else", "cannot unmarshal number", "cannot unmarshal bool"}

// mustNormaliseAlike compares what would be signed. Ours may refuse what two readers could read differently.
func mustNormaliseAlike(t *testing.T, library *compdesc.ComponentDescriptor, data []byte) {
	t.Helper()
	for _, algorithm := range []string{descriptor.NormalisationV1, descriptor.NormalisationV2} {
		theirs, err := compdesc.Normalize(library.Copy(), algorithm)
		if err != nil {
			continue
		}
		ours, err := descriptor.Normalise(data, algorithm)
		if err != nil {
			if !slices.ContainsFunc(stricter, func(words string) bool { return strings.Contains(err.Error(), words) }) {
				t.Errorf("the library normalises this by %s, ours does not: %v\n%s", algorithm, err, data)
			}
			continue
		}
		if diff := cmp.Diff(string(theirs), string(ours)); diff != "" {
			t.Errorf("normalised differently by %s (-library +ours):\n%s\n%s", algorithm, diff, data)
		}
	}
}

// facts puts what the library read into our form, and fails for accesses that the library cannot read.
func facts(t *testing.T, library *compdesc.ComponentDescriptor) (*descriptor.Component, error) {
	t.Helper()
	component := &descriptor.Component{
		Name: library.Name, Version: library.Version, Provider: string(library.Provider.Name), Schema: library.SchemaVersion(),
	}
	translate(t, library.Labels, &component.Labels)
	translate(t, library.Signatures, &component.Signatures)
	for _, r := range library.Resources {
		resource := descriptor.Resource{Name: r.Name, Version: r.Version, Type: r.Type, Relation: string(r.Relation)}
		translate(t, r.Labels, &resource.Labels)
		translate(t, r.Digest, &resource.Digest)
		access, err := ocm.DefaultContext().AccessSpecForSpec(r.Access)
		if err != nil {
			return nil, err
		}
		resource.Access.Type = r.Access.GetType() // as written: reading it renames ociRegistry
		switch access := access.(type) {
		case *localblob.AccessSpec: // which stands for localOciBlob too
			resource.Access.LocalReference, resource.Access.MediaType = access.LocalReference, access.MediaType
			resource.Access.ReferenceName = access.ReferenceName
		case *ociartifact.AccessSpec:
			resource.Access.ImageReference = access.ImageReference
		}
		component.Resources = append(component.Resources, resource)
	}
	return component, nil
}

// translate goes by way of the library's own JSON.
func translate(t *testing.T, from, to any) {
	t.Helper()
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDifferential_EveryChangeOfASignedDescriptorIsJudgedAsTheLibraryDoes changes each part of a signed descriptor, and holds our verdict
// to the library's.
func TestDifferential_EveryChangeOfASignedDescriptorIsJudgedAsTheLibraryDoes(t *testing.T) {
	registry := signing.NewRegistry(signing.DefaultHandlerRegistry(), signing.NewKeyRegistry(signing.DefaultKeyRegistry()))
	registry.RegisterPublicKey(descriptor.SignatureName, &keys()[0].PublicKey)
	verdicts := map[bool]int{}
	for _, file := range goldens(t) {
		for _, algorithm := range []string{descriptor.NormalisationV1, descriptor.NormalisationV2} {
			data := signedBy(t, file, algorithm, keys()[0])
			var root any
			if err := yaml.Unmarshal(data, &root); err != nil {
				t.Fatal(err)
			}
			change(root, []any{"x", map[string]any{}}, func() {
				changed, err := json.Marshal(root)
				if err != nil {
					t.Fatal(err)
				}
				library, err := compdesc.Decode(changed)
				if err != nil || len(library.Signatures) != 1 || descriptor.CheckIdentity(library.Name, library.Version) != nil {
					return
				}
				ours, err := descriptor.Decode(changed)
				if err != nil {
					return // refused before anyone asks for signatures
				}
				_, err = ours.Verify(trusting(keys()[0]), today)
				theirs := compdesc.Verify(library, registry, descriptor.SignatureName)
				if (err == nil) != (theirs == nil) {
					t.Errorf("our verdict is %v and the library's %v about\n%s", err, theirs, changed)
				}
				verdicts[err == nil]++
			})
		}
	}
	if verdicts[true] < 20 || verdicts[false] < 100 {
		t.Errorf("%v verdicts: this compares nothing", verdicts)
	}
}
