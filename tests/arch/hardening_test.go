package arch

import (
	"io/fs"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/internal/egress"
)

// bundle is what a kustomization deploys, as far as it decides what a user who got into a pod could do.
type bundle struct {
	deployments []appsv1.Deployment
	policies    []networkingv1.NetworkPolicy
	services    []corev1.Service
	namespaces  []corev1.Namespace
	roles       map[string][]rbacv1.PolicyRule // by kind/name
	bindings    map[string]string              // ServiceAccount kind/name of the role
}

// bundles are config/default with every component by itself, with all of them, and what is meant to be deployed as it stands.
func bundles(t *testing.T) map[string]*bundle {
	t.Helper()
	memory := filesys.MakeFsInMemory()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, "config", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		return memory.WriteFile("/"+file, data)
	})
	if err != nil {
		t.Fatal(err)
	}
	components, err := filepath.Glob("../../config/components/*")
	if err != nil || len(components) < 5 {
		t.Fatalf("%d components, %v", len(components), err)
	}
	all := map[string]*bundle{}
	everything := []string{}
	for _, name := range []string{"default", "local", "policies"} {
		all[name] = build(t, memory, "/config/"+name)
	}
	for _, component := range components {
		name := filepath.Base(component)
		everything = append(everything, name)
		all["with "+name] = compose(t, memory, name, name)
	}
	all["with everything"] = compose(t, memory, "everything", everything...)
	return all
}

func compose(t *testing.T, memory filesys.FileSystem, name string, components ...string) *bundle {
	t.Helper()
	at := "/config/composed-" + name
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../default]\ncomponents:\n"
	for _, component := range components {
		text += "- ../components/" + component + "\n"
	}
	if err := memory.WriteFile(path.Join(at, "kustomization.yaml"), []byte(text)); err != nil {
		t.Fatal(err)
	}
	return build(t, memory, at)
}

func build(t *testing.T, memory filesys.FileSystem, at string) *bundle {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, at)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	b := &bundle{roles: map[string][]rbacv1.PolicyRule{}, bindings: map[string]string{}}
	for _, resource := range resources.Resources() {
		data, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		b.add(t, resource.GetKind(), data)
	}
	return b
}

func (b *bundle) add(t *testing.T, kind string, data []byte) {
	t.Helper()
	switch kind {
	case "Deployment":
		b.deployments = append(b.deployments, read[appsv1.Deployment](t, data))
	case "NetworkPolicy":
		b.policies = append(b.policies, read[networkingv1.NetworkPolicy](t, data))
	case "Service":
		b.services = append(b.services, read[corev1.Service](t, data))
	case "Namespace":
		b.namespaces = append(b.namespaces, read[corev1.Namespace](t, data))
	case "Role", "ClusterRole":
		role := read[rbacv1.ClusterRole](t, data)
		b.roles[kind+"/"+role.Name] = role.Rules
	case "RoleBinding", "ClusterRoleBinding":
		binding := read[rbacv1.ClusterRoleBinding](t, data)
		for _, subject := range binding.Subjects {
			b.bindings[kind+"/"+binding.Name+" "+subject.Name] = binding.RoleRef.Kind + "/" + binding.RoleRef.Name
		}
	}
}

func read[T any](t *testing.T, data []byte) (value T) {
	t.Helper()
	if err := yaml.UnmarshalStrict(data, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestHardening_WhatIsDeployedIsRestricted(t *testing.T) {
	for name, b := range bundles(t) {
		t.Run(name, func(t *testing.T) {
			if len(b.deployments) == 0 || len(b.namespaces) == 0 {
				t.Fatal("nothing is deployed")
			}
			for _, namespace := range b.namespaces {
				if namespace.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
					t.Errorf("namespace %s does not enforce the restricted Pod Security Standard", namespace.Name)
				}
			}
			for i := range b.deployments {
				confined(t, &b.deployments[i].Spec.Template.Spec)
			}
			bounded(t, b)
			noWildcards(t, b)
		})
	}
}

// confined holds a pod to the restricted Pod Security Standard, to a read-only root file system and to limits.
func confined(t *testing.T, pod *corev1.PodSpec) {
	t.Helper()
	is := func(value *bool) bool { return value != nil && *value }
	if s := pod.SecurityContext; s == nil || !is(s.RunAsNonRoot) || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Error("the pod may run as root, or without a seccomp profile")
	}
	if pod.HostNetwork || pod.HostPID || pod.HostIPC || is(pod.ShareProcessNamespace) {
		t.Error("the pod shares something with its node")
	}
	for _, volume := range pod.Volumes {
		if volume.EmptyDir == nil && volume.ConfigMap == nil && volume.Secret == nil && volume.Projected == nil {
			t.Errorf("volume %s is of a kind that is not allowed", volume.Name)
		}
	}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		s := container.SecurityContext
		switch {
		case s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation:
			t.Errorf("container %s may escalate privileges", container.Name)
		case is(s.Privileged) || s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL") || len(s.Capabilities.Add) > 0:
			t.Errorf("container %s has capabilities", container.Name)
		case !is(s.ReadOnlyRootFilesystem):
			t.Errorf("container %s can write to its root file system", container.Name)
		case container.Resources.Limits.Memory().IsZero() || container.Resources.Limits.StorageEphemeral().IsZero():
			t.Errorf("container %s has no limit of memory or of storage", container.Name)
		}
	}
}

