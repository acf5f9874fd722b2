package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

func TestFailure_OneInvalidObjectAmongTwentyStopsNoOther(t *testing.T) {
	f := onServer(t)
	var objects []*unstructured.Unstructured
	for n := range 20 {
		objects = append(objects, f.configMap(fmt.Sprintf("config-%02d", n), "a=1"))
	}
	f.must(unstructured.SetNestedField(objects[7].Object, "x", "data", "not a key"))
	f.opts.Workers = 3
	f.costs(slices.Repeat([]string{"create configmaps"}, 20), func() {
		for n, outcome := range f.cluster.Apply(t.Context(), newSteps(objects...), f.opts) {
			if outcome.ID != inventory.IDOf(objects[n]) {
				t.Errorf("outcome %d is of %s", n, outcome.ID)
			}
			if n != 7 {
				f.is(outcome, Created, "")
				continue
			}
			f.is(outcome, Refused, ClassRefused)
			if message := outcome.Err.Error(); !strings.Contains(message, "config-07") || !strings.Contains(message, "data[not a key]") {
				t.Errorf("unhelpful: %s", message)
			}
		}
	})
}

func TestClassesOfTheServersRefusals(t *testing.T) {
	f := onServer(t)
	terminating := f.newNamespace() // it never ends: no controllers run here
	f.remove(f.object("{apiVersion: v1, kind: Namespace, metadata: {name: " + terminating + "}}"))
	f.quota()
	in := func(namespace string, object *unstructured.Unstructured) *unstructured.Unstructured {
		object = object.DeepCopy()
		object.SetNamespace(namespace)
		return object
	}
	for _, test := range []struct {
		name   string
		object *unstructured.Unstructured
		action Action
		class  Class
		says   string
	}{
		{"a kind that is not served", f.object("{apiVersion: nowhere.io/v1, kind: Thing, metadata: {name: a}}"),
			Failed, ClassKindUnknown, "install its CustomResourceDefinition first"},
		{"a version that is not served", f.object("{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}"),
			Failed, ClassKindUnknown, "use version v1"},
		{"a namespace that does not exist", in("missing-"+f.namespace, f.configMap("a")),
			Failed, ClassNamespaceMissing, "missing-" + f.namespace},
		{"a namespace that is terminating", in(terminating, f.configMap("a")), Failed, ClassNamespaceTerminating, "being terminated"},
		{"a terminating namespace itself", f.object("{apiVersion: v1, kind: Namespace, metadata: {name: " + terminating + "}}"),
			Refused, ClassOwnershipConflict, "no owner mark"},
		{"no namespace", in("", f.configMap("a")), Refused, ClassRefused, "names no namespace"},
		{"a quota that is used up", f.object("{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}"),
			Refused, ClassQuotaExceeded, "raise the quota"},
		{"a field that does not exist", f.object("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {portz: []}}"),
			Refused, ClassRefused, `unknown field "spec.portz"`},
		{"a value of the wrong type", f.object("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: http}]}}"),
			Refused, ClassRefused, "ports.port of type int32"},
		{"a value out of range", f.object("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 99999}]}}"),
			Refused, ClassRefused, "spec.ports[0].port: Invalid value: must be between 1 and 65535"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f.T = t
			f.opts.Ownership = Prevent
			outcome := f.cluster.Apply(t.Context(), newSteps(test.object), f.opts)[0]
			f.is(outcome, test.action, test.class)
			if outcome.Err == nil || !strings.Contains(outcome.Err.Error(), test.says) {
				t.Errorf("%v does not say %q", outcome.Err, test.says)
			}
		})
	}
}

