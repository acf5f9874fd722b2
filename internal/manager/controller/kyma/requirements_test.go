package kyma

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// awaitingRuntime counts the Kymas that await something of it.
type awaitingRuntime struct {
	Runtime
	awaited map[types.NamespacedName]module.ClusterNeeds
}

func (r *awaitingRuntime) Require(owner types.NamespacedName, needs module.ClusterNeeds) {
	r.awaited[owner] = needs
}

func (r *awaitingRuntime) Required(types.NamespacedName, module.ClusterNeeds) module.ClusterFacts {
	return module.ClusterFacts{}
}

func (r *awaitingRuntime) Unrequire(owner types.NamespacedName) { delete(r.awaited, owner) }

// Neither a deletion that is held up nor a suspension may keep the streams of a version that is not installed meanwhile.
func TestReconcile_AwaitsNothingForAKymaThatGetsNoVersion(t *testing.T) {
	now := metav1.Now()
	for name, edit := range map[string]func(*v1beta2.Kyma){
		"it is suspended":     func(k *v1beta2.Kyma) { k.Labels[v1beta2.LabelSkipReconciliation] = v1beta2.EnabledValue },
		"it is being deleted": func(k *v1beta2.Kyma) { k.Finalizers, k.DeletionTimestamp = []string{v1beta2.FinalizerKyma}, &now },
	} {
		t.Run(name, func(t *testing.T) {
			kyma := kymaWith("kyma", nil, nil)
			kyma.Labels = map[string]string{v1beta2.LabelSync: "false"}
			edit(kyma)
			gone := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Name: "kyma-web", Namespace: kyma.Namespace, UID: "u2", Labels: map[string]string{
				v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
			}}}
			builder := clientfake.NewClientBuilder().WithScheme(scheme(t)).WithIndex(&v1beta2.Manifest{}, indexKyma, kymaNames)
			r := &Reconciler{
				Client: builder.WithObjects(kyma).Build(), Reader: clientfake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(gone).Build(),
				Shard: sharding.All{}, Metrics: &forgetful{}, Events: &events.FakeRecorder{}, Now: metav1.Now,
			}
			key := client.ObjectKeyFromObject(kyma)
			runtime := &awaitingRuntime{awaited: map[types.NamespacedName]module.ClusterNeeds{key: {}}}
			r.required.Store(key, Runtime(runtime))
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			if len(runtime.awaited) > 0 {
				t.Error("it still awaits what a module requires")
			}
		})
	}
}

func TestReadCluster_TellsThatItDoesNotLookAtEverything(t *testing.T) {
	template := &v1beta2.ModuleTemplate{ObjectMeta: named("web-1.0.0")}
	template.Spec.ModuleName, template.Spec.Version = "web", "1.0.0"
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: named("web")}
	release.Spec.OCMComponentName = "example.com/web"
	release.Spec.Channels = []v1beta2.ChannelVersion{{Channel: v1beta2.DefaultChannel, Version: "1.0.0"}}
	source := module.Component{Source: &v1beta2.ImageSpec{Repo: "registry.local", Name: "example.com/web", Ref: "sha256:1"}}
	for count, problem := range map[int]string{64: "", 65: "more than 64 definitions are awaited"} {
		template.Spec.Requires = nil
		for i := range count {
			name := "d" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ".example.com"
			template.Spec.Requires = append(template.Spec.Requires, v1beta2.Requirement{Definition: name})
		}
		world := module.Snapshot{
			Kyma: kymaWith("kyma", []string{"web"}, nil), Releases: map[string]*v1beta2.ModuleReleaseMeta{"web": release},
			Templates:  map[string]*v1beta2.ModuleTemplate{template.Name: template},
			Components: map[module.ComponentKey]module.Component{{Name: "example.com/web", Version: "1.0.0"}: source},
		}
		runtime := &awaitingRuntime{awaited: map[types.NamespacedName]module.ClusterNeeds{}}
		(&Reconciler{}).readCluster(t.Context(), &remoteScope{hub: world.Kyma, runtime: runtime}, &world)
		if asked := runtime.awaited[client.ObjectKeyFromObject(world.Kyma)]; len(asked.Definitions) != 64 || world.Cluster.Problem != problem {
			t.Errorf("of %d definitions %d are awaited: %q", count, len(asked.Definitions), world.Cluster.Problem)
		}
	}
}
