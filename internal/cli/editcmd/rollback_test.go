package editcmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// specAt returns the spec of the Manifest of module notes at a version.
func specAt(version string) v1beta2.ManifestSpec {
	source := `{"repo":"registry.example.com","name":"notes","ref":"sha256:` + strings.Repeat(version[2:3], 64) + `","type":"oci-ref"}`
	return v1beta2.ManifestSpec{Version: version, Install: v1beta2.InstallInfo{Name: "raw-manifest", Source: runtime.RawExtension{Raw: []byte(source)}}}
}

func revisionAt(number int64, version string, outcome v1beta2.RevisionOutcome) v1beta2.Revision {
	spec := specAt(version)
	key := revision.Of(&spec)
	r := v1beta2.Revision{Number: number, Version: version, Digest: key.Digest, Template: key.Template, At: metav1.Now().Rfc3339Copy(), Outcome: outcome}
	if outcome == v1beta2.RevisionRolledBack {
		r.Reason = v1beta2.ReasonProgressDeadlineExceeded
	}
	return r
}

// installed creates the Manifest of module notes of Kyma demo at a version, with a history.
func (b *bench) installed(version string, history ...v1beta2.Revision) {
	b.Helper()
	manifest := &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "demo-notes", Labels: map[string]string{
			v1beta2.LabelKymaName: "demo", v1beta2.LabelModuleName: "notes", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
		}},
		Spec: specAt(version),
	}
	b.create(manifest)
	manifest.Status.State, manifest.Status.Revisions = v1beta2.StateProcessing, history
	if err := b.Status().Update(b.Context(), manifest); err != nil {
		b.Fatal(err)
	}
}

// vouch lets the template of a version say which ones can take over from it.
func (b *bench) vouch(version, rollbackTo string) {
	b.Helper()
	template := &v1beta2.ModuleTemplate{}
	template.Namespace, template.Name = b.namespace, "notes-"+version
	if err := b.Get(b.Context(), client.ObjectKeyFromObject(template), template); err != nil {
		b.Fatal(err)
	}
	template.Spec.RollbackTo = rollbackTo
	if err := b.Update(b.Context(), template); err != nil {
		b.Fatal(err)
	}
}

