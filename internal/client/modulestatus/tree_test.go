package modulestatus

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// everything returns a hub that is also a runtime: a local Kyma with a beacon, and a direct installation.
func everything() Inputs {
	goes := deployment("x", func(o map[string]any) {
		meta := o["metadata"].(map[string]any)
		meta["name"], meta["deletionTimestamp"] = "goes", "2026-01-01T00:00:00Z"
	})
	waits := deployment("x", func(o map[string]any) {
		o["metadata"].(map[string]any)["name"], o["status"] = "waits", map[string]any{"observedGeneration": int64(1)}
	})
	failed := custom("Beacon", "failed", "Ready")
	failed.Object["apiVersion"], failed.Object["kind"] = "v1", "Pod"
	failed.Object["status"] = map[string]any{"phase": "Failed"}
	in := seen([]v1beta2.Kyma{remoteKyma(local)}, deployment("b:1.0.0"), custom("Beacon", "default", "Ready"), goes, waits, failed)
	at := func(group, version, kind, name string) v1beta2.Resource {
		return v1beta2.Resource{Group: group, Version: version, Kind: kind, Namespace: "kyma-system", Name: name, Hash: "x"}
	}
	in.Manifests = []v1beta2.Manifest{manifest(func(m *v1beta2.Manifest) {
		m.Annotations = map[string]string{v1beta2.AnnotationOCMComponentName: "kyma-project.io/module/beacon"}
		m.Status.Synced = []v1beta2.Resource{
			at("apps", "v1", "Deployment", "beacon-manager"), at("apps", "v1", "Deployment", "gone"), at("apps", "v1", "Deployment", "goes"),
			at("apps", "v1", "Deployment", "waits"), at("", "v1", "Pod", "failed"), at("", "v1", "ConfigMap", "config"),
			at("sample.kyma-project.io", "v1", "Beacon", "default"),
		}
	})}
	in.Direct = []Direct{direct(func(d *Direct) { d.Module, d.Template, d.Manager = "lone", Key{}, nil })}
	return in
}

func lines(nodes []Node, depth int) []string {
	var all []string
	for _, n := range nodes {
		all = append(all, strings.Repeat("  ", depth)+n.Kind+" "+n.Name+" "+string(n.State)+" "+n.Reason)
		all = append(all, lines(n.Children, depth+1)...)
	}
	return all
}

func TestTreeHasEveryCustomResource(t *testing.T) {
	in := seen([]v1beta2.Kyma{remoteKyma(local)}, custom("Beacon", "another", "Ready"), custom("Beacon", "default", "Ready"))
	want := "Kyma alice Ready \n  Module beacon Ready \n    Beacon default Ready \n    Beacon another Ready "
	if is := strings.Join(lines(Tree(in), 0), "\n"); is != want {
		t.Errorf("the tree is\n%s\nwant the default one first\n%s", is, want)
	}
	in.Objects[0] = custom("Beacon", "another", "Error")
	want = "Kyma alice Ready \n  Module beacon Error Error\n    Beacon another Error Error\n    Beacon default Ready "
	if is := strings.Join(lines(Tree(in), 0), "\n"); is != want {
		t.Errorf("the tree is\n%s\nwant the worst one first\n%s", is, want)
	}
}

func TestSuspended(t *testing.T) {
	skip := map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
	whole := remoteKyma(func(k *v1beta2.Kyma) { k.Labels = skip })
	one := manifest(func(m *v1beta2.Manifest) { m.Labels[v1beta2.LabelSkipReconciliation] = v1beta2.EnabledValue })
	for name, c := range map[string]struct {
		kyma     v1beta2.Kyma
		manifest v1beta2.Manifest
		want     bool
	}{
		"nothing is suspended": {remoteKyma(), manifest(), false},
		"only the module":      {remoteKyma(), one, true},
		"the whole Kyma":       {whole, manifest(), true},
	} {
		t.Run(name, func(t *testing.T) {
			in := seen([]v1beta2.Kyma{c.kyma})
			in.Manifests = []v1beta2.Manifest{c.manifest}
			if is := Modules(in)[0].Suspended; is != c.want {
				t.Errorf("suspended is %v, want %v", is, c.want)
			}
		})
	}
}

