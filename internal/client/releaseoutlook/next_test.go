package releaseoutlook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

func TestNextManifest(t *testing.T) {
	const text = "password: correct-horse\n"
	hub := clientfake.NewFakeClient(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kcp-system", Name: "login", Labels: map[string]string{v1beta2.LabelValues: v1beta2.EnabledValue},
		},
		Data: map[string][]byte{v1beta2.DefaultValuesKey: []byte(text)},
	})
	refer := func(name string) []v1beta2.ValuesReference {
		return []v1beta2.ValuesReference{{Kind: v1beta2.ValuesSecret, Name: name}}
	}
	hashed := func(name, hash, inline string) *v1beta2.EntryValues {
		reference := v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: name, Key: v1beta2.DefaultValuesKey}
		return &v1beta2.EntryValues{From: []v1beta2.HashedValues{{ValuesReference: reference, Hash: hash}}, Inline: inline}
	}
	raw := func(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }
	for name, test := range map[string]struct {
		modules []v1beta2.Module
		// had are the values of the Manifest that exists; absent is true where there is none.
		had    *v1beta2.EntryValues
		absent bool
		want   *v1beta2.EntryValues
		none   bool
	}{
		"what the entry sets": {
			modules: []v1beta2.Module{{Name: "notes", Values: raw(`{"a": 2}`)}}, had: &v1beta2.EntryValues{Inline: `{"a":1}`},
			want: &v1beta2.EntryValues{Inline: `{"a":2}`},
		},
		"what it takes away": {modules: []v1beta2.Module{{Name: "notes"}}, had: &v1beta2.EntryValues{Inline: `{"a":1}`}},
		"what is refused is what runs": {
			modules: []v1beta2.Module{{Name: "notes", Values: raw(`{"a":null}`)}}, had: &v1beta2.EntryValues{Inline: `{"a":1}`},
			want: &v1beta2.EntryValues{Inline: `{"a":1}`},
		},
		"what an object holds by now": {
			modules: []v1beta2.Module{{Name: "notes", ValuesFrom: refer("login")}}, had: hashed("login", "before", ""),
			want: hashed("login", module.HashValues([]byte(text)), ""),
		},
		"an object that cannot be read is what the Manifest knows of it": {
			modules: []v1beta2.Module{{Name: "notes", ValuesFrom: refer("gone"), Values: raw(`{"a":1}`)}}, had: hashed("gone", "before", ""),
			want: hashed("gone", "before", `{"a":1}`),
		},
		"one that cannot be read and is not known is told when it is rendered": {
			modules: []v1beta2.Module{{Name: "notes", ValuesFrom: refer("gone"), Values: raw(`{"a":1}`)}}, absent: true,
			want: hashed("gone", versioncontent.UnknownHash, `{"a":1}`),
		},
		"a module that the Kyma does not have": {had: &v1beta2.EntryValues{Inline: `{"a":1}`}, want: &v1beta2.EntryValues{Inline: `{"a":1}`}},
		"neither a Manifest nor values":        {modules: []v1beta2.Module{{Name: "notes"}}, absent: true, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo"}}
			kyma.Spec.Modules = test.modules
			var have *v1beta2.Manifest
			if !test.absent {
				have = &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo-notes"}}
				have.Spec.KymaValues = test.had.DeepCopy()
			}
			next := NextManifest(t.Context(), hub, kyma, "notes", have)
			if next == nil || test.none {
				if next != nil || !test.none {
					t.Errorf("got %+v", next)
				}
				return
			}
			if diff := cmp.Diff(test.want, next.Spec.KymaValues); diff != "" || next.Namespace != "kcp-system" {
				t.Errorf("in namespace %s (-want +got):\n%s", next.Namespace, diff)
			}
			if have != nil && !cmp.Equal(test.had, have.Spec.KymaValues) {
				t.Error("the Manifest that exists was changed")
			}
		})
	}
}
