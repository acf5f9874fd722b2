package manifest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

const (
	// nowhere is a namespace that cannot exist: in it an account has the rights that it has everywhere, and no others.
	nowhere = "-"
	// mostReviewed bounds the questions about single rights.
	mostReviewed = 64
	// grantedFor is how long rights that were found count: for the passes of an installation. A write is judged by the API server anyway.
	grantedFor = time.Minute
)

// findMissing returns the rights that the account of the Manifest does not have: one call for each namespace. Where the API server does not
// know all rules, since it asks others about rights, those that seem to be missing are asked about one by one.
func (w *scope) findMissing(ctx context.Context, needs []permissions.Need) ([]permissions.Need, error) {
	rules, partial := map[string][]rbacv1.PolicyRule{}, false
	for _, need := range needs {
		if _, known := rules[need.Namespace]; known {
			continue
		}
		found, incomplete, err := w.reviewRules(ctx, need.Namespace)
		if err != nil {
			return nil, err
		}
		rules[need.Namespace], partial = found, partial || incomplete
	}
	missing := permissions.Missing(needs, rules)
	if !partial {
		return missing, nil
	}
	var denied []permissions.Need
	for i, need := range missing {
		allowed := false
		if i < mostReviewed {
			var err error
			if allowed, err = w.reviewAccess(ctx, need); err != nil {
				return nil, err
			}
		}
		if !allowed {
			denied = append(denied, need)
		}
	}
	return denied, nil
}

// reviewRules asks which rules the account has in a namespace, or in the whole cluster; incomplete means that it may have more rights.
func (w *scope) reviewRules(ctx context.Context, namespace string) (rules []rbacv1.PolicyRule, incomplete bool, err error) {
	var answer authorizationv1.SelfSubjectRulesReview
	spec := map[string]any{"namespace": cmp.Or(namespace, nowhere)}
	if err = w.review(ctx, "SelfSubjectRulesReview", "selfsubjectrulesreviews", spec, &answer); err != nil {
		return nil, false, err
	}
	for _, rule := range answer.Status.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{
			Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
		})
	}
	for _, rule := range answer.Status.NonResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs})
	}
	return rules, answer.Status.Incomplete, nil
}

// reviewAccess asks whether the account has one right.
func (w *scope) reviewAccess(ctx context.Context, need permissions.Need) (bool, error) {
	var answer authorizationv1.SelfSubjectAccessReview
	spec := map[string]any{"resourceAttributes": map[string]any{
		"namespace": need.Namespace, "group": need.Group, "resource": need.Resource, "name": need.Name, "verb": need.Verb,
	}}
	err := w.review(ctx, "SelfSubjectAccessReview", "selfsubjectaccessreviews", spec, &answer)
	return answer.Status.Allowed, err
}

// review makes a review as the account of the Manifest.
func (w *scope) review(ctx context.Context, kind, resource string, spec map[string]any, answer any) error {
	question := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	question.SetGroupVersionKind(authorizationv1.SchemeGroupVersion.WithKind(kind))
	reviews := w.runtime.Cluster().Dynamic.Resource(authorizationv1.SchemeGroupVersion.WithResource(resource))
	made, err := reviews.Create(ctx, question, metav1.CreateOptions{})
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object, answer)
	}
	account := w.target.Account
	return w.clusterProblem(inventory.ID{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}, err)
}

// grantedRights remembers which rights the accounts of Manifests were found to have: for a short time, so that the passes of an
// installation ask once, and for a spec, of which more may be told since. What was missing is asked about each time.
type grantedRights struct {
	mu    sync.Mutex
	known map[types.NamespacedName]grantedSet
}

type grantedSet struct {
	manifest   types.UID
	generation int64
	rights     [sha256.Size]byte
	until      time.Time
}

// has reports whether an account was found to have all rights, a short time ago.
func (g *grantedRights) has(w *scope, needs []permissions.Need) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, found := g.known[w.key]
	return found && w.now.Time.Before(known.until) && known.rights == rightsKey(w.target.Account, needs)
}

// hasAny reports whether the account of a Manifest was found to have all rights for the present spec, at any time.
func (g *grantedRights) hasAny(w *scope) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, found := g.known[w.key]
	return found && known.manifest == w.manifest.UID && known.generation == w.generation
}

func (g *grantedRights) put(w *scope, needs []permissions.Need) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil {
		g.known = map[types.NamespacedName]grantedSet{}
	}
	g.known[w.key] = grantedSet{w.manifest.UID, w.generation, rightsKey(w.target.Account, needs), w.now.Add(grantedFor)}
}

func (g *grantedRights) forget(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.known, key)
}

func rightsKey(account types.NamespacedName, needs []permissions.Need) [sha256.Size]byte {
	raw, err := json.Marshal([]any{account.Namespace, account.Name, needs})
	if err != nil {
		panic(err) // texts and lists of them can be encoded
	}
	return sha256.Sum256(raw)
}