func TestTree(t *testing.T) {
	want := []string{
		"Kyma alice Ready ", "  Module beacon Ready ", "    Beacon default Ready ", "    Deployment beacon-manager Ready ",
		"    Deployment gone Error Missing", "    Deployment goes Deleting Terminating", "    Deployment waits Processing InProgress",
		"    Pod failed Error Failed", "    ConfigMap config  ", "Module lone Ready ", "  Beacon default Ready ",
		"  Deployment beacon-manager Ready ", "  ConfigMap planned Processing Planned",
	}
	if is := lines(Tree(everything()), 0); strings.Join(is, "\n") != strings.Join(want, "\n") {
		t.Errorf("the tree is\n%s\nwant\n%s", strings.Join(is, "\n"), strings.Join(want, "\n"))
	}
	if is := Tree(everything(), "lone"); len(is) != 1 || is[0].Name != "lone" {
		t.Errorf("the tree of one module is %v", lines(is, 0))
	}
}

func TestTreeOfModulesWithoutTheirKyma(t *testing.T) {
	in := Inputs{Manifests: []v1beta2.Manifest{manifest()}, Unread: []Unread{{GroupKind: ownKind(kindKyma)}}}
	roots := Tree(in)
	if len(roots) != 1 || roots[0].Kind != kindKyma || roots[0].Name != "alice" || roots[0].State != Unknown || len(roots[0].Children) != 1 {
		t.Errorf("the tree is %v", lines(roots, 0))
	}
}

func TestTraces(t *testing.T) {
	marked := func(key, owner string) *unstructured.Unstructured {
		o := custom("Beacon", "x", "")
		o.SetAnnotations(map[string]string{key: owner})
		return o
	}
	for name, c := range map[string]struct {
		asked TraceQuery
		want  string
	}{
		"an object of the inventory leads to the Kyma": {
			TraceQuery{Kind: "deployments", Name: "gone"}, "Deployment gone > Manifest alice-beacon > Module beacon > ModuleTemplate beacon-1.0.0 > Kyma alice",
		},
		"a group is part of a kind's name":      {TraceQuery{Kind: "Deployment.apps", Name: "gone"}, "Deployment gone > Manifest"},
		"another group is another kind":         {TraceQuery{Kind: "Deployment.sample", Name: "gone"}, ""},
		"another namespace is another object":   {TraceQuery{Kind: "Deployment", Name: "gone", Namespace: "x"}, ""},
		"the object of a record leads to it":    {TraceQuery{Kind: "configmap", Name: "planned"}, "ConfigMap planned > Secret manifest.direct-beacon > Module lone"},
		"a custom resource leads to its module": {TraceQuery{Kind: "beacon", Name: "default"}, "Beacon default > Secret manifest.direct-beacon"},
		"a mark leads to the Manifest": {
			TraceQuery{Kind: "beacon", Name: "x", Object: marked(v1beta2.AnnotationOwnedBy, "kcp-system/alice-beacon")}, "Beacon x > Manifest alice-beacon > Module beacon",
		},
		"a mark leads to the record": {
			TraceQuery{Kind: "beacon", Name: "x", Object: marked(ownerKeys[1], "kyma-system/direct-beacon")}, "Beacon x > Secret manifest.direct-beacon",
		},
		"a mark that leads elsewhere is shown": {
			TraceQuery{Kind: "beacon", Name: "x", Object: marked(v1beta2.AnnotationOwnedBy, "a/b")}, "Beacon x > Manifest b",
		},
		"an object without a mark has no owner": {TraceQuery{Kind: "beacon", Name: "x", Object: custom("Beacon", "x", "")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := everything()
			in.Releases = nil
			var names []string
			if traces := Trace(in, c.asked); len(traces) > 0 {
				for _, step := range traces[0] {
					names = append(names, step.Kind+" "+step.Name)
				}
			}
			if is := strings.Join(names, " > "); !strings.HasPrefix(is, c.want) || c.want == "" && is != "" {
				t.Errorf("the trace is %q, want %q", is, c.want)
			}
		})
	}
	steps := Trace(everything(), TraceQuery{Kind: "pod", Name: "failed"})[0]
	if last := steps[len(steps)-2]; last.Kind != kindRelease || !strings.Contains(last.Text, "regular offers 1.0.0") {
		t.Errorf("before the Kyma comes %+v", last)
	}
}

