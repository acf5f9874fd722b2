package modulecontent

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// TestFloor_AnAuditIsNoWayAroundARuleThatEnforces covers authors who choose the component that their Manifest names, and with it the rule.
func TestFloor_AnAuditIsNoWayAroundARuleThatEnforces(t *testing.T) {
	for name, test := range map[string]struct {
		unnamed, alone bool // alone: no rule enforces
		build          func(f *fake, m *v1beta2.Manifest, layer v1beta2.ImageSpec)
		sign           signable
		message        string
	}{
		"content of a component that is signed":     {},
		"content of a component that is not signed": {sign: signable{without: true}},
		"other content": {
			build: func(f *fake, m *v1beta2.Manifest, layer v1beta2.ImageSpec) {
				m.Spec.Install.Source.Raw = mustJSON(f.other(layer))
			},
			message: "raw-manifest: no signature that is trusted covers sha256:",
		},
		"other content, where nothing is enforced": {
			alone: true,
			build: func(f *fake, m *v1beta2.Manifest, layer v1beta2.ImageSpec) {
				m.Spec.Install.Source.Raw = mustJSON(f.other(layer))
			},
		},
		"a namespace of their own": {
			build: func(_ *fake, m *v1beta2.Manifest, _ v1beta2.ImageSpec) {
				m.Spec.TargetNamespace = "kube-system"
			},
			message: "spec.targetNamespace: no signature",
		},
		"a version that there is not": {
			build: func(_ *fake, m *v1beta2.Manifest, _ v1beta2.ImageSpec) {
				m.Spec.Version = "2.0.0"
			},
			message: "no signature that is trusted covers",
		},
		"no component": {unnamed: true, message: "names no component version"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startRegistry(t)
			layer, _ := f.publishSigned(t, test.sign)
			f.push(t, "application/yaml", otherMap)
			policy := policyOf(descriptor.RequireAudit, signer())
			policy.Closed = !test.alone
			components, _ := f.ruled(policy)
			contents := f.objects(t).Contents
			contents.Signed = components
			source := v1beta2.ImageSpec{Repo: f.host + "/component-descriptors", Name: component, Ref: layer, Type: v1beta2.RefTypeOCI}
			m := asking(!test.unnamed, source)
			if test.build != nil {
				test.build(f, m, source)
			}
			_, err := contents.Read(t.Context(), m, noCluster)
			if (err == nil) != (test.message == "") ||
				err != nil && (content.ReasonOf(err) != v1beta2.ReasonContentNotCovered || !strings.Contains(err.Error(), test.message)) {
				t.Errorf("error %v", err)
			}
		})
	}
}
