package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// sha is some digest of an image.
const sha = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// workload returns an object with pods; at is where their description lies in it.
func workload(t *testing.T, apiVersion, kind, at, pods string) *unstructured.Unstructured {
	t.Helper()
	text := "{" + pods + "}"
	for field := range strings.FieldsSeq(at) {
		text = fmt.Sprintf("{%s: %s}", field, text)
	}
	return parse(t, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: a, namespace: b}, %s", apiVersion, kind, text[1:]))[0]
}

func deploymentOf(t *testing.T, pods string) *unstructured.Unstructured {
	t.Helper()
	return workload(t, "apps/v1", "Deployment", "spec template spec", pods)
}

func TestLocaliseImagesReplacesReferencesToTheSameImage(t *testing.T) {
	for name, test := range map[string]struct {
		image, want string
		localized   []string
	}{
		"host and path are replaced":                       {"one.io/a/b/op:1.0", "two.io/c/op:1.0", []string{"two.io/c/op:1.0"}},
		"a digest is added":                                {"one.io/op:1.0", "two.io/op:1.0@" + sha, []string{"two.io/op:1.0@" + sha}},
		"a digest stays when the localized image has none": {"one.io/op:1.0@" + sha, "two.io/op:1.0@" + sha, []string{"two.io/op:1.0"}},
		"and when it has another one": {
			"one.io/op:1.0@" + sha, "one.io/op:1.0@" + sha, []string{"two.io/op:1.0@sha256:" + strings.Repeat("f", 64)},
		},
		"of several the one with the same digest counts": {
			"one.io/op:1.0@" + sha, "two.io/op:1.0@" + sha, []string{"two.io/op:1.0@" + sha, "three.io/op:1.0@sha256:" + strings.Repeat("f", 64)},
		},
		"a name without host is a reference too":       {"nginx:1.25", "two.io:5000/library/nginx:1.25", []string{"two.io:5000/library/nginx:1.25"}},
		"without tags the digest decides":              {"one.io/op@" + sha, "two.io/op@" + sha, []string{"two.io/op@" + sha}},
		"another tag is another image":                 {"one.io/op:1.1", "one.io/op:1.1", []string{"two.io/op:1.0"}},
		"another name is another image":                {"one.io/op2:1.0", "one.io/op2:1.0", []string{"two.io/op:1.0"}},
		"the name is the last segment and not its end": {"one.io/my-op:1.0", "one.io/my-op:1.0", []string{"two.io/op:1.0"}},
		"a tag is not a digest":                        {"one.io/op@" + sha, "one.io/op@" + sha, []string{"two.io/op:1.0"}},
		"a reference without version is no one's":      {"one.io/op", "one.io/op", []string{"two.io/op", "two.io/op:latest"}},
		"what is no reference stays":                   {"One.io/OP:1.0", "One.io/OP:1.0", []string{"two.io/op:1.0"}},
		"the right one of several is taken":            {"one.io/op:2", "two.io/op:2", []string{"two.io/op:1", "two.io/op:2", "two.io/nop:2"}},
		"one that is listed twice is one":              {"one.io/op:2", "two.io/op:2", []string{"two.io/op:2", "two.io/op:2"}},
		"one of several with that name is itself":      {"two.io/b/op:2", "two.io/b/op:2", []string{"two.io/a/op:2", "two.io/b/op:2"}},
		"no images change nothing":                     {"one.io/op:1.0", "one.io/op:1.0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			pods := "containers: [{name: c, image: %[1]q, env: [{name: E, value: %[1]q}]}], initContainers: [{name: i, image: %[1]q}]"
			object := deploymentOf(t, fmt.Sprintf(pods, test.image))
			before := object.DeepCopy()
			got, err := LocaliseImages([]*unstructured.Unstructured{object}, test.localized)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(deploymentOf(t, fmt.Sprintf(pods, test.want)), got[0]); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, object); diff != "" {
				t.Errorf("what was given is changed (-before +after):\n%s", diff)
			}
			if test.image == test.want && got[0] != object {
				t.Error("an object that stays as it is was copied")
			}
		})
	}
}

