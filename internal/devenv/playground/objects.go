package playground

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// AccessSecret returns the Secret with which the manager reaches the runtime of a Kyma.
func AccessSecret(namespace, kyma string, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: kyma, Labels: map[string]string{v1beta2.LabelKymaName: kyma}},
		Data:       map[string][]byte{v1beta2.AccessSecretKey: kubeconfig},
	}
}

// Ready reports whether the current spec was observed running.
func Ready(k *v1beta2.Kyma) bool {
	condition := meta.FindStatusCondition(k.Status.Conditions, v1beta2.ConditionReady)
	return condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == k.Generation
}

// Describe returns a Kyma's status on one line.
func Describe(k *v1beta2.Kyma) string {
	condition := meta.FindStatusCondition(k.Status.Conditions, v1beta2.ConditionReady)
	if k.Status.State == "" || condition == nil {
		return "has no status yet"
	}
	line := fmt.Sprintf("%s, %s modules ready", k.Status.State, k.Status.ModulesReady)
	if condition.Reason != string(k.Status.State) {
		line += ", " + condition.Reason
	}
	return line
}

// WithoutPods returns the objects of a deployment of the manager that are relevant where its program runs as a process.
func WithoutPods(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, object := range all {
		switch group, kind := object.GroupVersionKind().Group, object.GetKind(); {
		case group == rbacv1.GroupName, group == apiextensionsv1.GroupName, group == admissionregistrationv1.GroupName,
			kind == "Namespace", kind == "ServiceAccount":
			objects = append(objects, object)
		}
	}
	return objects
}

// decode reads a stream of YAML documents; empty ones are left out.
func decode(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}
