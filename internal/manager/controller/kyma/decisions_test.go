package kyma

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

func TestVersionsByModule(t *testing.T) {
	manifest := func(module, version string) v1beta2.Manifest {
		m := v1beta2.Manifest{ObjectMeta: named(module)}
		m.Labels = map[string]string{v1beta2.LabelModuleName: module}
		m.Spec.Version = version
		return m
	}
	kyma := kymaWith("kyma", []string{"follows"}, nil)
	kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: "pinned", Version: "2.0.0"})
	kyma.Status.Modules = []v1beta2.ModuleStatus{{Name: "pinned", Version: "1.0.0"}, {Name: "gone", Version: "0.1.0"}, {Name: "refused"}}
	world := &module.Snapshot{Kyma: kyma, Manifests: []v1beta2.Manifest{manifest("pinned", "1.5.0"), manifest("left", "3.0.0")}}
	want := map[string]map[string]bool{
		"follows": {}, // its version stands in the release
		"pinned":  {"1.0.0": true, "1.5.0": true, "2.0.0": true},
		"gone":    {"0.1.0": true},
		"refused": {},
		"left":    {"3.0.0": true},
	}
	if diff := cmp.Diff(want, versionsByModule(world)); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestSoonest(t *testing.T) {
	for name, test := range map[string]struct{ a, b, want time.Duration }{
		"never and never":          {0, 0, 0},
		"never and once":           {0, 2, 2},
		"once and never":           {2, 0, 2},
		"the first is sooner":      {1, 2, 1},
		"the second is sooner":     {2, 1, 1},
		"a negative one is no end": {2, -1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := soonest(test.a, test.b); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestResultOf(t *testing.T) {
	resource := schema.GroupResource{Group: v1beta2.GroupVersion.Group, Resource: "manifests"}
	written := &v1beta2.Manifest{ObjectMeta: named("written")}
	for name, test := range map[string]struct {
		err    error
		reason string
		told   bool // the error's text goes to the users
		retry  time.Duration
	}{
		"a write that succeeded":                  {nil, "", false, 0},
		"a conflict passes by itself":             {apierrors.NewConflict(resource, "a", errors.New("newer")), v1beta2.ReasonManifestPending, false, retrySoon},
		"so does an object that went meanwhile":   {apierrors.NewNotFound(resource, "a"), v1beta2.ReasonManifestPending, false, retrySoon},
		"what is invalid needs a user":            {apierrors.NewInvalid(schema.GroupKind{Kind: "Manifest"}, "a", nil), v1beta2.ReasonManifestRefused, true, retryRefused},
		"what is forbidden does":                  {apierrors.NewForbidden(resource, "a", errors.New("no")), v1beta2.ReasonManifestRefused, true, retryRefused},
		"what is malformed does":                  {apierrors.NewBadRequest("no"), v1beta2.ReasonManifestRefused, true, retryRefused},
		"what is too large does":                  {apierrors.NewRequestEntityTooLargeError("no"), v1beta2.ReasonManifestRefused, true, retryRefused},
		"a server that fails is tried again soon": {apierrors.NewInternalError(errors.New("no")), v1beta2.ReasonManifestPending, true, 5 * retrySoon},
		"so is one that does not answer":          {errors.New("dial tcp"), v1beta2.ReasonManifestPending, true, 5 * retrySoon},
	} {
		t.Run(name, func(t *testing.T) {
			result, retry := resultOf(written, test.err)
			want := module.Result{Reason: test.reason}
			if test.err == nil {
				want.Manifest = written
			}
			if test.told {
				want.Message = test.err.Error()
			}
			if diff := cmp.Diff(want, result); diff != "" || retry != test.retry {
				t.Errorf("retry %s, want %s; result differs (-want +got):\n%s", retry, test.retry, diff)
			}
		})
	}
}

func TestMergeResults_JoinsTwoWritesOfOneModule(t *testing.T) {
	written := &v1beta2.Manifest{ObjectMeta: named("written")}
	failed := module.Result{Reason: v1beta2.ReasonManifestRefused, Message: "no"}
	for name, test := range map[string]struct{ first, second, want module.Result }{
		"a delete does not hide what an apply returned": {module.Result{Manifest: written}, module.Result{}, module.Result{Manifest: written}},
		"whichever comes first":                         {module.Result{}, module.Result{Manifest: written}, module.Result{Manifest: written}},
		"a failure is not hidden by a success":          {failed, module.Result{}, failed},
		"nor by one that comes later": {
			module.Result{Manifest: written}, failed, module.Result{Reason: failed.Reason, Message: "no", Manifest: written},
		},
		"the first failure counts": {failed, module.Result{Reason: v1beta2.ReasonManifestPending}, failed},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, mergeResults(test.first, test.second)); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWaitsForName_OfAnotherOwner(t *testing.T) {
	manifest := &v1beta2.Manifest{}
	for name, test := range map[string]struct {
		verdict module.Verdict
		want    bool
	}{
		"the name is taken: its end is no one's event": {module.Verdict{Kind: module.Refused, Reason: v1beta2.ReasonManifestConflict}, true},
		"so is the end of a stranger that is going":    {module.Verdict{Kind: module.Waiting, Reason: v1beta2.ReasonModuleDeleting}, true},
		"our own one tells when it is gone": {
			module.Verdict{Kind: module.Waiting, Reason: v1beta2.ReasonModuleDeleting, Manifest: manifest}, false,
		},
		"a component tells its own time":     {module.Verdict{Kind: module.Waiting, Reason: v1beta2.ReasonComponentPending}, false},
		"what runs waits for nothing":        {module.Verdict{Kind: module.Run, Manifest: manifest}, false},
		"a refusal waits for the next event": {module.Verdict{Kind: module.Refused, Reason: v1beta2.ReasonChannelNotFound}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := waitsForName(test.verdict); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// broken is a client that returns an error for every read.
func broken(t *testing.T, err error) client.Client {
	t.Helper()
	return clientfake.NewClientBuilder().WithScheme(scheme(t)).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		},
	}).Build()
}

// forgetful records which Kymas were forgotten.
type forgetful struct{ forgotten []string }

func (f *forgetful) ObserveKyma(*v1beta2.Kyma) {}

func (f *forgetful) ObserveMandatory(string, string, map[string]v1beta2.State) {}

func (f *forgetful) ForgetKyma(namespace, name string) {
	f.forgotten = append(f.forgotten, namespace+"/"+name)
}

func TestReconcile_SortsErrors(t *testing.T) {
	resource := schema.GroupResource{Resource: "kymas"}
	request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "kcp-system", Name: "kyma"}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx   context.Context
		err   error
		again time.Duration
		fails bool
	}{
		"an end of the manager is no error":  {ended, context.Canceled, 0, false},
		"a conflict is tried again":          {t.Context(), apierrors.NewConflict(resource, "kyma", errors.New("newer")), retrySoon, false},
		"a Kyma that is gone is forgotten":   {t.Context(), apierrors.NewNotFound(resource, "kyma"), 0, false},
		"anything else is an error to count": {t.Context(), errors.New("broken"), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			metrics := &forgetful{}
			r := &Reconciler{Client: broken(t, test.err), Shard: sharding.All{}, Metrics: metrics}
			result, err := r.Reconcile(test.ctx, request)
			if (err != nil) != test.fails || result.RequeueAfter != test.again {
				t.Errorf("result %+v, error %v", result, err)
			}
			if gone := apierrors.IsNotFound(test.err); gone != (len(metrics.forgotten) == 1) {
				t.Errorf("forgotten: %q", metrics.forgotten)
			}
		})
	}
}
