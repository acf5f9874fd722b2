package modulecontent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// hubObjects are texts by "<kind> <name> <key>".
type hubObjects map[string]string

func (o hubObjects) Text(_ context.Context, _ string, reference v1beta2.ValuesReference) (text []byte, problem string) {
	found, there := o[fmt.Sprintf("%s %s %s", reference.Kind, reference.Name, reference.DataKey())]
	if !there {
		return nil, fmt.Sprintf("%s %s: there is none", reference.Kind, reference.Name)
	}
	return []byte(found), ""
}

func (o hubObjects) from(kind v1beta2.ValuesKind, name string) v1beta2.HashedValues {
	reference := v1beta2.ValuesReference{Kind: kind, Name: name}
	return v1beta2.HashedValues{ValuesReference: reference, Hash: module.HashValues([]byte(o[fmt.Sprintf("%s %s %s", kind, name, reference.DataKey())]))}
}

func readingWith(hub HubValues, spec v1beta2.ManifestSpec) *reading {
	return &reading{Contents: &Contents{HubValues: hub}, manifest: &v1beta2.Manifest{Spec: spec}}
}

func TestSpecValues_LaterOnesGoBeforeEarlierOnes(t *testing.T) {
	hub := hubObjects{
		"Secret login values.yaml":    "a: secret\nb: secret\nc: secret\nd: secret\ntable: {x: 1, z: 1}\n",
		"ConfigMap sizes values.yaml": "b: map\nc: map\nd: map\ntable: {z: 2}\n",
	}
	entry := &v1beta2.EntryValues{
		From:   []v1beta2.HashedValues{hub.from(v1beta2.ValuesSecret, "login"), hub.from(v1beta2.ValuesConfigMap, "sizes")},
		Inline: `{"c":"inline","d":"inline","gone":null}`,
	}
	r := readingWith(hub, v1beta2.ManifestSpec{KymaValues: entry, Values: &runtime.RawExtension{Raw: []byte(`{"d":"manifest"}`)}})
	got, err := r.specValues(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": "secret", "b": "map", "c": "inline", "d": "manifest", "gone": nil, "table": map[string]any{"x": 1.0, "z": 2.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if got, err := readingWith(hub, v1beta2.ManifestSpec{}).specValues(t.Context()); got != nil || err != nil {
		t.Errorf("a spec without values has %v, error %v", got, err)
	}
}

func TestSpecValues_WhatCannotBeUsed(t *testing.T) {
	hub := hubObjects{"Secret login values.yaml": "a: b\n", "Secret odd values.yaml": "- hunter2\n"}
	changed := hub.from(v1beta2.ValuesSecret, "login")
	changed.Hash = module.HashValues([]byte("a: before\n"))
	for name, test := range map[string]struct {
		hub             HubValues
		entry           v1beta2.EntryValues
		reason, message string
	}{
		"an object that is gone": {
			hub, v1beta2.EntryValues{From: []v1beta2.HashedValues{hub.from(v1beta2.ValuesConfigMap, "sizes")}},
			v1beta2.ReasonValuesNotFound, "ConfigMap sizes: there is none",
		},
		"a manager that reads no objects": {
			nil, v1beta2.EntryValues{From: []v1beta2.HashedValues{hub.from(v1beta2.ValuesSecret, "login")}},
			v1beta2.ReasonValuesNotFound, "are not read here",
		},
		"an object that holds no values": {
			hub, v1beta2.EntryValues{From: []v1beta2.HashedValues{hub.from(v1beta2.ValuesSecret, "odd")}},
			content.ReasonValuesInvalid, "Secret odd: key values.yaml holds no values",
		},
		"inline values that cannot be read": {hub, v1beta2.EntryValues{Inline: `[1]`}, content.ReasonValuesInvalid, "values of the module's entry in the Kyma"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readingWith(test.hub, v1beta2.ManifestSpec{KymaValues: &test.entry}).specValues(t.Context())
			if content.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v with reason %q, want %q", err, content.ReasonOf(err), test.message)
			}
		})
	}
	t.Run("values that the Kyma has not taken up yet are not used", func(t *testing.T) {
		spec := v1beta2.ManifestSpec{KymaValues: &v1beta2.EntryValues{From: []v1beta2.HashedValues{changed}}}
		r := readingWith(hub, spec)
		_, err := r.specValues(t.Context())
		r.secrets = []any{"hunter2"}
		if err = r.withoutSecrets(err); !errors.Is(err, ErrValuesChanged) || content.ReasonOf(err) != v1beta2.ReasonValuesNotFound {
			t.Errorf("error %v", err)
		}
	})
}

