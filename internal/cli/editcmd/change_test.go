package editcmd

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

func TestChanges(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		have []v1beta2.Module
		args string
		code int
		want string
		said string
	}{
		"a module is enabled":                                    {nil, "add notes", 0, "notes", ""},
		"several at once, in every spelling":                     {nil, "add notes@1.2.0 beacon:fast", 0, "notes@1.2.0 beacon:fast", ""},
		"the flag is for those that name no channel":             {nil, "enable -c fast notes beacon", 0, "notes:fast beacon:fast", ""},
		"an enabled module stays":                                {[]v1beta2.Module{{Name: "notes", Version: "1.0.0"}}, "add notes", 0, "notes@1.0.0", ""},
		"an unknown module lists candidates":                     {nil, "add note", 4, "", "there is no module note; did you mean notes? Known modules: notes, beacon"},
		"an unknown channel lists candidates":                    {nil, "add notes:slow", 4, "", "it has fast (1.1.0), regular (1.0.0)"},
		"an unknown version lists candidates":                    {nil, "add notes@9.0.0", 4, "", "it has 1.2.0, 1.1.0, 1.0.0"},
		"one bad name of two changes nothing":                    {nil, "add notes nobody", 4, "", "there is no module nobody"},
		"the Kyma's channel does not offer it":                   {nil, "add beacon", 4, "", "module beacon has no channel regular; it has fast (0.1.0)"},
		"no name is no command":                                  {nil, "add", 64, "", "NAME[@VERSION|:CHANNEL] is missing"},
		"two wishes about one module are refused":                {nil, "add notes notes:fast", 64, "", "name the same module"},
		"a policy that there is not":                             {nil, "add notes --policy Sometimes", 64, "", "use CreateAndDelete or Ignore"},
		"an unknown dry run":                                     {nil, "add notes --dry-run=maybe", 64, "", "none, client and server"},
		"a dry run in the client writes nothing":                 {nil, "add notes --dry-run=client", 0, "", "+  - "},
		"a dry run on the server writes nothing":                 {nil, "add notes --dry-run=server", 0, "", "name: notes"},
		"a module is taken out":                                  {[]v1beta2.Module{{Name: "notes"}, {Name: "beacon", Channel: "fast"}}, "delete notes --yes", 0, "beacon:fast", ""},
		"nothing is removed without confirmation":                {[]v1beta2.Module{{Name: "notes"}}, "delete notes", 64, "notes", "--yes confirms it"},
		"a missing module need not be removed":                   {nil, "delete notes", 0, "", ""},
		"an unknown module is not found":                         {[]v1beta2.Module{{Name: "notes"}}, "disable note --yes", 4, "notes", "did you mean notes? Known modules of it: notes"},
		"a version is upgraded to the newest":                    {[]v1beta2.Module{{Name: "notes", Version: "1.0.0"}}, "upgrade notes", 0, "notes@1.2.0", ""},
		"a module that follows a channel stays with it":          {[]v1beta2.Module{{Name: "notes"}}, "upgrade notes", 0, "notes", ""},
		"everything is upgraded":                                 {[]v1beta2.Module{{Name: "notes", Version: "1.0.0"}, {Name: "beacon", Channel: "fast"}}, "upgrade --all", 0, "notes@1.2.0 beacon:fast", ""},
		"an upgrade to a channel":                                {[]v1beta2.Module{{Name: "notes", Version: "1.0.0"}}, "upgrade notes --to fast", 0, "notes:fast", ""},
		"an upgrade of nothing":                                  {nil, "upgrade", 64, "", "use --all"},
		"an upgrade of what is not there":                        {nil, "upgrade notes", 4, "", "kyma add notes"},
		"a module is managed again":                              {[]v1beta2.Module{{Name: "notes", Managed: &no}}, "manage notes", 0, "notes", ""},
		"releasing a module needs confirmation":                  {[]v1beta2.Module{{Name: "notes"}}, "unmanage notes", 64, "notes", "--yes confirms it"},
		"a missing module is not managed":                        {nil, "manage notes", 4, "", "kyma add notes enables it"},
		"a channel that does not offer a module is refused":      {[]v1beta2.Module{{Name: "beacon"}}, "kyma set-channel regular", 4, "beacon", "module beacon has no channel regular"},
		"a module without a Manifest cannot be suspended":        {[]v1beta2.Module{{Name: "notes"}}, "suspend notes", 4, "notes", "has no Manifest yet"},
		"to suspend nothing":                                     {nil, "suspend", 64, "", "use --all"},
		"--keep-resources has to wait":                           {[]v1beta2.Module{{Name: "notes"}}, "delete notes --keep-resources --yes --wait=false", 64, "notes", "waits until the modules are no longer managed"},
		"a mistyped name is recognised where there is no Kyma":   {nil, "add note --community", 4, "", "did you mean notes?"},
		"a missing module needs the lifecycle manager's catalog": {nil, "add nobody --community", 4, "", "there is no module nobody"},
		"a manageable module is no community module":             {nil, "add notes --community --template-namespace HERE", 1, "", "is no community module"},
		"an unmanaged installation needs confirmation":           {nil, "add notes --unmanaged --template-namespace HERE", 64, "", "--unmanaged --yes confirms it"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.kyma("demo", c.have...)
			args := strings.Fields(strings.ReplaceAll(c.args, "HERE", b.namespace))
			if !strings.Contains(c.args, "--wait") && !strings.HasPrefix(c.args, "suspend") {
				args = append(args, "--wait=false")
			}
			code, out, said := b.run(args...)
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, c.code, said, c.said)
			}
			if diff := cmp.Diff(c.want, b.entries("demo")); diff != "" {
				t.Errorf("modules (-want +got):\n%s", diff)
			}
			if code != 0 && out != "" {
				t.Errorf("wrote %q to standard output", out)
			}
		})
	}
}

