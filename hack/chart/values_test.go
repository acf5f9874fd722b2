package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

const (
	dashboardObject = "Deployment kcp-system/klm-dashboard"
	container       = "spec.template.spec.containers[0]"
	policyObject    = "NetworkPolicy kcp-system/klm-controller-manager"
)

// fieldOf returns a field of an object, as text or as JSON.
func fieldOf(t *testing.T, object *unstructured.Unstructured, field string) string {
	t.Helper()
	if object == nil {
		return "no such object"
	}
	path := jsonpath.New("field").AllowMissingKeys(true)
	if err := path.Parse("{." + field + "}"); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := path.Execute(&text, object.Object); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestChart_WhatValuesSay(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for name, tc := range map[string]struct{ values, object, field, want string }{
		"the image is that of the appVersion":       {"", managerObject, container + ".image", "lifecycle-manager:dev"},
		"an image by its tag":                       {"image: {repository: r.example.com:5000/lm, tag: 1.2.3}", managerObject, container + ".image", "r.example.com:5000/lm:1.2.3"},
		"a digest counts instead of the tag":        {"image: {tag: 1.2.3, digest: '" + digest + "'}", managerObject, container + ".image", "lifecycle-manager@" + digest},
		"logins for the image":                      {"image: {pullSecrets: [a, b]}", managerObject, "spec.template.spec.imagePullSecrets", `[{"name":"a"},{"name":"b"}]`},
		"replicas":                                  {"replicas: 3", managerObject, "spec.replicas", "3"},
		"the registry is a flag":                    {"registry: {host: 'http://r:5000'}", managerObject, container + ".args[4]", "--oci-registry-host=http://r:5000"},
		"the Secret of the registry is one, too":    {"registry: {credentialSecret: login}", managerObject, container + ".args[4]", "--oci-registry-cred-secret=login"},
		"the level of the log is one, too":          {"logLevel: 5", managerObject, container + ".args[4]", "--log-level=5"},
		"the collector of traces is one, too":       {"tracing: {endpoint: 'http://c:4318'}", managerObject, container + ".args[4]", "--otlp-endpoint=http://c:4318"},
		"which may be called":                       {"tracing: {endpoint: 'http://c:4318/p'}", policyObject, "spec.egress[1].ports[4]", `{"port":4318,"protocol":"TCP"}`},
		"at the port of its scheme":                 {"tracing: {endpoint: 'http://c'}", policyObject, "spec.egress[1].ports[4].port", "80"},
		"which is there already":                    {"tracing: {endpoint: 'https://c'}", policyObject, "spec.egress[1].ports[*].port", "22 443 6443 8443"},
		"and not by the dashboard":                  {"{tracing: {endpoint: 'http://c:4318'}, dashboard: {enabled: true}}", "NetworkPolicy kcp-system/klm-dashboard", "spec.egress[1].ports[*].port", "443 6443 8443"},
		"further arguments come last":               {"{logLevel: 5, extraArgs: [--pprof]}", managerObject, container + ".args[5]", "--pprof"},
		"further variables":                         {"extraEnv: [{name: A, value: b}]", managerObject, container + ".env[2].name", "A"},
		"further volumes":                           {"extraVolumes: [{name: v, emptyDir: {}}]", managerObject, "spec.template.spec.volumes[2].name", "v"},
		"further mounts":                            {"extraVolumeMounts: [{name: v, mountPath: /v}]", managerObject, container + ".volumeMounts[2].mountPath", "/v"},
		"the memory limit of Go follows, in Gi":     {"resources: {limits: {memory: 1Gi}}", managerObject, container + ".env[0].value", "900MiB"},
		"the memory limit of Go follows fractions":  {"resources: {limits: {memory: 1.5Gi}}", managerObject, container + ".env[0].value", "1350MiB"},
		"the memory limit of Go follows, in Mi":     {"resources: {limits: {memory: 500Mi}}", managerObject, container + ".env[0].value", "440MiB"},
		"no limit, none of Go":                      {"resources: {limits: {memory: null}}", managerObject, container + ".env[0].value", "off"},
		"a memory limit of Go by itself":            {"{goMemLimit: 500MiB, resources: {limits: {memory: 600M}}}", managerObject, container + ".env[0].value", "500MiB"},
		"other limits of resources stay":            {"resources: {limits: {memory: 1Gi}}", managerObject, container + ".resources.limits.ephemeral-storage", "3Gi"},
		"annotations of the account":                {"serviceAccount: {annotations: {a: b}}", "ServiceAccount kcp-system/klm-controller-manager", "metadata.annotations", `{"a":"b"}`},
		"nodes":                                     {"nodeSelector: {a: b}", managerObject, "spec.template.spec.nodeSelector", `{"a":"b"}`},
		"taints":                                    {"tolerations: [{key: a}]", managerObject, "spec.template.spec.tolerations", `[{"key":"a"}]`},
		"affinity":                                  {"affinity: {podAffinity: {}}", managerObject, "spec.template.spec.affinity", `{"podAffinity":{}}`},
		"spreading":                                 {"topologySpreadConstraints: [{maxSkew: 1}]", managerObject, "spec.template.spec.topologySpreadConstraints", `[{"maxSkew":1}]`},
		"another priority class":                    {"priorityClassName: high", managerObject, "spec.template.spec.priorityClassName", "high"},
		"no priority class":                         {"priorityClassName: ''", managerObject, "spec.template.spec.priorityClassName", ""},
		"with another one, the own one is left out": {"priorityClassName: high", "PriorityClass /klm-controller-manager", "value", "no such object"},
		"a disruption budget":                       {"podDisruptionBudget: {enabled: true}", "PodDisruptionBudget kcp-system/klm-controller-manager", "spec.maxUnavailable", "1"},
		"a disruption budget in per cent":           {"podDisruptionBudget: {enabled: true, maxUnavailable: 50%}", "PodDisruptionBudget kcp-system/klm-controller-manager", "spec.maxUnavailable", "50%"},
		"another port of a registry":                {"networkPolicy: {egressPorts: [5000]}", policyObject, "spec.egress[1].ports[4]", `{"port":5000,"protocol":"TCP"}`},
		"the dashboard may call it, too":            {"{networkPolicy: {egressPorts: [5000]}, dashboard: {enabled: true}}", "NetworkPolicy kcp-system/klm-dashboard", "spec.egress[1].ports[3].port", "5000"},
		"how to connect is a file":                  {"registries: {entries: [{host: r, plainHTTP: true}]}", "ConfigMap kcp-system/klm-registries", "data", `{"registries.yaml":"registries:\n- host: r\n  plainHTTP: true"}`},
		"with others beside it":                     {"registries: {entries: [{host: r}], files: {a.crt: pem}}", "ConfigMap kcp-system/klm-registries", `data.a\.crt`, "pem"},
		"which a flag names":                        {"registries: {entries: [{host: r}]}", managerObject, container + ".args[4]", "--registries-file=/registries/registries.yaml"},
		"and which is mounted":                      {"registries: {entries: [{host: r}]}", managerObject, "spec.template.spec.volumes[2].configMap.name", "klm-registries"},
		"a policy of signatures":                    {"signatures: {enabled: true, policy: {signatures: [{require: audit}]}}", "ConfigMap kcp-system/klm-signatures", `data.signatures\.yaml`, "signatures:\n- require: audit"},
		"certificates of signers":                   {"signatures: {enabled: true, files: {ca.pem: pem}}", "ConfigMap kcp-system/klm-signatures", `data.ca\.pem`, "pem"},
		"a policy of approvals":                     {"approvals: {enabled: true, policy: {rules: [{by: [Hub]}]}}", "ConfigMap kcp-system/klm-approvals", `data.approvals\.yaml`, "rules:\n- by:\n  - Hub"},
		"a policy of windows is JSON":               {"maintenanceWindows: {enabled: true, policy: {rules: []}}", "ConfigMap kcp-system/klm-maintenance-policy", `data.policy\.json`, "{\n  \"rules\": []\n}"},
		"namespaces that may install into the hub":  {"local: {enabled: true, namespaces: [kcp-system, x]}", managerObject, container + ".args[5]", "--local-namespaces=kcp-system,x"},
		"are those of the admission policy":         {"local: {enabled: true, namespaces: [kcp-system, x]}", "ValidatingAdmissionPolicyBinding /klm-local-namespaces", "spec.matchResources.namespaceSelector.matchExpressions[0].values", `["kcp-system","x"]`},
		"definitions that go with the release":      {"crds: {keep: false}", "CustomResourceDefinition /kymas.operator.kyma-project.io", `metadata.annotations.helm\.sh/resource-policy`, ""},
		"the image of the dashboard":                {"dashboard: {enabled: true, image: {tag: 1.2.3}}", dashboardObject, container + ".image", "kyma-cli:1.2.3"},
		"arguments of the dashboard":                {"dashboard: {enabled: true, extraArgs: [--public-url=https://a]}", dashboardObject, container + ".args[3]", "--public-url=https://a"},
		"the memory limit of the dashboard's Go":    {"dashboard: {enabled: true, resources: {limits: {memory: 2Gi}}}", dashboardObject, container + ".env[0].value", "1800MiB"},
		"nodes of the dashboard":                    {"{nodeSelector: {a: manager}, dashboard: {enabled: true, nodeSelector: {a: b}}}", dashboardObject, "spec.template.spec.nodeSelector.a", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fieldOf(t, render(t, tc.values)[tc.object], tc.field); got != tc.want {
				t.Errorf("%s of %s is %q, want %q", tc.field, tc.object, got, tc.want)
			}
		})
	}
}

