package permissions

import (
	"cmp"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// analyseVolumes reports what a pod mounts from its node, and the secrets and tokens that it mounts.
func (b *builder) analyseVolumes(w *workload) {
	for i := range w.spec.Volumes {
		volume := &w.spec.Volumes[i]
		field := "volume " + volume.Name
		switch {
		case volume.HostPath != nil:
			b.access(w, Access{What: accessHostPath, Detail: hostPath(volume.HostPath), Writes: writes(w, volume)}, field+": hostPath")
		case volume.GitRepo != nil:
			b.access(w, Access{What: accessGitRepo}, field+": gitRepo")
		case volume.Secret != nil:
			b.secret(w, volume.Secret.SecretName, field+": secret")
		case volume.Projected != nil:
			b.analyseProjected(w, volume.Projected, field)
		}
	}
}

func hostPath(source *corev1.HostPathVolumeSource) string {
	return path.Clean(cmp.Or(source.Path, "/"))
}

// writes reports whether a container can change a path of the node. What a socket is asked for does not depend on how it is mounted.
func writes(w *workload, volume *corev1.Volume) bool {
	source := volume.HostPath
	socket := source.Type != nil && *source.Type == corev1.HostPathSocket || strings.HasSuffix(source.Path, ".sock")
	for _, c := range containersOf(&w.spec) {
		for _, mount := range c.mounts {
			if mount.Name == volume.Name && (socket || !mount.ReadOnly) {
				return true
			}
		}
	}
	return false
}

func (b *builder) analyseProjected(w *workload, projected *corev1.ProjectedVolumeSource, field string) {
	for i := range projected.Sources {
		source := &projected.Sources[i]
		if source.Secret != nil {
			b.secret(w, source.Secret.Name, field+": projected secret")
		}
		if token := source.ServiceAccountToken; token != nil && token.Audience != "" {
			a := Access{What: accessToken, Detail: token.Audience}
			finding := a.finding(w.carrier + " " + field + ": projected serviceAccountToken")
			finding.Subject = prefixAccount + w.account()
			b.add(finding)
		}
	}
}

// analyseSecrets reports the secrets that a container has in its environment.
func (b *builder) analyseSecrets(w *workload, c *container) {
	for i := range c.env {
		if from := c.env[i].ValueFrom; from != nil && from.SecretKeyRef != nil {
			b.secret(w, from.SecretKeyRef.Name, c.field("env"))
		}
	}
	for i := range c.envFrom {
		if from := c.envFrom[i].SecretRef; from != nil {
			b.secret(w, from.Name, c.field("envFrom"))
		}
	}
}

// secret reports a secret that pods read. Those that the module brings hold nothing new to it.
func (b *builder) secret(w *workload, name, field string) {
	if name == "" || b.secrets[w.namespace+"/"+name] {
		return
	}
	a := Access{What: accessSecret, Detail: w.namespace + "/" + name}
	b.add(a.finding(w.carrier + " " + field))
}
