package inventory

// The waves of a teardown. Each one is gone before the next one starts.
const (
	waveCustomResources = iota
	waveAdmission
	waveRest
	waveDefinitions
	waveWorkloads
	waveAccess
	waveNamespaces
	waveCount
)

// Teardown divides entries into the waves in which they are deleted; empty waves are left out:
//
//  1. custom resources, while their operator still runs and can clean up behind them
//  2. webhooks, admission policies and APIServices, which would block the rest once nobody answers for them
//  3. everything that is in no other wave
//  4. CustomResourceDefinitions, which takes the custom resources that users made with them
//  5. Deployments, StatefulSets and DaemonSets, and the manager whatever its kind is: it was needed until now
//  6. what they ran with: ServiceAccounts, RBAC and Services
//  7. namespaces, which would otherwise take everything else with them at once
//
// The manager is the object that runs the module's operator; nil when there is none.
func Teardown(entries []Entry, manager *ID) [][]Entry {
	return waves(entries, func(entry Entry) ID { return entry.ID }, waveCount, func(id ID) int {
		if manager != nil && id == *manager {
			return waveWorkloads
		}
		return teardownWave(id)
	})
}

func teardownWave(id ID) int {
	switch Phase(id.GroupKind()) {
	case phaseNamespaces:
		return waveNamespaces
	case phaseDefinitions:
		return waveDefinitions
	case phaseAdmission:
		return waveAdmission
	case phaseCustomResources:
		return waveCustomResources
	}
	switch id.Group {
	case "apps":
		switch id.Kind {
		case "Deployment", "StatefulSet", "DaemonSet":
			return waveWorkloads
		}
	case groupRBAC:
		return waveAccess
	case "":
		switch id.Kind {
		case "ServiceAccount", "Service":
			return waveAccess
		}
	}
	return waveRest
}
