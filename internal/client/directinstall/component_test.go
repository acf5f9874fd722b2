package directinstall_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// published pushes a component version and returns a Plan that installs it.
func (f *fixture) published(registry *localcluster.Registry, version component.Version, module string) directinstall.Plan {
	f.Helper()
	version.Provider = "example.com"
	_, err := component.Push(f.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, version)
	f.must(err)
	where := directinstall.Component{Registry: registry.Host, Name: version.Name, Version: version.Version}
	template, err := directinstall.TemplateOf(f.Context(), where, f.access())
	f.must(err)
	if template.Spec.ModuleName != module || template.Spec.Version != version.Version {
		f.Errorf("the component is told as %s %s", template.Spec.ModuleName, template.Spec.Version)
	}
	return directinstall.Plan{Config: f.config, Template: template, Component: &where, Access: f.access(), Wait: patience}
}

func TestComponent_AModuleComesFromItsComponent(t *testing.T) {
	f := onCluster(t)
	registry, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	f.must(err)
	t.Cleanup(func() { f.must(registry.Stop()) })

	t.Run("raw manifest, definitions and default custom resource", func(t *testing.T) {
		f := on(t, f.plane)
		plan := f.published(registry, component.Version{Name: "example.com/module/packed", Version: "0.1.0", Resources: []component.Resource{
			{Name: "raw-manifest", Data: []byte(deployment("packed-manager", "example.com/packed:0.1.0"))},
			{Name: "crds", Data: []byte(definition("packed"))},
			{Name: "default-cr", Data: []byte(sample("packed", "default", "color: red"))},
		}}, "packed")
		plan.DefaultCR = true
		report := f.installs(plan)
		if f.sample("packed", "default") == nil || len(report.Objects) != 3 {
			t.Errorf("%+v", report.Objects)
		}
		registry.Inject(localcluster.Down())
		defer registry.Inject(nil)
		f.deletes(f.removal("packed"))
	})

	t.Run("a template that the component carries, found by the descriptor in it", func(t *testing.T) {
		f := on(t, f.plane)
		template := "{apiVersion: operator.kyma-project.io/v1beta2, kind: ModuleTemplate, metadata: {name: carried-0.1.0}, " +
			"spec: {moduleName: carried, version: 0.1.0, associatedResources: [{group: '', version: v1, kind: Service}], descriptor: " +
			`{component: {name: example.com/module/carried-by, version: 0.1.0, repositoryContexts: [{type: OCIRegistry, baseUrl: "` + registry.Host + `"}]}}}}`
		plan := f.published(registry, component.Version{Name: "example.com/module/carried-by", Version: "0.1.0", Resources: []component.Resource{
			{Name: "raw-manifest", Data: []byte(configMap("carried-a", "1"))},
			{Name: "moduletemplate", Data: []byte(template)},
		}}, "carried")
		plan.Component = nil
		f.installs(plan)
		if listed := f.listed("carried"); len(listed.Associated) != 1 || f.configMap("carried-a") == nil {
			t.Errorf("%+v", listed)
		}
		report, err := directinstall.Delete(t.Context(), f.removal("carried"))
		f.reason(report, err, directinstall.ReasonBlocked, "kubernetes") // the Service of the API server has an associated kind
	})

	t.Run("signatures are asked for", func(t *testing.T) {
		f := on(t, f.plane)
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		f.must(err)
		resources := []component.Resource{{Name: "raw-manifest", Data: []byte(configMap("signed-a", "1"))}}
		plan := f.published(registry, component.Version{Name: "example.com/module/signed", Version: "0.1.0", Resources: resources}, "signed")
		policy := &descriptor.SignaturePolicy{Require: descriptor.RequireEnforce, Trust: descriptor.Trust{
			Names: []string{"kyma-module-signature"}, PublicKeys: []crypto.PublicKey{&key.PublicKey},
		}}
		plan.Signatures = func(string) *descriptor.SignaturePolicy { return policy }
		report, err := directinstall.Install(t.Context(), plan)
		f.reason(report, err, descriptor.ReasonSignatureMissing)
		_, err = component.Sign(t.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, "example.com/module/signed", "0.1.0",
			&component.Signer{Name: "kyma-module-signature", Key: key})
		f.must(err)
		f.installs(plan)
		if listed := f.listed("signed"); listed.Signed.State != modulestatus.SignatureVerified || listed.Signed.By != component.Fingerprint(&key.PublicKey) {
			t.Errorf("%+v", listed.Signed)
		}
		f.deletes(f.removal("signed"))
	})

	t.Run("and everything is held to them", func(t *testing.T) {
		f := on(t, f.plane)
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		f.must(err)
		name := "example.com/module/held"
		resources := []component.Resource{
			{Name: "raw-manifest", Data: []byte(configMap("held-a", "1") + deployment("held-manager", "example.com/held:1"))},
			{Name: "held", Version: "1", Type: "ociImage", Image: "example.com/held:1", ImageDigest: "sha256:" + strings.Repeat("1", 64)},
		}
		plan := f.published(registry, component.Version{Name: name, Version: "0.1.0", Resources: resources}, "held")
		_, err = component.Sign(t.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, name, "0.1.0", &component.Signer{Key: key})
		f.must(err)
		policy := &descriptor.SignaturePolicy{Require: descriptor.RequireEnforce, Closed: true, Trust: descriptor.Trust{
			Names: []string{descriptor.SignatureName}, PublicKeys: []crypto.PublicKey{&key.PublicKey},
		}}
		plan.Signatures = func(component string) *descriptor.SignaturePolicy {
			if component == name {
				return policy
			}
			return &descriptor.SignaturePolicy{Require: descriptor.RequireEnforce, Closed: true, Unmatched: true}
		}
		for what, change := range map[string]func(*directinstall.Plan){
			"spec.resource":        func(p *directinstall.Plan) { *p = withCR(*p, "color: red") },
			"spec.allowCRDChanges": func(p *directinstall.Plan) { p.Template.Spec.AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"} },
			"from files":           func(p *directinstall.Plan) { p.Sources = []installer.Source{installer.Objects("raw-manifest")} },
		} {
			changed := plan
			changed.Template = plan.Template.DeepCopy()
			change(&changed)
			report, err := directinstall.Install(t.Context(), changed)
			f.reason(report, err, directinstall.ReasonContentNotCovered, what)
		}
		if f.configMap("held-a") != nil || f.listed("held") != nil {
			t.Error("a part of what was refused is installed")
		}
		f.installs(plan)
		live := f.find("apps/v1", "Deployment", system, "held-manager")
		if text := fmt.Sprint(live.Object["spec"]); !strings.Contains(text, "example.com/held:1@sha256:"+strings.Repeat("1", 64)) {
			t.Errorf("it runs another image than was signed: %s", text)
		}
		f.deletes(f.removal("held"))
	})

	t.Run("an image that is not signed is refused", func(t *testing.T) {
		f := on(t, f.plane)
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		f.must(err)
		name := "example.com/module/tagged"
		resources := []component.Resource{{Name: "raw-manifest", Data: []byte(deployment("tagged-manager", "example.com/tagged:1"))}}
		plan := f.published(registry, component.Version{Name: name, Version: "0.1.0", Resources: resources}, "tagged")
		_, err = component.Sign(t.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, name, "0.1.0", &component.Signer{Key: key})
		f.must(err)
		policy := &descriptor.SignaturePolicy{Require: descriptor.RequireEnforce, Trust: descriptor.Trust{
			Names: []string{descriptor.SignatureName}, PublicKeys: []crypto.PublicKey{&key.PublicKey},
		}}
		plan.Signatures = func(string) *descriptor.SignaturePolicy { return policy }
		report, err := directinstall.Install(t.Context(), plan)
		f.reason(report, err, directinstall.ReasonContentNotCovered, "example.com/tagged:1", "no digest")
		policy.Require = descriptor.RequireAudit
		f.installs(plan)
		if listed := f.listed("tagged"); listed.Signed.State != modulestatus.SignatureIncomplete || !strings.Contains(listed.Signed.Message, "no digest") {
			t.Errorf("%+v", listed.Signed)
		}
		f.deletes(f.removal("tagged"))
	})

	t.Run("a component that is missing changes nothing", func(t *testing.T) {
		f := on(t, f.plane)
		plan := f.plan("missing", "0.1.0", "")
		plan.Component = &directinstall.Component{Registry: registry.Host, Name: "example.com/module/missing"}
		report, err := directinstall.Install(t.Context(), plan)
		f.reason(report, err, descriptor.ReasonNotFound)
		if f.listed("missing") != nil {
			t.Error("it is listed")
		}
	})
}

func TestComponent_APlanThatCannotBeUsed(t *testing.T) {
	f := onCluster(t)
	for _, test := range []struct {
		name, want string
		change     func(*directinstall.Plan)
	}{
		{"no template", directinstall.ReasonPlanInvalid, func(p *directinstall.Plan) { p.Template = nil }},
		{"no cluster", directinstall.ReasonPlanInvalid, func(p *directinstall.Plan) { p.Config = nil }},
		{"no name of a module", directinstall.ReasonPlanInvalid, func(p *directinstall.Plan) { p.Template.Spec.ModuleName = "" }},
		{"an invalid name of a module", directinstall.ReasonPlanInvalid, func(p *directinstall.Plan) { p.Template.Spec.ModuleName = "A b" }},
		{"no version", directinstall.ReasonPlanInvalid, func(p *directinstall.Plan) { p.Template.Spec.Version = "" }},
		{"nothing names the content", directinstall.ReasonNoContent, func(p *directinstall.Plan) { p.Template.Spec.Resources = nil }},
		{"a descriptor without the name of a component", directinstall.ReasonNoContent, func(p *directinstall.Plan) {
			p.Template.Spec.Descriptor = runtime.RawExtension{Raw: []byte(`{"repositoryContexts":[{"baseUrl":"127.0.0.1:1"}]}`)}
		}},
		{"a link, although a signature is required", directinstall.ReasonContentNotCovered, func(p *directinstall.Plan) {
			p.Signatures = func(string) *descriptor.SignaturePolicy {
				return &descriptor.SignaturePolicy{Require: descriptor.RequireEnforce}
			}
		}},
		{"an upgrade of a module that is not installed", directinstall.ReasonNotInstalled, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := f.plan("unusable", "0.1.0", configMap("unusable-a", "1"))
			call := directinstall.Upgrade
			if test.change != nil {
				test.change(&plan)
				call = directinstall.Install
			}
			report, err := call(t.Context(), plan)
			f := on(t, f.plane)
			f.reason(report, err, test.want)
		})
	}
}

