package installer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// TestInstallationsThatAreRefused needs no API server: nothing is called.
func TestInstallationsThatAreRefused(t *testing.T) {
	good := func() Installation {
		return Installation{Name: "demo", Namespace: "default", Config: &rest.Config{Host: "http://127.0.0.1:1"}, Sources: []Source{YAML("a", "")}}
	}
	for name, test := range map[string]struct {
		spoil func(*Installation)
		want  string // part of the error
	}{
		"no name":                       {func(i *Installation) { i.Name = "" }, "needs Name and Namespace"},
		"no namespace":                  {func(i *Installation) { i.Namespace = "" }, "needs Name and Namespace"},
		"a name with capitals":          {func(i *Installation) { i.Name = "Demo" }, `the name "Demo"`},
		"a name that is too long":       {func(i *Installation) { i.Name = strings.Repeat("a", 201) }, "200 at most"},
		"a namespace that is none":      {func(i *Installation) { i.Namespace = "a.b" }, `the namespace "a.b"`},
		"no way to the cluster":         {func(i *Installation) { i.Config = nil }, "needs a Config or a Cluster"},
		"a cluster made by hand":        {func(i *Installation) { i.Cluster = &Cluster{} }, "was not made by Connect"},
		"a config that cannot be":       {func(i *Installation) { i.Config = &rest.Config{Host: "http://a b"} }, "the rest.Config cannot be used"},
		"an ownership that is none":     {func(i *Installation) { i.Ownership = "Mine" }, `Ownership "Mine"`},
		"a rule that is none":           {func(i *Installation) { i.AllowCRDChanges = []string{"Everything"} }, `names "Everything", which is not a rule`},
		"a probe that is none":          {func(i *Installation) { i.Probes = []Probe{{Name: "p", Expression: "self."}} }, `probe "p"`},
		"no content at all":             {func(i *Installation) { i.Sources = nil }, "declares nothing"},
		"a source without a name":       {func(i *Installation) { i.Sources[0].Name = "" }, "source 1 has no Name"},
		"a source without content":      {func(i *Installation) { i.Sources[0].Content = nil }, "has no Content"},
		"two sources of one name":       {func(i *Installation) { i.Sources = append(i.Sources, i.Sources[0]) }, `two Sources are named "a"`},
		"a CRD that is none":            {func(i *Installation) { i.CRDs = []*unstructured.Unstructured{object("{kind: A}")} }, "CRDs[0] is not a CustomResourceDefinition"},
		"a nil CRD":                     {func(i *Installation) { i.CRDs = []*unstructured.Unstructured{nil} }, "CRDs[0]"},
		"a custom resource unnamed":     {func(i *Installation) { i.CustomResources = []*unstructured.Unstructured{object("{kind: A}")} }, "CustomResources[0] needs"},
		"a custom resource that is nil": {func(i *Installation) { i.CustomResources = []*unstructured.Unstructured{nil} }, "CustomResources[0]"},
	} {
		inst := good()
		test.spoil(&inst)
		c, err := begin(inst)
		if err == nil {
			err = c.validateContent()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || ReasonOf(err) != ReasonInstallationInvalid && ReasonOf(err) != ReasonProbeInvalid {
			t.Errorf("%s: %v (%s)", name, err, ReasonOf(err))
		}
	}
}

func TestContentThatIsRefused(t *testing.T) {
	f := onServer(t)
	for name, test := range map[string]struct {
		spoil func(*Installation)
		want  string
	}{
		"text that is no YAML": {func(i *Installation) { i.Sources = []Source{YAML("a", "a: [")} }, content.ReasonContentInvalid},
		"one object declared twice": {func(i *Installation) {
			i.Sources = []Source{YAML("a", configMap("x", "k=1")), YAML("b", configMap("x", "k=2"))}
		}, content.ReasonContentInvalid},
		"a custom resource that a source declares": {func(i *Installation) {
			i.CustomResources = []*unstructured.Unstructured{object("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")}
		}, content.ReasonContentInvalid},
		"a folder that is not there": {func(i *Installation) { i.Sources = []Source{Bundle("a", Directory("/no/such/folder"))} }, content.ReasonContentNotFound},
		"an object that is no JSON": {func(i *Installation) {
			i.Sources = []Source{Objects("a", &unstructured.Unstructured{Object: map[string]any{"a": make(chan int)}})}
		}, content.ReasonContentInvalid},
		"values for what takes none": {func(i *Installation) {
			i.Sources = []Source{Bundle("a", Files(testdata, "testdata/bundle"))}
			i.Sources[0].Values = map[string]any{"a": 1}
		}, content.ReasonValuesInvalid},
		"a kind that is not served": {func(i *Installation) {
			i.Sources = []Source{YAML("a", "{apiVersion: no one.example.com/v1, kind: Nothing, metadata: {name: a}}")}
		}, string(apply.ClassKindUnknown)},
		"a transform that drops the name": {func(i *Installation) {
			i.Transforms = []func(*unstructured.Unstructured) error{func(o *unstructured.Unstructured) error { o.SetName(""); return nil }}
		}, ReasonInstallationInvalid},
		"a cluster that does not answer": {func(i *Installation) { i.Config = &rest.Config{Host: "http://127.0.0.1:1"} }, string(apply.ClassUnreachable)},
		"credentials that are not accepted": {func(i *Installation) {
			i.Config = rest.AnonymousClientConfig(f.config)
			i.Config.BearerToken = "wrong"
		}, string(apply.ClassUnauthorized)},
	} {
		inst := f.installation(configMap("a"))
		inst.Name = strings.ToLower(strings.ReplaceAll(name, " ", "-"))
		test.spoil(&inst)
		report, err := Install(t.Context(), inst)
		if err == nil || ReasonOf(err) != test.want || report.Reason != test.want || report.Ready || report.State != StateError {
			t.Errorf("%s: %v (%s)\n%s", name, err, ReasonOf(err), pretty(report))
		}
	}
}

func TestErrorsDoNotRepeatSecrets(t *testing.T) {
	f := onServer(t)
	inst := f.installation("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: kubernetes.io/tls\nstringData: {tls.crt: hunter2}\n")
	report, err := Install(t.Context(), inst)
	f.reason(report, err, string(apply.ClassRefused))
	if strings.Contains(pretty(report)+err.Error(), "hunter2") {
		t.Error(err)
	}
	report, err = Check(t.Context(), inst)
	f.must(err)
	if strings.Contains(pretty(report), "hunter2") {
		t.Error(pretty(report))
	}
}

func TestReasonOf(t *testing.T) {
	for want, err := range map[string]error{
		"":                         nil,
		ReasonProbeInvalid:         fmt.Errorf("somewhere: %w", &Error{Reason: ReasonProbeInvalid, Err: errors.New("a")}),
		content.ReasonHooksRefused: &content.Error{Reason: content.ReasonHooksRefused, Err: errors.New("a")},
		"Forbidden":                &apply.Error{Class: apply.ClassForbidden},
		content.ReasonInternal:     context.Canceled,
	} {
		if got := ReasonOf(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
