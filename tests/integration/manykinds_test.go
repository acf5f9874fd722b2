package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// manyKinds has one object of each kind that an operator usually comes with, beside its Deployment and its definition.
const manyKinds = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: %[1]s, namespace: default}}
---
{apiVersion: v1, kind: Secret, metadata: {name: %[1]s, namespace: default}}
---
{apiVersion: v1, kind: Service, metadata: {name: %[1]s, namespace: default}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: %[1]s, namespace: default}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: %[1]s, namespace: default}, spec: {limits: []}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: %[1]s, namespace: default}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: %[1]s, namespace: default}, spec: {podSelector: {}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %[1]s, namespace: default}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %[1]s, namespace: default}, rules: []}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %[1]s, namespace: default}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[1]s}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: %[1]s}, rules: []}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: %[1]s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: %[1]s}, value: 1}
`

var _ = Describe("A module of many kinds", func() {
	It("is repaired at once, whichever of its objects is deleted", func() {
		emptyHub()
		module := testkit.Unique("many")
		env.Publish(testkit.ComponentName(module), "1.0.0", testkit.RawManifest(fmt.Appendf(nil, manyKinds, module)))
		env.Hub.Create(testkit.ModuleTemplate(module, "1.0.0"))
		env.Point(module, "1.0.0", "regular")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		atRest()
		within := metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: module}
		everywhere := metav1.ObjectMeta{Name: module}
		for _, object := range []client.Object{
			&corev1.ConfigMap{ObjectMeta: within}, &corev1.Secret{ObjectMeta: within}, &corev1.Service{ObjectMeta: within},
			&corev1.ServiceAccount{ObjectMeta: within}, &corev1.LimitRange{ObjectMeta: within}, &corev1.ResourceQuota{ObjectMeta: within},
			&networkingv1.NetworkPolicy{ObjectMeta: within}, &policyv1.PodDisruptionBudget{ObjectMeta: within},
			&rbacv1.Role{ObjectMeta: within}, &rbacv1.RoleBinding{ObjectMeta: within}, &rbacv1.ClusterRole{ObjectMeta: everywhere},
			&rbacv1.ClusterRoleBinding{ObjectMeta: everywhere}, &schedulingv1.PriorityClass{ObjectMeta: everywhere},
		} {
			By(fmt.Sprintf("%T", object))
			expectHealed(env.Runtimes[0], object)
		}
		remove(kyma)
		Expect(settings(module)()).To(BeNil())
	})
})
