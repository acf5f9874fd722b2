package editcmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

var (
	digestA = "sha256:" + strings.Repeat("a", 64)
	digestB = "sha256:" + strings.Repeat("b", 64)
)

// waits writes into the status of a Kyma that a version of notes waits for consent.
func (b *bench) waits(name string, pending *v1beta2.PendingVersion) {
	b.Helper()
	status := v1beta2.KymaStatus{State: "Ready", LastOperation: v1beta2.LastOperation{Operation: "x"}, Modules: []v1beta2.ModuleStatus{
		{Name: "notes", State: "Ready", Version: "1.0.0", Message: "version 1.1.0 waits for consent", Pending: pending},
	}}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		err = b.Status().Patch(b.Context(), b.read(name), client.RawPatch("application/merge-patch+json", patch))
	}
	if err != nil {
		b.Fatal(err)
	}
}

func pendingOf(digest string, from ...v1beta2.ConsentSide) *v1beta2.PendingVersion {
	return &v1beta2.PendingVersion{
		Version: "1.1.0", Digest: digest, From: from, Counts: v1beta2.PendingCounts{RightsAdded: 1, Webhooks: 2},
		Gravest: []string{"May read every Secret of the cluster."}, Downtime: true,
	}
}

func TestApprove(t *testing.T) {
	hub, runtime := v1beta2.ConsentHub, v1beta2.ConsentRuntime
	asked := "1.1.0@" + digestA
	for name, c := range map[string]struct {
		pending  *v1beta2.PendingVersion
		approved string
		args     string
		typed    string
		code     int
		want     string
		said     string
	}{
		"what waits is approved":                   {pendingOf(digestA, hub), "", "approve notes --yes", "", 0, asked, ""},
		"it says what it asks for":                 {pendingOf(digestA, hub), "", "approve notes --yes", "", 0, asked, "Version 1.1.0 of module notes waits for consent, with 1 new right, 2 webhooks; after that it waits for a maintenance window.\n  May read every Secret of the cluster.\n"},
		"a terminal asks":                          {pendingOf(digestA, hub), "", "approve notes", "y", 0, asked, "Approve version 1.1.0 of module notes in Kyma"},
		"and says why it shows no more":            {pendingOf(digestA, hub), "", "approve notes", "y", 0, asked, "The content of notes 1.1.0 cannot be read from here"},
		"no is an answer":                          {pendingOf(digestA, hub), "", "approve notes", "n", 1, "", "May read every Secret"},
		"without a terminal it needs confirmation": {pendingOf(digestA, hub), "", "approve notes", "", 64, "", "--yes confirms it"},
		"a dry run writes nothing, and asks not":   {pendingOf(digestA, hub), "", "approve notes --dry-run=server", "", 0, "", "+  - approved: 1.1.0@sha256:"},
		"the version is named":                     {pendingOf(digestA, hub), "", "approve notes --version 1.1.0 --yes", "", 0, asked, ""},
		"another one is refused":                   {pendingOf(digestA, hub), "", "approve notes --version 1.2.0 --yes", "", 1, "", "waits for consent, not 1.2.0"},
		"so is other content":                      {pendingOf(digestA, hub), "", "approve notes --yes --version 1.1.0@" + digestB, "", 1, "", "waits for consent, not"},
		"a second time is no change":               {pendingOf(digestA, hub), asked, "approve notes", "", 0, asked, ""},
		"a consent to other content is replaced":   {pendingOf(digestA, hub), "1.1.0@" + digestB, "approve notes --yes", "", 0, asked, ""},
		"a local Kyma speaks for both sides":       {pendingOf(digestA, runtime), "", "approve notes --yes", "", 0, asked, ""},
		"nothing waits":                            {nil, "", "approve notes --yes", "", 1, "", "module notes has nothing to approve: no version of it waits for consent"},
		"a module that the Kyma does not have":     {nil, "", "approve beacon --yes", "", 4, "", "kyma add beacon enables it"},
		"no module":                                {nil, "", "approve --yes", "", 64, "", "NAME is missing"},
		"a selector that selects nothing":          {nil, "", "approve notes -l a=b", "", 4, "", "there is no such Kyma"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.kyma("demo", v1beta2.Module{Name: "notes", Channel: "fast", Approved: c.approved})
			b.waits("demo", c.pending)
			to := &console.Console{In: strings.NewReader(c.typed + "\n"), Asks: c.typed != ""}
			code, _, said := b.runAs(to, append(strings.Fields(c.args), "--wait=false")...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, c.code, said, c.said)
			}
			if got := b.read("demo").Spec.Modules[0].Approved; got != c.want {
				t.Errorf("approved is %q, want %q", got, c.want)
			}
		})
	}
}

