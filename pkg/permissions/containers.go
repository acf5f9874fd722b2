package permissions

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// container is what init containers, containers and ephemeral containers have in common.
type container struct {
	name     string
	security *corev1.SecurityContext
	ports    []corev1.ContainerPort
	mounts   []corev1.VolumeMount
	env      []corev1.EnvVar
	envFrom  []corev1.EnvFromSource
}

// containersOf returns all containers of a pod.
func containersOf(spec *corev1.PodSpec) []container {
	var all []container
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			c := &list[i]
			all = append(all, container{c.Name, c.SecurityContext, c.Ports, c.VolumeMounts, c.Env, c.EnvFrom})
		}
	}
	for i := range spec.EphemeralContainers {
		c := &spec.EphemeralContainers[i]
		all = append(all, container{c.Name, c.SecurityContext, c.Ports, c.VolumeMounts, c.Env, c.EnvFrom})
	}
	return all
}

// field says where in a container something is written.
func (c *container) field(name string) string {
	return "container " + strconv.Quote(c.name) + ": " + name
}

// analyseContainer reports what a container may do.
func (b *builder) analyseContainer(w *workload, c *container) {
	for _, port := range c.ports {
		if port.HostPort != 0 {
			b.access(w, Access{What: accessHostPort, Detail: strconv.Itoa(int(port.HostPort))}, c.field("ports.hostPort"))
		}
	}
	b.analyseSecrets(w, c)
	b.analyseIdentity(w, c)
	b.analyseConfinement(w, c)
	security := c.security
	if security == nil {
		return
	}
	if isTrue(security.Privileged) {
		b.access(w, Access{What: accessPrivileged}, c.field("securityContext.privileged"))
	} else if isTrue(security.AllowPrivilegeEscalation) {
		b.access(w, Access{What: accessEscalation}, c.field("securityContext.allowPrivilegeEscalation"))
	}
	if security.ProcMount != nil && *security.ProcMount == corev1.UnmaskedProcMount {
		b.access(w, Access{What: accessProcMount}, c.field("securityContext.procMount"))
	}
	if security.Capabilities == nil {
		return
	}
	for _, capability := range security.Capabilities.Add {
		name := strings.TrimPrefix(strings.ToUpper(string(capability)), "CAP_")
		b.access(w, Access{What: accessCapability, Detail: name}, c.field("securityContext.capabilities.add"))
	}
}

func isTrue(value *bool) bool { return value != nil && *value }

// analyseIdentity reports containers that run as root where they say so, or as processes of a Windows node. What a container says counts
// before what its pod says.
func (b *builder) analyseIdentity(w *workload, c *container) {
	var user *int64
	var nonRoot *bool
	var windows *corev1.WindowsSecurityContextOptions
	if pod := w.spec.SecurityContext; pod != nil {
		user, nonRoot, windows = pod.RunAsUser, pod.RunAsNonRoot, pod.WindowsOptions
	}
	if c.security != nil {
		user, nonRoot = override(user, c.security.RunAsUser), override(nonRoot, c.security.RunAsNonRoot)
		windows = override(windows, c.security.WindowsOptions)
	}
	switch {
	case user != nil && *user == 0:
		b.access(w, Access{What: accessRoot}, c.field("securityContext.runAsUser"))
	case user == nil && nonRoot != nil && !*nonRoot:
		b.access(w, Access{What: accessRoot}, c.field("securityContext.runAsNonRoot"))
	}
	if windows != nil && isTrue(windows.HostProcess) {
		b.access(w, Access{What: accessHostProcess}, c.field("securityContext.windowsOptions.hostProcess"))
	}
}

// override returns the second value where there is one.
func override[T any](value, other *T) *T {
	if other != nil {
		return other
	}
	return value
}

// analyseConfinement reports containers that switch off what confines them.
func (b *builder) analyseConfinement(w *workload, c *container) {
	var seccomp *corev1.SeccompProfile
	var armor *corev1.AppArmorProfile
	var linux *corev1.SELinuxOptions
	if pod := w.spec.SecurityContext; pod != nil {
		seccomp, armor, linux = pod.SeccompProfile, pod.AppArmorProfile, pod.SELinuxOptions
	}
	if c.security != nil {
		seccomp, armor = override(seccomp, c.security.SeccompProfile), override(armor, c.security.AppArmorProfile)
		linux = override(linux, c.security.SELinuxOptions)
	}
	privileged := c.security != nil && isTrue(c.security.Privileged)
	if privileged { // has neither of them, whatever it says
		return
	}
	if seccomp != nil && seccomp.Type == corev1.SeccompProfileTypeUnconfined {
		b.access(w, Access{What: accessSeccomp}, c.field("securityContext.seccompProfile"))
	}
	annotation := w.annotations[corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+c.name]
	annotated := annotation == corev1.DeprecatedAppArmorBetaProfileNameUnconfined
	if armor != nil && armor.Type == corev1.AppArmorProfileTypeUnconfined || armor == nil && annotated {
		b.access(w, Access{What: accessAppArmor}, c.field("securityContext.appArmorProfile"))
	}
	if linux != nil && !confined(linux) {
		label := linux.User + ":" + linux.Role + ":" + linux.Type
		b.access(w, Access{What: accessSELinux, Detail: label}, c.field("securityContext.seLinuxOptions"))
	}
}

// confined reports whether SELinux options are those that the pod security standard of Kubernetes allows every pod to have.
func confined(options *corev1.SELinuxOptions) bool {
	switch options.Type {
	case "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t":
		return options.User == "" && options.Role == ""
	default:
		return false
	}
}
