package takeover

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A hub as upstream leaves it has nothing that needs a decision, and the report shows that each subject was checked.
func TestTakeover_AHubAsUpstreamLeavesIt(t *testing.T) {
	for _, f := range findings(t, upstreams(t), Differs, Refused) {
		t.Errorf("%s %s: %s %v", f.Level, f.Subject, f.Message, f.Places)
	}
	var subjects []string
	for _, f := range findings(t, upstreams(t)) {
		if !slices.Contains(subjects, f.Subject) {
			subjects = append(subjects, f.Subject)
		}
	}
	want := []string{
		subjectDeployment, subjectFlags, subjectSecrets, subjectPolicy, subjectDefinitions, subjectWebhooks, subjectKymas, subjectAccess,
		subjectTemplates, subjectReleases, subjectManifests, subjectModules, subjectLeftovers,
	}
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
}

// finding is a change of a hub, and the only finding above Fine that it causes.
type finding struct {
	name    string
	change  func(*testing.T, *Hub)
	subject string
	level   Level
	says    string
	places  []string
}

func TestTakeover_WhatTheSwitchChanges(t *testing.T) {
	for _, test := range slices.Concat(ofTheDeployment, ofTheCluster, ofObjects, ofModules) {
		t.Run(test.name, func(t *testing.T) {
			hub := upstreams(t)
			test.change(t, hub)
			got := findings(t, hub, Differs, Refused)
			if len(got) != 1 {
				t.Fatalf("want one finding:\n%+v", got)
			}
			f := got[0]
			if f.Subject != test.subject || f.Level != test.level || !strings.Contains(f.Message, test.says) {
				t.Errorf("got %+v", f)
			}
			if f.Count != len(test.places) || !slices.Equal(f.Places, test.places) {
				t.Errorf("places %d %q, want %q", f.Count, f.Places, test.places)
			}
		})
	}
}

var ofTheDeployment = []finding{
	{"no Deployment", func(_ *testing.T, h *Hub) {
		h.Manager.Items, h.Named, h.Policies = nil, Read[corev1.Secret]{}, Read[corev1.ConfigMap]{}
	},
		subjectDeployment, Refused, "there is no Deployment kcp-system/klm-controller-manager", nil},
	{"another program", func(_ *testing.T, h *Hub) {
		h.Manager.Items[0].Spec.Template.Spec.Containers[0].Command = []string{"sh", "-c"}
	},
		subjectDeployment, Refused, `runs "sh -c"`, nil},
	{"an unknown flag", arg("--fancy=1", "-old", "2"), subjectFlags, Refused, "it does not have --fancy, --old; remove them", nil},
	{"an argument that is not a flag", arg("serve", "--fancy"), subjectFlags, Refused, `"serve" is no flag`, nil},
	{"a flag of ours", arg("--content-dir=/content"), subjectFlags, Differs, "not upstream's: --content-dir;", nil},
	{"another namespace in the runtime", arg("--sync-namespace", "other"), subjectFlags, Differs, "--sync-namespace=other has no effect", nil},
	{"webhooks", arg("--enable-webhooks"), subjectFlags, Differs, "conversion of v1alpha1", nil},
	{"two registries", arg("--oci-registry-host=r.example.com"), subjectFlags, Refused, "exactly one of --oci-registry-host", nil},
	{"the registry's Secret is missing", func(_ *testing.T, h *Hub) { h.Named.Items = h.Named.Items[1:] },
		subjectSecrets, Differs, "Secret kcp-system/oci-cred, which a flag names, does not exist", nil},
	{"the registry's Secret has no logins", func(_ *testing.T, h *Hub) { h.Named.Items[0].Data = nil },
		subjectSecrets, Refused, "logins for 0 registries", nil},
	{"a policy that is refused", func(_ *testing.T, h *Hub) { h.Policies.Items[0].Data["policy.json"] = "{}" },
		subjectPolicy, Refused, "is refused as a whole, and so are upgrades that need downtime: it has no rules", nil},
	{"no policy", func(_ *testing.T, h *Hub) { h.Policies.Items = nil }, subjectPolicy, Differs, "kcp-system/maintenance-config does not exist", nil},
	{"a policy that is mounted as a file", func(_ *testing.T, h *Hub) {
		mount := &h.Manager.Items[0].Spec.Template.Spec.Containers[0].VolumeMounts[0]
		mount.MountPath, mount.SubPath = "/etc/maintenance-policy/policy.json", "policy.json"
	}, subjectPolicy, Differs, "does not follow changes", nil},
	{"a policy from elsewhere", func(_ *testing.T, h *Hub) { h.Manager.Items[0].Spec.Template.Spec.Volumes[0].ConfigMap = nil },
		subjectPolicy, Differs, "volume maintenance-policy and not from a ConfigMap", nil},
}