func TestApprove_SaysWhoMustAgree(t *testing.T) {
	b := newBench(t)
	b.create(&v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "far"},
		Spec:       v1beta2.KymaSpec{Channel: "fast", Modules: []v1beta2.Module{{Name: "notes"}}},
	})
	b.waits("far", pendingOf(digestA, v1beta2.ConsentRuntime))
	code, _, said := b.run("approve", "notes", "--yes", "--wait=false")
	if code != 1 || !strings.Contains(said, "the user of the runtime must agree\nHint: call kyma approve notes in the runtime, for Kyma kyma-system/default") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	b.waits("far", pendingOf(digestA, v1beta2.ConsentHub, v1beta2.ConsentRuntime))
	code, _, said = b.run("approve", "notes", "--yes", "--wait=false")
	if code != 0 || !strings.Contains(said, "It may also need the consent of others: the user of the runtime.") {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

func TestApprove_WaitsForTheVersion(t *testing.T) {
	for name, c := range map[string]struct {
		after v1beta2.ModuleStatus
		code  int
	}{
		"it is installed":    {v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "1.1.0"}, 0},
		"others must agree":  {v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "1.0.0", Pending: pendingOf(digestA, v1beta2.ConsentRuntime)}, 2},
		"it waits for hours": {v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "1.0.0", Maintenance: true}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			kyma := b.kyma("demo", v1beta2.Module{Name: "notes", Channel: "fast"})
			b.waits("demo", pendingOf(digestA, v1beta2.ConsentHub))
			go b.manager("demo", kyma.Generation+1, &c.after, v1beta2.ReasonApprovalRequired)
			if code, _, said := b.run("approve", "notes", "--yes", "--timeout=1m"); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, said)
			}
		})
	}
}

func TestApprove_All(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		ring, digest string
		from         v1beta2.ConsentSide
	}{
		"one": {"canary", digestA, v1beta2.ConsentHub}, "two": {"canary", digestA, v1beta2.ConsentHub},
		"far": {"canary", digestA, v1beta2.ConsentRuntime}, "old": {"rest", digestB, v1beta2.ConsentHub},
	} {
		b.create(&v1beta2.Kyma{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{"ring": c.ring}},
			Spec:       v1beta2.KymaSpec{Channel: "fast", Modules: []v1beta2.Module{{Name: "notes"}}},
		})
		b.waits(name, pendingOf(c.digest, c.from))
	}
	for _, c := range []struct {
		args  string
		typed string
		code  int
		said  string
	}{
		{"approve notes --all --kyma one", "", 64, "exclude each other"},
		{"approve notes --all --wait", "", 64, "--wait is for one Kyma"},
		{"approve notes --all --yes", "", 64, "has 2 contents that wait: 1.1.0@" + digestA + " (2 Kymas), 1.1.0@" + digestB + " (1 Kyma)"},
		{"approve notes --all --yes -l ring=none", "", 4, "there is no such Kyma"},
		{"approve notes --all --yes -l ring=in=out", "", 64, "--selector:"},
		{"approve notes --all --yes --version 2.0.0", "", 1, "version 2.0.0 of module notes waits for your consent in 4 Kymas"},
		{"approve notes --all -l ring=canary", "", 64, "--yes confirms it"},
		{"approve notes --all -l ring=canary", "n", 1, "Approve version 1.1.0 of module notes in 2 Kymas (" + b.namespace + "/one and " + b.namespace + "/two)?"},
		{"approve notes --all -l ring=canary --dry-run=server", "", 0, ""},
	} {
		to := &console.Console{In: strings.NewReader(c.typed + "\n"), Asks: c.typed != ""}
		if code, _, said := b.runAs(to, strings.Fields(c.args)...); code != c.code || !strings.Contains(said, c.said) {
			t.Errorf("%s: exit code %d, want %d; said %q, want %q in it", c.args, code, c.code, said, c.said)
		}
	}
	if got := b.read("one").Spec.Modules[0].Approved; got != "" {
		t.Fatalf("before anything was approved, %q is", got)
	}
	code, out, said := b.run("approve", "notes", "--all", "--yes", "--selector", "ring=canary")
	want := "OUTCOME   KYMAS   WHAT                  WHICH\ndone      2       approve notes 1.1.0   NS/one and NS/two\n"
	if diff := cmp.Diff(want, strings.ReplaceAll(out, b.namespace, "NS")); code != 0 || diff != "" {
		t.Errorf("exit code %d, %s (-want +got):\n%s", code, said, diff)
	}
	for name, approved := range map[string]string{"one": "1.1.0@" + digestA, "two": "1.1.0@" + digestA, "far": "", "old": ""} {
		if got := b.read(name).Spec.Modules[0].Approved; got != approved {
			t.Errorf("in %s %q is approved, want %q", name, got, approved)
		}
	}
}
