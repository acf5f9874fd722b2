package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// needed are the conditions of a Kyma with everything that it requests.
var needed = []string{v1beta2.ConditionReady, v1beta2.ConditionModuleCatalog, v1beta2.ConditionCRDsSync, v1beta2.ConditionSpecSync}

// ready returns why the Kyma is not Ready for its present spec, including all copies in its runtime.
func (s *Scenario) ready(ctx context.Context) (*v1beta2.Kyma, error) {
	kyma, err := s.Live(ctx)
	if err != nil {
		return nil, err
	}
	status := kyma.Status
	if status.ObservedGeneration != kyma.Generation || status.State != v1beta2.StateReady {
		return kyma, fmt.Errorf("the Kyma is %s: %s", status.State, conditionText(status.Conditions))
	}
	for _, kind := range needed {
		if !conditions.IsTrue(status.Conditions, kind) {
			return kyma, fmt.Errorf("condition %s of the Kyma is not True: %s", kind, conditionText(status.Conditions))
		}
	}
	return kyma, s.reflected(ctx, &kyma.Status)
}

// reflected returns an error while the Kyma in the runtime does not have the status of the one on the hub, after which it is written.
func (s *Scenario) reflected(ctx context.Context, status *v1beta2.KymaStatus) error {
	copied := &v1beta2.Kyma{}
	key := client.ObjectKey{Namespace: v1beta2.RuntimeNamespace, Name: v1beta2.RuntimeKymaName}
	if err := s.Home.Client.Get(ctx, key, copied); err != nil {
		return fmt.Errorf("the Kyma in the runtime: %w", err)
	}
	if want, got := gist(status), gist(&copied.Status); want != got || copied.Status.ObservedGeneration != copied.Generation {
		return fmt.Errorf("the Kyma in the runtime tells %s of its generation %d, not %s", got, copied.Status.ObservedGeneration, want)
	}
	return nil
}

// gist summarises a status, without messages and times.
func gist(status *v1beta2.KymaStatus) string {
	words := []string{string(status.State)}
	for _, cond := range status.Conditions {
		words = append(words, fmt.Sprintf("%s=%s (%s)", cond.Type, cond.Status, cond.Reason))
	}
	for _, entry := range status.Modules {
		words = append(words, fmt.Sprintf("%s:%s=%s", entry.Name, entry.Version, entry.State))
	}
	return strings.Join(words, ", ")
}

// conditionText describes the conditions that are not True.
func conditionText(all []metav1.Condition) string {
	var words []string
	for _, cond := range all {
		if cond.Status != metav1.ConditionTrue {
			words = append(words, fmt.Sprintf("%s (%s: %s)", cond.Type, cond.Reason, cond.Message))
		}
	}
	return strings.Join(words, ", ")
}

// installed is nil once both modules run in that version, according to the hub's status and in the runtime.
func installed(version string) func(context.Context, *Scenario) error {
	return func(ctx context.Context, s *Scenario) error {
		kyma, err := s.ready(ctx)
		if err != nil {
			return err
		}
		for _, module := range kyma.Spec.Modules {
			at := slices.IndexFunc(kyma.Status.Modules, func(m v1beta2.ModuleStatus) bool { return m.Name == module.Name })
			if at < 0 || kyma.Status.Modules[at].Version != version || kyma.Status.Modules[at].State != v1beta2.StateReady {
				return fmt.Errorf("module %s is not Ready in version %s: %v", module.Name, version, kyma.Status.Modules)
			}
			if err := s.runs(ctx, module.Name, version); err != nil {
				return err
			}
		}
		return nil
	}
}

// runs returns an error for an object of a module that is missing in the runtime in that version, or left over from another version.
func (s *Scenario) runs(ctx context.Context, module, version string) error {
	wanted := s.objects(module, version)
	for _, object := range wanted {
		live, err := s.get(ctx, object)
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if got := live.GetLabels()[testkit.VersionLabel]; got != version && !s.isDefaultCR(module, object) && !s.keeps(object, version) {
			return fmt.Errorf("%s %s is of version %q, not %s", object.GetKind(), object.GetName(), got, version)
		}
	}
	return s.gone(ctx, module, func(object *unstructured.Unstructured) bool {
		return !slices.ContainsFunc(wanted, func(w *unstructured.Unstructured) bool { return same(w, object) })
	})
}

// keeps reports whether an object may be of a newer version than the module, which went back: definitions do not.
func (s *Scenario) keeps(object *unstructured.Unstructured, version string) bool {
	return s.Back == version && object.GetKind() == "CustomResourceDefinition"
}

