package operations

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// add plans to add modules to a Kyma.
func (p *planner) add(ctx context.Context) (*plan, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	made := &plan{way: string(modulestatus.ViaKyma), why: "the lifecycle manager installs and upgrades it"}
	var wishes []kymaedit.ModuleRequest
	var custom []*unstructured.Unstructured
	for _, wanted := range p.deed.Modules {
		wish := kymaedit.ModuleRequest{
			Name: wanted.Name, Channel: wanted.Channel, Version: wanted.Version, Policy: wanted.Policy, Strategy: wanted.Strategy,
		}
		if wanted.Resource != nil {
			wish.Policy = v1beta2.CustomResourcePolicyIgnore
			custom = append(custom, wanted.Resource)
		}
		wishes = append(wishes, wish)
		if way, why := p.mayAdd(ctx, s, wish); why != nil {
			made.way = string(way)
			return made.refuse(why), nil
		}
		if err := ofModule(s.goal(wish), wanted); err != nil {
			return made.refuse(err), nil
		}
		if entry := kymaedit.Entry(&s.Asked, wish.Name); entry != nil && !kymaedit.IsManaged(entry) {
			made.warnings = append(made.warnings, fmt.Sprintf("%s is not managed: the lifecycle manager ignores it until it is "+
				"managed again", wish.Name))
		}
	}
	c := &change{hubContext: s, ask: waitfor.Options{Timeout: p.options.Patience}, edit: func(spec *v1beta2.KymaSpec) error {
		for _, wish := range wishes {
			if err := s.check(spec, wish); err != nil {
				return err
			}
			kymaedit.Enable(spec, wish)
		}
		return nil
	}, wants: func(after *v1beta2.KymaSpec) (wants []waitfor.Expectation) {
		for _, wish := range wishes {
			wants = append(wants, wanted(after, wish.Name))
		}
		return wants
	}}
	made.steps = c.steps("Change the Kyma "+p.deed.Kyma, "Wait until the modules run")
	for _, object := range custom {
		made.elsewhere = !s.Here()
		made.steps = append(made.steps, s.custom(object))
	}
	return made, nil
}

// goal returns the template that a wish leads to; nil if it is not known here.
func (s *hubContext) goal(wish kymaedit.ModuleRequest) *v1beta2.ModuleTemplate {
	after := s.Asked.DeepCopy()
	kymaedit.Enable(after, wish)
	return s.Template(wish.Name, s.Version(after, wish.Name))
}

// ofModule refuses a custom resource that is not of the kind that configures the module: an add must not write anything else.
func ofModule(template *v1beta2.ModuleTemplate, wanted Wanted) error {
	if wanted.Resource == nil {
		return nil
	}
	if template == nil || template.Spec.Data == nil {
		return refuse(WhyInvalid, "module %s has no custom resource in this version: omit field resource", wanted.Name)
	}
	sent, kind := wanted.Resource.GroupVersionKind().GroupKind(), template.Spec.Data.GroupVersionKind().GroupKind()
	if sent != kind {
		return refuse(WhyInvalid, "field resource is a %s, and module %s is configured by a %s", sent, wanted.Name, kind)
	}
	return nil
}

// wanted returns the expectation that a module runs in the version that the spec pins. The version that a channel offers may change
// meanwhile, and is not expected.
func wanted(spec *v1beta2.KymaSpec, name string) waitfor.Expectation {
	want := waitfor.Expectation{Module: name}
	if entry := kymaedit.Entry(spec, name); entry != nil {
		want.Version = entry.Version
	}
	return want
}

// mayAdd decides by the flowchart of package modulestatus whether a module may be added to the Kyma; the error is nil if it may.
func (p *planner) mayAdd(ctx context.Context, s *hubContext, wish kymaedit.ModuleRequest) (modulestatus.InstallMethod, error) {
	isDirect := s.Here() && s.directly(ctx, wish.Name) != nil
	way, why, err := s.MayAdd(wish, isDirect, func() bool { return kymaedit.Community(ctx, s.WithWatch, wish.Name) })
	if why != "" {
		return way, refuse(WhyRefused, "%s", inWords(why))
	}
	return way, judged(err)
}

// directly returns the record of a module that is installed without the lifecycle manager; nil also for users who may not read the
// records.
func (c *cluster) directly(ctx context.Context, name string) *modulestatus.Direct {
	installed, err := directinstall.Find(ctx, c.WithWatch, name)
	if err != nil {
		return nil
	}
	return installed
}

// inWords returns the text of a flowchart without the flags and commands of the command line.
func inWords(why string) string {
	for _, said := range []struct{ from, to string }{
		{": use --community", ": add it as a community module"},
		{": omit --community", ": add it without saying so"},
		{", or use --cascade:", ", or have them deleted with it:"},
	} {
		why = strings.ReplaceAll(why, said.from, said.to)
	}
	if at := strings.Index(why, " (kyma "); at >= 0 && strings.HasSuffix(why, ")") {
		return why[:at]
	}
	what, command, found := strings.Cut(why, ": kyma ")
	switch {
	case !found:
		return why
	case strings.HasPrefix(command, "add "):
		return what + ": hand it over on the command line, or delete it there, and then add it here"
	}
	return what
}

// custom returns the step that writes the user's custom resource in place of the default one.
func (s *hubContext) custom(object *unstructured.Unstructured) step {
	write := func(ctx context.Context, dry bool) ([]Change, error) {
		c, err := s.modules(ctx)
		if err != nil {
			return nil, err
		}
		return c.put(ctx, object, dry)
	}
	name := object.GetKind() + " " + object.GetName()
	return step{
		title: "Create " + name,
		try:   func(ctx context.Context) ([]Change, error) { return write(ctx, true) },
		do: func(ctx context.Context, r *reporter) error {
			changes, err := write(ctx, false)
			if err == nil {
				r.object(changes[0].Object, string(changes[0].Change), "")
			}
			return err
		},
	}
}

// put applies one object. A dry run reports an object as new if the cluster does not serve its kind yet.
func (c *cluster) put(ctx context.Context, object *unstructured.Unstructured, dry bool) ([]Change, error) {
	object = object.DeepCopy()
	ref := func() modulestatus.Ref {
		return modulestatus.Ref{
			APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
		}
	}
	kind := object.GroupVersionKind()
	mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if dry && unserved(err) {
		return []Change{{Object: ref(), Change: apply.ChangeCreate, Fields: []Field{}}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the cluster does not know the kind %s: %w", kind, err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace && object.GetNamespace() == "" {
		object.SetNamespace(v1beta2.RuntimeNamespace)
	}
	live := object.DeepCopy()
	err = c.Get(ctx, client.ObjectKeyFromObject(object), live)
	created := unserved(err)
	if err != nil && !created {
		return nil, err
	}
	options := []client.ApplyOption{client.FieldOwner(kymaedit.FieldManager)}
	if dry {
		options = append(options, client.DryRunAll)
	}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...); err != nil {
		return []Change{{Object: ref(), Change: apply.ChangeRefused, Fields: []Field{}, Error: errorText(err)}}, err
	}
	if created {
		return []Change{{Object: ref(), Change: apply.ChangeCreate, Fields: []Field{}}}, nil
	}
	made := Change{Object: ref(), Change: apply.ChangeUnchanged, Fields: fieldsOf(apply.Compare(live, object))}
	if len(made.Fields) > 0 {
		made.Change = apply.ChangeUpdate
	}
	return []Change{made}, nil
}

func fieldsOf(differences []apply.FieldDiff) []Field {
	all := []Field{}
	for _, d := range differences {
		all = append(all, Field(d))
	}
	return all
}
