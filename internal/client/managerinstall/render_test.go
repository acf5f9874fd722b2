package managerinstall

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRender_WhatIsInstalled(t *testing.T) {
	for name, tc := range map[string]struct {
		options Options
		image   string
		args    []string // in addition to the usual ones
		has     []string
		hasNot  []string
	}{
		"a hub by default": {
			Options{}, "lifecycle-manager:dev", nil, []string{"Role klm-manager", "Namespace kcp-system"}, []string{"ServiceAccount klm-local-installer"},
		},
		"a single cluster installs into itself, from its own namespace": {
			Options{SingleCluster: true}, "lifecycle-manager:dev", []string{"--local-namespaces=kcp-system", "--kyma-namespace=*"},
			[]string{
				"ServiceAccount klm-local-installer", "ClusterRole klm-manager",
				"ValidatingAdmissionPolicy klm-local-namespaces", "ValidatingAdmissionPolicyBinding klm-local-namespaces",
			}, nil,
		},
		"the image with its tag": {
			Options{Image: "registry.example.com:5000/lm:1.2.3"}, "registry.example.com:5000/lm:1.2.3", nil, nil, nil,
		},
		"the image of a registry with a port, with the version": {
			Options{Image: "registry.example.com:5000/lm", Version: "1.2.3"}, "registry.example.com:5000/lm:1.2.3", nil, nil, nil,
		},
		"an image by its digest": {
			Options{Image: "example.com/lm@sha256:" + strings.Repeat("a", 64)}, "example.com/lm@sha256:" + strings.Repeat("a", 64), nil, nil, nil,
		},
		"a release without the name of a registry runs its own version": {
			Options{DefaultTag: "1.2.3"}, "lifecycle-manager:1.2.3", nil, nil, nil,
		},
		"a release runs its own image": {
			Options{DefaultImage: "example.com/kyma/lifecycle-manager", DefaultTag: "1.2.3"}, "example.com/kyma/lifecycle-manager:1.2.3", nil, nil, nil,
		},
		"a release runs another version on request": {
			Options{DefaultImage: "example.com/kyma/lifecycle-manager", DefaultTag: "1.2.3", Version: "1.2.4"},
			"example.com/kyma/lifecycle-manager:1.2.4", nil, nil, nil,
		},
		"a copy of the image has the release's tag, too": {
			Options{Image: "private:5000/lm", DefaultImage: "example.com/kyma/lifecycle-manager", DefaultTag: "1.2.3"}, "private:5000/lm:1.2.3", nil, nil, nil,
		},
		"an image with a tag counts before what the release has": {
			Options{Image: "private:5000/lm:1.0.0", DefaultImage: "example.com/kyma/lifecycle-manager", DefaultTag: "1.2.3"},
			"private:5000/lm:1.0.0", nil, nil, nil,
		},
		"the registry and other arguments": {
			Options{Registry: "http://registry:5000", Arguments: []string{"--log-level=2"}}, "lifecycle-manager:dev",
			[]string{"--log-level=2", "--oci-registry-host=http://registry:5000"}, nil, nil,
		},
		"parts": {
			Options{Parts: []string{PartContent, PartWebhook}}, "lifecycle-manager:dev",
			[]string{"--content-bind-address=:8444", "--content-url=https://klm-content.kcp-system.svc:8444", "--enable-webhooks",
				"--webhook-service=kcp-system/klm-webhook-service"},
			[]string{"Service klm-content", "Service klm-webhook-service"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := Render(tc.options)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, object := range objects {
				found = append(found, object.GetKind()+" "+object.GetName())
			}
			for _, want := range append(tc.has, "CustomResourceDefinition kymas.operator.kyma-project.io", "ServiceAccount klm-controller-manager") {
				if !slices.Contains(found, want) {
					t.Errorf("%s is missing among %q", want, found)
				}
			}
			for _, refused := range tc.hasNot {
				if slices.Contains(found, refused) {
					t.Errorf("%s is there", refused)
				}
			}
			image, args := runs(t, objects)
			if image != tc.image {
				t.Errorf("it runs %s, want %s", image, tc.image)
			}
			if got := tc.options.Reference(); got != tc.image {
				t.Errorf("Reference() = %s, want %s", got, tc.image)
			}
			if diff := cmp.Diff(tc.args, args); diff != "" {
				t.Errorf("arguments differ (-want +got):\n%s", diff)
			}
		})
	}
}