func TestChart_TheDisruptionBudgetIsForThePodsOfTheManager(t *testing.T) {
	objects := render(t, "podDisruptionBudget: {enabled: true}")
	const selector = "spec.selector.matchLabels"
	budget := fieldOf(t, objects["PodDisruptionBudget kcp-system/klm-controller-manager"], selector)
	if want := fieldOf(t, objects[managerObject], selector); budget != want {
		t.Errorf("the budget selects %s, and the Deployment %s", budget, want)
	}
}

func TestChart_RefusesValues(t *testing.T) {
	for name, tc := range map[string]struct{ values, namespace, want string }{
		"a value that there is not":              {"replica: 2", "kcp-system", "'replica' not allowed"},
		"one of another type":                    {"replicas: two", "kcp-system", "got string, want integer"},
		"an image with a blank":                  {"image: {tag: 'a b'}", "kcp-system", "does not match pattern"},
		"a registry with a path":                 {"registry: {host: example.com/modules}", "kcp-system", "does not match pattern"},
		"a registry that the manager refuses":    {"registry: {host: example.com.}", "kcp-system", "does not match pattern"},
		"a collector with a login":               {"tracing: {endpoint: 'https://a:b@c'}", "kcp-system", "does not match pattern"},
		"two registries":                         {"registry: {host: a, credentialSecret: b}", "kcp-system", "registry.host and registry.credentialSecret are exclusive: the Secret names its registry itself; with it, set registry.host to"},
		"another namespace":                      {"", "default", "the lifecycle manager runs in namespace kcp-system: use --namespace kcp-system"},
		"every namespace for local Kymas":        {"local: {enabled: true, namespaces: ['*']}", "kcp-system", "does not match pattern"},
		"a policy that the manager does not get": {"approvals: {policy: {rules: []}}", "kcp-system", "what approvals says has no effect without approvals.enabled"},
		"certificates that it does not get":      {"signatures: {files: {a: b}}", "kcp-system", "what signatures says has no effect without signatures.enabled"},
		"certificates of no registry":            {"registries: {files: {a: b}}", "kcp-system", "registries.files has no effect without registries.entries"},
		"a limit in other units":                 {"resources: {limits: {memory: 2G}}", "kcp-system", "the limit of the memory, 2G, is not in Mi or Gi: set goMemLimit"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := renderFiles(tc.values, tc.namespace); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestChart_KeepsAReleaseInAnotherNamespaceIfItCreatesItsOwn(t *testing.T) {
	if _, err := renderFiles("namespace: {create: true}", "default"); err != nil {
		t.Error(err)
	}
}

func TestChart_NotesTellWhatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		values string
		told   bool
	}{
		"a registry that is not set":      {"", true},
		"one that is":                     {"registry: {host: r.example.com}", false},
		"one that is set by its own flag": {"extraArgs: [--oci-registry-host=r]", false},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := renderFiles(tc.values, "kcp-system")
			if err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(files[notes], "does not know the registry"); told != tc.told {
				t.Errorf("got %t, want %t:\n%s", told, tc.told, files[notes])
			}
		})
	}
}

