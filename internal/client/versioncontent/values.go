package versioncontent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// ReadValues returns the values that an entry of a Kyma names in an object of the hub, read as the user.
func ReadValues(ctx context.Context, hub client.Reader, namespace string, named v1beta2.ValuesReference) ([]byte, error) {
	var object client.Object
	var text []byte
	var there bool
	key := client.ObjectKey{Namespace: namespace, Name: named.Name}
	if named.Kind == v1beta2.ValuesSecret {
		found := &corev1.Secret{}
		if err := hub.Get(ctx, key, found); err != nil {
			return nil, err
		}
		object = found
		text, there = found.Data[named.DataKey()]
	} else {
		found := &corev1.ConfigMap{}
		if err := hub.Get(ctx, key, found); err != nil {
			return nil, err
		}
		object = found
		if text, there = found.BinaryData[named.DataKey()]; !there {
			var written string
			written, there = found.Data[named.DataKey()]
			text = []byte(written)
		}
	}
	switch {
	case object.GetLabels()[v1beta2.LabelValues] != v1beta2.EnabledValue:
		return nil, fmt.Errorf("it does not have the label %s: %q", v1beta2.LabelValues, v1beta2.EnabledValue)
	case !there:
		return nil, fmt.Errorf("it has no key %s", named.DataKey())
	}
	return text, nil
}

// readEntryValues reads the values of the Kyma's entry. Those in objects of the hub that cannot be read are left out, and told.
func (r *rendering) readEntryValues(ctx context.Context) error {
	entry := r.spec.KymaValues
	if entry == nil {
		return nil
	}
	for i := range entry.From {
		r.values = helm.MergeValues(r.values, r.referredValues(ctx, &entry.From[i]))
	}
	inline, err := helm.Values([]byte(entry.Inline))
	r.values = helm.MergeValues(r.values, inline)
	return err
}

// referredValues returns the values in an object of the hub, nil where they cannot be read. Of values that have changed the present ones
// count: those that run are known to no one any more.
func (r *rendering) referredValues(ctx context.Context, from *v1beta2.HashedValues) map[string]any {
	what := fmt.Sprintf("%s %s/%s", from.Kind, r.namespace, from.Name)
	var text []byte
	var values map[string]any
	err := errNotRead
	if r.HubReader != nil {
		text, err = ReadValues(ctx, r.HubReader, r.namespace, from.ValuesReference)
	}
	if err == nil {
		if values, err = helm.Values(text); err != nil {
			err = fmt.Errorf("key %s holds no values", from.DataKey()) // the error may show a part of it
		}
	}
	switch {
	case err != nil:
		r.caveats = append(r.caveats, "without the values in "+what+": "+whyUnread(err))
		return nil
	case from.Hash != UnknownHash && from.Hash != module.HashValues(text):
		r.caveats = append(r.caveats, "with the values that "+what+" holds now, which are not those that run")
	}
	if from.Kind == v1beta2.ValuesSecret {
		r.secrets = append(r.secrets, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "stringData": values,
		}})
	}
	return values
}

// UnknownHash stands for the hash of values that the user could not read.
const UnknownHash = "unknown"

// errNotRead reports a program that reads no values for its users.
var errNotRead = errors.New("they are not read here")

func whyUnread(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "you may not read it"
	case apierrors.IsNotFound(err):
		return "it is not there"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// hidden returns an error without what came from Secrets of the hub: the templates of a chart decide what it says.
func (r *rendering) hidden(err error) error {
	if err == nil || len(r.secrets) == 0 {
		return err
	}
	text := fielddiff.SecretsOf(r.secrets...).Hide(err.Error())
	if text == err.Error() {
		return err
	}
	return &content.Error{Reason: cmp.Or(content.ReasonOf(err), ReasonOf(err)), Err: errors.New(text)}
}

// Caveats says in one line how what was rendered differs from what the lifecycle manager renders; empty when it does not.
func Caveats(all ...[]string) string {
	var each []string
	for _, one := range slices.Concat(all...) {
		if !slices.Contains(each, one) {
			each = append(each, one)
		}
	}
	if len(each) == 0 {
		return ""
	}
	return "rendered " + strings.Join(each, "; ")
}
