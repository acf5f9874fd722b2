package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// A create owns the fields that were defaulted for it, and the migration transfers them to server-side apply, which then removes what the
// content does not declare. The object must not lose anything that the cluster filled in and cannot fill in again.
func TestKinds_WhatTheClusterFilledInSurvivesTheMigration(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	for _, test := range []struct {
		document string
		filled   [][]string
	}{
		{"{apiVersion: v1, kind: Namespace, metadata: {name: filled-NS}}", [][]string{{"spec", "finalizers"}}},
		{"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}",
			[][]string{{"spec", "clusterIP"}, {"spec", "clusterIPs"}, {"spec", "ipFamilies"}, {"spec", "type"}}},
		{"{apiVersion: v1, kind: Service, metadata: {name: b}, spec: {type: NodePort, ports: [{port: 80, name: x}, {port: 81, name: z}]}}",
			[][]string{{"spec", "clusterIP"}, {"spec", "ports"}}},
		{"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, " +
			"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
			[][]string{{"metadata", "finalizers"}, {"spec", "volumeMode"}}},
		{"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, " +
			"spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}",
			[][]string{{"spec", "selector"}, {"spec", "template", "metadata", "labels"}}},
		{"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: a, selector: {matchLabels: {a: b}}, " +
			"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}, " +
			"volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}",
			[][]string{{"spec", "volumeClaimTemplates"}, {"spec", "podManagementPolicy"}}},
	} {
		object := i.object(strings.ReplaceAll(test.document, "NS", i.namespace))
		t.Run(object.GetKind()+" "+object.GetName(), func(t *testing.T) {
			i.T = t
			before := i.installs(Created, object)
			object.SetLabels(map[string]string{"version": "2"})
			after := i.installs(Updated, object)
			for _, path := range test.filled {
				if was, is := valueAt(before, path...), valueAt(after, path...); was == "" || was != is {
					t.Errorf("%v was %q and is %q", path, was, is)
				}
			}
			if is := valueAt(after, "metadata", "labels", "version"); is != "2" {
				t.Errorf("the change did not arrive: %q", is)
			}
			i.rests(object)
		})
	}
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: samples.NS.example.org}
spec:
  group: NS.example.org
  scope: Namespaced
  names: {kind: Sample, plural: samples}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 3}
              token: {type: string}
              mode: {type: string}
            x-kubernetes-validations:
            - {rule: "!has(self.mode) || self.mode != 'bad'", message: "mode must not be bad"}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func TestCustomResourceFromDefinitionToDeletion(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	crd := i.object(strings.ReplaceAll(definition, "NS", i.namespace))
	i.installs(Created, crd)
	i.established(crd)
	sample := func(spec string) *unstructured.Unstructured {
		return i.object("{apiVersion: " + i.namespace + ".example.org/v1, kind: Sample, metadata: {name: a}, spec: " + spec + "}")
	}

	i.installs(Created, sample("{token: one, mode: fast}"))
	i.edit(sample("{}"), "user", "{spec: {size: 5}}")
	if live := i.installs(Updated, sample("{token: two}")); valueAt(live, "spec") != "map[size:5 token:two]" {
		t.Errorf("spec is %s", valueAt(live, "spec"))
	}
	i.rests(sample("{token: two}"))

	for spec, says := range map[string]string{
		"{token: '" + password + "', mode: bad}":         "spec: Invalid value: mode must not be bad",
		"{token: '" + password + "', size: many}":        ".spec.size: expected numeric",
		"{token: '" + password + "', unknown: x}":        ".spec.unknown: field not declared in schema",
		"{token: {nested: '" + password + "'}}":          ".spec.token: expected string",
		"{token: ok, mode: ['" + password + "', other]}": ".spec.mode: expected string",
	} {
		outcome := i.install(sample(spec))[0]
		i.is(outcome, Refused, ClassRefused)
		i.tells(outcome, says)
	}

	i.is(i.delete(i.entry(sample("{}")), i.live(sample("{}"))), Deleted, "")
	i.is(i.delete(i.entry(crd), i.live(crd)), Deleted, "")
	i.gone(crd)
	// While discovery still lists the kind, a response to the contrary does not prove that its objects are gone.
	i.is(i.delete(i.entry(sample("{}")), i.live(crd)), Failed, ClassKindUnknown)
	i.await("discovery tells of it no more", func() bool {
		i.mapper.Reset()
		return i.delete(i.entry(sample("{}")), i.live(crd)).Action == Gone
	})
}

// established waits until the API server serves the kind.
func (i *installation) established(crd *unstructured.Unstructured) {
	i.Helper()
	i.await("the definition is established", func() bool {
		conditions, _, _ := unstructured.NestedSlice(i.get(crd).Object, "status", "conditions")
		for _, condition := range conditions {
			if c, ok := condition.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
				return true
			}
		}
		return false
	})
	group := valueAt(crd, "spec", "group")
	kind := schema.GroupKind{Group: group, Kind: valueAt(crd, "spec", "names", "kind")}
	i.await("discovery tells of it, which is a moment later", func() bool {
		i.mapper.Reset()
		_, err := i.mapper.RESTMapping(kind)
		return err == nil
	})
}

func (i *installation) gone(obj *unstructured.Unstructured) {
	i.Helper()
	i.await("it is gone", func() bool { return i.get(obj) == nil })
}

func (f *fixture) await(what string, holds func() bool) {
	f.Helper()
	err := wait.PollUntilContextTimeout(f.Context(), 25*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return holds(), nil
	})
	if err != nil {
		f.Fatalf("not within a minute: %s", what)
	}
}