// TestChart_SchemaHasTheValues finds values that the schema does not know, and the other way round.
func TestChart_SchemaHasTheValues(t *testing.T) {
	var values, schema map[string]any
	chart := filepath.Join(repository, chartFolder)
	for name, into := range map[string]*map[string]any{valuesFile: &values, "values.schema.json": &schema} {
		data, err := os.ReadFile(filepath.Join(chart, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(data, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	want, got := pathsOfValues(values, ""), pathsOfSchema(schema, schema, "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values.schema.json differs from values.yaml (-values +schema):\n%s", diff)
	}
}

// pathsOfSchema lists the properties of a schema, down to those that take any content.
func pathsOfSchema(root, schema map[string]any, path string) (paths []string) {
	if reference, ok := schema["$ref"].(string); ok {
		schema = root["definitions"].(map[string]any)[strings.TrimPrefix(reference, "#/definitions/")].(map[string]any)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		if at := path + "." + name; at != ".global" && !strings.HasSuffix(at, ".claims") {
			paths = append(paths, at)
			paths = append(paths, pathsOfSchema(root, property.(map[string]any), at)...)
		}
	}
	slices.Sort(paths)
	return paths
}

// pathsOfValues lists values, down to those of which the schema takes any content.
func pathsOfValues(values map[string]any, path string) (paths []string) {
	for name, content := range values {
		at := path + "." + name
		paths = append(paths, at)
		below, _ := content.(map[string]any)
		if !strings.HasSuffix(path, ".resources") {
			paths = append(paths, pathsOfValues(below, at)...)
		}
	}
	slices.Sort(paths)
	return paths
}

// TestChart_EverythingIsOtherwiseThanByDefault holds the values that helm lint is given to what there is, so that each template is looked at.
func TestChart_EverythingIsOtherwiseThanByDefault(t *testing.T) {
	data, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := render(t, string(data))
	for _, name := range []string{dashboardObject, "ConfigMap kcp-system/klm-registries", "PodDisruptionBudget kcp-system/klm-controller-manager"} {
		if objects[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	if _, err := json.Marshal(objects[managerObject]); err != nil {
		t.Error(err)
	}
}
