package bare

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// kymaStatus returns what a user is told of a Kyma whose modules are on their way, or all there: as much as the manager tells.
func kymaStatus(kyma *v1beta2.Kyma, parts []part, state v1beta2.State, now metav1.Time) v1beta2.KymaStatus {
	status := v1beta2.KymaStatus{
		ObservedGeneration: kyma.Generation, State: state, ActiveChannel: kyma.Spec.Channel,
		RuntimeID:     string(kyma.UID), // as long as the one of a runtime
		LastSeen:      lastSeen(kyma),
		Conditions:    kymaConditions(kyma, parts, state, now),
		ModulesReady:  fmt.Sprintf("%d/%d", ready(parts), len(parts)),
		LastOperation: v1beta2.LastOperation{Operation: v1beta2.OperationKymaReady, LastUpdateTime: now},
	}
	if state != v1beta2.StateReady {
		status.Operation = v1beta2.OperationWaitingModules
	}
	for i := range parts {
		status.Modules = append(status.Modules, entry(kyma, &parts[i]))
	}
	return status
}

func ready(parts []part) (n int) {
	for _, p := range parts {
		if p.state == v1beta2.StateReady {
			n++
		}
	}
	return n
}

func kymaConditions(kyma *v1beta2.Kyma, parts []part, state v1beta2.State, now metav1.Time) []metav1.Condition {
	status, reason, modules := metav1.ConditionTrue, v1beta2.ReasonReady, v1beta2.MessageModulesReady
	if state != v1beta2.StateReady {
		status, reason, modules = metav1.ConditionFalse, v1beta2.ReasonModuleProcessing, v1beta2.MessageModulesNotReady
	}
	told := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return condition(kind, status, reason, message, kyma.Generation, now)
	}
	return []metav1.Condition{
		told(v1beta2.ConditionCRDsSync, metav1.ConditionTrue, v1beta2.ReasonSynced, v1beta2.MessageCRDsSynced),
		told(v1beta2.ConditionModuleCatalog, metav1.ConditionTrue, v1beta2.ReasonSynced, v1beta2.MessageCatalogSynced),
		told(v1beta2.ConditionModules, status, reason, modules),
		told(v1beta2.ConditionReady, status, reason, fmt.Sprintf("%d of %d modules ready", ready(parts), len(parts))),
		told(v1beta2.ConditionSpecSync, metav1.ConditionTrue, v1beta2.ReasonSynced, v1beta2.MessageSpecsAgree),
	}
}

// lastSeen returns the base of a later merge of hub and runtime, which is lost if it is not written.
func lastSeen(kyma *v1beta2.Kyma) *v1beta2.LastSeen {
	seen := &v1beta2.SeenSpec{Channel: kyma.Spec.Channel}
	for _, m := range kyma.Spec.Modules {
		seen.Modules = append(seen.Modules, v1beta2.SeenModule{Name: m.Name, CustomResourcePolicy: m.CustomResourcePolicy})
	}
	return &v1beta2.LastSeen{Hub: seen, Runtime: seen}
}

// entry returns what a Kyma tells of a module.
func entry(kyma *v1beta2.Kyma, p *part) v1beta2.ModuleStatus {
	told := v1beta2.ModuleStatus{
		Name: p.module.Name, FQDN: p.module.Component, OCMComponentName: p.module.Component,
		Channel: kyma.Spec.Channel, Version: p.module.Version, State: p.state,
		Template: reference("ModuleTemplate", metav1.ObjectMeta{
			Namespace: kyma.Namespace, Name: p.module.Name + "-" + p.module.Version, Generation: 1,
		}),
	}
	if p.state != v1beta2.StateReady {
		told.Reason = v1beta2.ReasonModuleProcessing
	}
	if p.manifest != nil {
		told.Manifest = reference("Manifest", p.manifest.ObjectMeta)
		if last := p.manifest.Status.InstalledVersion; last != p.module.Version {
			told.InstalledVersion = last
		}
	}
	return told
}

func reference(kind string, to metav1.ObjectMeta) *v1beta2.TrackingObject {
	return &v1beta2.TrackingObject{
		TypeMeta:    metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: kind},
		PartialMeta: v1beta2.PartialMeta{Namespace: to.Namespace, Name: to.Name, Generation: to.Generation},
	}
}