// The templates of a chart decide what an error says, and may say what they were given.
func TestWithoutSecrets(t *testing.T) {
	hub := hubObjects{
		"Secret login values.yaml": "password: hunter2\nlist: [{token: \"a\\\"b\\\\c\"}]\nshort: abc\npin: 12345678\n" +
			"key: |\n  -----BEGIN KEY-----\n  bGluZSBvZiBhIGtleQ\n  end\n",
		"ConfigMap sizes values.yaml": "size: enormous\n",
	}
	r := readingWith(hub, v1beta2.ManifestSpec{KymaValues: &v1beta2.EntryValues{
		From: []v1beta2.HashedValues{hub.from(v1beta2.ValuesSecret, "login"), hub.from(v1beta2.ValuesConfigMap, "sizes")},
	}})
	if _, err := r.specValues(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := content.Errorf(content.ReasonContentInvalid,
		`first: size enormous, password hunter2 (hunter22, aHVudGVyMg==), token %q, abc, pin 12345678 or 1.2345678e+07, line bGluZSBvZiBhIGtleQ, end`,
		`a"b\c`)
	err := r.withoutSecrets(said)
	const want = `first: size enormous, password ... (...2, ...), token "...", abc, pin ... or ..., line ..., end`
	if err.Error() != want || content.ReasonOf(err) != content.ReasonContentInvalid {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := r.withoutSecrets(ErrPending); !errors.Is(err, ErrPending) {
		t.Errorf("got %v", err)
	}
}

// A chart is rendered with them, and its own failure does not tell a password.
func TestRead_RendersChartsWithTheValuesOfAnEntry(t *testing.T) {
	contents := startRegistry(t).objects(t)
	contents.Policy = func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }
	hub := hubObjects{"Secret login values.yaml": "password: hunter2\n"}
	contents.HubValues = hub
	url := startHelmRepository(t, `{{ if .Values.fail }}{{ fail (printf "what is %s" .Values.password) }}{{ end }}{{ .Values.colour }}`)
	m := manifestOf(fmt.Sprintf(`{"url":%q,"chartName":"sample","version":"1.0.0"}`, url))
	m.Spec.KymaValues = &v1beta2.EntryValues{
		From: []v1beta2.HashedValues{hub.from(v1beta2.ValuesSecret, "login")}, Inline: `{"colour":"red"}`,
	}
	parts, err := contents.Read(t.Context(), m, anyCluster)
	if err != nil || parts[0].Rendered.Objects()[0].GetName() != "red-first" {
		t.Fatalf("parts %+v, error %v", parts, err)
	}
	m.Spec.KymaValues.Inline = `{"fail":true}`
	if _, err = contents.Read(t.Context(), m, anyCluster); err == nil || !strings.Contains(err.Error(), "what is ...") {
		t.Errorf("error %v", err)
	}
}

func TestRead_RefusesValuesOfAnEntryWithoutAChart(t *testing.T) {
	f := startRegistry(t)
	m := manifestOf(encode(t, f.source(t, configMap)))
	m.Spec.Version, m.Spec.KymaValues = "1.2.3", &v1beta2.EntryValues{Inline: `{"a":1}`}
	_, err := f.objects(t).Read(t.Context(), m, noCluster)
	if content.ReasonOf(err) != content.ReasonValuesInvalid || !strings.Contains(err.Error(), "version 1.2.3 of the module has no chart") {
		t.Errorf("error %v", err)
	}
}
