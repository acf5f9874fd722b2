package versioncontent_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const password = "correct-horse-battery"

// publishChart publishes a version that is a chart, which shows its values, or fails with one of them.
func (b *bench) publishChart(version string) {
	b.Helper()
	chart := testkit.Chart(beacon, version, testkit.Files{
		"values.yaml": "colour: grey\npassword: none\n",
		"templates/settings.yaml": `{{ if .Values.fail }}{{ fail (printf "what is %s" .Values.password) }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: {{ .Values.colour | quote }}, password: {{ .Values.password | quote }}}
`,
	})
	b.publish(version, component.Resource{
		Name: "raw-manifest", Type: "helmChart", MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chart.Gzip(),
	})
}

// holding returns a Secret and a ConfigMap with values, both called values.
func holding(labels map[string]string, text string) []runtime.Object {
	meta := metav1.ObjectMeta{Namespace: "kcp-system", Name: "values", Labels: labels}
	return []runtime.Object{
		&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{v1beta2.DefaultValuesKey: []byte(text)}},
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"colours": "colour: blue\n"}},
	}
}

// forbidding is a hub whose user may read nothing.
func forbidding() client.Reader {
	return clientfake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, key.Name, nil)
		},
	}).Build()
}

func TestLoadManifest_TakesValuesFromObjectsOfTheHub(t *testing.T) {
	labelled := map[string]string{v1beta2.LabelValues: v1beta2.EnabledValue}
	const text = "password: " + password + "\ncolour: red\n"
	secret := v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: "values"}
	colours := v1beta2.ValuesReference{Kind: v1beta2.ValuesConfigMap, Name: "values", Key: "colours"}
	both := func(hash string) []v1beta2.HashedValues {
		return []v1beta2.HashedValues{
			{ValuesReference: secret, Hash: hash}, {ValuesReference: colours, Hash: module.HashValues([]byte("colour: blue\n"))},
		}
	}
	known := module.HashValues([]byte(text))
	for name, test := range map[string]struct {
		hub              client.Reader
		from             []v1beta2.HashedValues
		inline           string
		colour, password string
		caveats          string
	}{
		"later ones go before earlier ones": {
			clientfake.NewFakeClient(holding(labelled, text)...), both(known), `{}`, "blue", password, "",
		},
		"the entry's own go before them": {
			clientfake.NewFakeClient(holding(labelled, text)...), both(known), `{"colour":"violet"}`, "violet", password, "",
		},
		"values that are others by now are told": {
			clientfake.NewFakeClient(holding(labelled, text)...), both("sha256:before")[:1], `{}`, "red", password,
			"rendered with the values that Secret kcp-system/values holds now, which are not those that run",
		},
		"values whose hash is not known are no others": {
			clientfake.NewFakeClient(holding(labelled, text)...), both(versioncontent.UnknownHash)[:1], `{}`, "red", password, "",
		},
		"what the user may not read is told, and the rest is rendered": {
			forbidding(), both(known), `{"colour":"violet"}`, "violet", "none",
			"rendered without the values in Secret kcp-system/values: you may not read it; " +
				"without the values in ConfigMap kcp-system/values: you may not read it",
		},
		"what is not there is told": {
			clientfake.NewFakeClient(), both(known)[:1], `{}`, "grey", "none",
			"rendered without the values in Secret kcp-system/values: it is not there",
		},
		"what its owner has not opened is told": {
			clientfake.NewFakeClient(holding(nil, text)...), both(known)[:1], `{}`, "grey", "none",
			`rendered without the values in Secret kcp-system/values: it does not have the label operator.kyma-project.io/values: "true"`,
		},
		"what holds no values is told, without a part of it": {
			clientfake.NewFakeClient(holding(labelled, "- "+password)...), both(known)[:1], `{}`, "grey", "none",
			"rendered without the values in Secret kcp-system/values: key values.yaml holds no values",
		},
		"a program that reads none tells it": {
			nil, both(known)[:1], `{}`, "grey", "none", "rendered without the values in Secret kcp-system/values: they are not read here",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.publishChart("1.0.0")
			l := b.loader(func(l *versioncontent.Loader) { l.Access.PlainHTTP, l.HubReader = true, test.hub })
			manifest := b.managersManifest("1.0.0")
			manifest.Spec.KymaValues = &v1beta2.EntryValues{From: test.from, Inline: test.inline}
			for range 2 { // the second time from what is kept
				got, err := l.LoadManifest(t.Context(), manifest)
				if err != nil {
					t.Fatal(err)
				}
				data, _, _ := unstructured.NestedStringMap(got.Objects[0].Object, "data")
				if data["colour"] != test.colour || data["password"] != test.password {
					t.Errorf("rendered %v, want colour %s and password %s", data, test.colour, test.password)
				}
				if caveats := versioncontent.Caveats(got.Caveats); caveats != test.caveats {
					t.Errorf("told %q, want %q", caveats, test.caveats)
				}
			}
		})
	}
}

// The templates of a chart decide what an error says.
func TestLoadManifest_AnErrorTellsNoSecretOfTheHub(t *testing.T) {
	b := newBench(t)
	b.publishChart("1.0.0")
	hub := clientfake.NewFakeClient(holding(map[string]string{v1beta2.LabelValues: v1beta2.EnabledValue}, "password: "+password)...)
	l := b.loader(func(l *versioncontent.Loader) { l.Access.PlainHTTP, l.HubReader = true, hub })
	manifest := b.managersManifest("1.0.0")
	manifest.Spec.KymaValues = &v1beta2.EntryValues{
		From:   []v1beta2.HashedValues{{ValuesReference: v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: "values"}}},
		Inline: `{"fail":true}`,
	}
	if _, err := l.LoadManifest(t.Context(), manifest); err == nil || !strings.Contains(err.Error(), "what is ") || strings.Contains(err.Error(), password) {
		t.Errorf("error %v", err)
	}
}
