package takeover

import (
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// MountedFile is a key of a ConfigMap that a container reads as a file.
type MountedFile struct{ ConfigMap, Key string }

// FileIn returns the key of a ConfigMap that the manager of a Deployment reads at a path; ok is false where the path is not in a ConfigMap
// that the Deployment names.
func FileIn(deployment *appsv1.Deployment, file string) (found MountedFile, ok bool) {
	pod := &deployment.Spec.Template.Spec
	container := managerIn(pod)
	if container == nil {
		return MountedFile{}, false
	}
	for _, mount := range container.VolumeMounts {
		below, is := strings.CutPrefix(path.Clean(file), path.Clean(mount.MountPath))
		if !is || below != "" && !strings.HasPrefix(below, "/") {
			continue
		}
		name := path.Join(mount.SubPath, strings.TrimPrefix(below, "/"))
		for i := range pod.Volumes {
			if source := pod.Volumes[i].ConfigMap; source != nil && pod.Volumes[i].Name == mount.Name {
				return MountedFile{ConfigMap: source.Name, Key: keyOf(source, name)}, true
			}
		}
	}
	return MountedFile{}, false
}

// keyOf returns the key that is mounted under a name.
func keyOf(source *corev1.ConfigMapVolumeSource, name string) string {
	for _, item := range source.Items {
		if item.Path == name {
			return item.Key
		}
	}
	return name
}