// runs returns the image of the manager, and the arguments that a default hub does not have.
func runs(t *testing.T, objects []*unstructured.Unstructured) (image string, more []string) {
	t.Helper()
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Deployment" })
	containers, _, err := unstructured.NestedSlice(objects[i].Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	container := containers[0].(map[string]any)
	usual := []string{"--leader-elect", "--metrics-bind-address=:8080", "--health-probe-bind-address=:8081", "--content-dir=/content"}
	for _, argument := range container["args"].([]any) {
		if !slices.Contains(usual, argument.(string)) {
			more = append(more, argument.(string))
		}
	}
	return container["image"].(string), more
}

// TestRender_TheManagerAndThePolicyNameTheSameNamespaces compares the two lists of namespaces that may install into the hub itself: where
// they differ, one of the two lines of defence is missing.
func TestRender_TheManagerAndThePolicyNameTheSameNamespaces(t *testing.T) {
	objects, err := Render(Options{SingleCluster: true})
	if err != nil {
		t.Fatal(err)
	}
	_, arguments := runs(t, objects)
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "ValidatingAdmissionPolicyBinding" })
	expressions, _, err := unstructured.NestedSlice(objects[i].Object, "spec", "matchResources", "namespaceSelector", "matchExpressions")
	if err != nil || len(expressions) != 1 {
		t.Fatalf("the policy is bound by %v (%v)", expressions, err)
	}
	values, _, err := unstructured.NestedStringSlice(expressions[0].(map[string]any), "values")
	if want := "--local-namespaces=" + strings.Join(values, ","); err != nil || !slices.Contains(arguments, want) {
		t.Errorf("the manager has %q, and not %s (%v)", arguments, want, err)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for name, tc := range map[string]struct {
		options Options
		want    string
	}{
		"an image with a blank":                  {Options{Image: "a b"}, "is no reference"},
		"a registry with a path":                 {Options{Registry: "example.com/modules"}, "is no host"},
		"a registry that the manager refuses":    {Options{Registry: "example.com."}, "is no host"},
		"a tag and another version":              {Options{Image: "example.com/lm:1.0.0", Version: "2.0.0"}, "conflicts with version 2.0.0"},
		"a digest and a version":                 {Options{Image: "example.com/lm@sha256:abc", Version: "2.0.0"}, "conflicts with version 2.0.0"},
		"a part that there is not":               {Options{Parts: []string{"dashboards"}}, "there is no part \"dashboards\": there are content and webhook"},
		"a line break that would add a patch":    {Options{Registry: "example.com\n- op: add"}, "is no host"},
		"an image that would end the text early": {Options{Image: "a\"}]"}, "is no reference"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Export(tc.options); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Export() = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestRender_TheSameOptionsGiveTheSameText(t *testing.T) {
	options := Options{SingleCluster: true, Registry: "example.com", Parts: Parts}
	one, err := Export(options)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Export(options)
	if err != nil || string(one) != string(two) {
		t.Errorf("a second text differs: %v", err)
	}
}

func TestWorst(t *testing.T) {
	for name, tc := range map[string]struct {
		results []Result
		want    Verdict
	}{
		"there are no results":         {nil, Passed},
		"everything is well":           {[]Result{{Verdict: Passed}, {Verdict: Passed}}, Passed},
		"a warning outweighs a pass":   {[]Result{{Verdict: Passed}, {Verdict: Warning}, {Verdict: Passed}}, Warning},
		"an error outweighs a warning": {[]Result{{Verdict: Failed}, {Verdict: Warning}}, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Worst(tc.results); got != tc.want {
				t.Errorf("Worst() = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestLeftoversAreNamed(t *testing.T) {
	few := Leftover{Kind: "Kyma", Names: []string{"a/b"}}
	many := Leftover{Kind: "Manifest", Names: []string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6"}}
	err := &InUseError{Objects: []Leftover{few, many}}
	want := "the cluster still has 1 Kyma (a/b), 6 Manifests (a/1, a/2, a/3, a/4, a/5, ...), which would go with their definitions"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}
