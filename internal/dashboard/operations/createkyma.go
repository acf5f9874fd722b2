package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// createKyma plans to create a Kyma:
//
//  1. modules that the catalog of its namespace does not offer, and a KymaRelease that does not exist or lacks one of them, are refused
//  2. with a kubeconfig, its cluster is called, and the access Secret is stored first: the Kyma finds it at once
//  3. the Kyma is created; an equal one is left as it is, so that the operation can be resumed
//  4. it is waited for, if there is something to wait for
func (p *planner) createKyma(ctx context.Context) (*plan, error) {
	c, err := connect(p.as.Config)
	if err != nil {
		return nil, err
	}
	s := &hubContext{c, kymaedit.StandOf(p.newKyma())}
	if err := s.Load(ctx, c); err != nil {
		return nil, err
	}
	made := &plan{way: wayItself}
	if p.deed.New.Local {
		p.here = append(p.here, p.deed.Kyma)
	}
	if err := s.mayCreate(ctx, p.deed); err != nil {
		if says(err) {
			return made.refuse(err), nil
		}
		return nil, err
	}
	if p.deed.Kubeconfig != nil {
		store, refused, err := p.storing(ctx, s, made)
		if err != nil || refused != nil {
			return made.refuse(refused), err
		}
		made.steps = append(made.steps, store...)
	}
	reaches := p.deed.New.Local || p.deed.Kubeconfig != nil || s.hasAccess(ctx)
	made.why, made.warnings = p.meansOfNew(reaches, made.warnings)
	made.steps = append(made.steps, s.creation(p, reaches)...)
	return made, nil
}

// newKyma returns the Kyma that a request describes.
func (p *planner) newKyma() *v1beta2.Kyma {
	namespace, name, _ := strings.Cut(p.deed.Kyma, "/")
	remote := !p.deed.New.Local
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: p.deed.New.Labels},
		Spec: v1beta2.KymaSpec{
			Channel: p.deed.Channel, Release: p.deed.New.Release, Remote: &remote,
			SkipMaintenanceWindows: p.deed.New.SkipMaintenanceWindows,
		},
	}
	if kyma.Spec.Channel == "" {
		kyma.Spec.Channel = v1beta2.DefaultChannel
	}
	for _, wanted := range p.deed.Modules {
		kymaedit.Enable(&kyma.Spec, kymaedit.ModuleRequest{
			Name: wanted.Name, Channel: wanted.Channel, Version: wanted.Version, Policy: wanted.Policy, Strategy: wanted.Strategy,
		})
	}
	return kyma
}

// mayCreate refuses what the lifecycle manager would refuse, too.
func (s *hubContext) mayCreate(ctx context.Context, deed *Request) error {
	for _, wanted := range deed.Modules {
		wish := kymaedit.ModuleRequest{Name: wanted.Name, Channel: wanted.Channel, Version: wanted.Version}
		if deed.New.Release != "" && wish.Channel == "" && wish.Version == "" {
			continue // the release says which version
		}
		if err := s.check(&v1beta2.KymaSpec{Channel: s.Kyma.Spec.Channel}, wish); err != nil {
			return err
		}
	}
	if deed.New.Release == "" {
		return nil
	}
	key := s.Key()
	key.Name = deed.New.Release
	release, err := kymaedit.LoadRelease(ctx, s, key)
	switch {
	case err != nil:
		return err
	case release == nil:
		return refuse(WhyNotFound, "there is no KymaRelease %s", key)
	}
	return judged(s.MayRelease(release))
}

// hasAccess reports whether an access Secret for the Kyma is there already, such as one of a Kyma that was deleted.
func (s *hubContext) hasAccess(ctx context.Context) bool {
	secrets, err := runtimeaccess.Secrets(ctx, s, s.Key())
	return err == nil && len(secrets) > 0
}

// meansOfNew returns in words what becomes of a new Kyma, which has a cluster or not.
func (p *planner) meansOfNew(reaches bool, warnings []string) (why string, _ []string) {
	switch {
	case p.deed.New.Local:
		return "the lifecycle manager installs its modules into this very cluster, as its administrator", append(warnings,
			"the lifecycle manager does that only in namespaces that its flag --local-namespaces names, or with a ServiceAccount of the namespace")
	case !reaches:
		return "nothing is installed before it is connected", append(warnings,
			"nothing leads to its cluster yet: connect it with a kubeconfig afterwards")
	case p.deed.Kubeconfig == nil:
		return "the lifecycle manager installs its modules into the cluster of the access Secret that is there already", warnings
	}
	return "the lifecycle manager installs its modules into the cluster of the kubeconfig", warnings
}

// creation returns the steps that create the Kyma and wait for it.
func (s *hubContext) creation(p *planner, reaches bool) []step {
	ref := kymaRef(s.Kyma)
	wanted := s.Kyma.DeepCopy()
	c := &change{hubContext: s, ask: waitfor.Options{Timeout: p.options.Patience}}
	steps := []step{{
		title: "Create the Kyma " + p.deed.Kyma,
		try: func(ctx context.Context) ([]Change, error) {
			made, err := s.create(ctx, wanted.DeepCopy(), kymaedit.DryRunServer)
			return []Change{made}, err
		},
		do: func(ctx context.Context, r *reporter) error {
			c.after = wanted.DeepCopy()
			made, err := s.create(ctx, c.after, kymaedit.DryRunNone)
			if err == nil {
				r.object(ref, string(made.Change), "")
				r.wrote(made)
			}
			return err
		},
	}}
	if !reaches || len(wanted.Spec.Modules) == 0 {
		return steps
	}
	return append(steps, step{title: "Wait until the modules run", do: c.await})
}

// create creates a Kyma, and returns what it consists of.
func (s *hubContext) create(ctx context.Context, kyma *v1beta2.Kyma, dry kymaedit.DryRun) (Change, error) {
	ref, shown := kymaRef(kyma), map[string]any{"spec": kyma.Spec}
	if len(kyma.Labels) > 0 {
		shown["metadata"] = map[string]any{"labels": kyma.Labels}
	}
	made, err := compared(ref, struct{}{}, shown)
	if err != nil {
		return made, err
	}
	made.Change = apply.ChangeCreate
	action, err := kymaedit.Create(ctx, s, kyma, dry)
	if exists, is := errors.AsType[*kymaedit.ExistsError](err); is {
		err = refuse(WhyRefused, "%s: choose another name", exists)
	}
	switch {
	case meta.IsNoMatchError(err):
		err = refuse(WhyRefused, "this cluster has no Kymas: install the lifecycle manager first")
	case apierrors.IsNotFound(err):
		err = refuse(WhyNotFound, "there is no namespace %s", ref.Namespace)
	case apierrors.IsForbidden(err):
		err = fmt.Errorf("the Kyma %s is not created: %w", s.Key(), err)
	case action == kymaedit.Unchanged:
		made.Change, made.Fields = apply.ChangeUnchanged, []Field{}
	}
	return made, err
}

func kymaRef(kyma *v1beta2.Kyma) modulestatus.Ref {
	return modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "Kyma", Namespace: kyma.Namespace, Name: kyma.Name}
}
