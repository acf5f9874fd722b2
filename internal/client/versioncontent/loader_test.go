package versioncontent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	beacon = "beacon"
	name   = "example.com/module/beacon"
)

const manifestText = `apiVersion: v1
kind: ServiceAccount
metadata: {name: manager}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: kyma-system}
spec: {template: {spec: {containers: [{name: manager, image: "example.com/beacon:%s"}]}}}
`

// bench is a registry with versions of a module.
type bench struct {
	*testing.T
	registry *localcluster.Registry
}

func newBench(t *testing.T, versions ...string) *bench {
	t.Helper()
	registry, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = registry.Stop() })
	b := &bench{t, registry}
	for _, version := range versions {
		b.publish(version, component.Resource{Name: "raw-manifest", Data: fmt.Appendf(nil, manifestText, version)})
	}
	registry.ResetCounts()
	return b
}

func (b *bench) publish(version string, resources ...component.Resource) {
	b.Helper()
	_, err := component.Push(b.Context(), component.Registry{Host: b.registry.Host, PlainHTTP: true}, component.Version{
		Name: name, Version: version, Provider: "example.com", Resources: resources,
	})
	if err != nil {
		b.Fatal(err)
	}
}

// loader returns a Loader that knows the registry from the hub, edited.
func (b *bench) loader(edits ...func(*versioncontent.Loader)) *versioncontent.Loader {
	l := &versioncontent.Loader{Hub: versioncontent.Place{Registry: "http://" + b.registry.Host, From: "the lifecycle manager"}}
	for _, edit := range edits {
		edit(l)
	}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	return l
}

func newRelease() *v1beta2.ModuleReleaseMeta {
	return &v1beta2.ModuleReleaseMeta{
		ObjectMeta: metav1.ObjectMeta{Name: beacon}, Spec: v1beta2.ModuleReleaseMetaSpec{ModuleName: beacon, OCMComponentName: name},
	}
}

func newTemplate(version string) *v1beta2.ModuleTemplate {
	made := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: module.TemplateName(beacon, version)}}
	made.Spec.ModuleName, made.Spec.Version = beacon, version
	return made
}

func (b *bench) load(l *versioncontent.Loader, version string) *versioncontent.Version {
	b.Helper()
	made, err := l.Load(b.Context(), newRelease(), newTemplate(version))
	if err != nil {
		b.Fatal(err)
	}
	return made
}

// managersManifest returns the Manifest that the lifecycle manager would write for a version.
func (b *bench) managersManifest(version string) *v1beta2.Manifest {
	b.Helper()
	reader := &descriptor.Reader{Registry: b.registry.Host, Registries: descriptor.Registries{PlainHTTP: true}}
	found, err := reader.Get(b.Context(), name, version)
	if err != nil {
		b.Fatal(err)
	}
	installs, err := installable.Of(found)
	if err != nil {
		b.Fatal(err)
	}
	release := newRelease()
	release.Spec.Channels = []v1beta2.ChannelVersion{{Channel: "regular", Version: version}}
	template := newTemplate(version)
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo", UID: "demo"}}
	kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: beacon}}}
	w := module.Snapshot{
		Kyma: kyma, Releases: map[string]*v1beta2.ModuleReleaseMeta{beacon: release},
		Templates:  map[string]*v1beta2.ModuleTemplate{template.Name: template},
		Components: map[module.ComponentKey]module.Component{{Name: name, Version: version}: installs}, Now: metav1.NewTime(time.Unix(0, 0)),
	}
	plan := module.MakePlan(w, module.Resolve(w))
	if len(plan.Apply) != 1 {
		b.Fatalf("the plan is %+v", plan)
	}
	return plan.Apply[0]
}

