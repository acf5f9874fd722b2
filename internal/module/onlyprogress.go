package module

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// OnlyProgress reports whether a Kyma's status says nothing new but how far its modules have come: both are Processing, for the same spec,
// and differ in nothing but modules that advance. Such a status can wait for the next one. A module that fails, waits for consent, comes or
// goes, or has another version, is more than progress.
func OnlyProgress(before, after *v1beta2.KymaStatus) bool {
	if before.State != v1beta2.StateProcessing || after.State != v1beta2.StateProcessing {
		return false
	}
	return equality.Semantic.DeepEqual(withoutProgress(before), withoutProgress(after))
}

func withoutProgress(status *v1beta2.KymaStatus) *v1beta2.KymaStatus {
	rest := *status
	rest.Conditions, rest.ModulesReady = nil, ""
	rest.Modules = make([]v1beta2.ModuleStatus, len(status.Modules))
	for i, entry := range status.Modules {
		if entry.State == v1beta2.StateProcessing || entry.State == v1beta2.StateReady {
			entry.State, entry.Reason, entry.Message, entry.InstalledVersion = "", "", "", ""
			entry.Resource, entry.ResourceState, entry.ResourceMessage = nil, "", ""
		}
		rest.Modules[i] = entry
	}
	return &rest
}
