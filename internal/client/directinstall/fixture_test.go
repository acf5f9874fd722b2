package directinstall_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

const (
	system   = "kyma-system"
	patience = time.Minute
)

// plain starts a control plane with workloads and without our definitions. The first test that needs it starts it.
var (
	plainOne *localcluster.ControlPlane
	plain    = sync.OnceValues(func() (*localcluster.ControlPlane, error) {
		var err error
		plainOne, err = localcluster.Start(context.Background(), localcluster.Options{Name: "direct", Workloads: true})
		return plainOne, err
	})
)

func TestMain(m *testing.M) {
	code := m.Run()
	if plainOne != nil {
		if err := plainOne.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// fixture is one test's access to a cluster, and a web server for the content of modules.
type fixture struct {
	*testing.T
	plane  *localcluster.ControlPlane
	config *rest.Config
	other  client.Client
	web    *httptest.Server
	mu     sync.Mutex
	files  map[string]string
}

func onCluster(t *testing.T) *fixture {
	t.Helper()
	apiserver.Need(t)
	plane, err := plain()
	if err != nil {
		t.Fatal(err)
	}
	return on(t, plane)
}

func on(t *testing.T, plane *localcluster.ControlPlane) *fixture {
	t.Helper()
	f := &fixture{T: t, plane: plane, config: plane.Config, files: map[string]string{}}
	var err error
	f.other, err = client.New(plane.Config, client.Options{})
	f.must(err)
	f.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		text, ok := f.files[r.URL.Path]
		f.mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(f.web.Close)
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// serve puts a file on the web server and returns its address.
func (f *fixture) serve(name, text string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files["/"+name] = text
	return f.web.URL + "/" + name
}

func (f *fixture) access() directinstall.Access {
	return directinstall.Access{Policy: func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }}
}

// plan returns a plan for a module whose content is text, behind a link.
func (f *fixture) plan(module, version, text string) directinstall.Plan {
	template := &v1beta2.ModuleTemplate{}
	template.Name = module + "-" + version
	template.Spec.ModuleName, template.Spec.Version = module, version
	template.Spec.Resources = []v1beta2.Named{{Name: "rawManifest", Link: f.serve(module+"-"+version+".yaml", text)}}
	return directinstall.Plan{Config: f.config, Template: template, Access: f.access(), Wait: patience}
}

// withCR adds a default custom resource of the module's own kind to a plan. The definition must be in the content.
func withCR(plan directinstall.Plan, fields string) directinstall.Plan {
	plan.Template.Spec.Data = object(sample(plan.Template.Spec.ModuleName, "default", fields))
	plan.DefaultCR = true
	return plan
}

func sample(module, name, fields string) string {
	return fmt.Sprintf("{apiVersion: %s.example.com/v1, kind: Sample, metadata: {name: %s, namespace: %s}, spec: {%s}}", module, name, system, fields)
}

func definition(module string) string {
	return strings.ReplaceAll(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: samples.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Sample, plural: samples}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {color: {type: string}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, "GROUP", module+".example.com")
}

func configMap(name, value string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {value: %q}\n", name, system, value)
}

func deployment(name, image string) string {
	return `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `, namespace: ` + system + `}
spec:
  replicas: 1
  selector: {matchLabels: {app: ` + name + `}}
  template:
    metadata: {labels: {app: ` + name + `}}
    spec: {containers: [{name: manager, image: "` + image + `"}]}
`
}

func object(text string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &made.Object); err != nil {
		panic(err)
	}
	return made
}

// find reads an object; nil when it does not exist.
func (f *fixture) find(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	f.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	err := f.other.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, live)
	if apierrors.IsNotFound(err) || err != nil && strings.Contains(err.Error(), "no matches for kind") {
		return nil
	}
	f.must(err)
	return live
}

func (f *fixture) sample(module, name string) *unstructured.Unstructured {
	f.Helper()
	return f.find(module+".example.com/v1", "Sample", system, name)
}

func (f *fixture) configMap(name string) *unstructured.Unstructured {
	f.Helper()
	return f.find("v1", "ConfigMap", system, name)
}

func (f *fixture) create(text string) *unstructured.Unstructured {
	f.Helper()
	made := object(text)
	err := f.other.Create(f.Context(), made)
	for late := time.Now().Add(patience); meta.IsNoMatchError(err) && time.Now().Before(late); err = f.other.Create(f.Context(), made) {
		<-time.After(20 * time.Millisecond) // discovery does not list a new kind immediately
	}
	f.must(err)
	return made
}

func (f *fixture) patch(live *unstructured.Unstructured, patch string) {
	f.Helper()
	data, err := yaml.YAMLToJSON([]byte(patch))
	f.must(err)
	f.must(f.other.Patch(context.Background(), live, client.RawPatch(types.MergePatchType, data)))
}

// installs calls Install, which must succeed.
func (f *fixture) installs(plan directinstall.Plan) directinstall.Report {
	f.Helper()
	report, err := directinstall.Install(f.Context(), plan)
	if err != nil || !report.Ready {
		f.Fatalf("Install %s: %v\n%+v", plan.Template.Name, err, report)
	}
	return report
}

func (f *fixture) removal(module string) directinstall.Removal {
	return directinstall.Removal{Config: f.config, Module: module, Wait: patience}
}

// deletes calls Delete, which must succeed.
func (f *fixture) deletes(removal directinstall.Removal) directinstall.Report {
	f.Helper()
	report, err := directinstall.Delete(f.Context(), removal)
	if err != nil || !report.Ready {
		f.Fatalf("Delete %s: %v\n%+v", removal.Module, err, report)
	}
	return report
}

// reason checks the reason of a refused call.
func (f *fixture) reason(report directinstall.Report, err error, want string, words ...string) {
	f.Helper()
	if directinstall.ReasonOf(err) != want || report.Reason != want {
		f.Fatalf("got %q (%v), want %s\n%+v", directinstall.ReasonOf(err), err, want, report)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			f.Errorf("the message does not name %q: %v", word, err)
		}
	}
}

// listed returns the entry of List for a module; nil when it is not installed.
func (f *fixture) listed(module string) *modulestatus.Direct {
	f.Helper()
	found, err := directinstall.List(f.Context(), f.other)
	f.must(err)
	for i := range found {
		if found[i].Module == module {
			return &found[i]
		}
	}
	return nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

var errKilled = errors.New("the process was killed")

// mortal simulates a process that is killed at its n-th write, just before or just after it. From then on, none of its requests reaches the
// cluster.
type mortal struct {
	at     int32
	after  bool
	writes atomic.Int32
	// end is called when the process dies, so that its call ends.
	end func()
}

func (m *mortal) dead() bool { return m.writes.Load() >= m.at }

func (m *mortal) config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if m.dead() {
				return nil, errKilled
			}
			dry := request.URL.Query().Get("dryRun") != ""
			if request.Method == http.MethodGet || dry || m.writes.Add(1) < m.at {
				return next.RoundTrip(request)
			}
			defer m.end()
			if m.after {
				if response, err := next.RoundTrip(request); err == nil {
					_ = response.Body.Close()
				}
			}
			return nil, errKilled
		})
	})
	return config
}

// writes counts the writes of a call.
func (f *fixture) writes(do func(*rest.Config)) int {
	counter := &mortal{at: 1 << 30}
	do(counter.config(f.config))
	return int(counter.writes.Load())
}