// validating returns a webhook for a group, served by a Service of a namespace.
func validating(group, namespace, service string) func(*testing.T, *Hub) {
	return func(_ *testing.T, h *Hub) {
		webhook := admissionregistrationv1.ValidatingWebhook{
			Name: "a.example.com", ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: service}},
			Rules: []admissionregistrationv1.RuleWithOperations{{Rule: admissionregistrationv1.Rule{APIGroups: []string{group}}}},
		}
		configuration := admissionregistrationv1.ValidatingWebhookConfiguration{Webhooks: []admissionregistrationv1.ValidatingWebhook{webhook}}
		configuration.Name = "judge"
		h.Validating.Items = append(h.Validating.Items, configuration)
	}
}

var ofTheCluster = []finding{
	{"a definition is missing", func(_ *testing.T, h *Hub) { h.Definitions.Items = h.Definitions.Items[1:] },
		subjectDefinitions, Refused, "missing", []string{"kymas.operator.kyma-project.io"}},
	{"an unknown version is stored", func(_ *testing.T, h *Hub) { h.Definitions.Items[0].Status.StoredVersions = []string{"v1alpha0"} },
		subjectDefinitions, Refused, "status.storedVersions", []string{"kymas.operator.kyma-project.io v1alpha0"}},
	{"a webhook converts", func(_ *testing.T, h *Hub) {
		h.Definitions.Items[0].Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	}, subjectDefinitions, Differs, "conversion", []string{"kymas.operator.kyma-project.io"}},
	{"upstream serves a webhook", validating("operator.kyma-project.io", "kcp-system", "klm-webhook-service"),
		subjectWebhooks, Refused, "delete the webhook before the switch", []string{"validating judge: a.example.com"}},
	{"a policy engine that checks everything", validating("*", "policies", "gatekeeper"),
		subjectWebhooks, Differs, "see whether it accepts", []string{"validating judge: a.example.com"}},
	{"a webhook that changes our objects", func(_ *testing.T, h *Hub) {
		configuration := admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "m", Rules: []admissionregistrationv1.RuleWithOperations{{Rule: admissionregistrationv1.Rule{APIGroups: []string{"operator.kyma-project.io"}}}},
		}}}
		configuration.Name = "changer"
		h.Mutating.Items = append(h.Mutating.Items, configuration)
	}, subjectWebhooks, Differs, "see whether it accepts", []string{"mutating changer: m"}},
}

