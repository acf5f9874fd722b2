package takeover

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The subjects of findings about the manager itself.
const (
	subjectDeployment = "Deployment"
	subjectFlags      = "flags"
	subjectSecrets    = "Secrets"
	subjectPolicy     = "maintenance policy"
)

// ManagerName is the name of the manager's Deployment, upstream's and ours.
const ManagerName = "klm-controller-manager"

const (
	// program is the command of upstream's image and ours.
	program = "/manager"
	// labelName and ourName are the label by which our Deployment selects its pods; upstream's uses another label.
	labelName = "app.kubernetes.io/name"
	ourName   = "lifecycle-manager"
)

// deployment checks the Deployment of upstream's manager and everything that it names.
func (j *judge) deployment() {
	if j.unread(subjectDeployment, j.hub.Manager.Err) {
		return
	}
	if len(j.hub.Manager.Items) == 0 {
		j.sayf(subjectDeployment, Refused, "there is no Deployment %s/%s: is this the cluster that upstream's manager runs on?",
			v1beta2.DefaultNamespace, ManagerName)
		return
	}
	manager := &j.hub.Manager.Items[0]
	j.settings = SettingsOf(manager)
	container := managerIn(&manager.Spec.Template.Spec)
	if container == nil {
		j.sayf(subjectDeployment, Refused, "it has no container")
		return
	}
	if command := container.Command; len(command) > 0 && (len(command) > 1 || command[0] != program) {
		j.sayf(subjectDeployment, Refused, "its container runs %q: remove command, or write [%q]", strings.Join(command, " "), program)
	}
	if selector := manager.Spec.Selector; selector != nil && selector.MatchLabels[labelName] != ourName {
		j.sayf(subjectDeployment, Fine, "its selector is not that of this manager's, and the API server lets none be changed: keep the "+
			"Deployment and change its image, or delete it before make deploy or kyma install")
	}
	j.soundf(subjectDeployment, "runs %s", container.Image)
	j.flags()
	j.environment(container)
	j.secrets()
	j.policy()
}

// flags checks which flags are refused, have no effect, or have another meaning.
func (j *judge) flags() {
	var unknown, ours []string
	without := map[string][]string{}
	for _, flag := range slices.Sorted(maps.Keys(j.settings.Flags)) {
		reason, none := ignored(flag)
		switch {
		case none:
			without[reason] = append(without[reason], flag)
		case slices.Contains(NewFlags, flag):
			ours = append(ours, flag)
		case !slices.Contains(SharedFlags, flag):
			unknown = append(unknown, flag)
		}
	}
	if j.settings.Stray != "" {
		j.sayf(subjectFlags, Refused, "the manager would not start: %q is no flag; everything is set by flags", j.settings.Stray)
	}
	if len(unknown) > 0 {
		j.sayf(subjectFlags, Refused, "the manager would not start: it does not have %s; remove them", flagged(unknown))
	}
	if len(ours) > 0 {
		j.sayf(subjectFlags, Differs, "not upstream's: %s; this manager runs already, or upstream's would not start", flagged(ours))
	}
	j.meanings()
	for _, reason := range slices.Sorted(maps.Keys(without)) {
		j.sayf(subjectFlags, Fine, "%s have no effect: %s", flagged(without[reason]), reason)
	}
	j.defaults()
}

// meanings checks flags whose value matters.
func (j *judge) meanings() {
	flags := j.settings.Flags
	if namespace := flags["sync-namespace"]; namespace != "" && namespace != v1beta2.RuntimeNamespace {
		j.sayf(subjectFlags, Differs, "--sync-namespace=%s has no effect: this manager keeps Kyma and catalog of a runtime in %s",
			namespace, v1beta2.RuntimeNamespace)
	}
	if flags["enable-webhooks"] != "" && flags["enable-webhooks"] != "false" {
		j.sayf(subjectFlags, Differs,
			"--enable-webhooks has an effect here: the manager serves the conversion of v1alpha1; remove the flag where that is not wanted")
	}
	if (flags["oci-registry-host"] == "") == (flags["oci-registry-cred-secret"] == "") {
		j.sayf(subjectFlags, Refused, "the manager would not start: it takes exactly one of --oci-registry-host and --oci-registry-cred-secret")
	}
}