// quota creates a used-up ResourceQuota, since the controller that would fill in its status does not run here.
func (f *fixture) quota() {
	f.Helper()
	quota := f.object("{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/serviceaccounts: '0'}}}")
	f.exists(quota, "test")
	_, err := f.theirs(quota).Patch(f.Context(), "none", types.MergePatchType,
		[]byte(`{"status":{"hard":{"count/serviceaccounts":"0"},"used":{"count/serviceaccounts":"0"}}}`), metav1.PatchOptions{}, "status")
	f.must(err)
	f.await("admission has seen the quota", func() bool {
		object := f.object("{apiVersion: v1, kind: ServiceAccount, metadata: {generateName: probe-}}")
		_, err := f.theirs(object).Create(f.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return Classify(err) == ClassQuotaExceeded
	})
}

func TestImmutableFieldIsRefusedUntilTheContentChanges(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.object(deployment))
	changed := i.object(strings.ReplaceAll(deployment, "app: operator", "app: other"))
	for range 2 { // by the migration, and by one call
		outcome := i.install(changed)[0]
		i.is(outcome, Refused, ClassFieldImmutable)
		if message := outcome.Err.Error(); !strings.Contains(message, "spec.selector: Invalid value: field is immutable") {
			t.Errorf("unhelpful: %s", message)
		}
		i.recorded[0].Fields = i.live(changed).Fields
	}
	i.installs(Updated, i.object(strings.ReplaceAll(deployment, "1.0.0", "1.1.0")))
}

func TestContentThatDoesNotFitTheSchemaIsRefusedByAChangeToo(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	i.installs(Created, i.configMap("config", "a=1"))
	changed := i.configMap("config")
	i.must(unstructured.SetNestedField(changed.Object, map[string]any{"a": int64(12345)}, "data"))
	outcome := i.install(changed)[0]
	i.is(outcome, Refused, ClassRefused)
}

func TestTerminatingNamespaceOfOursIsWaitedFor(t *testing.T) {
	f := onServer(t)
	ours := f.object("{apiVersion: v1, kind: Namespace, metadata: {name: ours-" + f.namespace + "}}")
	f.exists(ours, manager)
	f.remove(ours)
	f.is(f.cluster.Apply(t.Context(), newSteps(ours), f.opts)[0], Failed, ClassNamespaceTerminating)
}

func TestPermissionsThatAreMissingAreForbidden(t *testing.T) {
	f := onServer(t)
	config := rest.CopyConfig(f.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	f.cluster.Dynamic = f.client(config)
	outcomes := f.cluster.Apply(t.Context(), newSteps(f.configMap("a"), f.configMap("b")), f.opts)
	for _, outcome := range outcomes {
		f.is(outcome, Failed, ClassForbidden)
	}
	if message := outcomes[1].Err.Error(); !strings.Contains(message, `User "nobody" cannot create resource "configmaps"`) {
		t.Errorf("unhelpful: %s", message)
	}
}

func TestClusterThatCannotBeTalkedToCostsOneCall(t *testing.T) {
	const closed = "127.0.0.1:1" // a port that was free a moment ago may already be that of another test's server
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name  string
		ctx   context.Context
		class Class
		spoil func(*rest.Config)
	}{
		{"no one listens", t.Context(), ClassUnreachable, func(c *rest.Config) { c.Host = "https://" + closed }},
		{"an unknown authority signed the certificate", t.Context(), ClassUnreachable, func(c *rest.Config) { c.CAData, c.CAFile = nil, "" }},
		{"the credentials are not accepted", t.Context(), ClassUnauthorized, func(c *rest.Config) {
			c.TLSClientConfig = rest.TLSClientConfig{CAData: c.CAData}
			c.BearerToken = "expired"
		}},
		{"the caller gave up", canceled, ClassCanceled, func(*rest.Config) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onServer(t)
			config := rest.CopyConfig(f.config)
			test.spoil(config)
			f.cluster.Dynamic = f.client(config)
			f.opts.Workers = 1
			var objects []*unstructured.Unstructured
			var entries []inventory.Entry
			for n := range 5 {
				objects = append(objects, f.configMap(fmt.Sprintf("config-%d", n)))
				entries = append(entries, recordedAs(objects[n]))
			}
			tried := func(what string, outcomes []Outcome) {
				t.Helper()
				for _, outcome := range outcomes {
					f.is(outcome, Failed, test.class)
				}
				if last := outcomes[4].Err.Error(); !strings.Contains(last, "not tried after: "+what) || strings.Contains(last, "?") {
					t.Errorf("the last one says %s", last)
				}
			}
			before := f.counter.Snapshot()
			tried("create ConfigMap", f.cluster.Apply(test.ctx, newSteps(objects...), f.opts))
			tried("read ConfigMap", f.cluster.Delete(test.ctx, entries, nil, f.opts))
			for call, n := range f.counter.Since(before).Plain() {
				if n > 1 || (call.Verb != calls.Create && call.Verb != calls.Get) {
					t.Errorf("%d times %s", n, call)
				}
			}
		})
	}
}