func TestOutput(t *testing.T) {
	for name, c := range map[string]struct{ args, want string }{
		"a table": {"add notes:fast beacon@0.1.0 --wait=false", "NAME            ACTION      CHANNEL   VERSION   KYMA\n" +
			"module/notes    unchanged   fast      1.1.0     NS/demo\nmodule/beacon   enabled     -         0.1.0     NS/demo\n"},
		"an upgrade of what follows a channel is the lifecycle manager's": {"upgrade notes --wait=false",
			"NAME           ACTION      CHANNEL   VERSION   KYMA\nmodule/notes   upgrading   fast      1.1.0     NS/demo\n"},
		"names": {"add beacon:fast --wait=false -o name", "module/beacon\n"},
		"json": {"add notes:regular --wait=false -o json --dry-run=server", `{
  "apiVersion": "cli.kyma-project.io/v1",
  "kind": "ChangeList",
  "items": [
    {
      "name": "module/notes",
      "kyma": "NS/demo",
      "action": "changed",
      "fields": [
        "channel"
      ],
      "channel": "regular",
      "version": "1.0.0",
      "dryRun": "server"
    }
  ]
}
`},
		"yaml": {"delete notes --wait=false -o yaml --yes", "apiVersion: cli.kyma-project.io/v1\nitems:\n- action: disabled\n  kyma: NS/demo\n  name: module/notes\nkind: ChangeList\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.kyma("demo", v1beta2.Module{Name: "notes", Channel: "fast"})
			code, out, said := b.run(strings.Fields(c.args)...)
			columns := strings.ReplaceAll(out, b.namespace, "NS")
			if diff := cmp.Diff(c.want, columns); code != 0 || diff != "" {
				t.Errorf("exit code %d, %s (-want +got):\n%s", code, said, diff)
			}
		})
	}
}

