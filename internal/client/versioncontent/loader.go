package versioncontent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"sync"
	"time"

	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// The bounds of a Loader.
const (
	// keptVersions is how many rendered versions are kept: a comparison needs two, a fleet has few pairs of a module.
	keptVersions = 16
	// loadTime limits one version unless Loader.Timeout says otherwise.
	loadTime = time.Minute
	// maxObjects is far above what a module declares.
	maxObjects = 10_000
)

// limits of one layer: a module has megabytes, and a dashboard renders for many users.
var limits = content.Limits{Packed: 32 << 20, Unpacked: 64 << 20}

// Capabilities are what charts may ask about the cluster that they are rendered for; zero means the defaults of the renderer.
type Capabilities struct {
	// KubeVersion such as "v1.36.3".
	KubeVersion string
	// APIVersions such as "apps/v1" and "apps/v1/Deployment".
	APIVersions []string
}

// Loader reads versions of modules. Set the fields before the first call; it is safe for concurrent use.
type Loader struct {
	// Access to registries, with the logins of the user.
	Access directinstall.Access
	// Registry holds the components: host[:port][/path]. It takes precedence over what templates and the hub say; empty means those.
	Registry string
	// Hub is where the lifecycle manager reads components; zero where that is not known.
	Hub Place
	// Capabilities of the cluster that charts are rendered for.
	Capabilities Capabilities
	// HubReader reads the values that entries of Kymas take from objects of the hub, as the user; nil: they are left out.
	HubReader client.Reader
	// Store is a folder that keeps the fetched content; empty means a temporary one, which Close removes.
	Store string
	// Timeout of one version; 0 means one minute.
	Timeout time.Duration

	once  sync.Once
	store *content.Store
	own   string
	fail  error
	kept  *lru.Cache
	locks [16]sync.Mutex // by what is rendered: one render for all who wait for it
}

// WithCapabilities returns a Loader that renders for another cluster. It shares what was fetched, and is closed with the first.
func (l *Loader) WithCapabilities(known Capabilities) *Loader {
	made := &Loader{
		Access: l.Access, Registry: l.Registry, Hub: l.Hub, Capabilities: known, HubReader: l.HubReader, Store: l.Store, Timeout: l.Timeout,
	}
	if err := l.begin(); err == nil {
		made.Store = l.store.Dir
	}
	return made
}

// Load reads the version of a template, from the registry of its component. release may be nil if the template names the component.
func (l *Loader) Load(ctx context.Context, release *v1beta2.ModuleReleaseMeta, template *v1beta2.ModuleTemplate) (*Version, error) {
	return l.LoadFor(ctx, release, template, nil)
}

// LoadFor is Load for a Kyma whose Manifest has values and a target namespace of its own, which stay. have may be nil.
func (l *Loader) LoadFor(
	ctx context.Context, release *v1beta2.ModuleReleaseMeta, template *v1beta2.ModuleTemplate, have *v1beta2.Manifest,
) (*Version, error) {
	ctx, done := l.within(ctx)
	defer done()
	at, err := l.locate(release, template)
	if err != nil {
		return nil, err
	}
	found, err := l.reader(at).Get(ctx, at.name, at.version)
	if err != nil {
		return nil, l.explain(ctx, at, err)
	}
	component, err := installable.Of(found)
	if err != nil {
		return nil, l.explain(ctx, at, err)
	}
	name := cmp.Or(template.ModuleName(), template.Name)
	spec := module.ContentOf(template.ModuleVersion(), component)
	namespace := template.Namespace
	if have != nil {
		namespace = have.Namespace
		spec.Values, spec.TargetNamespace, spec.KymaValues = have.Spec.Values, have.Spec.TargetNamespace, have.Spec.KymaValues
	}
	made, err := l.version(ctx, at, namespace, name, spec)
	if err != nil {
		return nil, err
	}
	made.component = component.Requires
	made.Template, made.Requires = template, required(template, component)
	return made, nil
}

// LoadManifest reads what a Manifest installs: its layers by digest, its values and its target namespace.
func (l *Loader) LoadManifest(ctx context.Context, manifest *v1beta2.Manifest) (*Version, error) {
	ctx, done := l.within(ctx)
	defer done()
	at, err := l.placeOf(manifest)
	if err != nil {
		return nil, err
	}
	return l.version(ctx, at, manifest.Namespace, manifest.Labels[v1beta2.LabelModuleName], &manifest.Spec)
}

// Close removes what Load has fetched, unless Store names a folder.
func (l *Loader) Close() error {
	if l.own == "" {
		return nil
	}
	return os.RemoveAll(l.own)
}

func (l *Loader) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(l.Timeout, loadTime))
}

// version renders a spec for a Kyma of a namespace, or takes it from what is kept.
func (l *Loader) version(ctx context.Context, at place, namespace, name string, spec *v1beta2.ManifestSpec) (*Version, error) {
	if err := l.begin(); err != nil {
		return nil, err
	}
	made := &Version{Module: name, Version: spec.Version, Digest: revision.Digest(spec), Source: at.String(), Spec: spec}
	key := namespace + "/" + name + "@" + made.Digest // objects of the same name hold other values elsewhere, or may not be read
	lock := l.lockOf(key)
	lock.Lock()
	defer lock.Unlock()
	known, _ := l.kept.Get(key)
	got, ok := known.(*rendered)
	if !ok {
		var err error
		one := &rendering{Loader: l, at: at, namespace: namespace, module: name, spec: spec}
		if got, err = one.objects(ctx); err != nil {
			return nil, l.explain(ctx, at, one.hidden(err))
		}
		l.kept.Add(key, got)
	}
	made.Objects, made.Images, made.Conditional, made.Untried = got.objects, got.images, got.conditional, got.untried
	made.Caveats, made.Secrets = got.caveats, got.secrets
	return made, nil
}

// lockOf returns the lock of what is rendered.
func (l *Loader) lockOf(key string) *sync.Mutex {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(key)) // it never fails
	return &l.locks[sum.Sum32()%uint32(len(l.locks))]
}

// begin makes the store and the cache.
func (l *Loader) begin() error {
	l.once.Do(func() {
		l.kept = lru.New(keptVersions)
		dir := l.Store
		if dir == "" {
			if dir, l.fail = os.MkdirTemp("", "kyma-content-"); l.fail != nil {
				l.fail = fmt.Errorf("make a temporary folder: %w", l.fail)
				return
			}
			l.own = dir
		}
		l.store = &content.Store{Dir: dir, Limits: limits}
	})
	return l.fail
}

// errTooMany reports content that declares more objects than a module has.
var errTooMany = errors.New("it declares too many objects")
