package component_test

import (
	"crypto/x509"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

func TestInspectTellsEverything(t *testing.T) {
	ours, theirs := keys()[0], keys()[1]
	authority := certify(t, "authority", theirs, nil, theirs, today.AddDate(5, 0, 0))
	leaf := certify(t, "signer", ours, authority, theirs, today.AddDate(1, 0, 0))
	for _, schema := range []string{descriptor.SchemaV2, descriptor.SchemaV3Alpha1} {
		t.Run(schema, func(t *testing.T) {
			s := serve(t)
			version := withImage(t)
			version.Schema = schema
			version.Resources[1].Image = s.image(t)
			version.Sources = []component.Source{{RepoURL: "https://github.com/example/harbour", Commit: "0123456789abcdef0123456789abcdef01234567", Ref: "refs/heads/main"}}
			version.Signer = &component.Signer{Key: ours, Chain: []*x509.Certificate{leaf}}
			root := push(t, s.Registry, version)
			ref := component.Ref{Registry: &s.Registry, Name: version.Name, Version: version.Version}
			if _, err := component.SignRef(t.Context(), ref, &component.Signer{Key: theirs, Name: "second", Issuer: "CN=somebody", Normalisation: descriptor.NormalisationV1}); err != nil {
				t.Fatal(err)
			}
			opened, err := component.Open(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = opened.Close() }()
			trust := &descriptor.Trust{Certificates: []*x509.Certificate{authority}}
			got, err := component.Inspect(opened, trust, today)
			if err != nil {
				t.Fatal(err)
			}
			until, issuers := leaf.NotAfter, [2]string{"CN=signer", "CN=somebody"}
			if schema == descriptor.SchemaV3Alpha1 {
				issuers = [2]string{} // for which the library has no room
			}
			want := &component.Inspection{
				Ref: ref.String(), Digest: got.Digest, Schema: schema,
				Name: version.Name, Version: version.Version, Provider: "example.org", Labels: got.Labels, Sources: got.Sources,
				Resources: []component.InspectedResource{
					{
						Name: "raw-manifest", Version: version.Version, Type: "PlainText", Relation: "local", Kind: component.KindBlob, Access: "localBlob",
						MediaType: component.MediaTypeYAML, Size: int64(len(manifest)), Digest: "sha256:" + sha(manifest), Covered: true,
						Labels: []component.InspectedLabel{{Name: rendererLabel, Value: json.RawMessage(`"bundle"`), Signed: true}},
					},
					{
						Name: "operator", Version: version.Version, Type: "ociImage", Relation: "external", Kind: component.KindImage, Access: "ociArtifact",
						Size: -1, Image: version.Resources[1].Image, Digest: "sha256:" + s.digest, Covered: true,
					},
				},
				Signatures: []component.InspectedSignature{
					{
						Name: descriptor.SignatureName, Algorithm: descriptor.AlgorithmPKCS1v15, Hash: "SHA-256", Normalisation: descriptor.NormalisationV2,
						MediaType: descriptor.MediaTypeSignaturePEM, Issuer: issuers[0], State: component.SignatureHolds,
						Certificates: []component.InspectedCertificate{{Subject: "CN=signer", Issuer: "CN=authority", NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter}},
						By:           "CN=signer", Authority: "CN=authority", Until: &until,
					},
					{
						Name: "second", Algorithm: descriptor.AlgorithmPKCS1v15, Hash: "SHA-256", Normalisation: descriptor.NormalisationV1,
						MediaType: descriptor.MediaTypeSignatureRSA, Issuer: issuers[1], State: component.SignatureFails,
						Reason: descriptor.ReasonSignatureUntrusted, Message: got.Signatures[1].Message,
					},
				},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("inspected differently (-want +got):\n%s", diff)
			}
			if got.Digest == root || got.Digest != opened.Component.Digest {
				t.Errorf("the digest is %s, of before %s", got.Digest, root)
			}
			if len(got.Sources) != 1 || got.Sources[0].Repository != version.Sources[0].RepoURL || got.Sources[0].Commit != version.Sources[0].Commit {
				t.Errorf("the sources are %+v", got.Sources)
			}
			judged, err := component.Inspect(opened, nil, time.Time{})
			if err != nil || judged.Signatures[0].State != component.SignatureUnjudged {
				t.Errorf("without trust: %+v, error %v", judged, err)
			}
		})
	}
}