// manager writes one status for module notes as soon as the Kyma has that generation.
func (b *bench) manager(name string, generation int64, entry *v1beta2.ModuleStatus, reason string) {
	ctx, cancel := context.WithTimeout(b.Context(), 20*time.Second)
	defer cancel()
	watcher, err := b.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(b.namespace))
	if err != nil {
		b.Error(err)
		return
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		kyma, ok := event.Object.(*v1beta2.Kyma)
		if !ok || kyma.Name != name || kyma.Generation < generation {
			continue
		}
		status := v1beta2.KymaStatus{ObservedGeneration: kyma.Generation, State: "Ready", LastOperation: v1beta2.LastOperation{Operation: "x"}}
		if entry != nil {
			status.State, status.Modules = entry.State, []v1beta2.ModuleStatus{*entry}
			status.Conditions = []metav1.Condition{{
				Type: v1beta2.ConditionReady, Status: "False", Reason: "x", LastTransitionTime: metav1.Now(), Message: "x; notes: " + reason + ": " + entry.Message,
			}}
		}
		patch, err := json.Marshal(map[string]any{"status": status})
		if err == nil {
			// The command may see the status, and the test end, before this call returns.
			err = b.Status().Patch(context.WithoutCancel(b.Context()), kyma, client.RawPatch("application/merge-patch+json", patch))
		}
		if err != nil {
			b.Error(err)
		}
		return
	}
}

func TestExitCodesOfWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		args   string
		entry  *v1beta2.ModuleStatus
		reason string
		code   int
		said   string
	}{
		"Ready is 0":             {"add notes", &v1beta2.ModuleStatus{Name: "notes", State: "Ready", Version: "1.0.0"}, "", 0, "Ready        notes: version 1.0.0"},
		"Warning is 2":           {"add notes", &v1beta2.ModuleStatus{Name: "notes", State: "Warning", Message: "lower"}, "Downgrade", 2, "Downgrade: lower"},
		"Error is 1":             {"add notes", &v1beta2.ModuleStatus{Name: "notes", State: "Error", Message: "not signed"}, "SignatureMissing", 1, "Error: notes is in state Error\n"},
		"gone is 0":              {"delete beacon --yes", nil, "", 0, "Gone         beacon"},
		"a released module is 0": {"unmanage beacon --yes", &v1beta2.ModuleStatus{Name: "beacon", State: "Unmanaged"}, "", 0, "Unmanaged    beacon"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.kyma("demo", v1beta2.Module{Name: "beacon", Channel: "fast"})
			var manager sync.WaitGroup
			manager.Go(func() { b.manager("demo", 2, c.entry, c.reason) })
			code, out, said := b.run(strings.Fields(c.args)...)
			manager.Wait()
			if code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d; said:\n%swant %q in it", code, c.code, said, c.said)
			}
			if !strings.HasPrefix(out, "NAME ") || strings.Count(out, "\n") != 2 {
				t.Errorf("standard output is for what changed: %q", out)
			}
			if c.reason != "" && strings.Count(said, c.reason) != 1 {
				t.Errorf("the reason %s is to be said once:\n%s", c.reason, said)
			}
		})
	}
	t.Run("a timeout is 3", func(t *testing.T) {
		b := newBench(t)
		b.kyma("demo", v1beta2.Module{Name: "notes"})
		// The status is there before the command begins, so that its time is all for the first look.
		b.manager("demo", 1, &v1beta2.ModuleStatus{Name: "notes", State: "Processing", Message: "Deployment x"}, "WaitingForObjects")
		code, out, said := b.run("add", "notes", "--timeout", "10s")
		if code != 3 || !strings.Contains(said, "notes is still Processing after 10s") {
			t.Errorf("exit code %d, said:\n%s", code, said)
		}
		if !strings.HasPrefix(out, "NAME ") || strings.Count(out, "\n") != 2 {
			t.Errorf("standard output is for what changed: %q", out)
		}
	})
	t.Run("interrupted is 130", func(t *testing.T) {
		b := newBench(t)
		b.kyma("demo")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		watcher, err := b.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(b.namespace))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer watcher.Stop()
			for event := range watcher.ResultChan() {
				if kyma, ok := event.Object.(*v1beta2.Kyma); ok && kyma.Generation == 2 {
					cancel()
				}
			}
		}()
		if code, _, said := b.runIn(ctx, &console.Console{In: strings.NewReader("")}, "add", "notes"); code != 130 {
			t.Errorf("exit code %d: %s", code, said)
		}
	})
}

