package testkit

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Kstatus returns what kstatus, by which the tools of GitOps wait, says of a Kyma or a Manifest.
func Kstatus(object client.Object) (status.Status, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return "", err
	}
	fields["apiVersion"], fields["kind"] = v1beta2.GroupVersion.String(), kindOf(object)
	result, err := status.Compute(&unstructured.Unstructured{Object: fields})
	if err != nil {
		return "", err
	}
	return result.Status, nil
}

// misleads returns where kstatus says another thing of a version of an object than its state does. A status that upstream wrote, or that a
// definition without observedGeneration pruned, is not judged.
func misleads(now subject) []string {
	var object client.Object
	switch {
	case now.observed == 0:
		return nil
	case now.kyma != nil:
		object = now.kyma
	case now.manifest != nil:
		object = now.manifest
	default:
		return nil
	}
	want := status.InProgressStatus
	switch {
	case now.deleted:
		want = status.TerminatingStatus
	case !now.current():
	case now.state == v1beta2.StateError:
		want = status.FailedStatus
	case now.state == v1beta2.StateReady:
		want = status.CurrentStatus
	}
	if got, err := Kstatus(object); err != nil || got != want {
		return []string{fmt.Sprintf("state is %q of generation %d of %d, and kstatus says %q, not %s: %v",
			now.state, now.observed, now.generation, got, want, err)}
	}
	return nil
}
