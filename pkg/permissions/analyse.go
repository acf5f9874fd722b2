package permissions

import (
	"cmp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Content is what a version installs.
type Content struct {
	// Objects of the version, as they are installed.
	Objects []*unstructured.Unstructured
	// Conditional objects are those that it declares, or declares differently, once the cluster serves other APIs or is upgraded.
	Conditional []*unstructured.Unstructured
	// Untried is true where the conditional objects may not be all.
	Untried bool
}

// AnalyseContent returns what a version may do, in the cluster that it is rendered for and in what that may become.
func AnalyseContent(c Content) Report {
	report := Analyse(slices.Concat(c.Objects, c.Conditional))
	if c.Untried {
		report.Findings = sortFindings(append(report.Findings, Finding{
			Key: "!untried", Category: CategoryUnreadable, Severity: High,
			Sentence: "May do more than this list says: what it installs depends on more properties of the cluster than were tried.",
		}))
	}
	return report
}

// Analyse returns what the objects may do once they are applied. It never fails: what it cannot read becomes a finding that says so. Of
// objects that are declared more than once all count.
func Analyse(objects []*unstructured.Unstructured) Report {
	b := newBuilder(objects)
	b.readWorkloads()
	b.readDefinitions()
	b.analyseRBAC()
	b.analysePods()
	b.analyseTokens()
	b.analyseWebhooks()
	b.analysePolicies()
	b.analyseAPIServices()
	b.analyseExposure()
	b.analysePlacement()
	b.analyseCluster()
	b.analyseImages()
	return b.report()
}

// builder collects what is found.
type builder struct {
	objects   []*unstructured.Unstructured
	workloads []workload
	findings  []Finding
	// accounts are the ServiceAccounts of the module, as "ns/name": those that it brings, and those that its pods use.
	accounts map[string]bool
	// brought are the ServiceAccounts among the objects, and bound those that have rights.
	brought, bound map[string]bool
	// refusesToken are the ServiceAccounts whose pods get no token unless they ask for one.
	refusesToken map[string]bool
	// secrets are the Secrets among the objects, as "ns/name".
	secrets map[string]bool
	// own are the resources that the module defines, as "plural.group".
	own map[string]bool
	// intercepted is what webhooks and policies intercept.
	intercepted []placedInterception
	out         Report
}

func newBuilder(objects []*unstructured.Unstructured) *builder {
	b := &builder{
		objects: unpack(objects), accounts: map[string]bool{}, brought: map[string]bool{}, bound: map[string]bool{},
		refusesToken: map[string]bool{}, secrets: map[string]bool{}, own: map[string]bool{},
	}
	for _, object := range b.ofKind("", "ServiceAccount") {
		account := namespaceOf(object) + "/" + object.GetName()
		b.accounts[account], b.brought[account] = true, true
		if mounts, set := object.Object["automountServiceAccountToken"].(bool); set && !mounts {
			b.refusesToken[account] = true
		}
	}
	for _, object := range b.ofKind("", "Secret") {
		b.secrets[namespaceOf(object)+"/"+object.GetName()] = true
	}
	return b
}

func (b *builder) add(finding Finding) { b.findings = append(b.findings, finding) }

// unreadable reports an object that cannot be judged. The content is part of the key: another content may hold other rights.
func (b *builder) unreadable(object *unstructured.Unstructured, consequence string) {
	b.add(Finding{
		Key:      joinKey("!unreadable", escapes.Replace(inventory.IDOf(object).String()), inventory.ContentHash(object)),
		Category: CategoryUnreadable, Severity: Critical, Rule: place(object),
		Sentence: object.GetKind() + " " + short(object.GetName()) + " cannot be judged: " + consequence + ".",
	})
}

func (b *builder) report() Report {
	b.out.Findings = sortFindings(b.findings)
	return b.out
}

// ofKind returns the objects of kinds of a group, in the order of their identities.
func (b *builder) ofKind(group string, kinds ...string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, object := range b.objects {
		id := inventory.IDOf(object)
		if id.Group == group && slices.Contains(kinds, id.Kind) {
			found = append(found, object)
		}
	}
	return found
}

// unpack returns the objects with the items of lists in place of the lists, sorted by identity and content.
func unpack(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, object := range objects {
		all = appendUnpacked(all, object)
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int {
		if order := inventory.IDOf(a).Compare(inventory.IDOf(b)); order != 0 {
			return order // hashes cost far more, and hardly ever decide
		}
		return cmp.Compare(inventory.ContentHash(a), inventory.ContentHash(b))
	})
	return all
}

func appendUnpacked(all []*unstructured.Unstructured, object *unstructured.Unstructured) []*unstructured.Unstructured {
	if object == nil || object.Object == nil {
		return all
	}
	items, isList := object.Object["items"].([]any)
	if !isList || object.GetName() != "" {
		return append(all, object)
	}
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			all = appendUnpacked(all, &unstructured.Unstructured{Object: fields})
		}
	}
	return all
}

// decode reads an object into its Go type.
func decode(object *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

// namespaceOf returns the namespace of a namespaced object. One that names none goes where kubectl would put it.
func namespaceOf(object *unstructured.Unstructured) string {
	return cmp.Or(object.GetNamespace(), "default")
}

// place names an object as the place of a finding: `ClusterRole "x"`, `Deployment ns/name`.
func place(object *unstructured.Unstructured) string {
	if namespace := object.GetNamespace(); namespace != "" {
		return object.GetKind() + " " + namespace + "/" + object.GetName()
	}
	return object.GetKind() + " " + strconv.Quote(object.GetName())
}