func TestComponent_TheDevelopersLoop(t *testing.T) {
	f := onCluster(t)
	plan := f.plan("tried", "0.1.0", definition("tried")+configMap("tried-a", "1"))
	plan.Template.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}
	report, err := directinstall.Run(t.Context(), plan)
	if err != nil || !report.Ready {
		t.Fatalf("%v %+v", err, report)
	}
	plan = f.plan("tried", "0.1.0", definition("tried")+configMap("tried-a", "2"))
	if report, err = directinstall.Run(t.Context(), plan); err != nil || !report.Ready || !report.Changed {
		t.Fatalf("%v %+v", err, report)
	}
	f.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: taken, namespace: " + system + "}}")
	plan = f.plan("tried", "0.0.9", definition("tried")+configMap("taken", "mine"))
	report, err = directinstall.Run(t.Context(), plan)
	f.reason(report, err, directinstall.ReasonOwnershipConflict, "taken") // an object of another user is not taken over
	f.create(sample("tried", "mine", "color: red"))
	report, err = directinstall.CleanUp(t.Context(), f.removal("tried"))
	if err != nil || !report.Ready || f.sample("tried", "mine") != nil {
		t.Errorf("%v %+v", err, report)
	}
	f.must(f.other.Delete(t.Context(), f.configMap("taken")))
}

func TestParseReadsACatalog(t *testing.T) {
	templates, releases, err := directinstall.Parse([]byte(`
apiVersion: v1
kind: List
items:
- {apiVersion: operator.kyma-project.io/v1beta2, kind: ModuleTemplate, metadata: {name: a-1}, spec: {moduleName: a, version: 1.0.0, descriptor: {}}}
- {apiVersion: operator.kyma-project.io/v1beta2, kind: ModuleReleaseMeta, metadata: {name: a}, spec: {moduleName: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}
`))
	if err != nil || len(templates) != 1 || len(releases) != 1 || templates[0].Spec.ModuleName != "a" || releases[0].Name != "a" {
		t.Errorf("%v %v %v", templates, releases, err)
	}
	for _, bad := range []string{"{", "{apiVersion: operator.kyma-project.io/v1beta2, kind: ModuleTemplate, metadata: {name: a}, spec: 7}"} {
		if _, _, err := directinstall.Parse([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
