package hubcontent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubcontent"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// as returns a client of a user with some rights in the namespace of a hub.
func (h *hub) as(user string, rules ...rbacv1.PolicyRule) client.Client {
	h.t.Helper()
	config, err := apiserver.Start()
	if err != nil {
		h.t.Fatal(err)
	}
	h.make(&rbacv1.Role{ObjectMeta: h.meta(user), Rules: rules})
	h.make(&rbacv1.RoleBinding{
		ObjectMeta: h.meta(user), Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
	})
	apiserver.Allowed(h.t, h, user, h.namespace, rules[len(rules)-1])
	config = rest.CopyConfig(config)
	config.Impersonate.UserName = user
	c, err := client.New(config, client.Options{Scheme: h.Scheme()})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// reading are the rights to read what a hub holds.
func reading() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(v1beta2.GroupVersion.Group, []string{"*"}, "get", "list"), rule("", []string{"secrets", "configmaps", "namespaces"}, "get", "list"),
	}
}

func rule(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

func TestImport_NeedsAllRightsBeforeItWrites(t *testing.T) {
	h := filled(t, "unentitled")
	content := h.export()
	h.lose()
	may := rule("", []string{"secrets", "configmaps"}, "create", "patch", "update")
	_, err := hubcontent.Import(t.Context(), h.as("writer-of-secrets", append(reading(), may)...), content, hubcontent.ImportOptions{})
	for _, says := range []string{
		"you may not", "create kymas in namespace unentitled", "patch kymas/status", "patch manifests", "nothing was written",
	} {
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	secrets := &corev1.SecretList{}
	if err := h.List(t.Context(), secrets, client.InNamespace(h.namespace)); err != nil || len(secrets.Items) > 0 {
		t.Errorf("%d Secrets were written: %v", len(secrets.Items), err)
	}
}

func TestExport_TakesNoPartForAll(t *testing.T) {
	h := filled(t, "unread")
	for _, withheld := range []string{"secrets", "kymas", "modulerollouts"} {
		t.Run(withheld, func(t *testing.T) {
			var rules []rbacv1.PolicyRule
			for _, resource := range []string{"kymas", "manifests", "moduletemplates", "modulereleasemetas", "modulerollouts"} {
				if resource != withheld {
					rules = append(rules, rule(v1beta2.GroupVersion.Group, []string{resource}, "list"))
				}
			}
			if withheld != "secrets" {
				rules = append(rules, rule("", []string{"secrets"}, "list"))
			}
			rules = append(rules, rule("", []string{"secrets", "configmaps", "namespaces"}, "get")) // an inventory is a Secret, too
			_, err := hubcontent.Export(t.Context(), h.as("without-"+withheld, rules...), h.options())
			if err == nil || !strings.Contains(err.Error(), "of namespace unread") || !strings.Contains(err.Error(), withheld) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestExport_PagesAThousandKymas counts the pages of lists.
func TestExport_PagesAThousandKymas(t *testing.T) {
	h := newHub(t, "thousand")
	const kymas = 1001
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range kymas {
		group.Go(func() error {
			return h.Create(ctx, &v1beta2.Kyma{ObjectMeta: h.meta(fmt.Sprintf("kyma-%04d", i)), Spec: v1beta2.KymaSpec{Channel: "regular"}})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	pages := 0
	paged := interceptor.NewClient(h.WithWatch, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if list.GetObjectKind().GroupVersionKind().Kind == "KymaList" || list.GetObjectKind().GroupVersionKind().Kind == "Kyma" {
				pages++
			}
			return c.List(ctx, list, options...)
		},
	})
	content, err := hubcontent.Export(t.Context(), paged, h.options())
	if err != nil || len(content.Objects) != kymas+1 || pages != 3 {
		t.Fatalf("%d objects in %d pages: %v", len(content.Objects), pages, err)
	}
	pages = 0
	done, err := hubcontent.Import(t.Context(), paged, content, hubcontent.ImportOptions{DryRun: true})
	if err != nil || len(done) != kymas+1 || pages != 3 {
		t.Errorf("%d objects in %d pages: %v", len(done), pages, err)
	}
}
