package bare

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Necessary is what the loop of the necessary writes is to do: Modules in all Kymas, and when that is done and timed, Bumped. These are on
// the hub, and each is the least of its kind:
//
//   - one patch of a new Kyma's metadata: its finalizer has to be there before anything is made that it protects;
//   - one put of the Kyma's status in the beginning: who asked for something is told that it is under way;
//   - one create of the Manifest of each module: what is to be installed, with its finalizers, stands on the hub before a runtime has any
//     of it, so that a crash leaves nothing behind that is not known; an upgrade is one patch of its spec for the same reason;
//   - one put of the Manifest's status in the end: the inventory, by which objects are deleted later, and the verdict;
//   - one put of the Kyma's status in the end.
//
// Into a runtime go the objects of modules alone. An operator cannot leave one of these out, but it may well need more: the inventory that
// is planned, events, the steps of a health that takes time, and the copies that users of a runtime read.
type Necessary struct {
	// Hub is the kubeconfig of the hub, as the account that the manager has.
	Hub []byte `json:"hub"`
	// Kymas are there, are new, and have the runtime of the same place in Kubeconfigs each.
	Kymas       []string `json:"kymas"`
	Kubeconfigs [][]byte `json:"kubeconfigs"`
	// Modules are what each Kyma gets first, Bumped what some of them become.
	Modules []Module `json:"modules"`
	Bumped  []Module `json:"bumped"`
	// Units is how many Kymas, and how many of their modules, are worked on at once; Workers how many writes of each module.
	Units   int `json:"units"`
	Workers int `json:"workers"`
}

// Module is a module in a version, with its objects as YAML.
type Module struct {
	Name      string `json:"name"`
	Component string `json:"component"`
	Version   string `json:"version"`
	Content   []byte `json:"content"`
}

// RunNecessary runs that loop as a process of its own, and returns what each of its two steps came to.
func RunNecessary(ctx context.Context, spec Necessary) (install, bump Outcome, err error) {
	outcomes, err := start(ctx, order{Necessary: &spec}, 2)
	if err != nil {
		return Outcome{}, Outcome{}, err
	}
	return outcomes[0], outcomes[1], nil
}

// worker is the loop of the necessary writes, in the middle of one of its steps.
type worker struct {
	tally *tally
	spec  Necessary
	hub   client.Client
	kymas []*newcomer
	// slots has room for as many modules as are worked on at once.
	slots chan struct{}
}

// newcomer is a Kyma as the loop knows it: an operator knows as much from its caches.
type newcomer struct {
	kyma    *v1beta2.Kyma
	runtime dynamic.Interface
	// parts are its modules, in the order of the specification.
	parts []part
}

// part is a module of a Kyma; it has no Manifest before that is created.
type part struct {
	module   *content
	manifest *v1beta2.Manifest
	state    v1beta2.State
}