func TestTenCommandsAtOnce(t *testing.T) {
	b := newBench(t)
	for i := range 10 {
		name := "many-" + string(rune('a'+i)) + "bc"
		b.release(name, "regular", "1.0.0")
		b.template(name, "1.0.0")
	}
	b.kyma("demo")
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if code, _, said := b.run("add", "many-"+string(rune('a'+i))+"bc", "--wait=false"); code != 0 {
				t.Errorf("exit code %d: %s", code, said)
			}
		})
	}
	all.Wait()
	if got := len(b.read("demo").Spec.Modules); got != 10 {
		t.Errorf("%d of 10 edits are there", got)
	}
}

func TestDeletionLooksForWhatPeopleMade(t *testing.T) {
	b := newBench(t)
	template := &v1beta2.ModuleTemplate{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "notes-1.0.0"}, template); err != nil {
		t.Fatal(err)
	}
	template.Spec.AssociatedResources = []metav1.GroupVersionKind{
		{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}, {Group: "example.com", Version: "v1", Kind: "Unknown"},
		{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	}
	if err := b.Update(t.Context(), template); err != nil {
		t.Fatal(err)
	}
	b.kyma("demo", v1beta2.Module{Name: "notes"})
	code, _, said := b.run("delete", "notes", "--yes", "--wait=false")
	if code != 1 || !strings.Contains(said, "PriorityClass /system-cluster-critical") && !strings.Contains(said, "PriorityClass system-cluster-critical") {
		t.Fatalf("exit code %d, want a refusal that names what is there: %s", code, said)
	}
	code, out, said := b.run("delete", "notes", "--cascade=preview", "-o", "name")
	if code != 0 || !strings.Contains(out, "PriorityClass/system-node-critical\n") {
		t.Errorf("exit code %d, preview %q: %s", code, out, said)
	}
	if b.entries("demo") != "notes" {
		t.Error("a preview changed the Kyma")
	}
}

func TestCascadeDeletesWhatWasShown(t *testing.T) {
	b := newBench(t)
	template := &v1beta2.ModuleTemplate{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "notes-1.0.0"}, template); err != nil {
		t.Fatal(err)
	}
	kind := v1beta2.GroupVersion.WithKind("Manifest")
	template.Spec.AssociatedResources = []metav1.GroupVersionKind{{Group: kind.Group, Version: "v0", Kind: kind.Kind}} // another version is served
	if err := b.Update(t.Context(), template); err != nil {
		t.Fatal(err)
	}
	b.kyma("demo", v1beta2.Module{Name: "notes"})
	made := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "made"}, Spec: v1beta2.ManifestSpec{Install: v1beta2.InstallInfo{Name: "x"}}}
	made.Spec.Install.Source.Raw = []byte(`{"type":"oci-ref"}`)
	b.create(made)
	if code, _, said := b.run("delete", "notes", "--cascade", "--wait=false"); code != 64 || !strings.Contains(said, "Manifest "+b.namespace+"/made") {
		t.Errorf("exit code %d, want to be asked about what is shown: %s", code, said)
	}
	code, _, said := b.run("delete", "notes", "--cascade", "--yes", "--wait=false")
	if code != 0 || b.entries("demo") != "" || !strings.Contains(said, "Gone") {
		t.Errorf("exit code %d, modules %q: %s", code, b.entries("demo"), said)
	}
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(made), made); !apierrors.IsNotFound(err) {
		t.Errorf("what was made is still there: %v", err)
	}
}

