package playground

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/formats"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// rolloutFile is what rollout.yaml has, as the API server would accept it with strict validation.
type rolloutFile struct {
	kyma     v1beta2.Kyma
	rollout  v1beta2.ModuleRollout
	template v1beta2.ModuleTemplate
}

func readRollout(t *testing.T) (f rolloutFile) {
	t.Helper()
	data, err := rolloutSample.filled(nil)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatal(err)
		}
		into := map[string]any{"Kyma": &f.kyma, "ModuleRollout": &f.rollout, "ModuleTemplate": &f.template}[kind.Kind]
		if into == nil {
			t.Fatalf("rollout.yaml has a %q", kind.Kind)
		}
		if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestRollout_TheFileFitsWhatThePlaygroundHas(t *testing.T) {
	f := readRollout(t)
	if f.kyma.Name != canaryName || f.kyma.Namespace != v1beta2.DefaultNamespace || f.kyma.Spec.Channel != channelRegular {
		t.Errorf("the playground would start no cluster for Kyma %s/%s of channel %s", f.kyma.Namespace, f.kyma.Name, f.kyma.Spec.Channel)
	}
	if len(f.kyma.Spec.Modules) != 1 || f.kyma.Spec.Modules[0].Name != f.rollout.Name || f.rollout.Name != moduleCharted {
		t.Errorf("the rollout is for %s, and Kyma %s has %v", f.rollout.Name, f.kyma.Name, f.kyma.Spec.Modules)
	}
	first, last := f.rollout.Spec.Waves[0], f.rollout.Spec.Waves[len(f.rollout.Spec.Waves)-1]
	selector, err := metav1.LabelSelectorAsSelector(first.Selector)
	if err != nil || !selector.Matches(labels.Set(f.kyma.Labels)) || selector.Matches(labels.Set(nil)) {
		t.Errorf("wave %s selects by %v, %v", first.Name, selector, err)
	}
	if last.Selector != nil || last.Share != "" {
		t.Errorf("wave %s leaves Kymas over", last.Name)
	}
	want, err := known(moduleCharted).template(stuck)
	if err != nil {
		t.Fatal(err)
	}
	want.Spec.RollbackTo = f.template.Spec.RollbackTo
	f.template.TypeMeta = metav1.TypeMeta{}
	if diff := cmp.Diff(want, &f.template); diff != "" || f.template.Spec.RollbackTo == "" {
		t.Errorf("the template differs from those of other versions, but for rollbackTo (-want +got):\n%s", diff)
	}
	for _, offer := range channels {
		if offer.Version == stuck {
			t.Errorf("channel %s offers %s to everyone", offer.Channel, stuck)
		}
	}
}

func TestRollout_OnlyTheBadVersionAsksForANodeThatThereIsNot(t *testing.T) {
	for version, want := range map[string]string{older: "", newer: "", stuck: "golden"} {
		deployment := find(t, chartedAt(t, version), "Deployment")
		disk, _, err := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "nodeSelector", "disk")
		if err != nil || disk != want {
			t.Errorf("%s asks for disk %q, want %q, %v", version, disk, want, err)
		}
	}
}

// chartedAt renders a version of module charted as the manager does.
func chartedAt(t *testing.T, version string) (objects []*unstructured.Unstructured) {
	t.Helper()
	publication, err := known(moduleCharted).publication(version)
	if err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), "chart.tgz")
	if err := os.WriteFile(packed, publication.Resources[0].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := content.Unpack(packed, content.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := helm.ParseConfig(publication.Resources[1].Data)
	if err != nil {
		t.Fatal(err)
	}
	own, err := config.For(rawManifest)
	if err != nil {
		t.Fatal(err)
	}
	input := render.Input{Name: moduleCharted, Namespace: own.Namespace, Values: own.Values}
	rendered, err := formats.Builtin()[string(v1beta2.RefTypeHelmChart)].Render(context.Background(), tree, input)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range rendered.Steps {
		objects = append(objects, step...)
	}
	return objects
}

func TestRollout_AWatchThatTellsOfTheKyma(t *testing.T) {
	for name, tc := range map[string]struct {
		events []watch.EventType
		want   bool
	}{
		"it ends without an event":       {nil, false},
		"an error is no Kyma":            {[]watch.EventType{watch.Error}, false},
		"one that is deleted is none":    {[]watch.EventType{watch.Deleted}, false},
		"one that exists or was created": {[]watch.EventType{watch.Added}, true},
		"one that is seen later":         {[]watch.EventType{watch.Deleted, watch.Modified}, true},
	} {
		t.Run(name, func(t *testing.T) {
			events := watch.NewFakeWithChanSize(len(tc.events), false)
			for _, kind := range tc.events {
				events.Action(kind, &v1beta2.Kyma{})
			}
			if !tc.want {
				events.Stop()
			}
			if got := sawObject(events); got != tc.want {
				t.Errorf("sawObject() = %t", got)
			}
		})
	}
}
