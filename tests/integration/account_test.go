package integration

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// accountWith makes a ServiceAccount with rights in one namespace, each of which is a line of YAML, and waits until it has them.
func accountWith(cluster *testkit.Cluster, namespace, name, space string, rules ...string) *rbacv1.Role {
	GinkgoHelper()
	err := cluster.Client.Create(ctx(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	Expect(err).To(Or(Succeed(), Satisfy(apierrors.IsAlreadyExists)))
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}, Rules: rulesOf(rules)}
	cluster.Create(
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, role,
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
		},
	)
	expectAllowed(cluster, namespace, name, role.Rules[0], space, true)
	return role
}

// rulesOf parses rules of roles.
func rulesOf(texts []string) (rules []rbacv1.PolicyRule) {
	GinkgoHelper()
	for _, text := range texts {
		role := &rbacv1.Role{}
		Expect(yaml.Unmarshal([]byte("rules: ["+text+"]"), role)).To(Succeed())
		rules = append(rules, role.Rules...)
	}
	return rules
}

// expectAllowed waits until the API server knows whether a ServiceAccount has the last verb of a rule.
func expectAllowed(cluster *testkit.Cluster, namespace, name string, rule rbacv1.PolicyRule, space string, allowed bool) {
	GinkgoHelper()
	Eventually(func() (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + namespace + ":" + name,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: space, Group: rule.APIGroups[0], Resource: rule.Resources[0], Verb: rule.Verbs[len(rule.Verbs)-1],
				Name: slices.Concat(rule.ResourceNames, []string{""})[0],
			},
		}}
		err := cluster.Client.Create(ctx(), review)
		return review.Status.Allowed, err
	}).Should(Equal(allowed))
}

// reserve makes a cluster refuse every write to a namespace by others than a ServiceAccount: what is written there was written by it.
func reserve(cluster *testkit.Cluster, space, account string) {
	GinkgoHelper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: space},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: space}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{
						admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete,
					},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{"", "apps", rbacv1.GroupName}, APIVersions: []string{"*"},
						Resources: []string{"configmaps", "secrets", "deployments", "roles", "rolebindings"},
					},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: fmt.Sprintf("request.userInfo.username == %q", "system:serviceaccount:"+account), Message: "not yours",
			}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{
				Name: "not-what-the-test-prepares", Expression: "!request.name.startsWith('installer') && !request.name.startsWith('source')",
			}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: space},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: space, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	cluster.Create(policy, binding)
	DeferCleanup(cluster.Delete, binding, policy)
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "probe"}}
	Eventually(func() error { return cluster.Client.Create(ctx(), probe.DeepCopy(), client.DryRunAll) }).
		Should(MatchError(ContainSubstring("not yours")), "the policy holds")
}

// writesIn returns the writes to a namespace of a runtime since a number of calls.
func writesIn(space string, since int) (writes []string) {
	for _, line := range runtimeLog.Since(since) {
		if strings.Contains(line, "/namespaces/"+space+"/") && !strings.HasPrefix(line, "get ") && !strings.HasPrefix(line, "list ") {
			writes = append(writes, line)
		}
	}
	return writes
}

// grantingContent is a ConfigMap, and a Role that lets others read it.
func grantingContent(space, module, version string) testkit.Content {
	return testkit.Content{Objects: []*unstructured.Unstructured{
		testkit.ParseYAML(mapIn(space, module) + fmt.Sprintf("data: {version: %q}\n", version)),
		testkit.ParseYAML(fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {namespace: %s, name: %s}\n"+
			"rules: [{apiGroups: [\"\"], resources: [configmaps], resourceNames: [%[2]s], verbs: [get]}]\n", space, module)),
		testkit.ParseYAML(fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {namespace: %s, name: %s}\n"+
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[2]s}\n"+
			"subjects: [{kind: ServiceAccount, namespace: %[1]s, name: default}]\n", space, module)),
	}}
}