func TestKymas(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1beta2.Kyma)
		want   State
		local  bool
	}{
		"one that is ready": {func(*v1beta2.Kyma) {}, Ready, false},
		"one of upstream's manager, on our definition": {func(k *v1beta2.Kyma) {
			k.Generation, k.Status.ObservedGeneration = 2, -1
		}, Ready, false},
		"one that was not reconciled":         {func(k *v1beta2.Kyma) { k.Status = v1beta2.KymaStatus{} }, Processing, false},
		"one whose change was not reconciled": {func(k *v1beta2.Kyma) { k.Generation = 2 }, Processing, false},
		"one that goes":                       {func(k *v1beta2.Kyma) { k.DeletionTimestamp = &metav1.Time{} }, Deleting, false},
		"one whose modules are here":          {local, Ready, true},
		"the copy of a hub's Kyma is here too": {func(k *v1beta2.Kyma) {
			k.Namespace, k.Name, k.Labels = "kyma-system", "default", map[string]string{v1beta2.LabelManagedBy: "kyma"}
		}, Ready, true},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := remoteKyma(c.change)
			kyma.CreationTimestamp = metav1.Unix(0, 0)
			kyma.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionReady, Status: "True", Reason: "R", Message: "M"},
				{Type: v1beta2.ConditionReconciling, Status: "True", Reason: "R"}, {Type: v1beta2.ConditionStalled, Status: "True", Reason: "R"}}
			in := seen([]v1beta2.Kyma{kyma})
			in.Manifests = []v1beta2.Manifest{manifest(), manifest(func(m *v1beta2.Manifest) {
				m.Name, m.Labels[v1beta2.LabelModuleName], m.Labels[v1beta2.LabelMandatoryModule] = "m", "must", "true"
			})}
			line := Kymas(in)[0]
			if line.State != c.want || line.Local != c.local || line.Created != "1970-01-01T00:00:00Z" || len(line.Conditions) != 1 {
				t.Errorf("the line is %+v", line)
			}
		})
	}
}

func TestCatalogue(t *testing.T) {
	in := everything()
	in.Releases = append(in.Releases, release("other", "fast", "9.9.9"))
	decree := release("must")
	decree.Spec.Mandatory = &v1beta2.Mandatory{Version: "1.0.0"}
	in.Releases = append(in.Releases, decree)
	in.Templates[0].Spec.Info = &v1beta2.ModuleInfo{Repository: "https://r", Documentation: "https://d"}
	in.Templates[0].Spec.AssociatedResources = []metav1.GroupVersionKind{{Group: "g", Version: "v1", Kind: "Lamp"}}
	in.Templates = append(in.Templates, template("lone", "1.0.0", func(t *v1beta2.ModuleTemplate) { t.Namespace = "default" }))
	offers := Catalog(in)
	if len(offers) != 4 {
		t.Fatalf("there are %d offers: %+v", len(offers), offers)
	}
	beacon := offers[0]
	if beacon.Type != Manageable || len(beacon.Versions) != 2 || beacon.Versions[0].Channels[0] != "fast" || len(beacon.Installed) != 1 {
		t.Errorf("beacon is %+v", beacon)
	}
	if lone := offers[1]; lone.Type != Community || len(lone.Installed) != 1 {
		t.Errorf("lone is %+v", lone)
	}
	if offers[2].Mandatory != "1.0.0" || !offers[3].Channels[0].Missing {
		t.Errorf("must is %+v, other is %+v", offers[2], offers[3])
	}
	if found := Search(offers, "LAMP", "beacon"); len(found) != 1 || found[0].Name != "beacon" {
		t.Errorf("found %+v", found)
	}
	if r := newReader(in); r.typeOf("beacon", Community) != Manageable || r.typeOf("nobody", Community) != Community {
		t.Error("types are wrong")
	}
}

func TestUnreadMessages(t *testing.T) {
	u := Unread{GroupKind: schema.GroupKind{Kind: "Secret"}, Namespace: "x"}
	if is := u.Message(); is != "Secret in namespace x cannot be read: no reason was given" || u.Reason() != WhyReadFailed {
		t.Errorf("said %q", is)
	}
}

func TestWorstOf(t *testing.T) {
	if WorstOf(nil) != Ready || WorstOf([]Module{{State: Warning}, {State: Error}, {State: Deleting}}) != Error {
		t.Error("the worst does not win")
	}
}
