package simruntime_test

import (
	"context"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/tests/bench/simruntime"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

const (
	// quiet is how long nothing is called before a step counts as over.
	quiet    = 4 * time.Second
	patience = 2 * time.Minute
	// deleted is the last step: with it go the kinds that are watched.
	deleted = "6 Kyma deleted"
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// meters counts the manager's calls by the server that they go to.
type meters struct {
	mu     sync.Mutex
	counts map[string]calls.Counts
	last   map[string]time.Time
}

// Wrap is for setup.Hooks.
func (m *meters) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		call := calls.Of(req)
		call.Agent = ""
		m.mu.Lock()
		if m.counts[req.URL.Host] == nil {
			m.counts[req.URL.Host] = calls.Counts{}
		}
		m.counts[req.URL.Host][call]++
		m.last[req.URL.Host] = time.Now()
		m.mu.Unlock()
		return next.RoundTrip(req)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

func (m *meters) snapshot(host string) calls.Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[host].Diff(nil)
}

func (m *meters) silence(host string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.last[host])
}

// subject is one runtime and the Kyma that it belongs to.
type subject struct {
	*testing.T
	env    *testkit.Env
	meters *meters
	host   string
	kyma   *v1beta2.Kyma
	module string
	client dynamic.Interface
	told   calls.Counts
}

// until polls with a deadline.
func (s *subject) until(what string, done func() bool) {
	s.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			s.Fatalf("%s: %s did not come about", s.host, what)
		}
	}
}

// step returns the calls until the Kyma is Ready with everything and nothing more is said.
func (s *subject) step(do func(), done func() bool) calls.Counts {
	s.Helper()
	do()
	s.until("the step", done)
	s.until("silence", func() bool { return s.meters.silence(s.host) > quiet })
	now := s.meters.snapshot(s.host)
	made := now.Diff(s.told)
	s.told = now
	return made
}

func (s *subject) ready(version string) func() bool {
	return func() bool {
		live := &v1beta2.Kyma{}
		if err := s.env.Hub.Client.Get(s.Context(), client.ObjectKeyFromObject(s.kyma), live); err != nil {
			return false
		}
		return conditions.IsTrue(live.Status.Conditions, v1beta2.ConditionReady) && len(live.Status.Modules) == 1 &&
			live.Status.Modules[0].Version == version
	}
}

func (s *subject) edit(change func(*v1beta2.Kyma)) {
	s.Helper()
	live := &v1beta2.Kyma{}
	if err := s.env.Hub.Client.Get(s.Context(), client.ObjectKeyFromObject(s.kyma), live); err != nil {
		s.Fatal(err)
	}
	before := live.DeepCopy()
	change(live)
	if err := s.env.Hub.Client.Patch(s.Context(), live, client.MergeFrom(before)); err != nil {
		s.Fatal(err)
	}
}

// foreign changes an object of the module as another user.
func (s *subject) foreign(gvr schema.GroupVersionResource, name, patch string) {
	s.Helper()
	all := s.client.Resource(gvr).Namespace(metav1.NamespaceDefault)
	if _, err := all.Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		s.Fatal(err)
	}
}

func (s *subject) holds(gvr schema.GroupVersionResource, name string, test func(version string) bool) func() bool {
	return func() bool {
		obj, err := s.client.Resource(gvr).Namespace(metav1.NamespaceDefault).Get(s.Context(), name, metav1.GetOptions{})
		return err == nil && test(obj.GetLabels()[testkit.VersionLabel])
	}
}

func (s *subject) gone() bool {
	err := s.env.Hub.Client.Get(s.Context(), client.ObjectKeyFromObject(s.kyma), &v1beta2.Kyma{})
	return client.IgnoreNotFound(err) == nil && err != nil
}

// run plays the scenario.
func (s *subject) run() map[string]calls.Counts {
	s.Helper()
	drifted := func(version string) bool { return version == "1.1.0" }
	return map[string]calls.Counts{
		"1 install": s.step(func() { s.env.Hub.Create(s.kyma) }, s.ready("1.0.0")),
		"2 upgrade": s.step(func() {
			s.edit(func(k *v1beta2.Kyma) { k.Spec.Channel = "fast" })
		}, s.ready("1.1.0")),
		"3 drift of a ConfigMap": s.step(func() {
			s.foreign(configMaps, s.module+"-0", `{"metadata": {"labels": {"`+testkit.VersionLabel+`": "drifted"}}}`)
		}, s.holds(configMaps, s.module+"-0", drifted)),
		"4 drift of a Deployment": s.step(func() {
			s.foreign(deployments, s.module, `{"metadata": {"labels": {"`+testkit.VersionLabel+`": "drifted"}}}`)
		}, s.holds(deployments, s.module, drifted)),
		"5 module disabled": s.step(func() {
			s.edit(func(k *v1beta2.Kyma) { k.Spec.Modules = nil })
		}, func() bool {
			_, err := s.client.Resource(deployments).Namespace(metav1.NamespaceDefault).Get(s.Context(), s.module, metav1.GetOptions{})
			return err != nil
		}),
		deleted: s.step(func() { s.env.Hub.Delete(s.kyma) }, s.gone),
	}
}

