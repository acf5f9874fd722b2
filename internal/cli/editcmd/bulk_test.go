package editcmd

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// ofRing creates a Kyma of a runtime with a label ring.
func (b *bench) ofRing(name, ring string, modules ...v1beta2.Module) *v1beta2.Kyma {
	b.Helper()
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{"ring": ring}},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Modules: modules},
	}
	b.create(kyma)
	return kyma
}

// three creates the Kymas a and b of ring canary, and c of ring rest: a has no module, b has notes, and c has beacon.
func three(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.ofRing("a", "canary")
	b.ofRing("b", "canary", v1beta2.Module{Name: "notes"})
	b.ofRing("c", "rest", v1beta2.Module{Name: "beacon", Channel: "fast"})
	return b
}

// flat returns an output on one line, with the namespace of the test as NS.
func (b *bench) flat(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, b.namespace, "NS")), " ")
}

func TestBulk(t *testing.T) {
	for name, c := range map[string]struct {
		args, typed string
		code        int
		out, said   string
		want        string // the modules of a, b and c
	}{
		"what is there already is no change": {"add notes --all-kymas --yes", "", 0,
			"done 2 add notes NS/a and NS/c unchanged 1 has notes already NS/b", "", "notes | notes | beacon:fast notes"},
		"a selector selects": {"add notes:fast -l ring=canary --yes", "", 0,
			"done 1 add notes:fast NS/a done 1 change notes (channel fast) NS/b", "", "notes:fast | notes:fast | beacon:fast"},
		"a terminal shows the plan and asks once": {"add notes --all-kymas", "y", 0, "done 2", "2 of 3 Kymas: add notes (NS/a and NS/c) " +
			"1 of 3 Kymas: unchanged: has notes already (NS/b) Add notes in 2 Kymas (NS/a and NS/c)? [y/N]", "notes | notes | beacon:fast notes"},
		"no changes nothing":                      {"add notes --all-kymas", "n", 1, "", "cancelled", " | notes | beacon:fast"},
		"without a terminal it must be confirmed": {"add notes --all-kymas", "", 64, "", "adding notes in 2 Kymas (NS/a and NS/c) needs confirmation", " | notes | beacon:fast"},
		"nothing is asked where nothing changes":  {"add notes --with-module notes", "", 0, "unchanged 1", "", " | notes | beacon:fast"},
		"a dry run in the client":                 {"add notes --all-kymas --dry-run=client", "", 0, "planned 2 add notes", "", " | notes | beacon:fast"},
		"a dry run on the server":                 {"add notes --all-kymas --dry-run=server", "", 0, "planned 2 add notes", "", " | notes | beacon:fast"},
		"what cannot be had is refused":           {"add notes:slow --all-kymas --yes", "", 1, "refused 3 module notes has no channel slow", "Error: 3 refused of 3 Kymas", " | notes | beacon:fast"},
		"a refusal in one stops no other": {"add beacon --all-kymas --yes", "", 1,
			"unchanged 1 has beacon already NS/c refused 2 module beacon has no channel regular", "Error: 2 refused of 3 Kymas Hint: the same command again does only what is left", " | notes | beacon:fast"},
		"modules are taken out":                  {"delete notes --all-kymas --yes", "", 0, "done 1 delete notes NS/b unchanged 2 does not have notes NS/a and NS/c", "", " |  | beacon:fast"},
		"a name that no Kyma and no catalog has": {"delete nobody --all-kymas --yes", "", 4, "", "no selected Kyma has a module nobody", " | notes | beacon:fast"},
		"an upgrade concerns those that have it": {"upgrade notes --to 1.1.0 --all-kymas --yes", "", 0,
			"done 1 change notes (version 1.1.0) NS/b unchanged 2 does not have notes", "", " | notes@1.1.0 | beacon:fast"},
		"an upgrade of what follows a channel": {"upgrade --all --all-kymas", "", 0,
			"unchanged 2 needs no edit: what follows a channel is upgraded by the lifecycle manager NS/b and NS/c unchanged 1 has no modules NS/a", "", " | notes | beacon:fast"},
		"a channel that does not offer a module": {"kyma set-channel rapid --all-kymas --yes", "", 1,
			"done 2 set channel rapid NS/a and NS/c refused 1 module notes has no channel rapid", "", " | notes | beacon:fast"},
		"modules without a Manifest are not suspended": {"suspend notes --all-kymas --yes", "", 1,
			"unchanged 2 does not have notes NS/a and NS/c refused 1 module notes has no Manifest yet NS/b", "", " | notes | beacon:fast"},
		"no Kyma is selected":              {"add notes -l ring=none --yes", "", 4, "", "there is no such Kyma", " | notes | beacon:fast"},
		"one Kyma and many":                {"add notes --all-kymas --kyma a", "", 64, "", "exclude each other", " | notes | beacon:fast"},
		"one Kyma by its name and many":    {"kyma set-channel a fast --all-kymas", "", 64, "", "exclude each other", " | notes | beacon:fast"},
		"all namespaces alone":             {"add notes -A", "", 64, "", "--all-kymas selects all Kymas", " | notes | beacon:fast"},
		"none at a time":                   {"add notes --all-kymas --concurrency 0", "", 64, "", "--concurrency=0 is not between 1 and 64", " | notes | beacon:fast"},
		"a state that there is not":        {"delete notes --state Broken", "", 64, "", "use some of Ready", " | notes | beacon:fast"},
		"community modules":                {"add notes --community --all-kymas", "", 64, "", "into this cluster", " | notes | beacon:fast"},
		"what changes hands":               {"add notes --adopt --all-kymas", "", 64, "", "are for one Kyma", " | notes | beacon:fast"},
		"what stays":                       {"delete notes --keep-resources --all-kymas", "", 64, "", "is for one Kyma", " | notes | beacon:fast"},
		"a preview of a cascade":           {"delete notes --cascade=preview --all-kymas", "", 64, "", "--cascade --dry-run=client", " | notes | beacon:fast"},
		"every Kyma is named if requested": {"add notes --all-kymas --yes --verbose -o name", "", 0, "kyma/NS/a kyma/NS/c", "", "notes | notes | beacon:fast notes"},
		"a fleet without the lifecycle manager": {"add notes --all-kymas --yes --wait --timeout 1s", "", 3, "done 2 add notes",
			"3 of 3 Kymas: under way: notes is still Processing", "notes | notes | beacon:fast notes"},
	} {
		t.Run(name, func(t *testing.T) {
			b := three(t)
			to := &console.Console{In: strings.NewReader(c.typed + "\n"), Asks: c.typed != ""}
			code, out, said := b.runAs(to, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(b.flat(out), c.out) || !strings.Contains(b.flat(said), c.said) || c.out == "" && out != "" {
				t.Errorf("exit code %d, want %d\n%s\nwant %q in it; said\n%s\nwant %q in it", code, c.code, out, c.out, said, c.said)
			}
			if got := strings.Join([]string{b.entries("a"), b.entries("b"), b.entries("c")}, " | "); got != c.want {
				t.Errorf("the modules are %q, want %q", got, c.want)
			}
		})
	}
}

func TestBulk_ForPrograms(t *testing.T) {
	b := three(t)
	code, out, said := b.run("add", "notes", "beacon:fast", "--all-kymas", "--yes", "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	var got changeList
	if err := json.Unmarshal([]byte(strings.ReplaceAll(out, b.namespace, "NS")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Items) != 6 || got.Items[0].Name != "module/notes" || got.Items[0].Kyma != "NS/a" || got.Items[0].Version != "1.0.0" {
		t.Errorf("the items are %+v", got.Items)
	}
	got.Items = nil
	want := changeList{Versioned: console.Kind("ChangeList"), Kymas: 3, Outcomes: []outcomeGroup{
		{Outcome: "Done", Message: "add beacon:fast", Count: 1, Kymas: []string{"NS/b"}},
		{Outcome: "Done", Message: "add notes", Count: 1, Kymas: []string{"NS/c"}},
		{Outcome: "Done", Message: "add notes, add beacon:fast", Count: 1, Kymas: []string{"NS/a"}},
	}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(item{})); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
}

func TestBulk_Requirements(t *testing.T) {
	b := three(t)
	b.needs("notes-1.0.0", v1beta2.Requirement{Module: "beacon", Version: ">=0.1"})
	for _, step := range []struct {
		args, out string
		code      int
	}{
		{"add notes --all-kymas --dry-run=client", "planned 1 add notes NS/c planned 1 add notes, which waits for module beacon (>=0.1) NS/a unchanged 1 has notes already NS/b", 0},
		{"add notes --with-requirements -l ring=canary --yes", "done 1 add beacon:fast NS/b done 1 add beacon:fast, add notes NS/a", 0},
		{"delete beacon --all-kymas --yes", "done 1 delete beacon NS/c refused 2 module beacon cannot be deleted: module notes needs it", 1},
		{"delete beacon --all-kymas --cascade --yes", "done 2 delete notes, delete beacon NS/a and NS/b unchanged 1 does not have beacon NS/c", 0},
	} {
		code, out, said := b.run(strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(b.flat(out), step.out) {
			t.Errorf("%s: exit code %d, want %d\n%s\nwant %q in it; said %s", step.args, code, step.code, out, step.out, said)
		}
	}
}

// TestBulk_KymasOfThisCluster are not deleted from many at once: what users made with the modules would not be looked for.
func TestBulk_KymasOfThisCluster(t *testing.T) {
	b := newBench(t)
	b.kyma("here", v1beta2.Module{Name: "notes"})
	code, out, _ := b.run("delete", "notes", "--all-kymas", "--yes")
	if code != 1 || !strings.Contains(b.flat(out), "refused 1 its modules are in this cluster: delete them with --kyma") || b.entries("here") != "notes" {
		t.Errorf("exit code %d, %s; the Kyma has %s", code, out, b.entries("here"))
	}
}

func TestBulk_WhatTheUserOfTheRuntimeAsksFor(t *testing.T) {
	b := newBench(t)
	patch := `{"status":{"lastOperation":{"operation":"x"},"lastSeen":{"hub":{"channel":"regular"},
		"runtime":{"channel":"regular","modules":[{"name":"notes","customResourcePolicy":"CreateAndDelete"}]}}}}`
	if err := b.Status().Patch(t.Context(), b.ofRing("far", "rest"), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args, out, want string
		code            int
	}{
		{"add notes --all-kymas --yes", "unchanged 1 has notes already", "", 0},
		{"delete notes --all-kymas --yes", "refused 1 only the user of the runtime asks for notes, and must delete it there", "", 1},
		{"upgrade notes --to fast --with-module notes:regular --yes", "done 1 change notes (channel fast)", "notes:fast", 0},
	} {
		code, out, said := b.run(strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(b.flat(out), step.out) || b.entries("far") != step.want {
			t.Errorf("%s: exit code %d, %s: %s; the Kyma has %s", step.args, code, out, said, b.entries("far"))
		}
	}
}

func TestBulk_SuspendAndResume(t *testing.T) {
	b := three(t)
	for _, name := range []string{"b", "c"} {
		manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name + "-notes", Labels: map[string]string{
			v1beta2.LabelKymaName: name, v1beta2.LabelModuleName: "notes", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
		}}, Spec: v1beta2.ManifestSpec{Install: v1beta2.InstallInfo{Name: "x"}}}
		manifest.Spec.Install.Source.Raw = []byte(`{"type":"oci-ref"}`)
		b.create(manifest)
	}
	suspended := func() (names []string) {
		var kymas v1beta2.KymaList
		var manifests v1beta2.ManifestList
		labelled := client.MatchingLabels{v1beta2.LabelSkipReconciliation: "true"}
		for _, list := range []client.ObjectList{&kymas, &manifests} {
			if err := b.List(t.Context(), list, client.InNamespace(b.namespace), labelled); err != nil {
				t.Fatal(err)
			}
		}
		for i := range kymas.Items {
			names = append(names, kymas.Items[i].Name)
		}
		for i := range manifests.Items {
			names = append(names, manifests.Items[i].Name)
		}
		return names
	}
	for _, step := range []struct{ args, out, want string }{
		{"suspend notes --all-kymas --dry-run=server", "planned 2 suspend NS/b and NS/c", ""},
		{"suspend notes --all-kymas --yes", "done 2 suspend NS/b and NS/c unchanged 1 does not have notes NS/a", "b-notes c-notes"},
		{"suspend notes --all-kymas --yes", "unchanged 2 is suspended already", "b-notes c-notes"},
		{"resume notes -l ring=rest --yes", "done 1 resume NS/c", "b-notes"},
		{"suspend --all -l ring=canary --yes", "done 2 suspend NS/a and NS/b", "a b b-notes"},
		{"resume --all --all-kymas --yes", "done 2 resume NS/a and NS/b unchanged 1 is not suspended NS/c", "b-notes"},
		{"reconcile --all --all-kymas --yes", "done 3 reconcile", "b-notes"},
	} {
		code, out, said := b.run(strings.Fields(step.args)...)
		if code != 0 || !strings.Contains(b.flat(out), step.out) {
			t.Errorf("%s: exit code %d, %q, want %q: %s", step.args, code, out, step.out, said)
		}
		if got := strings.Join(suspended(), " "); got != step.want {
			t.Errorf("%s: %q are suspended, want %q", step.args, got, step.want)
		}
	}
}

// TestBulk_WithoutTheRight: a right that is missing is told once for all Kymas, and names none.
func TestBulk_WithoutTheRight(t *testing.T) {
	b := three(t)
	const user = "bulk-reader"
	kinds := []string{"kymas", "modulereleasemetas", "moduletemplates"}
	rule := rbacv1.PolicyRule{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: kinds, Verbs: []string{"list"}}
	in := metav1.ObjectMeta{Namespace: b.namespace, Name: user}
	b.create(&rbacv1.Role{ObjectMeta: in, Rules: []rbacv1.PolicyRule{rule}})
	b.create(&rbacv1.RoleBinding{
		ObjectMeta: in, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})
	apiserver.Allowed(t, b, user, b.namespace, rule)
	admin := b.config
	b.config = rest.CopyConfig(admin)
	b.config.Impersonate.UserName = user
	code, out, said := b.run("add", "notes", "--all-kymas", "--yes")
	if want := `failed 2 kymas.operator.kyma-project.io "NAME" is forbidden: User "bulk-reader" cannot patch`; code != 1 || !strings.Contains(b.flat(out), want) {
		t.Errorf("exit code %d, %s; want %q in it", code, out, want)
	}
	if !strings.Contains(said, "Error: 2 failed of 3 Kymas\nHint: ask for the right to get and patch") {
		t.Errorf("said %s", said)
	}
	code, out, said = b.run("add", "notes", "--all-kymas", "--yes", "--fail-fast", "--concurrency", "1")
	if code != 1 || !strings.Contains(b.flat(out), "failed 1") || !strings.Contains(b.flat(out), "not begun 1 not begun after a failure") ||
		!strings.Contains(said, "1 failed and 1 not begun of 3 Kymas") {
		t.Errorf("exit code %d, %s: %s", code, out, said)
	}
}

// ready writes the status of a Kyma whose module is as it should be.
func (b *bench) ready(name string, entry *v1beta2.ModuleStatus) {
	b.Helper()
	kyma := b.read(name)
	kyma.Status = v1beta2.KymaStatus{
		ObservedGeneration: kyma.Generation, State: entry.State, Modules: []v1beta2.ModuleStatus{*entry},
		LastOperation: v1beta2.LastOperation{Operation: "x", LastUpdateTime: metav1.Now()},
	}
	if err := b.Status().Update(b.Context(), kyma); err != nil {
		b.Fatal(err)
	}
}

func TestBulk_WaitsForAll(t *testing.T) {
	b := three(t)
	entry := v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "1.0.0"}
	refused := v1beta2.ModuleStatus{Name: "notes", State: "Error", Message: "is not signed"}
	var manager sync.WaitGroup
	manager.Go(func() { b.manager("a", 2, &entry, "") })
	manager.Go(func() { b.manager("c", 2, &refused, v1beta2.ReasonSignatureMissing) })
	b.ready("b", &entry)
	code, _, said := b.run("add", "notes", "--all-kymas", "--yes", "--wait", "--timeout", "1m")
	manager.Wait()
	want := "2 of 3 Kymas: done (NS/a and NS/b) 1 of 3 Kymas: failed: notes is in state Error: SignatureMissing: is not signed (NS/c) " +
		"Error: 1 Kyma did not become as requested"
	if code != 1 || !strings.Contains(b.flat(said), want) {
		t.Errorf("exit code %d, want %q in\n%s", code, want, said)
	}
}
