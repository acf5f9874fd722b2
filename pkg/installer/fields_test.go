package installer

import (
	"embed"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
	"github.com/kyma-project/lifecycle-manager/pkg/render/kustomize"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

//go:embed all:testdata
var testdata embed.FS

func keyOf(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

func TestFields_EveryKindOfSource(t *testing.T) {
	f := onServer(t)
	inst := f.installation()
	inst.Sources = []Source{
		{Name: "chart", Content: Files(testdata, "testdata/chart"), Renderer: helm.Renderer{}, Values: map[string]any{"colour": "red"}},
		{Name: "kustomization", Content: Directory("testdata/kustomization"), Renderer: kustomize.Renderer{Path: "overlay"}},
		Bundle("bundle", Directory("testdata/bundle")),
		YAML("yaml", configMap("yaml")),
		Objects("objects", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: object}}")),
	}
	inst.Sources[0].ReleaseName = "released"
	report := f.installs(inst)
	f.equal("objects", actions(report), []string{
		"ConfigMap released: Created", "ConfigMap over-base: Created", "ConfigMap bundled: Created", "ConfigMap yaml: Created", "ConfigMap object: Created",
	})
	data := f.get("v1", "ConfigMap", "released").Object["data"].(map[string]any)
	if data["colour"] != "red" || data["namespace"] != f.namespace || data["apps"] != "true" || data["version"] == "" {
		t.Errorf("Values, Namespace and capabilities of the cluster: %v", data)
	}
	before := f.counter.Snapshot()
	f.installs(inst)
	f.equal("writes", f.writes(before), nil)
}

func TestFields_WhereObjectsGo(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a"), configMap("b"))
	elsewhere := f.namespace + "-b"
	inst.Sources[1].Namespace = elsewhere
	report, err := Install(t.Context(), inst)
	f.reason(report, err, string(apply.ClassNamespaceMissing))
	if inst.CreateNamespace = true; !f.installs(inst).Ready || f.find("v1", "ConfigMap", elsewhere, "b") == nil || !f.has("a") {
		t.Error("an object is not where it should be")
	}
	if namespace := f.find("v1", "Namespace", "", elsewhere); namespace.GetAnnotations()[DefaultOwnerKey] != "" {
		t.Error("the namespace is marked as ours")
	}
	inst = f.installation(configMap("c"))
	inst.Namespace = f.namespace + "-c"
	report, err = Install(t.Context(), inst)
	f.reason(report, err, string(apply.ClassNamespaceMissing))
	inst.CreateNamespace = true
	f.installs(inst)
	if report, err = Uninstall(t.Context(), inst); err != nil || !report.Ready || f.find("v1", "Namespace", "", inst.Namespace).GetDeletionTimestamp() != nil {
		t.Errorf("a namespace that is no one's was deleted, or: %v\n%s", err, pretty(report))
	}
}

func TestContentMayHoldTheNamespaceOfTheRecord(t *testing.T) {
	f := onServer(t)
	name := f.namespace + "-own"
	inst := f.installation("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + ", labels: {a: b}}\n" + configMap("a"))
	inst.Namespace, inst.CreateNamespace = name, true
	f.installs(inst)
	if f.find("v1", "Namespace", "", name).GetLabels()["a"] != "b" {
		t.Error("it was not made as declared")
	}
	if report, err := Uninstall(t.Context(), inst); err != nil || f.find("v1", "Namespace", "", name).GetDeletionTimestamp() == nil {
		t.Errorf("%v\n%s", err, pretty(report)) // it waits for a controller that is not there
	}
}

func TestLabelsTransformsOwnerAndManager(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a"))
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "size: {type: integer}")}
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "size: 1")}
	inst.Labels = map[string]string{"example.com/part": "demo"}
	inst.OwnerKey, inst.FieldManager = "example.com/owner", "example-manager"
	inst.Transforms = []func(*unstructured.Unstructured) error{
		func(o *unstructured.Unstructured) error {
			o.SetAnnotations(map[string]string{"first": o.GetNamespace()})
			return nil
		},
		func(o *unstructured.Unstructured) error {
			if o.GetKind() == "ConfigMap" {
				o.SetName(o.GetName() + "-" + o.GetAnnotations()["first"])
			}
			return nil
		},
	}
	f.installs(inst)
	for _, live := range []*unstructured.Unstructured{
		f.get("v1", "ConfigMap", "a-"+f.namespace), f.findCustom("Sample", "default"),
		f.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", inst.CRDs[0].GetName()),
	} {
		if live.GetLabels()["example.com/part"] != "demo" || live.GetAnnotations()["example.com/owner"] != f.namespace+"/demo" ||
			live.GetAnnotations()["first"] != live.GetNamespace() || live.GetManagedFields()[0].Manager != "example-manager" {
			t.Errorf("%s: %s", live.GetKind(), pretty(live.Object["metadata"]))
		}
	}
	if inst.CRDs[0].GetAnnotations() != nil || inst.CustomResources[0].GetNamespace() != "" {
		t.Error("the caller's objects were changed")
	}
	inst.Transforms = []func(*unstructured.Unstructured) error{func(*unstructured.Unstructured) error { return errors.New("no") }}
	report, err := Install(t.Context(), inst)
	f.reason(report, err, ReasonInstallationInvalid)
}