// necessary prepares everything, and then takes the time of both steps. The second one finds the connections of the first, as an
// operator would.
func necessary(ctx context.Context, spec Necessary) ([]Outcome, error) {
	w := &worker{spec: spec, slots: make(chan struct{}, spec.Units)}
	modules, err := contents(spec.Modules)
	if err != nil {
		return nil, err
	}
	bumped, err := contents(spec.Bumped)
	if err != nil {
		return nil, err
	}
	if err := w.prepare(ctx, modules); err != nil {
		return nil, err
	}
	var outcomes []Outcome
	for _, step := range [][]*content{modules, bumped} {
		outcome, err := timed(func(t *tally) error {
			w.tally = t
			return w.all(ctx, step)
		})
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

// prepare connects to the hub and to all runtimes, and reads the Kymas.
func (w *worker) prepare(ctx context.Context, modules []*content) (err error) {
	if len(w.spec.Kymas) != len(w.spec.Kubeconfigs) {
		return fmt.Errorf("%d Kymas cannot have %d runtimes", len(w.spec.Kymas), len(w.spec.Kubeconfigs))
	}
	if w.hub, err = hubClient(w.spec.Hub); err != nil {
		return err
	}
	for i, name := range w.spec.Kymas {
		n := &newcomer{kyma: &v1beta2.Kyma{}}
		for _, module := range modules {
			n.parts = append(n.parts, part{module: module})
		}
		if err := w.hub.Get(ctx, client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: name}, n.kyma); err != nil {
			return err
		}
		n.kyma.ManagedFields = nil // a server keeps what is not sent
		config, err := configOf(w.spec.Kubeconfigs[i])
		if err != nil {
			return err
		}
		if n.runtime, err = dynamic.NewForConfig(config); err != nil {
			return err
		}
		w.kymas = append(w.kymas, n)
	}
	return nil
}

// hubClient returns a client that needs no discovery.
func hubClient(kubeconfig []byte) (client.Client, error) {
	config, err := configOf(kubeconfig)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"Kyma", "Manifest"} {
		mapper.Add(v1beta2.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	return client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
}

// all brings modules into all Kymas.
func (w *worker) all(ctx context.Context, modules []*content) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(w.spec.Units)
	for _, n := range w.kymas {
		group.Go(func() error { return w.serve(ctx, n, modules) })
	}
	return group.Wait()
}

// serve brings modules into one Kyma.
func (w *worker) serve(ctx context.Context, n *newcomer, modules []*content) error {
	if err := w.claim(ctx, n.kyma); err != nil {
		return err
	}
	parts, err := n.take(modules)
	if err != nil {
		return err
	}
	if err := w.tell(ctx, n, v1beta2.StateProcessing); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, p := range parts {
		group.Go(func() error {
			w.slots <- struct{}{}
			defer func() { <-w.slots }()
			return w.install(groupCtx, n, p)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return w.tell(ctx, n, v1beta2.StateReady)
}

// take makes modules those of the Kyma, and returns their places.
func (n *newcomer) take(modules []*content) ([]*part, error) {
	var parts []*part
	for i := range n.parts {
		p := &n.parts[i]
		for _, module := range modules {
			if module.Name == p.module.Name {
				p.module, p.state = module, v1beta2.StateProcessing
				parts = append(parts, p)
			}
		}
	}
	if len(parts) != len(modules) {
		return nil, errors.New("a module gets a new version that no Kyma has")
	}
	return parts, nil
}

// claim puts the finalizer and the label on a Kyma that is new.
func (w *worker) claim(ctx context.Context, kyma *v1beta2.Kyma) error {
	if len(kyma.Finalizers) > 0 {
		return nil
	}
	before := kyma.DeepCopy()
	kyma.Finalizers = []string{v1beta2.FinalizerKyma}
	metav1.SetMetaDataLabel(&kyma.ObjectMeta, v1beta2.LabelManagedBy, v1beta2.ManagedByLifecycleManager)
	return w.wrote(kyma, w.hub.Patch(ctx, kyma, client.MergeFrom(before)))
}

// tell puts the status of a Kyma.
func (w *worker) tell(ctx context.Context, n *newcomer, state v1beta2.State) error {
	n.kyma.Status = kymaStatus(n.kyma, n.parts, state, metav1.Now())
	return w.wrote(n.kyma, w.hub.Status().Update(ctx, n.kyma))
}

// install writes the Manifest of a module, its objects, and the Manifest's status.
func (w *worker) install(ctx context.Context, n *newcomer, p *part) error {
	if err := w.ask(ctx, n.kyma, p); err != nil {
		return err
	}
	u := &unit{writer: n.runtime, objects: p.module.objects}
	applied, err := u.install(ctx, w.spec.Workers, w.tally)
	if err != nil {
		return err
	}
	p.state = v1beta2.StateReady
	p.manifest.Status = manifestStatus(p.manifest, p.module, applied, metav1.Now())
	return w.wrote(p.manifest, w.hub.Status().Update(ctx, p.manifest))
}

// ask creates the Manifest of a module, or patches the spec of the one that is there.
func (w *worker) ask(ctx context.Context, kyma *v1beta2.Kyma, p *part) error {
	if p.manifest == nil {
		p.manifest = newManifest(kyma, p.module)
		return w.wrote(p.manifest, w.hub.Create(ctx, p.manifest))
	}
	before := p.manifest.DeepCopy()
	p.manifest.Spec = manifestSpec(p.module)
	return w.wrote(p.manifest, w.hub.Patch(ctx, p.manifest, client.MergeFrom(before)))
}

// wrote counts a write, and drops of its answer what the next one need not repeat.
func (w *worker) wrote(object client.Object, err error) error {
	w.tally.writes.Add(1)
	object.SetManagedFields(nil)
	return err
}
