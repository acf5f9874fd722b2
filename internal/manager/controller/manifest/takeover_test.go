package manifest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// exists makes the ConfigMap of the chart, with annotations and labels of another installer.
func (c *charted) exists(annotations, labels map[string]string) {
	c.Helper()
	plain := object("v1", "ConfigMap", "plain")
	plain.SetNamespace("default")
	plain.SetAnnotations(annotations)
	plain.SetLabels(labels)
	if _, err := c.c.dynamic.Resource(mapsResource).Namespace("default").Create(c.Context(), plain, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// adopts makes the Manifest take over what has no owner.
func (c *charted) adopts() {
	c.Helper()
	manifest := stored(c.T, c.r, c.manifest)
	manifest.Spec.Ownership = v1beta2.OwnershipAdoptIfUnowned
	if err := c.r.Client.Update(c.Context(), manifest); err != nil {
		c.Fatal(err)
	}
}

func TestTakeOver_HooksRunAsOfAnUpgrade(t *testing.T) {
	mine := map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/sample"}
	for name, test := range map[string]struct {
		annotations, labels map[string]string
		prevents            bool
		reason, text        string
		hooks               []string
	}{
		"what has no owner": {reason: v1beta2.ReasonWaitingForHook, text: "hook pre-upgrade of raw-manifest", hooks: []string{"plain", "before"}},
		"what a Manifest of this name let go of": {
			annotations: mine, reason: v1beta2.ReasonWaitingForHook, text: "hook pre-upgrade of raw-manifest", hooks: []string{"plain", "before"},
		},
		"what an interrupted first pass made is no takeover": {
			annotations: mine, labels: map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma},
			reason: v1beta2.ReasonWaitingForHook, text: "hook pre-install of raw-manifest", hooks: []string{"plain", "before"},
		},
		"what is installed directly is refused before a hook runs": {
			annotations: map[string]string{installer.DefaultOwnerKey: installable.DirectOwner("sample")},
			reason:      v1beta2.ReasonOwnershipConflict, text: `module "sample", which was installed directly`, hooks: []string{"plain"},
		},
		"what may not be taken over is refused before a hook runs": {
			prevents: true, reason: v1beta2.ReasonOwnershipConflict, text: "carries no owner mark", hooks: []string{"plain"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCharted(t, chartPart())
			c.exists(test.annotations, test.labels)
			if !test.prevents {
				c.adopts()
			}
			c.install(test.reason, test.text)
			c.expect(test.hooks...)
		})
	}
}

func TestTakeOver_GeneratesNoValuesForWhatHasOthers(t *testing.T) {
	c := newGeneratingChart(t)
	c.adopts()
	c.exists(nil, nil)
	c.install(v1beta2.ReasonGeneratedValuesLost, "has values that are not known")
	if c.value() != " " {
		t.Errorf("the object was written: %q", c.value())
	}
	c.createSecret(generated.Store{}, "kcp-system/sample")
	c.install(v1beta2.ReasonReady, "")
	if c.value() == " " {
		t.Error("a Secret without data asks for new values")
	}
}