func TestOwnership(t *testing.T) {
	f := onServer(t)
	theirs := object(strings.TrimPrefix(configMap("a", "k=theirs"), "---\n"))
	theirs.SetNamespace(f.namespace)
	f.must(f.known(func() error { return f.other.Create(t.Context(), theirs) }))
	inst := f.installation(configMap("a", "k=ours"))
	report, err := Install(t.Context(), inst)
	f.reason(report, err, string(apply.ClassOwnershipConflict))
	f.equal("refused", actions(report), []string{"ConfigMap a: Refused"})
	inst.Ownership = apply.AdoptIfUnowned
	f.equal("adopted", actions(f.installs(inst)), []string{"ConfigMap a: Adopted"})

	rival := inst
	rival.Name = "rival"
	report, err = Install(t.Context(), rival)
	f.reason(report, err, string(apply.ClassOwnershipConflict))
	rival.Ownership = apply.Adopt
	f.installs(rival)
	if report, err = Uninstall(t.Context(), inst); err != nil || !report.Ready || report.Objects[0].Action != apply.Kept || !f.has("a") {
		t.Errorf("%v\n%s", err, pretty(report))
	}
}

func TestFields_APinnedContentIsNotResolvedAgain(t *testing.T) {
	f := onServer(t)
	dir := t.TempDir()
	write := func(text string) { f.must(os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(text), 0o600)) }
	write(configMap("a", "k=1"))
	store := &content.Store{Dir: t.TempDir()}
	inst := f.installation()
	inst.Sources = []Source{{Name: "folder", Content: &content.DirectorySource{Store: store, Dir: filepath.Join(dir, "all.yaml")}}}
	pinned := f.installs(inst).Resolved
	write(configMap("a", "k=2"))
	inst.Pinned = pinned
	f.equal("pinned", actions(f.installs(inst)), []string{"ConfigMap a: Unchanged"})
	inst.Pinned = nil
	f.equal("not pinned", actions(f.installs(inst)), []string{"ConfigMap a: Updated"})
}

func TestFields_ASharedClusterAsksOnceWhatIsServed(t *testing.T) {
	f := onServer(t)
	cluster, err := Connect(f.config)
	f.must(err)
	inst := f.installation(configMap("a"))
	inst.Cluster, inst.Config = cluster, nil
	f.installs(inst)
	before := f.counter.Snapshot()
	f.installs(inst)
	want := calls.Counts{{Verb: calls.Get, Resource: "secrets"}: 1, {Verb: calls.Get, Resource: "configmaps"}: 1}
	if got := f.counter.Since(before).Plain(); pretty(texts(got)) != pretty(texts(want)) {
		t.Errorf("at rest: %v", texts(got))
	}
}

func texts(counts calls.Counts) map[string]int {
	told := map[string]int{}
	for call, n := range counts {
		told[call.String()] = n
	}
	return told
}

func TestDiffSaysWhatInstallWouldDo(t *testing.T) {
	f := onServer(t)
	f.installs(f.installation(configMap("same") + configMap("changed", "k=1") + configMap("dropped")))
	inst := f.installation(configMap("same") + configMap("changed", "k=2") + configMap("new"))
	elsewhere := f.namespace + "-d"
	inst.Sources = append(inst.Sources, Source{Name: "more", Namespace: elsewhere, Content: YAML("", configMap("there")).Content})
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "size: {type: integer}")}
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "size: 1")}
	inst.CreateNamespace = true
	before := f.counter.Snapshot()
	differences, err := Diff(t.Context(), inst)
	f.must(err)
	var told []string
	for _, difference := range differences {
		told = append(told, difference.ID.Kind+" "+difference.ID.Name+": "+string(difference.Change))
	}
	f.equal("differences", told, []string{
		"Namespace " + elsewhere + ": Create", "CustomResourceDefinition " + inst.CRDs[0].GetName() + ": Create",
		"ConfigMap changed: Update", "ConfigMap new: Create", "ConfigMap same: Unchanged", "ConfigMap there: Create",
		"Sample default: Create", "ConfigMap dropped: Delete",
	})
	if fields := differences[2].Fields; len(fields) != 1 || fields[0].Path != "data.k" && fields[0].Path != ".data.k" {
		t.Errorf("%+v", fields)
	}
	if !f.has("dropped") || f.has("new") {
		t.Errorf("it wrote: %v", f.writes(before))
	}
}

func TestFilesOfAFileSystem(t *testing.T) {
	for name, test := range map[string]struct {
		files fstest.MapFS
		dir   string
		want  string
	}{
		"a folder that is not there":     {fstest.MapFS{"a/b": {}}, "c", content.ReasonContentNotFound},
		"a folder without a file":        {fstest.MapFS{"a": {Mode: os.ModeDir}}, "a", content.ReasonContentInvalid},
		"a link":                         {fstest.MapFS{"a/b": {Mode: os.ModeSymlink}}, "a", content.ReasonContentInvalid},
		"a folder with a file":           {fstest.MapFS{"a/b": {Data: []byte("x")}}, "a", ""},
		"the root":                       {fstest.MapFS{"b": {Data: []byte("x")}}, "", ""},
		"a path with needless parts":     {fstest.MapFS{"a/b": {Data: []byte("x")}}, "./a/../a/", ""},
		"a path that leads out of there": {fstest.MapFS{"a/b": {Data: []byte("x")}}, "../a", content.ReasonContentNotFound},
	} {
		source := Files(test.files, test.dir)
		resolved, err := source.Resolve(t.Context())
		if content.ReasonOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		tree, err := source.Fetch(t.Context(), resolved)
		if err != nil || len(tree.Files) != 1 || tree.Files[0].Path != "b" || !strings.Contains(source.Reference(), resolved.Digest) {
			t.Errorf("%s: %v %v", name, tree, err)
		}
		resolved.Digest = "sha256:other"
		if _, err = source.Fetch(t.Context(), resolved); content.ReasonOf(err) != content.ReasonDigestMismatch {
			t.Errorf("%s: another digest: %v", name, err)
		}
	}
}
