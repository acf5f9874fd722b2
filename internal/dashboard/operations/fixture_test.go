package operations

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// patience is how long anything may take here.
const patience = time.Minute

// bench is a namespace of its own, with modules on offer whose names are unique, and a server that carries out requests.
type bench struct {
	*testing.T
	client.WithWatch
	config    *rest.Config
	namespace string
	engine    *Engine
	web       *httptest.Server
	mutex     sync.Mutex
	files     map[string]string
	// notes (regular 1.0.0, fast 1.1.0, template of 1.2.0) and beacon (fast 0.1.0) can be managed.
	notes, beacon string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, WithWatch: apiserver.Client(t), config: config, files: map[string]string{}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "task-"}}
	b.create(namespace)
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: modulestatus.DirectNamespace}}
	if err := b.Create(t.Context(), home); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	b.namespace, b.notes, b.beacon = namespace.Name, testkit.Unique("notes"), testkit.Unique("beacon")
	b.release(b.notes, "regular", "1.0.0", "fast", "1.1.0")
	b.release(b.beacon, "fast", "0.1.0")
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		b.template(b.notes, version)
	}
	b.template(b.beacon, "0.1.0")
	b.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mutex.Lock()
		text, there := b.files[strings.Trim(r.URL.Path, "/")]
		b.mutex.Unlock()
		if !there {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(b.web.Close)
	b.engine = b.server()
	return b
}

// server returns an engine of its own, as every process has one. The end of the test stops it.
func (b *bench) server() *Engine {
	b.Helper()
	engine, _ := b.mortal()
	return engine
}

// mortal returns a server and the function that stops it.
func (b *bench) mortal() (engine *Engine, end func()) {
	b.Helper()
	engine, err := New(Options{
		Records: b.config, Namespace: b.namespace, Patience: patience,
		Access: directinstall.Access{Policy: func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		_ = engine.Run(ctx)
	}()
	end = sync.OnceFunc(func() { cancel(); <-ran })
	b.Cleanup(end)
	return engine, end
}

// dashboard returns an engine like that of `kyma dashboard`, which keeps the sources of modules in a namespace. The end of the test stops
// it.
func (b *bench) dashboard(sources string) *Engine {
	b.Helper()
	engine, err := New(Options{Records: b.config, Sources: sources, Patience: patience})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		_ = engine.Run(ctx)
	}()
	b.Cleanup(func() { cancel(); <-ran })
	return engine
}

// admin returns a user who may do everything.
func (b *bench) admin() Actor { return b.user("admin-of-"+b.namespace, "system:masters") }

// user returns a user in some groups. The cluster checks their permissions by RBAC.
func (b *bench) user(name string, groups ...string) Actor {
	config := rest.CopyConfig(b.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: append(groups, "system:authenticated")}
	return Actor{Name: name, Config: config}
}

// may grants a user permissions in the whole cluster: verbs and resources of a group.
func (b *bench) may(user Actor, rules ...rbacv1.PolicyRule) {
	b.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "task-"}, Rules: rules}
	b.create(role)
	b.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "task-"},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user.Name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
	})
	apiserver.Allowed(b, b, user.Name, "", rules[0])
}

func rule(group, resources, verbs string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: strings.Fields(resources), Verbs: strings.Fields(verbs)}
}

func (b *bench) create(o client.Object) {
	b.Helper()
	if err := b.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) release(name string, channels ...string) {
	b.Helper()
	release := &v1beta2.ModuleReleaseMeta{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name},
		Spec:       v1beta2.ModuleReleaseMetaSpec{ModuleName: name, OCMComponentName: "example.com/module/" + name},
	}
	for i := 0; i < len(channels); i += 2 {
		release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channels[i], Version: channels[i+1]})
	}
	b.create(release)
}

func (b *bench) template(module, version string) *v1beta2.ModuleTemplate {
	b.Helper()
	template := &v1beta2.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: module + "-" + version},
		Spec:       v1beta2.ModuleTemplateSpec{ModuleName: module, Version: version},
	}
	b.create(template)
	return template
}

// kyma creates a local Kyma.
func (b *bench) kyma(name string, modules ...v1beta2.Module) string {
	b.Helper()
	remote := false
	b.create(&v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Remote: &remote, Modules: modules},
	})
	return b.namespace + "/" + name
}

func (b *bench) read(kyma string) *v1beta2.Kyma {
	b.Helper()
	namespace, name, _ := strings.Cut(kyma, "/")
	found := &v1beta2.Kyma{}
	if err := b.Get(context.WithoutCancel(b.Context()), client.ObjectKey{Namespace: namespace, Name: name}, found); err != nil {
		b.Fatal(err)
	}
	return found
}

// entries returns the modules of a Kyma as they would be written on a command line.
func (b *bench) entries(kyma string) string {
	b.Helper()
	var entries []string
	for _, m := range b.read(kyma).Spec.Modules {
		entry := m.Name
		if m.Version != "" {
			entry += "@" + m.Version
		}
		if m.Channel != "" {
			entry += ":" + m.Channel
		}
		if m.Managed != nil && !*m.Managed {
			entry += " unmanaged"
		}
		entries = append(entries, strings.NewReplacer(b.notes, "notes", b.beacon, "beacon").Replace(entry))
	}
	return strings.Join(entries, " ")
}

