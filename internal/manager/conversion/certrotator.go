package conversion

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	// retry is the pause after a failure; longest is the time after which a due step is noticed at the latest when the clock jumps.
	retry   = 2 * time.Second
	longest = time.Hour
	// patience bounds one write.
	patience = 30 * time.Second
)

var (
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// certRotator keeps the certificate, and the CA bundle in the definitions, up to date. It runs when one of them changes, and when a step is
// due.
type certRotator struct {
	*Webhook
	want want
	wake chan struct{}

	secret cache.SharedIndexInformer
	crds   map[string]cache.SharedIndexInformer
	// written is when each definition was last written, so that two writers that disagree write slowly.
	written map[string]time.Time
	missing map[string]bool
}

func newCertRotator(w *Webhook, wanted want) *certRotator {
	k := &certRotator{
		Webhook: w, want: wanted, wake: make(chan struct{}, 1),
		crds: map[string]cache.SharedIndexInformer{}, written: map[string]time.Time{}, missing: map[string]bool{},
	}
	k.secret = k.informer(secrets, w.Secret)
	for _, name := range Definitions {
		k.crds[name] = k.informer(definitions, types.NamespacedName{Name: name})
	}
	return k
}

// informer follows one object.
func (k *certRotator) informer(resource schema.GroupVersionResource, key types.NamespacedName) cache.SharedIndexInformer {
	one := func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", key.Name).String()
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(k.Client, resource, key.Namespace, 0, cache.Indexers{}, one).Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { k.poke() }, UpdateFunc: func(any, any) { k.poke() }, DeleteFunc: func(any) { k.poke() },
	})
	if err != nil {
		panic(err) // only if it was stopped before it ran
	}
	return informer
}

func (k *certRotator) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *certRotator) run(ctx context.Context) error {
	synced := []cache.InformerSynced{k.secret.HasSynced}
	go k.secret.RunWithContext(ctx)
	for _, informer := range k.crds {
		synced = append(synced, informer.HasSynced)
		go informer.RunWithContext(ctx)
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return nil // the context has ended
	}
	for {
		pause, err := k.pass(ctx)
		if err != nil && ctx.Err() == nil {
			k.Log.Error(err, "The certificate of the conversion webhook could not be updated")
			pause = retry
		}
		timer := time.NewTimer(max(0, min(pause, longest)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-k.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// pass takes the steps that are due, each of which is one write:
//  1. the certificate, in the Secret;
//  2. the certificate that is served;
//  3. the bundle, in each definition that lists v1alpha1.
//
// It returns the time until the next rotation. A write that lost a race is not an error: the event of the other write triggers the next
// pass.
func (k *certRotator) pass(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	secret, err := stored[corev1.Secret](k.secret, k.Secret)
	if err != nil {
		return 0, err
	}
	crds, err := k.listing()
	if err != nil {
		return 0, err
	}
	s := stateOf(secret)
	due, err := s.advance(k.want, k.Now(), announced(crds, s.caBundle()))
	if err != nil {
		return 0, fmt.Errorf("make a certificate: %w", err)
	}
	if due {
		err := k.keep(ctx, secret, &s)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			return retry, nil
		}
		if err != nil {
			return 0, fmt.Errorf("write the Secret %s: %w", k.Secret, err)
		}
	}
	k.serving.Store(s.current.serving)
	wait, err := k.announce(ctx, crds, s.caBundle())
	if err != nil {
		return 0, err
	}
	k.ready.Store(k.ready.Load() || wait == 0)
	pause := s.due().Sub(k.Now())
	if wait > 0 {
		pause = min(pause, wait)
	}
	return max(pause, time.Second/10), nil
}

// listing returns the definitions that list v1alpha1.
func (k *certRotator) listing() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var found []*apiextensionsv1.CustomResourceDefinition
	for _, name := range Definitions {
		crd, err := stored[apiextensionsv1.CustomResourceDefinition](k.crds[name], types.NamespacedName{Name: name})
		if err != nil {
			return nil, err
		}
		if crd == nil || !lists(crd) {
			if !k.missing[name] {
				k.Log.Info("A definition does not list v1alpha1, so clients cannot use it: config/components/webhook has definitions that do",
					"definition", name)
			}
			k.missing[name] = true
			continue
		}
		k.missing[name] = false
		found = append(found, crd)
	}
	return found, nil
}

func announced(crds []*apiextensionsv1.CustomResourceDefinition, bundle []byte) bool {
	for _, crd := range crds {
		if !trusted(crd, bundle) {
			return false
		}
	}
	return true
}

// announce writes the definitions that differ, and returns how long to wait for those that were written a moment ago.
func (k *certRotator) announce(
	ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition, bundle []byte,
) (time.Duration, error) {
	conversion := k.Endpoint.conversion(bundle)
	var wait time.Duration
	var failures []error
	for _, crd := range crds {
		if says(crd, conversion) {
			continue
		}
		if since := k.Now().Sub(k.written[crd.Name]); since < retry {
			wait = max(wait, retry-since)
			continue
		}
		data, err := patch(conversion, crd.ResourceVersion)
		if err == nil {
			options := metav1.PatchOptions{FieldManager: v1beta2.FieldManagerHub}
			_, err = k.Client.Resource(definitions).Patch(ctx, crd.Name, types.MergePatchType, data, options)
		}
		switch {
		case apierrors.IsConflict(err):
			wait = max(wait, retry)
		case err != nil:
			failures = append(failures, fmt.Errorf("write spec.conversion of the definition %s: %w", crd.Name, err))
		default:
			k.written[crd.Name] = k.Now()
			k.Log.Info("Updated spec.conversion of a definition", "definition", crd.Name)
		}
	}
	return wait, errors.Join(failures...)
}

// keep writes the Secret, if it was not changed since it was read.
func (k *certRotator) keep(ctx context.Context, before *corev1.Secret, s *state) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: k.Secret.Namespace, Name: k.Secret.Name, Labels: map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager},
	}, Type: corev1.SecretTypeTLS}
	if before != nil {
		secret = before
	}
	secret.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	secret.Data = s.data()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
	if err != nil {
		return err
	}
	object, client := &unstructured.Unstructured{Object: content}, k.Client.Resource(secrets).Namespace(k.Secret.Namespace)
	if before == nil {
		_, err = client.Create(ctx, object, metav1.CreateOptions{FieldManager: v1beta2.FieldManagerHub})
	} else {
		_, err = client.Update(ctx, object, metav1.UpdateOptions{FieldManager: v1beta2.FieldManagerHub})
	}
	if err == nil {
		k.Log.Info("Stored the certificate of the conversion webhook", "until", s.current.leaf.NotAfter, "announced", s.next != nil)
	}
	return err
}

// stored returns an object from an informer's store; nil when there is none.
func stored[T any](informer cache.SharedIndexInformer, key types.NamespacedName) (*T, error) {
	name := key.Name
	if key.Namespace != "" {
		name = key.String()
	}
	found, exists, err := informer.GetStore().GetByKey(name)
	if err != nil || !exists {
		return nil, err
	}
	object, ok := found.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%s is kept as %T", name, found)
	}
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return typed, nil
}