func TestRollbackAndRetry(t *testing.T) {
	old, bad := revisionAt(5, "1.0.0", "Succeeded"), revisionAt(6, "1.1.0", "")
	failed, back := revisionAt(6, "1.1.0", "RolledBack"), revisionAt(7, "1.0.0", "Succeeded")
	avoid := revision.ReferenceOf(bad)
	upgraded := func(b *bench) { b.installed("1.1.0", old, bad) }
	wentBack := func(b *bench) { b.installed("1.0.0", old, failed, back) }
	status := func(avoid string) func(*bench) {
		return func(b *bench) {
			wentBack(b)
			kyma := b.read("demo")
			kyma.Status = v1beta2.KymaStatus{State: "Ready", Modules: []v1beta2.ModuleStatus{{Name: "notes", State: "Ready", Version: "1.0.0", Avoid: avoid}}}
			if err := b.Status().Update(b.Context(), kyma); err != nil {
				b.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		entry   v1beta2.Module
		prepare func(*bench)
		args    string
		typed   string
		code    int
		want    v1beta2.Module
		said    string
	}{
		"a module goes back":                       {v1beta2.Module{}, upgraded, "rollback notes --yes", "", 0, v1beta2.Module{Avoid: avoid}, ""},
		"to a revision":                            {v1beta2.Module{}, upgraded, "rollback notes --to 5 --yes", "", 0, v1beta2.Module{Avoid: avoid, BackTo: 5}, ""},
		"a terminal asks":                          {v1beta2.Module{}, upgraded, "rollback notes", "y", 0, v1beta2.Module{Avoid: avoid}, "Go back from version 1.1.0 of module notes to 1.0.0 in Kyma"},
		"no is an answer":                          {v1beta2.Module{}, upgraded, "rollback notes", "n", 1, v1beta2.Module{}, ""},
		"without a terminal it needs confirmation": {v1beta2.Module{}, upgraded, "rollback notes", "", 64, v1beta2.Module{}, "--yes confirms it"},
		"without the author's word a terminal asks for the name": {v1beta2.Module{}, func(b *bench) { upgraded(b); b.vouch("1.1.0", "") }, "rollback notes", "notes", 0,
			v1beta2.Module{Avoid: avoid}, `Type "notes" to continue`},
		"which must be right":                        {v1beta2.Module{}, func(b *bench) { upgraded(b); b.vouch("1.1.0", "") }, "rollback notes", "yes", 1, v1beta2.Module{}, "The author does not vouch for that"},
		"and --yes is not enough":                    {v1beta2.Module{}, func(b *bench) { upgraded(b); b.vouch("1.1.0", ">=1.1.0") }, "rollback notes --yes", "", 64, v1beta2.Module{}, "--unvouched --yes confirms it"},
		"but both are":                               {v1beta2.Module{}, func(b *bench) { upgraded(b); b.vouch("1.1.0", "") }, "rollback notes --yes --unvouched", "", 0, v1beta2.Module{Avoid: avoid}, ""},
		"a dry run writes nothing, and asks nothing": {v1beta2.Module{}, upgraded, "rollback notes --dry-run=server", "", 0, v1beta2.Module{}, "avoid: " + avoid},
		"it went back by itself":                     {v1beta2.Module{}, status(avoid), "rollback notes", "", 0, v1beta2.Module{}, ""},
		"a person went back":                         {v1beta2.Module{Avoid: avoid}, wentBack, "rollback notes", "", 0, v1beta2.Module{Avoid: avoid}, ""},
		"there is nothing to go back to":             {v1beta2.Module{}, func(b *bench) { b.installed("1.1.0", bad) }, "rollback notes --yes", "", 1, v1beta2.Module{}, "no earlier version of it succeeded here"},
		"it was never installed":                     {v1beta2.Module{}, func(*bench) {}, "rollback notes --yes", "", 1, v1beta2.Module{}, "there is no history of it yet"},
		"a revision that is not kept":                {v1beta2.Module{}, upgraded, "rollback notes --to 4 --yes", "", 1, v1beta2.Module{}, "revision 4 is not kept; it has 6 (1.1.0), 5 (1.0.0)"},
		"a number that is none":                      {v1beta2.Module{}, upgraded, "rollback notes --to=-1 --yes", "", 64, v1beta2.Module{}, "--to=-1 is no revision"},
		"a module that the Kyma does not have":       {v1beta2.Module{}, upgraded, "rollback beacon --yes", "", 4, v1beta2.Module{}, "kyma add beacon enables it"},
		"two modules":                                {v1beta2.Module{}, upgraded, "rollback notes beacon --yes", "", 64, v1beta2.Module{}, "takes NAME"},

		"what went back by itself is tried again": {v1beta2.Module{}, wentBack, "retry notes", "", 0, v1beta2.Module{Retry: 6}, ""},
		"what a person avoids, too":               {v1beta2.Module{Avoid: avoid, BackTo: 5}, func(b *bench) { b.installed("1.0.0", old, back) }, "retry notes", "", 0, v1beta2.Module{}, ""},
		"nothing is held":                         {v1beta2.Module{}, upgraded, "retry notes", "", 1, v1beta2.Module{}, "module notes avoids no version"},
		"a module without a Manifest":             {v1beta2.Module{}, func(*bench) {}, "retry notes", "", 1, v1beta2.Module{}, "module notes avoids no version"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.vouch("1.1.0", ">=1.0.0")
			entry := c.entry
			entry.Name, entry.Channel = "notes", "fast"
			b.kyma("demo", entry)
			c.prepare(b)
			to := &console.Console{In: strings.NewReader(c.typed + "\n"), Asks: c.typed != ""}
			code, _, said := b.runAs(to, append(strings.Fields(c.args), "--wait=false")...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, c.code, said, c.said)
			}
			m := b.read("demo").Spec.Modules[0]
			if diff := cmp.Diff(c.want, v1beta2.Module{Avoid: m.Avoid, BackTo: m.BackTo, Retry: m.Retry}); diff != "" {
				t.Errorf("the entry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRollback_Output(t *testing.T) {
	old, bad := revisionAt(5, "1.0.0", "Succeeded"), revisionAt(6, "1.1.0", "")
	for name, c := range map[string]struct{ args, want string }{
		"a table": {"rollback notes --yes --unvouched --wait=false", "NAME           ACTION    CHANNEL   VERSION   KYMA\nmodule/notes   changed   fast      1.0.0     NS/demo\n"},
		"json": {"rollback notes --to 5 --yes --unvouched --wait=false -o json --dry-run=server", `{
  "apiVersion": "cli.kyma-project.io/v1",
  "kind": "ChangeList",
  "items": [
    {
      "name": "module/notes",
      "kyma": "NS/demo",
      "action": "changed",
      "fields": [
        "avoid",
        "backTo"
      ],
      "channel": "fast",
      "version": "1.0.0",
      "dryRun": "server"
    }
  ]
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.kyma("demo", v1beta2.Module{Name: "notes", Channel: "fast"})
			b.installed("1.1.0", old, bad)
			code, out, said := b.run(strings.Fields(c.args)...)
			if diff := cmp.Diff(c.want, strings.ReplaceAll(out, b.namespace, "NS")); code != 0 || diff != "" {
				t.Errorf("exit code %d, %s (-want +got):\n%s", code, said, diff)
			}
		})
	}
	b := newBench(t)
	b.kyma("demo", v1beta2.Module{Name: "notes", Channel: "fast", Avoid: revision.ReferenceOf(bad)})
	b.installed("1.0.0", old, bad, revisionAt(7, "1.0.0", "Succeeded"))
	code, out, said := b.run("rollback", "notes", "--wait=false")
	if code != 0 || !strings.Contains(out, "already there") {
		t.Errorf("what went back already: exit code %d, %q, %q", code, out, said)
	}
}

func TestRollback_Waits(t *testing.T) {
	b := newBench(t)
	b.vouch("1.1.0", ">=1.0.0")
	kyma := b.kyma("demo", v1beta2.Module{Name: "notes", Channel: "fast"})
	b.installed("1.1.0", revisionAt(5, "1.0.0", "Succeeded"), revisionAt(6, "1.1.0", ""))
	go b.manager("demo", kyma.Generation+1, &v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "1.0.0"}, v1beta2.ReasonRolledBack)
	if code, _, said := b.run("rollback", "notes", "--yes", "--timeout=1m"); code != 0 {
		t.Errorf("exit code %d: %s", code, said)
	}
}

func TestRetry_EndsWhereItFailsAgain(t *testing.T) {
	b := newBench(t)
	kyma := b.kyma("demo", v1beta2.Module{Name: "notes", Channel: "fast"})
	b.installed("1.0.0", revisionAt(5, "1.0.0", "Succeeded"), revisionAt(6, "1.1.0", "RolledBack"), revisionAt(7, "1.0.0", "Succeeded"))
	message := `version 1.1.0 failed here (it crashes) and 1.0.0 is installed; it is tried again with "kyma retry notes", or when another version is offered`
	go b.manager("demo", kyma.Generation+1, &v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "1.0.0", Message: message}, v1beta2.ReasonRolledBack)
	begun := time.Now()
	if code, _, said := b.run("retry", "notes", "--timeout=5m"); code == 0 || !strings.Contains(said, "version 1.1.0 failed here") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it waited for %s", took)
	}
}

func TestRollback_CompletesRevisions(t *testing.T) {
	b := newBench(t)
	b.kyma("demo", v1beta2.Module{Name: "notes"})
	b.installed("1.1.0", revisionAt(5, "1.0.0", "Succeeded"), revisionAt(6, "1.1.0", ""))
	for line, want := range map[string]string{
		"rollback notes --to ": "5\t1.0.0\n", "rollback ": "notes\n", "retry ": "notes\n", "retry notes ": ":4\n",
	} {
		var out bytes.Buffer
		c, to := &console.Console{}, target.Of(b.config)
		root := &cobra.Command{Use: "kyma"}
		to.AddFlags(root.PersistentFlags())
		root.AddCommand(Commands(c, to)...)
		root.SetOut(&out)
		root.SetArgs(append([]string{"__complete", "--namespace", b.namespace}, strings.Split(line, " ")...))
		if err := root.ExecuteContext(t.Context()); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q: %q, want %q first: %v", line, out.String(), want, err)
		}
	}
}