func TestLoad_NamesTheDigestOfTheManagersManifest(t *testing.T) {
	b := newBench(t, "1.0.0")
	got := b.load(b.loader(), "1.0.0")
	manifest := b.managersManifest("1.0.0")
	if want := revision.Digest(&manifest.Spec); got.Digest != want || got.Reference() != "1.0.0@"+want {
		t.Errorf("%s, want %s", got.Reference(), want)
	}
	manifest.Spec.TargetNamespace = "elsewhere"
	manifest.Spec.KymaValues = &v1beta2.EntryValues{Inline: `{"a":1}`}
	its, err := b.loader().LoadFor(t.Context(), newRelease(), newTemplate("1.0.0"), manifest)
	if want := "1.0.0@" + revision.Digest(&manifest.Spec); err != nil || its.Reference() != want || want == got.Reference() {
		t.Errorf("for a Manifest with a target namespace and values: %+v, %v, want %s", its, err, want)
	}
	if component := got.Component(); component.Source == nil || component.Source.Ref == "" {
		t.Errorf("%+v", component)
	}
}

func TestLoad_RendersAsTheManagerDoes(t *testing.T) {
	b := newBench(t)
	b.publish("1.0.0",
		component.Resource{Name: "raw-manifest", Data: fmt.Appendf(nil, manifestText, "1.0.0")},
		component.Resource{Name: "crds", Data: []byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x.example.com}}`)},
	)
	got := b.load(b.loader(), "1.0.0")
	var names []string
	for _, object := range got.Objects {
		names = append(names, object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())
	}
	want := []string{"CustomResourceDefinition /x.example.com", "ServiceAccount default/manager", "Deployment kyma-system/manager"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if !slices.Equal(got.Images, []string{"example.com/beacon:1.0.0"}) {
		t.Errorf("images %q", got.Images)
	}
	if want := b.registry.Host + "//" + name + ":1.0.0"; got.Source != want {
		t.Errorf("source %q, want %q", got.Source, want)
	}
}

func TestLoadManifest_ReadsWhatItInstalls(t *testing.T) {
	b := newBench(t, "1.0.0", "1.1.0")
	l := b.loader(func(l *versioncontent.Loader) { l.Access.PlainHTTP = true })
	manifest := b.managersManifest("1.0.0")
	manifest.Spec.TargetNamespace = "elsewhere"
	got, err := l.LoadManifest(t.Context(), manifest)
	if err != nil {
		t.Fatal(err)
	}
	if got.Version != "1.0.0" || got.Digest != revision.Digest(&manifest.Spec) || got.Objects[0].GetNamespace() != "elsewhere" {
		t.Errorf("%s, the first object is in %s", got.Reference(), got.Objects[0].GetNamespace())
	}
	place, err := versioncontent.PlaceOf(manifest)
	if err != nil || place.Registry != b.registry.Host || place.Mapping != "" {
		t.Errorf("%+v, %v", place, err)
	}
	// A registry that the user names takes the place of the Manifest's.
	elsewhere := b.managersManifest("1.0.0")
	elsewhere.Spec.Install.Source.Raw = []byte(strings.ReplaceAll(string(elsewhere.Spec.Install.Source.Raw), b.registry.Host, "registry.invalid"))
	l = b.loader(func(l *versioncontent.Loader) { l.Registry = "http://" + b.registry.Host })
	if _, err := l.LoadManifest(t.Context(), elsewhere); err != nil {
		t.Error(err)
	}
}

func TestLoadManifest_RefusesOtherSources(t *testing.T) {
	b := newBench(t, "1.0.0")
	manifest := b.managersManifest("1.0.0")
	manifest.Spec.Install.Source.Raw = []byte(`{"url": "https://example.com/x.yaml"}`)
	if _, err := b.loader().LoadManifest(t.Context(), manifest); versioncontent.ReasonOf(err) != versioncontent.ReasonUnsupported {
		t.Error(err)
	}
}

func TestLoad_RendersEachContentOnce(t *testing.T) {
	b := newBench(t, "1.0.0")
	l := b.loader()
	b.load(l, "1.0.0")
	b.registry.ResetCounts()
	first, again := b.load(l, "1.0.0"), b.load(l, "1.0.0")
	if first.Objects[0] != again.Objects[0] {
		t.Error("it was rendered again")
	}
	// Only the descriptor is asked for: its tag may have moved.
	if layers := b.registry.Count(localcluster.BlobGet); layers > 4 {
		t.Errorf("%v", b.registry.Counts())
	}
}

func TestLoad_SaysWhatIsWrongWithTheRegistry(t *testing.T) {
	for title, test := range map[string]struct {
		fault   localcluster.Fault
		edit    func(*versioncontent.Loader)
		version string
		reason  string
		says    []string
	}{
		"it is down": {
			fault: localcluster.Down(), reason: descriptor.ReasonUnreachable,
			says: []string{"which the lifecycle manager names", "does not answer this machine", "--registry"},
		},
		"it wants a login": {
			fault: localcluster.RequireLogin("ann", "secret"), reason: descriptor.ReasonUnauthorized, says: []string{"does not let you read", "docker login"},
		},
		"it does not have the version": {version: "9.9.9", reason: descriptor.ReasonNotFound, says: []string{"has no component", "publish"}},
		"no registry is known": {
			edit: func(l *versioncontent.Loader) { l.Hub = versioncontent.Place{} }, reason: versioncontent.ReasonUnlocated,
			says: []string{"is not known here", "--registry"},
		},
		"it is too slow": {
			fault: localcluster.Slow(time.Minute), edit: func(l *versioncontent.Loader) { l.Timeout = 100 * time.Millisecond },
			reason: versioncontent.ReasonTimeout, says: []string{"in time"},
		},
	} {
		t.Run(title, func(t *testing.T) {
			b := newBench(t, "1.0.0")
			b.registry.Inject(test.fault)
			edits := []func(*versioncontent.Loader){}
			if test.edit != nil {
				edits = append(edits, test.edit)
			}
			version := "1.0.0"
			if test.version != "" {
				version = test.version
			}
			_, err := b.loader(edits...).Load(t.Context(), newRelease(), newTemplate(version))
			typed, ok := errors.AsType[*versioncontent.Error](err)
			if !ok || typed.Reason != test.reason {
				t.Fatalf("%v", err)
			}
			for _, says := range test.says {
				if !strings.Contains(typed.Error()+" "+typed.Remedy, says) {
					t.Errorf("%q and %q do not say %q", typed.Error(), typed.Remedy, says)
				}
			}
		})
	}
}

func TestLoad_EndsWithItsCaller(t *testing.T) {
	b := newBench(t, "1.0.0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.loader().Load(ctx, newRelease(), newTemplate("1.0.0")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLoad_SendsNoLoginInClearText to a registry that only the hub calls one without TLS.
func TestLoad_SendsNoLoginInClearText(t *testing.T) {
	for title, test := range map[string]struct {
		access directinstall.Access
		asked  bool
	}{
		"the hub says http":  {directinstall.Access{}, false},
		"the user says http": {directinstall.Access{PlainHTTP: true}, true},
		"the user's registries file says http": {
			directinstall.Access{Policy: func(string) content.HostPolicy { return content.HostPolicy{PlainHTTP: true} }}, true,
		},
	} {
		t.Run(title, func(t *testing.T) {
			b := newBench(t, "1.0.0")
			b.registry.Inject(localcluster.RequireLogin("ann", "secret"))
			asked := false
			test.access.Credentials = func(context.Context, string) (auth.Credential, error) {
				asked = true
				return auth.Credential{Username: "ann", Password: "secret"}, nil
			}
			_, err := b.loader(func(l *versioncontent.Loader) { l.Access = test.access }).Load(t.Context(), newRelease(), newTemplate("1.0.0"))
			if asked != test.asked || (err == nil) != test.asked {
				t.Errorf("the login was asked for: %v; %v", asked, err)
			}
		})
	}
}

func TestLoad_ReadsRequirementsOfTemplateAndAnnotation(t *testing.T) {
	b := newBench(t, "1.0.0")
	template := newTemplate("1.0.0")
	template.Spec.Requires = []v1beta2.Requirement{{Module: "istio"}}
	template.Annotations = map[string]string{v1beta2.AnnotationRequires: `[{"module":"istio"},{"kubernetes":">=1.31"}]`}
	got, err := b.loader().Load(t.Context(), newRelease(), template)
	if err != nil || !slices.Equal(got.Requires, []v1beta2.Requirement{{Module: "istio"}, {Kubernetes: ">=1.31"}}) {
		t.Errorf("%v, %v", got, err)
	}
}
