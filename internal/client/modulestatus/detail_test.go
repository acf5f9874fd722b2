package modulestatus

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	signatures    = `"signatures": [{"name": "late"}, {"name": "kyma-module-signature"}, {"name": "late"}]`
	operatorImage = `{"name": "operator", "type": "ociArtifact", "access": {"type": "ociArtifact", "imageReference": "r.example/o:1"}}`
	older         = `{"name": "helper", "access": {"type": "ociRegistry", "imageReference": "r.example/h:1"}}`
	layer         = `{"name": "raw-manifest", "access": {"type": "localBlob", "localReference": "sha256:1"}}`
)

func TestDetail_WhatATemplateSaysOfAVersion(t *testing.T) {
	second := `{"meta": {"schemaVersion": "v2"}, "component": {"name": "c", "resources": [` + operatorImage + "," + layer + "," + older + "," +
		operatorImage + `]}, ` + signatures + `}`
	third := `{"apiVersion": "ocm.software/v3alpha1", "metadata": {"name": "c"}, "spec": {"resources": [` + operatorImage + `]}}`
	linked := func(t *v1beta2.ModuleTemplate) {
		t.Spec.Resources = []v1beta2.Named{{Name: "rawManifest", Link: "https://x/m.yaml"}}
	}
	pinned := func(t *v1beta2.ModuleTemplate) {
		linked(t)
		t.Annotations = map[string]string{v1beta2.AnnotationRawManifestDigest: "sha256:abc"}
	}
	for sentence, c := range map[string]struct {
		descriptor string
		change     func(*v1beta2.ModuleTemplate)
		component  string
		want       OfferVersion
	}{
		"a descriptor names images and signatures, without duplicates": {descriptor: second, want: OfferVersion{
			Images: []string{"r.example/o:1", "r.example/h:1"}, Vouched: &Provenance{State: VouchedSigned, By: []string{"kyma-module-signature", "late"}},
		}},
		"the other schema is read, too, here without a signature": {descriptor: third, want: OfferVersion{
			Images: []string{"r.example/o:1"}, Vouched: &Provenance{State: VouchedNot},
		}},
		"an empty descriptor says nothing":            {descriptor: "{}", want: OfferVersion{Vouched: &Provenance{State: VouchedUnknown}}},
		"a missing descriptor says nothing":           {want: OfferVersion{Vouched: &Provenance{State: VouchedUnknown}}},
		"an invalid descriptor says nothing":          {descriptor: `["x"]`, want: OfferVersion{Vouched: &Provenance{State: VouchedUnknown}}},
		"a link with a digest is pinned":              {change: pinned, want: OfferVersion{Vouched: &Provenance{State: VouchedPinned, Digest: "sha256:abc"}}},
		"a link without a digest has no provenance":   {change: linked, want: OfferVersion{Vouched: &Provenance{State: VouchedNot}}},
		"a component takes precedence over a link":    {change: pinned, component: "c", want: OfferVersion{Vouched: &Provenance{State: VouchedUnknown}}},
		"signatures without a component do not count": {descriptor: "{" + signatures + "}", want: OfferVersion{Vouched: &Provenance{State: VouchedUnknown}}},
		"documentation and changelog": {change: func(t *v1beta2.ModuleTemplate) {
			t.Spec.Info = &v1beta2.ModuleInfo{Documentation: "https://d"}
			t.Annotations = map[string]string{annotationDocURL: "https://other", v1beta2.AnnotationIsClusterScoped: "true"}
			t.Spec.Resources = []v1beta2.Named{{Name: "icon", Link: "https://i"}, {Name: "Release-Notes", Link: "https://n"}}
		}, want: OfferVersion{Vouched: &Provenance{State: VouchedUnknown}, Documentation: "https://d", Changelog: "https://n", ClusterScoped: true}},
		"documentation of a template without info": {change: func(t *v1beta2.ModuleTemplate) {
			t.Annotations = map[string]string{annotationDocURL: "https://other"}
		}, want: OfferVersion{Vouched: &Provenance{State: VouchedUnknown}, Documentation: "https://other"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			one := template("beacon", "1.0.0")
			one.Spec.Descriptor.Raw = []byte(c.descriptor)
			if c.change != nil {
				c.change(&one)
			}
			c.want.Version, c.want.Template = "1.0.0", Key{"kcp-system", "beacon-1.0.0"}
			offer := Offer{Component: c.component, Versions: []OfferVersion{{Version: "1.0.0", Template: c.want.Template}}}
			detailed := Detailed(offer, []v1beta2.ModuleTemplate{template("other", "1.0.0"), one})
			if diff := cmp.Diff([]OfferVersion{c.want}, detailed.Versions); diff != "" {
				t.Errorf("other details (-want +got):\n%s", diff)
			}
			if offer.Versions[0].Vouched != nil {
				t.Error("the offer that everyone shares was changed")
			}
		})
	}
}

func TestDetail_AVersionHasNotManyImages(t *testing.T) {
	one := template("beacon", "1.0.0")
	text := `{"component": {"name": "c", "resources": [`
	for i := range mostImages + 5 {
		text += fmt.Sprintf(`{"access": {"imageReference": "r.example/o:%d"}},`, i)
	}
	one.Spec.Descriptor.Raw = []byte(text + operatorImage + "]}}")
	offer := Offer{Versions: []OfferVersion{{Template: Key{one.Namespace, one.Name}}, {Template: Key{"x", "gone"}}}}
	got := Detailed(offer, []v1beta2.ModuleTemplate{one}).Versions
	if len(got[0].Images) != mostImages || got[1].Vouched != nil {
		t.Errorf("%d images, and of a template that there is not %+v", len(got[0].Images), got[1])
	}
}