// content returns a module of 20 objects: a definition, a Deployment with its account and rights, its custom resource, and ConfigMaps.
func content(module, version string) testkit.Content {
	c := testkit.Operator(module, version)
	c.DefaultCR = nil
	c.Objects = append(c.Objects, testkit.ConfigMaps(module, version, 20-len(c.Objects)).Objects...)
	return c
}

// TestFidelity_TheManagerCannotTellItFromAnAPIServer plays the same scenario on a real API server and here, by one manager, and compares
// the calls that it makes of each.
func TestFidelity_TheManagerCannotTellItFromAnAPIServer(t *testing.T) {
	apiserver.Need(t)
	gomega.RegisterTestingT(t)
	env, err := testkit.Launch(t.Context(), testkit.Options{Runtimes: 1, Workloads: true, Quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	fleet, err := simruntime.Start(t.Context(), simruntime.Options{Runtimes: 1, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fleet.Close)
	fleet.Runtime(0).ReadyAfter(500 * time.Millisecond)
	m := &meters{counts: map[string]calls.Counts{}, last: map[string]time.Time{}}
	manage(t, env, m)

	module := testkit.Unique("fidelity")
	env.Offer(module, "1.0.0", content(module, "1.0.0"), "regular")
	env.Offer(module, "1.1.0", content(module, "1.1.0"), "fast")
	kubeconfig, err := env.Runtimes[0].UserKubeconfig("lifecycle-manager", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	genuine := play(t, env, m, module, env.Runtimes[0].Config, kubeconfig)
	simulated := play(t, env, m, module, fleet.Runtime(0).Config(), fleet.Runtime(0).Kubeconfig())
	for step, wanted := range genuine {
		t.Logf("%s: %d calls, %d here", step, wanted.Total(), simulated[step].Total())
		if step == deleted { // whether a stream ends before no one wants it any more hangs on who is faster
			wanted, simulated[step] = wanted.Where(calls.Call.Write), simulated[step].Where(calls.Call.Write)
		}
		if diff := cmp.Diff(plain(wanted), plain(simulated[step])); diff != "" {
			t.Errorf("%s: the manager calls the simulation (+) otherwise than an API server (-):\n%s", step, diff)
		}
	}
}

// timed are calls the number of which hangs on how fast a cluster is: the manager looks whether a definition is established, a watch that
// is opened too early is opened again, and a status is told as often as it was another one when a user looked. That they are made
// must be the same, not how often.
var timed = map[string]bool{
	"get customresourcedefinitions.apiextensions.k8s.io": true,
	"patch kymas.operator.kyma-project.io/status":        true,
	"get /apis/operator.kyma-project.io/v1beta2":         true,
	"list kymas.operator.kyma-project.io":                true,
	"list modulereleasemetas.operator.kyma-project.io":   true,
	"list moduletemplates.operator.kyma-project.io":      true,
}

// plain returns a multiset that prints well. Whether a copy of ours is created or applied hangs on how long the runtime has known its kind.
func plain(counts calls.Counts) map[string]int {
	told := map[string]int{}
	for call, n := range counts {
		name := call.String()
		if timed[name] {
			n = 1
		}
		told[made.ReplaceAllString(name, "make $1")] += n
	}
	return told
}

var made = regexp.MustCompile(`^(?:create|patch) (\w+\.operator\.kyma-project\.io)$`)

func manage(t *testing.T, env *testkit.Env, m *meters) {
	t.Helper()
	config := setup.Defaults()
	config.RegistryHost, config.MetricsAddress, config.ProbeAddress = "http://"+env.Registry.Host, "0", "0"
	config.ContentDir = t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	access := env.ManagerConfig("config/default")
	go func() {
		done <- setup.Run(ctx, access, config, logr.Discard(), setup.Hooks{WrapRuntime: m.Wrap, AllowManyManagers: true})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func play(t *testing.T, env *testkit.Env, m *meters, module string, config *rest.Config, kubeconfig []byte) map[string]calls.Counts {
	t.Helper()
	s := &subject{
		T: t, env: env, meters: m, module: module, told: calls.Counts{},
		kyma: testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module)),
	}
	at, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		t.Fatal(err)
	}
	s.host = at.Host
	if s.client, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	env.Hub.Create(testkit.NewAccessSecret(s.kyma.Name, kubeconfig))
	return s.run()
}