// defaults lists changes because a flag is not set.
func (j *judge) defaults() {
	var kept []string
	for _, flag := range slices.Sorted(maps.Keys(UpstreamDefaults)) {
		if _, set := j.settings.Flags[flag]; !set {
			kept = append(kept, "--"+flag+"="+UpstreamDefaults[flag])
		}
	}
	if len(kept) > 0 {
		j.sayf(subjectFlags, Fine, "other defaults count here; to keep upstream's set %s", strings.Join(kept, " "))
	}
}

// environment lists environment variables that only upstream reads.
func (j *judge) environment(container *corev1.Container) {
	var names []string
	for _, variable := range container.Env {
		if strings.HasPrefix(variable.Name, "KLM_EXPERIMENTAL_") || variable.Name == "ENABLE_LEGACY_KYMA_DELETION" {
			names = append(names, variable.Name)
		}
	}
	if len(names) > 0 {
		j.sayf(subjectFlags, Fine, "the environment variables %s are not read", strings.Join(names, ", "))
	}
}

// secrets checks the Secrets that flags name.
func (j *judge) secrets() {
	if len(j.settings.Secrets()) == 0 || j.unread(subjectSecrets, j.hub.Named.Err) {
		return
	}
	registry := j.settings.Flags["oci-registry-cred-secret"]
	for _, name := range j.settings.Secrets() {
		at := slices.IndexFunc(j.hub.Named.Items, func(s corev1.Secret) bool { return s.Name == name })
		switch {
		case at < 0:
			j.sayf(subjectSecrets, Differs, "Secret %s/%s, which a flag names, does not exist: the manager starts, and waits for it",
				v1beta2.DefaultNamespace, name)
		case name == registry && hosts(&j.hub.Named.Items[at]) != 1:
			j.sayf(subjectSecrets, Refused, "Secret %s/%s of --oci-registry-cred-secret has logins for %d registries in %s: write exactly one",
				v1beta2.DefaultNamespace, name, hosts(&j.hub.Named.Items[at]), corev1.DockerConfigJsonKey)
		}
	}
	j.soundf(subjectSecrets, "%s, which flags name, can be used", strings.Join(j.settings.Secrets(), ", "))
}

// hosts returns the number of registries for which a Secret has logins.
func hosts(secret *corev1.Secret) int {
	var config struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if json.Unmarshal(secret.Data[corev1.DockerConfigJsonKey], &config) != nil {
		return 0
	}
	return len(config.Auths)
}

// policy checks the maintenance windows. Without a policy, both managers refuse upgrades that need downtime.
func (j *judge) policy() {
	s := j.settings
	switch {
	case s.Elsewhere != "":
		j.sayf(subjectPolicy, Differs, "it comes from %s and not from a ConfigMap, so that it was not checked", s.Elsewhere)
		return
	case s.Policy == "":
		j.sayf(subjectPolicy, Fine, "none is mounted at %s: upgrades that need downtime are refused, as they are now", policyFolder)
		return
	case j.unread(subjectPolicy, j.hub.Policies.Err):
		return
	case s.SubPath:
		j.sayf(subjectPolicy, Differs, "a mount by subPath does not follow changes of the ConfigMap: mount the folder %s", policyFolder)
	}
	place := "ConfigMap " + v1beta2.DefaultNamespace + "/" + s.Policy
	at := slices.IndexFunc(j.hub.Policies.Items, func(c corev1.ConfigMap) bool { return c.Name == s.Policy })
	if at < 0 {
		j.sayf(subjectPolicy, Differs, "%s does not exist: upgrades that need downtime are refused", place)
		return
	}
	text, binary := j.hub.Policies.Items[at].Data[s.Key], j.hub.Policies.Items[at].BinaryData[s.Key]
	if text != "" {
		binary = []byte(text)
	}
	if err := j.rules.Policy(binary); err != nil {
		j.sayf(subjectPolicy, Refused, "%s, key %s, is refused as a whole, and so are upgrades that need downtime: %v", place, s.Key, err)
	}
	j.soundf(subjectPolicy, "%s is understood", place)
}
