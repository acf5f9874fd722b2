package module

import (
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

func TestWayBack_ACorrectedTemplateThatSucceededIsOne(t *testing.T) {
	edited := began(v2, -72*time.Hour, "Ready", "RolledBack", "ProgressDeadlineExceeded")
	edited.Template = "0123456789abcdef"
	expectWayBack(t, newResolver(sampleWorld(ofChannel("fast"), offersThird, automatic, installedAt("fast", v3),
		theTemplate(v3, func(template *v1beta2.ModuleTemplate) { template.Spec.RollbackTo = ">=1.0.0" }),
		reports("Error", "ObjectFailed"),
		withHistory(began(v1, -96*time.Hour, "", "Succeeded", ""), edited, began(v1, -48*time.Hour, "Error", "Succeeded", ""),
			began(v2, -24*time.Hour, "Ready", "Succeeded", ""), began(v3, -time.Hour, "Ready", "", "")), observedAllTheTime)),
		v2, Run, "RolledBack", "version 3.0.0 failed here (the Manifest says so) and 2.0.0 is installed")
}

func TestWayBack_AnEditThereAndBackLeavesHeldWhatIsHeld(t *testing.T) {
	w := wentBack()
	for _, manager := range []string{"another", operator, "another", operator} {
		theTemplate(v1, func(template *v1beta2.ModuleTemplate) { template.Spec.Manager.Name = manager })(&w)
		for range 2 {
			verdicts := Resolve(w)
			after := carryOut(w, MakePlan(w, verdicts))
			after.Kyma.Status = Rollup(w, verdicts, nil)
			w = after
			m := &w.Manifests[0]
			m.Status.Revisions = revision.Begin(m.Status.Revisions, revision.Of(&m.Spec), m.Status.State,
				m.Annotations[v1beta2.AnnotationRollback], noon.Time)
			m.Status.Revisions = revision.End(makeReady(m).Status.Revisions, v1beta2.RevisionSucceeded, "")
		}
		expectWayBack(t, newResolver(w), v1, Run, "RolledBack", "version 2.0.0 failed here")
		if held := revision.Held(w.Manifests[0].Status.Revisions, 0); held != referenceAt(v2) {
			t.Errorf("with the manager %s %q is held", manager, held)
		}
	}
}
