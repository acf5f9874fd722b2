package alerts

import "slices"

// Expectation says how a fault of the matrix is recorded, and which alert has to ring.
type Expectation struct {
	// Fault and Form are those of the matrix.
	Fault, Form string
	// Operation is what a person does while it is on.
	Operation string
	// Churn lets Kymas come and go on another runtime meanwhile, so that there are calls to the hub all the time.
	Churn bool
	// Alert is the one that rings; without one, Silent says why none has to.
	Alert, Silent string
}

// Expectations returns one for each fault, in the order of the matrix.
func Expectations() []Expectation {
	return slices.Concat(ofProcess, ofHub, ofRuntime, ofArtifacts)
}

// ExpectationOf returns that of a fault; that of Clean is that nothing rings.
func ExpectationOf(fault string) (expected Expectation, known bool) {
	if fault == Clean {
		return Expectation{Fault: Clean, Silent: "nothing is wrong"}, true
	}
	all := Expectations()
	at := slices.IndexFunc(all, func(e Expectation) bool { return e.Fault == fault })
	if at < 0 {
		return Expectation{}, false
	}
	return all[at], true
}

var ofProcess = []Expectation{
	{Fault: "kill", Form: "before the third write", Operation: "install", Alert: "LifecycleManagerDown"},
	{Fault: "sigterm", Form: "at the second write", Operation: "install", Alert: "LifecycleManagerDown"},
	{Fault: "sigstop", Form: "one of two replicas, beyond its lease", Operation: "channel", Alert: "LifecycleManagerDown"},
	{Fault: "oom", Form: "no memory left", Operation: "install", Churn: true, Alert: "LifecycleManagerDown"},
	{Fault: "clock", Form: "an hour ahead", Operation: "channel", Alert: "LifecycleManagerClockSkewed"},
	{Fault: "disk full", Form: "nothing can be written", Operation: "install", Alert: "LifecycleManagerInternalErrors"},
}

var ofHub = []Expectation{
	{Fault: "hub restarts", Form: "refused for two seconds", Operation: "channel", Churn: true, Alert: "HubCallsFail"},
	{Fault: "hub is away", Form: "503", Operation: "channel", Churn: true, Alert: "HubCallsFail"},
	{Fault: "hub says 429", Form: "with Retry-After", Operation: "channel", Churn: true, Alert: "HubThrottles"},
	{Fault: "hub says 500", Form: "to a tenth of all calls", Operation: "channel", Churn: true, Alert: "HubCallsFail"},
	{Fault: "hub says 409", Form: "to the first write of every object", Operation: "channel", Churn: true, Alert: "HubWritesConflict"},
	{Fault: "hub is slow", Form: "five seconds a call", Operation: "channel", Churn: true, Alert: "HubSlow"},
	{Fault: "hub cuts watches", Form: "every second", Operation: "channel", Churn: true, Alert: "HubWatchesBreak"},
	{Fault: "hub compacts", Form: "410 for every watch", Operation: "channel", Churn: true, Alert: "HubWatchesBreak"},
	{Fault: "hub lags", Form: "lists of before, after a restart", Operation: "channel", Alert: "LifecycleManagerRestarted"},
	{Fault: "hub is full", Form: "NOSPACE", Operation: "channel", Churn: true, Alert: "HubCallsFail"},
	{Fault: "hub's webhook", Form: "denies Manifests", Operation: "channel", Alert: "HubRefusesManifests"},
	{
		Fault: "hub's definition is older", Form: "without some fields of the status", Operation: "channel", Churn: true,
		Alert: "HubDefinitionsOutdated",
	},
}

var ofRuntime = []Expectation{
	{Fault: "runtime cannot be reached", Form: "refused", Operation: "channel", Alert: "RuntimeUnreachable"},
	{Fault: "runtime refuses us", Form: "401", Operation: "channel", Alert: "RuntimeAccessRefused"},
	{Fault: "access Secret", Form: "deleted", Operation: "channel", Alert: "RuntimeAccessRefused"},
	{Fault: "runtime is slow", Form: "ten seconds a call", Operation: "channel", Alert: "RuntimeSlow"},
	{Fault: "runtime says 429", Form: "with Retry-After", Operation: "channel", Alert: "RuntimeThrottles"},
	{Fault: "object refused", Form: "the second of a module", Operation: "channel", Alert: "ModuleObjectRefused"},
	{Fault: "kinds go", Form: "definition of a module deleted", Operation: "channel", Alert: "ModuleDefinitionsDeleted"},
	{Fault: "another client writes", Form: "the same field, again and again", Operation: "channel", Alert: "ModuleFieldsContested"},
	{Fault: "runtime's webhook", Form: "denies ConfigMaps", Operation: "channel", Alert: "ModuleObjectRefused"},
	{Fault: "runtime restored", Form: "without some objects", Operation: "channel", Alert: "RuntimeUnreachable"},
	{Fault: "runtime is hostile", Form: "endless body", Operation: "channel", Alert: "RuntimeUnreachable"},
}

var ofArtifacts = []Expectation{
	{Fault: "registry", Form: "down", Operation: "install", Alert: "ModuleContentUnavailable"},
	{Fault: "other bytes", Form: "of the same length", Operation: "install", Alert: "ModuleContentRefused"},
	{Fault: "truncated", Form: "after half of a layer", Operation: "install", Alert: "ModuleContentUnavailable"},
	{Fault: "bomb", Form: "a thousand to one", Operation: "install", Alert: "ModuleContentRefused"},
	{Fault: "entries", Form: "a hundred thousand", Operation: "install", Alert: "ModuleContentRefused"},
	{Fault: "links", Form: "symbolic", Operation: "install", Alert: "ModuleContentRefused"},
	{Fault: "bad objects", Form: "not an object", Operation: "install", Alert: "ModuleContentRefused"},
	{
		Fault: "tag moves", Form: "between verify and fetch", Operation: "install",
		Silent: "what was verified is what is fetched, by its digest: the module is installed, and nothing is wrong with it",
	},
}