// manages simulates the lifecycle manager: every Kyma of the namespace gets a status, as if everything that it requests ran at once.
func (b *bench) manages() {
	b.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	watcher, err := b.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(b.namespace))
	if err != nil {
		b.Fatal(err)
	}
	var manager sync.WaitGroup
	b.Cleanup(func() { cancel(); watcher.Stop(); manager.Wait() })
	manager.Go(func() {
		for event := range watcher.ResultChan() {
			kyma, ok := event.Object.(*v1beta2.Kyma)
			if !ok || kyma.Status.ObservedGeneration == kyma.Generation || event.Type == "DELETED" {
				continue
			}
			after := kyma.DeepCopy()
			after.Status = b.statusOf(ctx, kyma)
			if err := b.Status().Patch(ctx, after, client.MergeFrom(kyma)); client.IgnoreNotFound(err) != nil && ctx.Err() == nil {
				b.Error(err)
			}
		}
	})
}

func (b *bench) statusOf(ctx context.Context, kyma *v1beta2.Kyma) v1beta2.KymaStatus {
	var releases v1beta2.ModuleReleaseMetaList
	_ = b.List(ctx, &releases, client.InNamespace(b.namespace))
	status := v1beta2.KymaStatus{ObservedGeneration: kyma.Generation, State: "Ready", LastOperation: v1beta2.LastOperation{Operation: "x"}}
	for _, m := range kyma.Spec.Modules {
		entry := v1beta2.ModuleStatus{Name: m.Name, State: v1beta2.StateReady, Version: m.Version}
		for _, release := range releases.Items {
			for _, channel := range release.Spec.Channels {
				wanted := m.Channel
				if wanted == "" {
					wanted = kyma.Spec.Channel
				}
				if release.Name == m.Name && channel.Channel == wanted && m.Version == "" {
					entry.Version = channel.Version
				}
			}
		}
		if m.Managed != nil && !*m.Managed {
			entry.State = v1beta2.StateUnmanaged
		}
		status.Modules = append(status.Modules, entry)
	}
	return status
}

// starts starts a request, which must be accepted.
func (b *bench) starts(as Actor, deed Request) Operation {
	b.Helper()
	op, err := b.engine.Start(b.Context(), as, deed)
	if err != nil {
		b.Fatalf("%s: %v", deed.Title(), err)
	}
	return op
}

// ends waits until an operation has ended, or is in a state.
func (b *bench) ends(engine *Engine, as Actor, id string, want State) Operation {
	b.Helper()
	op, err := b.waits(engine, as, id, func(op Operation) bool { return op.State == want || op.Finished != nil && op.State != Running })
	if err != nil || op.State != want {
		b.Fatalf("%s is %s, want %s: %v %s\n%+v\n%+v", op.Title, op.State, want, err, op.Message, op.Steps, op.Objects)
	}
	return op
}

// waits reads an operation whenever something has changed, until it is over.
func (b *bench) waits(engine *Engine, as Actor, id string, over func(Operation) bool) (Operation, error) {
	b.Helper()
	late := time.After(patience)
	for {
		op, err := engine.Get(b.Context(), as, id)
		if err == nil && over(op) || err != nil && ReasonOf(err) != WhyNotFound {
			return op, err
		}
		select {
		case <-engine.Changed():
		case <-late:
			return op, fmt.Errorf("nothing came within %s: %w", patience, err)
		}
	}
}

// succeeds carries out a request from start to end.
func (b *bench) succeeds(as Actor, deed Request) Operation {
	b.Helper()
	return b.ends(b.engine, as, b.starts(as, deed).ID, Succeeded)
}

// refused starts a request that must be refused, for a reason and with some words.
func (b *bench) refused(as Actor, deed Request, reason string, words ...string) *Error {
	b.Helper()
	_, err := b.engine.Start(b.Context(), as, deed)
	if ReasonOf(err) != reason {
		b.Fatalf("%s: got %v, want %s", deed.Title(), err, reason)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			b.Errorf("%s: the message does not say %q: %v", deed.Title(), word, err)
		}
	}
	own, _ := err.(*Error) //nolint:errorlint // it has just been requested its reason
	return own
}

// previews returns a Preview, which must succeed.
func (b *bench) previews(as Actor, deed Request) Preview {
	b.Helper()
	preview, err := b.engine.Preview(b.Context(), as, deed)
	if err != nil {
		b.Fatalf("%s: %v", deed.Title(), err)
	}
	return preview
}

// changed returns the changes of a preview, sorted.
func changed(preview Preview) []string {
	all := []string{}
	for _, c := range preview.Diff {
		if c.Change != "Unchanged" {
			all = append(all, fmt.Sprintf("%s %s", c.Change, c.Object.Kind))
		}
	}
	slices.Sort(all)
	return all
}