func TestLocaliseImagesReplacesValuesOnlyAsAWhole(t *testing.T) {
	for name, test := range map[string]struct{ value, want string }{
		"an image":                     {"one.io/op:1.0", "two.io/op:1.0"},
		"an image inside of something": {"--image=one.io/op:1.0", "--image=one.io/op:1.0"},
		"an image with space around":   {" one.io/op:1.0", " one.io/op:1.0"},
		"two images":                   {"one.io/op:1.0,one.io/op:1.0", "one.io/op:1.0,one.io/op:1.0"},
		"a word":                       {"op", "op"},
		"nothing":                      {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			pods := "containers: [{name: c, env: [{name: E, value: %q}, {name: F, valueFrom: {fieldRef: {fieldPath: x}}}]}]"
			got, err := LocaliseImages([]*unstructured.Unstructured{deploymentOf(t, fmt.Sprintf(pods, test.value))}, []string{"two.io/op:1.0"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(deploymentOf(t, fmt.Sprintf(pods, test.want)), got[0]); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

// everyWorkload are all kinds that run pods.
var everyWorkload = map[string]struct{ apiVersion, kind, at string }{
	"a Deployment":            {"apps/v1", "Deployment", "spec template spec"},
	"a StatefulSet":           {"apps/v1", "StatefulSet", "spec template spec"},
	"a DaemonSet":             {"apps/v1", "DaemonSet", "spec template spec"},
	"a ReplicaSet":            {"apps/v1", "ReplicaSet", "spec template spec"},
	"a Job":                   {"batch/v1", "Job", "spec template spec"},
	"a CronJob":               {"batch/v1", "CronJob", "spec template spec jobTemplate spec"},
	"a Pod":                   {"v1", "Pod", "spec"},
	"a ReplicationController": {"v1", "ReplicationController", "spec template spec"},
}

func TestLocaliseImagesKnowsEverythingThatRunsPods(t *testing.T) {
	for name, test := range everyWorkload {
		t.Run(name, func(t *testing.T) {
			object := func(image string) *unstructured.Unstructured {
				return workload(t, test.apiVersion, test.kind, test.at, "containers: [{name: c, image: "+image+"}]")
			}
			got, err := LocaliseImages([]*unstructured.Unstructured{object("one.io/op:1.0")}, []string{"two.io/op:1.0"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(object("two.io/op:1.0"), got[0]); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLocaliseImagesLeavesAloneWhatItDoesNotKnow(t *testing.T) {
	for name, text := range map[string]string{
		"a Deployment of another group":    "{apiVersion: x.io/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{image: 'a/op:1'}]}}}}",
		"a ConfigMap":                      rendertest.Config("a") + "data: {image: 'a/op:1'}\n",
		"a Deployment without pods":        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
		"pods that are no map":             "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: 3}}}",
		"containers that are no list":      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: {a: {image: 'a/op:1'}}}}",
		"a container that is no map":       "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [a/op:1]}}",
		"an image that is no text":         "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{image: 1}]}}",
		"a template that is null":          "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: null}}",
		"an environment that is no list":   "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{env: 'a/op:1'}]}}",
		"a variable with a number":         "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{env: [{name: a, value: 1}]}]}}",
		"an image volume, which is no pod": "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {volumes: [{image: {reference: 'a/op:1'}}]}}",
	} {
		t.Run(name, func(t *testing.T) {
			objects := parse(t, text)
			got, err := LocaliseImages(objects, []string{"b/op:1"})
			if err != nil || got[0] != objects[0] {
				t.Errorf("error %v, object %v", err, got)
			}
		})
	}
}

func TestLocaliseImagesRefusesToGuess(t *testing.T) {
	for name, test := range map[string]struct {
		pods      string
		localized []string
		says      []string
	}{
		"an image that two may stand for": {
			"containers: [{name: c, image: 'one.io/op:1'}]", []string{"two.io/a/op:1", "two.io/b/op:1"},
			[]string{"Deployment.apps b/a", "container c", "one.io/op:1", "two.io/a/op:1, two.io/b/op:1"},
		},
		"a variable that two may stand for": {
			"initContainers: [{name: i, env: [{name: IMAGE, value: 'op:1'}]}]", []string{"two.io/a/op:1", "two.io/b/op:1"},
			[]string{"container i, variable IMAGE", "op:1"},
		},
		"a localized image that is none": {"containers: []", []string{"two.io/op:1", "https://two.io/op:1"}, []string{"localizedImages[1]", "https://two.io/op:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := LocaliseImages([]*unstructured.Unstructured{deploymentOf(t, test.pods)}, test.localized)
			if content.ReasonOf(err) != content.ReasonContentInvalid {
				t.Fatalf("error %v", err)
			}
			for _, text := range test.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %q does not say %q", err, text)
				}
			}
		})
	}
}

// FuzzLocaliseImages holds that whatever stands in an image or a variable, localising is done once: a second time changes nothing.
func FuzzLocaliseImages(f *testing.F) {
	for _, seed := range [][2]string{
		{"one.io/op:1.0", "two.io/op:1.0"}, {"op", "op"}, {"op@" + sha, "a.b:5000/x/op:t@" + sha}, {"", ""}, {":", "@"}, {"redis:6379", "redis:6379"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, image, local string) {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"containers": []any{map[string]any{"image": image}}},
		}}
		once, err := LocaliseImages([]*unstructured.Unstructured{object}, []string{local})
		if err != nil {
			return
		}
		twice, err := LocaliseImages(once, []string{local})
		if err != nil || twice[0] != once[0] {
			t.Fatalf("image %q, localized %q: error %v, once %v, twice %v", image, local, err, once[0], twice[0])
		}
	})
}
