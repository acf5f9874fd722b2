package takeover

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestFileIn(t *testing.T) {
	volume := func(name string, items ...corev1.KeyToPath) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "map-" + name}, Items: items,
		}}}
	}
	deployment := &appsv1.Deployment{}
	deployment.Spec.Template.Spec = corev1.PodSpec{
		Containers: []corev1.Container{{Name: "sidecar"}, {Name: "manager", VolumeMounts: []corev1.VolumeMount{
			{Name: "whole", MountPath: "/etc/whole/"},
			{Name: "items", MountPath: "/etc/items"},
			{Name: "one", MountPath: "/etc/one/policy.yaml", SubPath: "key.yaml"},
			{Name: "secret", MountPath: "/etc/secret"},
		}}},
		Volumes: []corev1.Volume{
			volume("whole"), volume("items", corev1.KeyToPath{Key: "original", Path: "renamed.yaml"}), volume("one"),
			{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
		},
	}
	for name, test := range map[string]struct {
		path string
		want MountedFile
		ok   bool
	}{
		"a key of a ConfigMap":                 {"/etc/whole/policy.yaml", MountedFile{"map-whole", "policy.yaml"}, true},
		"a key under another name":             {"/etc/items/renamed.yaml", MountedFile{"map-items", "original"}, true},
		"a single key, mounted by its subPath": {"/etc/one/policy.yaml", MountedFile{"map-one", "key.yaml"}, true},
		"a Secret is no ConfigMap":             {"/etc/secret/policy.yaml", MountedFile{}, false},
		"a path that only begins the same":     {"/etc/wholesale/policy.yaml", MountedFile{}, false},
		"a path that is mounted nowhere":       {"/policy.yaml", MountedFile{}, false},
	} {
		if got, ok := FileIn(deployment, test.path); ok != test.ok || got != test.want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	if _, ok := FileIn(&appsv1.Deployment{}, "/x"); ok {
		t.Error("a Deployment without a container has a file")
	}
}