var _ = Describe("A ServiceAccount that installs", func() {
	const own = v1beta2.RuntimeNamespace

	It("is told what it lacks before anything is written, and does everything by itself", func() {
		runtime, space, module := env.Runtimes[0], testkit.Unique("space"), testkit.Unique("tenant")
		runtime.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}})
		env.Offer(module, "1.0.0", grantingContent(space, module, "1.0.0"), "regular")
		weak, strong := testkit.Unique("installer"), testkit.Unique("installer")
		maps := fmt.Sprintf(`{apiGroups: [""], resources: [configmaps], resourceNames: [%s], verbs: [get, create, patch, delete]}`, module)
		roles := fmt.Sprintf(`{apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], resourceNames: [%s], `+
			`verbs: [get, create, patch, delete]}`, module)
		accountWith(runtime, own, weak, space, roles)
		given := accountWith(runtime, own, strong, space, maps, roles)
		reserve(runtime, space, own+":"+strong)

		before := runtimeLog.Len()
		kyma := newKyma(runtime, testkit.WithModule(module), func(k *v1beta2.Kyma) { k.Spec.ServiceAccountName = weak })
		refused := newKyma(runtime, testkit.WithModule(module), func(k *v1beta2.Kyma) { k.Spec.ServiceAccountName = weak })
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonMissingPermissions,
			"ServiceAccount "+own+"/"+weak, "in namespace "+space+" "+maps,
			"resources: [roles], resourceNames: ["+module+"], verbs: [bind, escalate]"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonModuleError, v1beta2.ReasonMissingPermissions))
		Eventually(env.ManifestOf(refused.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonMissingPermissions))
		remove(refused) // nothing of which was written, so that it takes no right
		Expect(writesIn(space, before)).To(BeEmpty(), "writes before the rights were there")

		By("naming an account that has them")
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.ServiceAccountName = strong })
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		installed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: module}}
		expectThere(runtime, installed)
		atRest()
		expectNoCalls()

		By("upgrading to what it may not install")
		env.Offer(module, "1.1.0", grantingContent(space, module+"-more", "1.1.0"), "regular")
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonMissingPermissions, module+"-more"))
		expectThere(runtime, installed)
		env.Offer(module, "1.2.0", grantingContent(space, module, "1.2.0"), "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(module, testkit.HaveVersion("1.2.0"))))

		By("removing without the right to delete")
		rules := rulesOf([]string{strings.Replace(maps, ", delete", "", 1), roles})
		testkit.Edit(runtime, given, func(r *rbacv1.Role) { r.Rules = rules })
		expectAllowed(runtime, own, strong, rulesOf([]string{maps})[0], space, false)
		before = runtimeLog.Len()
		env.Hub.Delete(kyma)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonMissingPermissions,
			"nothing is deleted", "resourceNames: ["+module+"], verbs: [delete]"))
		Expect(writesIn(space, before)).To(BeEmpty(), "nothing is deleted in part")
		expectThere(runtime, installed)
		testkit.Edit(runtime, given, func(r *rbacv1.Role) { r.Rules = rulesOf([]string{maps, roles}) })
		expectAllowed(runtime, own, strong, rulesOf([]string{maps})[0], space, true)
		testkit.Edit(env.Hub, manifestOf(kyma, module), func(m *v1beta2.Manifest) { // which is looked at again now, and not in a minute
			m.Spec.TargetNamespace = metav1.NamespaceDefault
		})
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		expectGone(runtime, installed)
	})

	It("lets a namespace install into the hub itself that may not otherwise, with its rights and no others", func() {
		emptyHub()
		space, name := tenantSpace(), testkit.Unique("tenant")
		withFlags(everywhere())
		const account = "installer"
		maps := `{apiGroups: [""], resources: [configmaps], verbs: [get, create, patch, delete]}`
		accountWith(env.Hub, space, account, space, maps)
		act := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "act"}, Rules: rulesOf([]string{
			`{apiGroups: [""], resources: [serviceaccounts], resourceNames: [installer], verbs: [impersonate]}`,
		})}
		env.Hub.Create(act, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "act"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "act"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: v1beta2.DefaultNamespace, Name: testkit.ManagerServiceAccount}},
		})
		expectAllowed(env.Hub, v1beta2.DefaultNamespace, testkit.ManagerServiceAccount, act.Rules[0], space, true)
		reserve(env.Hub, space, space+":"+account)

		install := func(kind, content string) *v1beta2.Manifest {
			GinkgoHelper()
			manifest := smuggled(space, "source-"+kind+"-"+name, content)
			manifest.Spec.ServiceAccountName = account
			env.Hub.Create(manifest)
			return manifest
		}
		binding := install("root", fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n"+
			"metadata: {name: %s}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"+
			"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: mallory}]\n", name))
		Eventually(testkit.Live(env.Hub, binding)).Should(tells(v1beta2.StateError, v1beta2.ReasonMissingPermissions,
			"ServiceAccount "+space+"/"+account, "in the whole cluster", "resourceNames: [cluster-admin], verbs: [bind]"))
		outside := install("outside", mapIn(v1beta2.DefaultNamespace, name))
		Eventually(testkit.Live(env.Hub, outside)).Should(tells(v1beta2.StateError, v1beta2.ReasonMissingPermissions,
			"in namespace "+v1beta2.DefaultNamespace))
		inside := install("inside", mapIn(space, name))
		Eventually(testkit.Live(env.Hub, inside)).Should(ready())
		remove(inside)
		expectGone(env.Hub, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}})
		remove(outside)
		remove(binding)
	})
})