func TestSuspendAndResume(t *testing.T) {
	b := newBench(t)
	b.kyma("demo", v1beta2.Module{Name: "notes"})
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "demo-notes", Labels: map[string]string{
		v1beta2.LabelKymaName: "demo", v1beta2.LabelModuleName: "notes", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
	}}, Spec: v1beta2.ManifestSpec{Install: v1beta2.InstallInfo{Name: "x"}}}
	manifest.Spec.Install.Source.Raw = []byte(`{"type":"oci-ref"}`)
	b.create(manifest)
	label := func(o client.Object) string {
		t.Helper()
		if err := b.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		return o.GetLabels()[v1beta2.LabelSkipReconciliation]
	}
	for _, step := range []struct {
		args, out, module, kyma string
	}{
		{"suspend notes --dry-run=server", "suspended (dry run)", "", ""},
		{"suspend notes", "suspended", "true", ""},
		{"suspend notes", "unchanged", "true", ""},
		{"resume notes --wait=false", "resumed", "", ""},
		{"suspend --all", "suspended", "", "true"},
		{"resume --all --wait=false", "resumed", "", ""},
		{"resume --all --wait=false", "unchanged", "", ""},
		{"reconcile notes --wait=false", "asked to reconcile", "", ""},
	} {
		code, out, said := b.run(strings.Fields(step.args)...)
		if code != 0 || !strings.Contains(out, step.out) {
			t.Errorf("%s: exit code %d, %q, want %q: %s", step.args, code, out, step.out, said)
		}
		if got := label(manifest); got != step.module {
			t.Errorf("%s: the module's label is %q, want %q", step.args, got, step.module)
		}
		if got := label(b.read("demo")); got != step.kyma {
			t.Errorf("%s: the Kyma's label is %q, want %q", step.args, got, step.kyma)
		}
	}
	if _, there := manifest.Labels[labelReconcile]; !there {
		t.Error("nothing wakes the lifecycle manager")
	}
	if code, _, said := b.run("suspend", "--all"); code != 0 {
		t.Fatal(said)
	}
	if code, _, said := b.run("add", "beacon:fast"); code != 1 || !strings.Contains(said, "suspended") {
		t.Errorf("exit code %d of a change to a suspended Kyma, want 1 at once: %s", code, said)
	}
}

func TestDiff(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		code int
		out  string
	}{
		"nothing differs":                          {"diff notes", 0, ""},
		"another version shows entry and template": {"diff notes@1.2.0", 1, "version: 1.2.0\n"},
		"another channel":                          {"diff notes:fast", 1, "channel: fast"},
		"a module that is not installed":           {"diff beacon:fast", 1, "+++ moduletemplate/beacon-0.1.0"},
		"an unknown module":                        {"diff nobody", 4, ""},
		"two are too many":                         {"diff notes beacon", 64, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			kyma := b.kyma("demo", v1beta2.Module{Name: "notes"})
			patch := `{"status":{"lastOperation":{"operation":"x"},"modules":[{"name":"notes","state":"Ready","version":"1.0.0"}]}}`
			if err := b.Status().Patch(t.Context(), kyma, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
				t.Fatal(err)
			}
			code, out, said := b.run(strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(out, c.out) || c.out == "" && out != "" {
				t.Errorf("exit code %d, want %d; standard output:\n%s\nwant %q in it; said %s", code, c.code, out, c.out, said)
			}
		})
	}
}

func TestDifferenceOnATerminal(t *testing.T) {
	b := newBench(t)
	b.kyma("demo", v1beta2.Module{Name: "beacon", Channel: "fast"})
	_, _, said := b.runAs(&console.Console{In: strings.NewReader(""), Live: true}, "add", "notes:fast", "--wait=false")
	for _, line := range []string{"--- kyma/", "+++ kyma/", "+  - channel: fast", "+    name: notes"} {
		if !strings.Contains(said, line) {
			t.Errorf("the difference has no line %q:\n%s", line, said)
		}
	}
}