var ofObjects = []finding{
	{"a value that our definition refuses", func(t *testing.T, h *Hub) { set(t, &h.Manifests.Items[0], "Maybe", "spec", "customResourcePolicy") },
		subjectManifests, Refused, "refuses the next write", []string{"kcp-system/sample-template-operator-2: spec.customResourcePolicy"}},
	{"the label sync", func(t *testing.T, h *Hub) { label(t, &h.Kymas.Items[0], "operator.kyma-project.io/sync", "false") },
		subjectKymas, Differs, "keeps everything but modules out", []string{"kcp-system/sample"}},
	{"no access Secret", func(_ *testing.T, h *Hub) { h.Access.Items = nil }, subjectAccess, Differs, "no access Secret", []string{"kcp-system/sample"}},
	{"two access Secrets", func(_ *testing.T, h *Hub) { h.Access.Items = append(h.Access.Items, h.Access.Items[0]) },
		subjectAccess, Differs, "several access Secrets", []string{"kcp-system/sample"}},
	{"a kubeconfig that reads files", func(_ *testing.T, h *Hub) {
		data := h.Access.Items[0].Data
		data["config"] = []byte(strings.Replace(string(data["config"]), "token: secret", "tokenFile: /var/run/token", 1))
	}, subjectAccess, Refused, "write everything inline",
		[]string{`kcp-system/kubeconfig-sample: the kubeconfig is refused: user "runtime" reads a file (tokenFile); write token instead`}},
	{"customStateCheck", func(t *testing.T, h *Hub) {
		set(t, &h.Templates.Items[0], []any{map[string]any{"jsonPath": "status.a", "value": "b", "mappedState": "Ready"}}, "spec", "customStateCheck")
	}, subjectTemplates, Differs, "customStateCheck counts here", []string{"kcp-system/template-operator-1.0.0"}},
	{"associatedResources", func(t *testing.T, h *Hub) {
		set(t, &h.Templates.Items[0], []any{map[string]any{"group": "g.io", "version": "v1", "kind": "A"}}, "spec", "associatedResources")
	}, subjectTemplates, Differs, "not deleted while objects of these kinds exist", []string{"kcp-system/template-operator-1.0.0"}},
	{"a Manifest without an owner", func(t *testing.T, h *Hub) {
		set(t, another(t, h, "alone"), map[string]any{}, "metadata", "labels")
	}, subjectManifests, Refused, "no Kyma owns the Manifest", []string{"kcp-system/alone"}},
	{"a Manifest of a Kyma that is gone", func(t *testing.T, h *Hub) {
		label(t, another(t, h, "left"), "operator.kyma-project.io/kyma-name", "gone")
	}, subjectManifests, Differs, "does not exist", []string{"kcp-system/left"}},
}

var ofModules = []finding{
	{"a Manifest that the status does not name", func(t *testing.T, h *Hub) {
		label(t, another(t, h, "orphan"), "operator.kyma-project.io/module-name", "other")
	}, subjectModules, Refused, "which upstream calls orphaned", []string{"kcp-system/sample: other"}},
	{"a template of another module", func(t *testing.T, h *Hub) { set(t, &h.Templates.Items[0], "other", "spec", "moduleName") },
		subjectModules, Differs, "(TemplateInvalid)", []string{"kcp-system/sample: template-operator"}},
	{"a module that its Kyma may not have", func(t *testing.T, h *Hub) { label(t, &h.Templates.Items[0], "operator.kyma-project.io/beta", "true") },
		subjectModules, Refused, "removed by this manager (NotAllowed): module template not allowed: beta module",
		[]string{"kcp-system/sample: template-operator"}},
	{"a restricted module without a selector", arg("--restricted-default-modules=template-operator"),
		subjectModules, Differs, "(ModuleRestricted)", []string{"kcp-system/sample: template-operator"}},
	{"a mandatory module without its template", func(_ *testing.T, h *Hub) { h.Templates.Items = h.Templates.Items[:1] },
		subjectModules, Differs, "(TemplateNotFound)", []string{"kcp-system/sample: warden"}},
}

// label sets a label of a stored object.
func label(t *testing.T, object *unstructured.Unstructured, key, value string) {
	t.Helper()
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	object.SetLabels(labels)
}

// another adds and returns a Manifest like the first.
func another(t *testing.T, h *Hub, name string) *unstructured.Unstructured {
	t.Helper()
	more := h.Manifests.Items[0].DeepCopy()
	more.SetName(name)
	more.SetAnnotations(nil)
	h.Manifests.Items = append(h.Manifests.Items, *more)
	return &h.Manifests.Items[len(h.Manifests.Items)-1]
}
