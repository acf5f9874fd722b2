package revision_test

import (
	"regexp"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

const (
	layerA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	layerB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func raw(json string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(json)} }

// newSpec returns a spec that uses every field that counts.
func newSpec() *v1beta2.ManifestSpec {
	values := raw(`{"replicas":2,"image":{"tag":null}}`)
	return &v1beta2.ManifestSpec{
		Remote: true, Version: "1.2.0", CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete,
		Install: v1beta2.InstallInfo{
			Name: "raw-manifest", Source: raw(`{"name":"m","ref":"` + layerA + `","repo":"r.example.com/c","type":"oci-dir"}`),
		},
		AdditionalInstalls: []v1beta2.InstallInfo{
			{Name: "chart", Source: raw(`{"url":"https://charts.example.com","chartName":"c","version":"1.0.0"}`)},
			{Name: "bundle", Source: raw(`{"image":"r.example.com/b:1","credSecretSelector":{"matchLabels":{"a":"b"}}}`)},
		},
		CRDs:            &v1beta2.ImageSpec{Repo: "r.example.com/c", Name: "m", Ref: layerA},
		Config:          &v1beta2.ImageSpec{Repo: "r.example.com/c", Name: "m", Ref: layerB},
		LocalizedImages: []string{"r.example.com/i:1", "r.example.com/j:1"},
		Values:          &values, TargetNamespace: "there",
		Resource: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "a/v1", "kind": "A", "spec": map[string]any{"size": int64(1), "list": []any{map[string]any{"x": "y"}}},
		}},
		Manager:             &v1beta2.Manager{Name: "operator"},
		AssociatedResources: []metav1.GroupVersionKind{{Group: "a", Version: "v1", Kind: "B"}},
		CustomStateCheck:    []v1beta2.CustomStateCheck{{JSONPath: "status.state", Value: "Ready", MappedState: v1beta2.StateReady}},
		Probes:              []v1beta2.Probe{{Name: "up", Kind: "Service", Expression: "true"}},
	}
}

