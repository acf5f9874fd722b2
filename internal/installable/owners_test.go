package installable_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// Who owns an object, who asks for it, and whether it is taken over without being told to in any case.
func TestOwners(t *testing.T) {
	manifest, direct := "kcp-system/demo-notes", installable.DirectOwner("notes")
	for name, test := range map[string]struct {
		byManifest, byDirect string // the marks
		managed              bool   // the label
		manifestTakes        bool
		directTakes          bool
		claim                string // words of the refusal
	}{
		"an object without a mark is taken over by both":                   {manifestTakes: true, directTakes: true},
		"a Manifest's is not taken over directly":                          {byManifest: manifest, managed: true, claim: manifest},
		"what a Manifest let go of is taken over directly":                 {byManifest: manifest, directTakes: true},
		"a label without a mark is no owner":                               {managed: true, manifestTakes: true, directTakes: true},
		"a direct installation's is not taken over by a Manifest":          {byDirect: direct, claim: `module "notes"`},
		"an operator's own is taken over by a Manifest and never directly": {byDirect: "default/beacon", manifestTakes: true},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			annotations := map[string]string{}
			if test.byManifest != "" {
				annotations[v1beta2.AnnotationOwnedBy] = test.byManifest
			}
			if test.byDirect != "" {
				annotations[installer.DefaultOwnerKey] = test.byDirect
			}
			object.SetAnnotations(annotations)
			if test.managed {
				object.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
			}
			asManifest := apply.Options{
				Owner: "kcp-system/other", OwnerKey: v1beta2.AnnotationOwnedBy, Ownership: apply.AdoptIfUnowned, Claim: installable.ClaimedDirectly,
			}
			if got, _ := asManifest.Adopts(object); got != test.manifestTakes {
				t.Errorf("a Manifest takes it over: %t", got)
			}
			asDirect := apply.Options{
				Owner: installable.DirectOwner("other"), OwnerKey: installer.DefaultOwnerKey, Ownership: apply.AdoptIfUnowned,
				Claim: installable.ClaimedByManifest,
			}
			if got, _ := asDirect.Adopts(object); got != test.directTakes {
				t.Errorf("it is taken over directly: %t", got)
			}
			object.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
			if got, _ := asManifest.Adopts(object); got {
				t.Error("a Manifest takes over what is being deleted")
			}
			claim := installable.ClaimedDirectly(object) + installable.ClaimedByManifest(object)
			if (claim == "") != (test.claim == "") || !strings.Contains(claim, test.claim) || test.claim != "" && !strings.Contains(claim, "--keep-resources") {
				t.Errorf("the claim is %q, want %q", claim, test.claim)
			}
		})
	}
}