// isDefaultCR reports whether an object is the module's default CR: it is created once, and belongs to the user from then on.
func (s *Scenario) isDefaultCR(module string, object *unstructured.Unstructured) bool {
	cr := s.Contents[module][v1].DefaultCR
	return cr != nil && same(cr, object)
}

func same(a, b *unstructured.Unstructured) bool {
	return a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() &&
		client.ObjectKeyFromObject(a) == client.ObjectKeyFromObject(b)
}

// objects returns the objects of a version of a module, including its default custom resource.
func (s *Scenario) objects(module, version string) []*unstructured.Unstructured {
	content := s.Contents[module][version]
	objects := slices.Clone(content.Objects)
	if content.DefaultCR != nil {
		objects = append(objects, content.DefaultCR)
	}
	return objects
}

func (s *Scenario) get(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	return live, s.Home.Client.Get(ctx, client.ObjectKeyFromObject(object), live)
}

// gone returns an error for the first matching object of any version of a module that still exists.
func (s *Scenario) gone(ctx context.Context, module string, match func(*unstructured.Unstructured) bool) error {
	for version := range s.Contents[module] {
		for _, object := range s.objects(module, version) {
			if !match(object) {
				continue
			}
			_, err := s.get(ctx, object)
			switch {
			case err == nil:
				return fmt.Errorf("%s %s is still there", object.GetKind(), object.GetName())
			case !missing(err):
				return err
			}
		}
	}
	return nil
}

// missing reports whether the object, or even its kind, does not exist.
func missing(err error) bool {
	return apierrors.IsNotFound(err) || strings.Contains(err.Error(), "no matches for kind")
}

func everything(*unstructured.Unstructured) bool { return true }

func disabled(ctx context.Context, s *Scenario) error {
	kyma, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if len(kyma.Status.Modules) > 0 {
		return fmt.Errorf("the status still has modules %v", kyma.Status.Modules)
	}
	return s.nothingLeft(ctx)
}

func (s *Scenario) nothingLeft(ctx context.Context) error {
	manifests, err := s.Manifests(ctx)
	if err != nil {
		return err
	}
	if len(manifests) > 0 {
		return fmt.Errorf("the Manifest %s is still there: %s", manifests[0].Name, conditionText(manifests[0].Status.Conditions))
	}
	for module := range s.Contents {
		err = errors.Join(err, s.gone(ctx, module, everything))
	}
	return err
}

func unmanaged(ctx context.Context, s *Scenario) error {
	kyma, err := s.ready(ctx)
	if err != nil {
		return err
	}
	for _, module := range kyma.Status.Modules {
		if module.State != v1beta2.StateUnmanaged {
			return fmt.Errorf("module %s is %s, not Unmanaged", module.Name, module.State)
		}
	}
	manifests, err := s.Manifests(ctx)
	if err == nil && len(manifests) > 0 {
		err = fmt.Errorf("the Manifest %s is still there: %s", manifests[0].Name, conditionText(manifests[0].Status.Conditions))
	}
	return err
}

func deleted(ctx context.Context, s *Scenario) error {
	kyma, err := s.Live(ctx)
	if err == nil {
		return fmt.Errorf("the Kyma is still there: %s", conditionText(kyma.Status.Conditions))
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	return s.nothingLeft(ctx)
}

func healed(ctx context.Context, s *Scenario) error {
	if _, err := s.ready(ctx); err != nil {
		return err
	}
	return s.runs(ctx, s.Maps, v1)
}

// catalogued is nil once the runtime's catalog shows what the hub offers.
func catalogued(ctx context.Context, s *Scenario) error {
	if err := installed(v1)(ctx, s); err != nil {
		return err
	}
	wanted, err := offers(ctx, s.Rig.Hub.Client, v1beta2.DefaultNamespace)
	if err != nil {
		return err
	}
	got, err := offers(ctx, s.Home.Client, v1beta2.RuntimeNamespace)
	if err == nil && !slices.Equal(wanted, got) {
		err = fmt.Errorf("the hub offers %v, the runtime shows %v", wanted, got)
	}
	return err
}

func offers(ctx context.Context, from client.Client, namespace string) ([]string, error) {
	var words []string
	releases, templates := &v1beta2.ModuleReleaseMetaList{}, &v1beta2.ModuleTemplateList{}
	for _, list := range []client.ObjectList{releases, templates} {
		if err := from.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
	}
	for i := range releases.Items {
		words = append(words, fmt.Sprint(releases.Items[i].Name, releases.Items[i].Spec.Channels))
	}
	for i := range templates.Items {
		words = append(words, templates.Items[i].Name)
	}
	slices.Sort(words)
	return words, nil
}