func TestOf_WhatIsNoOtherInstallationIsNoOtherRevision(t *testing.T) {
	want := revision.Of(newSpec())
	for sentence, change := range map[string]func(*v1beta2.ManifestSpec){
		"a user keeps the default resource": func(s *v1beta2.ManifestSpec) {
			s.CustomResourcePolicy = v1beta2.CustomResourcePolicyIgnore
		},
		"a user allows changes of definitions": func(s *v1beta2.ManifestSpec) { s.AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"} },
		"upstream writes remote: false":        func(s *v1beta2.ManifestSpec) { s.Remote = false },
		"with whose rights it is installed":    func(s *v1beta2.ManifestSpec) { s.ServiceAccountName = "tenant" },
		"who may own what exists":              func(s *v1beta2.ManifestSpec) { s.Ownership = v1beta2.OwnershipAdopt },
		"the layer moved, with another login": func(s *v1beta2.ManifestSpec) {
			s.Install.Source = raw(`{"name":"n","ref":"` + layerA + `","repo":"elsewhere/c","type":"oci-dir","credSecretSelector":{}}`)
		},
		"the keys of a source in another order, with nulls": func(s *v1beta2.ManifestSpec) {
			s.Install.Source = raw(`{ "type":"oci-dir", "path":null, "repo":"r.example.com/c","ref":"` + layerA + `"}`)
		},
		"the layer of definitions moved": func(s *v1beta2.ManifestSpec) { s.CRDs.Repo, s.CRDs.Name = "elsewhere/c", "" },
		"the layer of values moved": func(s *v1beta2.ManifestSpec) {
			s.Config.Repo, s.Config.CredSecretSelector = "elsewhere/c", &metav1.LabelSelector{}
		},
		"the default type is written out": func(s *v1beta2.ManifestSpec) { s.CRDs.Type = v1beta2.RefTypeOCI },
		"the keys of values in another order": func(s *v1beta2.ManifestSpec) {
			*s.Values = raw(`{"image":{"tag":null}, "replicas":2}`)
		},
		"a null in the default resource": func(s *v1beta2.ManifestSpec) {
			s.Resource.Object["status"] = nil
			s.Resource.Object["spec"].(map[string]any)["list"].([]any)[0].(map[string]any)["z"] = nil
		},
		"a number read by another decoder": func(s *v1beta2.ManifestSpec) { s.Resource.Object["spec"].(map[string]any)["size"] = float64(1) },
	} {
		spec := newSpec()
		change(spec)
		if got := revision.Of(spec); got != want {
			t.Errorf("%s: %+v, want %+v", sentence, got, want)
		}
	}
}

func TestOf_WhatIsAnotherInstallationIsAnotherRevision(t *testing.T) {
	const version, digest, template = 1, 2, 4
	seen, had := map[revision.Key]string{}, revision.Of(newSpec())
	for sentence, test := range map[string]struct {
		changes int
		change  func(*v1beta2.ManifestSpec)
	}{
		"another version of the same content": {version, func(s *v1beta2.ManifestSpec) { s.Version = "1.2.1" }},
		"other content of the same version": {digest, func(s *v1beta2.ManifestSpec) {
			s.Install.Source = raw(`{"name":"m","ref":"` + layerB + `","repo":"r.example.com/c","type":"oci-dir"}`)
		}},
		"the same layer, read as another type": {digest, func(s *v1beta2.ManifestSpec) {
			s.Install.Source = raw(`{"name":"m","ref":"` + layerA + `","repo":"r.example.com/c","type":"bundle"}`)
		}},
		"another folder of the same layer": {digest, func(s *v1beta2.ManifestSpec) {
			s.Install.Source = raw(`{"name":"m","ref":"` + layerA + `","repo":"r.example.com/c","type":"oci-dir","path":"a"}`)
		}},
		"a reference that is no digest counts with its place": {digest, func(s *v1beta2.ManifestSpec) {
			s.Install.Source = raw(`{"name":"m","ref":"1.0","repo":"r.example.com/c","type":"oci-dir"}`)
		}},
		"another name of the installation": {digest, func(s *v1beta2.ManifestSpec) { s.Install.Name = "other" }},
		"a source that is no JSON":         {digest, func(s *v1beta2.ManifestSpec) { s.Install.Source = raw(`{`) }},
		"another source that is no JSON":   {digest, func(s *v1beta2.ManifestSpec) { s.Install.Source = raw(`[`) }},
		"one installation less":            {digest, func(s *v1beta2.ManifestSpec) { s.AdditionalInstalls = s.AdditionalInstalls[:1] }},
		"no installation more":             {digest, func(s *v1beta2.ManifestSpec) { s.AdditionalInstalls = nil }},
		"another order of installations":   {digest, func(s *v1beta2.ManifestSpec) { swap(s.AdditionalInstalls) }},
		"another version of the chart": {digest, func(s *v1beta2.ManifestSpec) {
			s.AdditionalInstalls[0].Source = raw(`{"url":"https://charts.example.com"}`)
		}},
		"another login of what has no digest": {digest, func(s *v1beta2.ManifestSpec) {
			s.AdditionalInstalls[1].Source = raw(`{"image":"r.example.com/b:1"}`)
		}},
		"other definitions":                 {digest, func(s *v1beta2.ManifestSpec) { s.CRDs.Ref = layerB }},
		"no definitions":                    {digest, func(s *v1beta2.ManifestSpec) { s.CRDs = nil }},
		"no configuration":                  {digest, func(s *v1beta2.ManifestSpec) { s.Config = nil }},
		"another image":                     {digest, func(s *v1beta2.ManifestSpec) { s.LocalizedImages[1] = "r.example.com/j:2" }},
		"the first image that fits is used": {digest, func(s *v1beta2.ManifestSpec) { swap(s.LocalizedImages) }},
		"another namespace":                 {digest, func(s *v1beta2.ManifestSpec) { s.TargetNamespace = "" }},
		"a null in values removes a default": {digest, func(s *v1beta2.ManifestSpec) {
			*s.Values = raw(`{"replicas":2,"image":{}}`)
		}},
		"no values": {digest, func(s *v1beta2.ManifestSpec) { s.Values = nil }},
		"values of the Kyma's entry": {digest, func(s *v1beta2.ManifestSpec) {
			s.KymaValues = &v1beta2.EntryValues{Inline: `{"a":1}`}
		}},
		"values of the Kyma's entry in an object": {digest, func(s *v1beta2.ManifestSpec) {
			s.KymaValues = &v1beta2.EntryValues{From: []v1beta2.HashedValues{{Hash: "a"}}}
		}},
		"other values in that object": {digest, func(s *v1beta2.ManifestSpec) {
			s.KymaValues = &v1beta2.EntryValues{From: []v1beta2.HashedValues{{Hash: "b"}}}
		}},
		"values that are no JSON":  {digest, func(s *v1beta2.ManifestSpec) { *s.Values = raw(`{`) }},
		"another default resource": {template, func(s *v1beta2.ManifestSpec) { s.Resource.Object["spec"] = map[string]any{"size": int64(2)} }},
		"no default resource":      {template, func(s *v1beta2.ManifestSpec) { s.Resource = nil }},
		"another operator":         {template, func(s *v1beta2.ManifestSpec) { s.Manager.Name = "other" }},
		"no operator":              {template, func(s *v1beta2.ManifestSpec) { s.Manager = nil }},
		"other kinds":              {template, func(s *v1beta2.ManifestSpec) { s.AssociatedResources = nil }},
		"other states":             {template, func(s *v1beta2.ManifestSpec) { s.CustomStateCheck[0].Value = "Fine" }},
		"other probes":             {template, func(s *v1beta2.ManifestSpec) { s.Probes = nil }},
	} {
		spec := newSpec()
		test.change(spec)
		got, changed := revision.Of(spec), 0
		for bit, differs := range map[int]bool{
			version: got.Version != had.Version, digest: got.Digest != had.Digest, template: got.Template != had.Template,
		} {
			if differs {
				changed |= bit
			}
		}
		if changed != test.changes {
			t.Errorf("%s: changes %d, want %d", sentence, changed, test.changes)
		}
		if other, known := seen[got]; known {
			t.Errorf("%s is the same as: %s", sentence, other)
		}
		seen[got] = sentence
	}
}

func swap[T any](list []T) { list[0], list[1] = list[1], list[0] }

func TestOf_NothingGivenIsTheSameAsEmpty(t *testing.T) {
	values := raw(`{}`)
	none := &v1beta2.ManifestSpec{}
	empty := &v1beta2.ManifestSpec{
		AdditionalInstalls: []v1beta2.InstallInfo{}, LocalizedImages: []string{}, Values: &values, Probes: []v1beta2.Probe{},
	}
	if got, want := revision.Of(empty), revision.Of(none); got != want {
		t.Errorf("key %+v, want %+v", got, want)
	}
	if empty.Values = (&runtime.RawExtension{}); revision.Of(empty) != revision.Of(none) {
		t.Error("values without text count")
	}
}

// TestOf_IsTheSameInEveryVersion holds the keys that stand in clusters: another way to compute them would make a revision of every Manifest
// when the manager is upgraded.
func TestOf_IsTheSameInEveryVersion(t *testing.T) {
	want := revision.Key{
		Version: "1.2.0", Digest: "sha256:e03a80586a15d2bd015abc81dcce71912b815ef58db16024b80a33234c4c2d21", Template: "230802fe8faff1a0",
	}
	got := revision.Of(newSpec())
	if got != want {
		t.Errorf("key %+v, want %+v", got, want)
	}
	if form := regexp.MustCompile(`^sha256:[0-9a-f]{64} [0-9a-f]{16}$`); !form.MatchString(got.Digest + " " + got.Template) {
		t.Errorf("key %+v has another form than the API says", got)
	}
}

func TestOf_ChangesNothing(t *testing.T) {
	spec := newSpec()
	spec.Resource.Object["status"] = nil
	before := spec.DeepCopy()
	revision.Of(spec)
	if _, kept := spec.Resource.Object["status"]; !kept || string(before.Install.Source.Raw) != string(spec.Install.Source.Raw) {
		t.Error("the spec was changed")
	}
}

func TestPlanned_ValuesOfTheKymasEntryAreWhatIsWanted(t *testing.T) {
	have, want := newSpec(), newSpec()
	have.KymaValues = &v1beta2.EntryValues{Inline: `{"a":1}`}
	if got := revision.Planned(have, want); got != revision.Of(newSpec()) {
		t.Errorf("values that are taken away stay: %+v", got)
	}
	if got := revision.Offered(have, want); got != revision.Of(have) {
		t.Errorf("for who does not know the entry they do not stay: %+v", got)
	}
	if got := revision.Offered(nil, want); got != revision.Of(want) {
		t.Errorf("a new Manifest gets %+v", got)
	}
}

func TestPlanned_WhatOnlyUsersSetStays(t *testing.T) {
	have, want := newSpec(), newSpec()
	want.Values, want.TargetNamespace, want.Probes = nil, "", nil // a Kyma sets none of them
	if got := revision.Planned(have, want); got != revision.Of(have) {
		t.Errorf("an apply of the same content gives %+v, want %+v", got, revision.Of(have))
	}
	if got := revision.Planned(nil, want); got != revision.Of(want) {
		t.Errorf("a new Manifest gets %+v, want %+v", got, revision.Of(want))
	}
	if want.TargetNamespace != "" {
		t.Error("the wanted spec was changed")
	}
}