// bounded holds the network policies to: nothing in or out but what is named, and never to where clouds keep credentials.
func bounded(t *testing.T, b *bundle) {
	t.Helper()
	denied, let := map[string]bool{}, map[string]bool{}
	for i := range b.policies {
		policy := &b.policies[i]
		concerned := concernedBy(t, b, policy)
		if len(concerned) == 0 {
			t.Errorf("policy %s concerns no one", policy.Name)
		}
		for _, name := range concerned {
			denied[name] = denied[name] || len(policy.Spec.PolicyTypes) == 2 && len(policy.Spec.Ingress)+len(policy.Spec.Egress) == 0
		}
		for _, rule := range policy.Spec.Ingress {
			for _, port := range rule.Ports {
				let[port.Port.String()] = true
			}
			if len(rule.Ports) == 0 {
				t.Errorf("policy %s lets everything in", policy.Name)
			}
		}
		for _, rule := range policy.Spec.Egress {
			leaving(t, policy.Name, rule)
		}
	}
	for i := range b.deployments {
		if name := b.deployments[i].Name; !denied[name] {
			t.Errorf("no policy denies %s what the others do not allow", name)
		}
	}
	for _, service := range b.services {
		for _, port := range service.Spec.Ports {
			if !let[port.TargetPort.String()] {
				t.Errorf("service %s has port %s, which no policy lets in", service.Name, port.TargetPort.String())
			}
		}
	}
}

// concernedBy returns the Deployments whose pods a policy is for.
func concernedBy(t *testing.T, b *bundle, policy *networkingv1.NetworkPolicy) (names []string) {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	if err != nil {
		t.Errorf("policy %s: %v", policy.Name, err)
		return nil
	}
	for i := range b.deployments {
		if selector.Matches(labels.Set(b.deployments[i].Spec.Template.Labels)) {
			names = append(names, b.deployments[i].Name)
		}
	}
	return names
}

func leaving(t *testing.T, policy string, rule networkingv1.NetworkPolicyEgressRule) {
	t.Helper()
	if len(rule.Ports) == 0 {
		t.Errorf("policy %s lets everything out", policy)
	}
	for _, to := range rule.To {
		for _, address := range metadataServices {
			if to.IPBlock != nil && holds(t, to.IPBlock.CIDR, address) &&
				!slices.ContainsFunc(to.IPBlock.Except, func(except string) bool { return holds(t, except, address) }) {
				t.Errorf("policy %s leads to %s, where clouds give away a machine's credentials", policy, address)
			}
		}
	}
}

// metadataServices are those of clouds, by the addresses that they document.
var metadataServices = []string{
	"169.254.169.254", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fe80::a9fe:a9fe", "fd00:ec2::254", "fd00:ec2::23",
	"fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "fd00:a9fe:a9fe::1", "fd00:100::100:200",
}

// TestMetadataServicesAreNotDialled: policies and the program's own guards mean the same.
func TestMetadataServicesAreNotDialled(t *testing.T) {
	for _, address := range metadataServices {
		if egress.ClassOf(netip.MustParseAddr(address)) != egress.Never {
			t.Errorf("%s may be dialled", address)
		}
	}
}

func holds(t *testing.T, network, address string) bool {
	t.Helper()
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		t.Errorf("a policy names %q: %v", network, err)
		return false
	}
	return prefix.Contains(netip.MustParseAddr(address))
}

// installer may do everything: it is what installs modules into a cluster that has no hub, and only the component local has it. The
// manager impersonates it, and it alone.
const installer = "ClusterRoleBinding/klm-local-installer klm-local-installer"

// noWildcards holds every role to what it names, and refuses roles that are not part of what is deployed.
func noWildcards(t *testing.T, b *bundle) {
	t.Helper()
	for name, rules := range b.roles {
		for _, rule := range rules {
			if slices.Contains(slices.Concat(rule.Verbs, rule.APIGroups, rule.Resources, rule.NonResourceURLs), "*") {
				t.Errorf("%s has a wildcard", name)
			}
			if slices.Contains(rule.Verbs, "impersonate") && !slices.Equal(rule.ResourceNames, []string{"klm-local-installer"}) {
				t.Errorf("%s lets act as anyone", name)
			}
			if slices.Contains(rule.Verbs, "escalate") || slices.Contains(rule.Verbs, "bind") {
				t.Errorf("%s lets give oneself rights", name)
			}
		}
	}
	for binding, role := range b.bindings {
		if _, known := b.roles[role]; !known && binding != installer {
			t.Errorf("%s gives %s, which is not ours", binding, role)
		}
		if strings.HasSuffix(role, "/cluster-admin") && binding != installer {
			t.Errorf("%s gives everything", binding)
		}
	}
}
