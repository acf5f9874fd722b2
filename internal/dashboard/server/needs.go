package server

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/clusterfacts"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// needs is what a version needs before it is installed.
type needs struct {
	Version string     `json:"version"`
	Needs   []needLine `json:"needs"`
	// Reason says why the cluster was not looked at; empty if it was.
	Reason string `json:"reason,omitempty"`
}

// needLine is one thing that a version needs.
type needLine struct {
	kymaedit.Required

	// Text is the requirement in words.
	Text string `json:"text"`
	// Addable reports whether the catalog has a version of the missing module that fits: with AddChannel, or with the channel of the Kyma.
	Addable    bool   `json:"addable,omitempty"`
	AddChannel string `json:"addChannel,omitempty"`
}

// offerNeeds answers GET /api/v1/catalog/{name}/requirements?namespace=&source=&version=&kyma=. Without a Kyma, nothing is compared.
func (s *Server) offerNeeds(ctx context.Context, u *User, r *http.Request) (any, error) {
	now, template, kyma, err := s.offerIn(ctx, u, r)
	if err != nil {
		return nil, err
	}
	return s.needsOf(ctx, u, now, kyma, template), nil
}

// needsOf returns what a version needs, and how far that is met in a Kyma and its cluster.
func (s *Server) needsOf(ctx context.Context, u *User, now *snapshot, kyma *v1beta2.Kyma, template *v1beta2.ModuleTemplate) needs {
	list := modulestatus.Requires(template)
	is := needs{Version: template.ModuleVersion(), Needs: []needLine{}}
	facts := requirements.Facts{}
	var stand *kymaedit.KymaContext
	if kyma != nil && len(list) > 0 {
		stand = now.standOf(kyma)
		facts = stand.Facts()
		if err := s.lookFor(ctx, u, kyma, list, &facts); err != nil {
			is.Reason = problemOf(acted(err)).Message
		}
	}
	for _, one := range kymaedit.CheckRequired(list, facts) {
		is.Needs = append(is.Needs, needLine{Required: one, Text: one.String()})
	}
	if stand != nil {
		is.offer(stand, modulestatus.ModuleOf(template), template.ModuleVersion())
	}
	return is
}

// standOf returns a Kyma with the catalog of its namespace.
func (s *snapshot) standOf(kyma *v1beta2.Kyma) *kymaedit.KymaContext {
	stand := kymaedit.StandOf(kyma)
	for i := range s.in.Releases {
		if s.in.Releases[i].Namespace == kyma.Namespace {
			stand.Releases = append(stand.Releases, s.in.Releases[i])
		}
	}
	for i := range s.in.Templates {
		if s.in.Templates[i].Namespace == kyma.Namespace {
			stand.Templates = append(stand.Templates, s.in.Templates[i])
		}
	}
	stand.Offers = kymaedit.Offers(stand.Releases, stand.Templates)
	return &stand
}

// offer marks the missing modules that can be added along with a version.
func (n *needs) offer(stand *kymaedit.KymaContext, name, version string) {
	for _, lacking := range stand.LackingFor([]kymaedit.ModuleRequest{{Name: name, Version: version}}) {
		if lacking.Why != "" {
			continue
		}
		for i := range n.Needs {
			line := &n.Needs[i]
			if line.Requirement == lacking.Requirement && line.State != kymaedit.MetReady {
				line.Addable, line.AddChannel = true, lacking.Add.Channel
			}
		}
	}
}

// lookFor looks in the cluster of a Kyma for what a list needs of it: definitions and the version of Kubernetes.
func (s *Server) lookFor(
	ctx context.Context, u *User, kyma *v1beta2.Kyma, list []requirements.Requirement, facts *requirements.Facts,
) (unread error) {
	var names []string
	versioned := false
	for _, one := range list {
		if one.Definition != "" {
			names = append(names, one.Definition)
		}
		versioned = versioned || one.Kubernetes != ""
	}
	if len(names) == 0 && !versioned {
		return nil
	}
	from, err := s.runtimeOf(ctx, u, kyma)
	if err != nil {
		return err
	}
	beyond(ctx)
	facts.Definitions = map[string]requirements.Definition{}
	for _, name := range names {
		found, err := recalled(ctx, u, "definition "+keyOfKyma(kyma)+" "+name, func(ctx context.Context) (requirements.Definition, error) {
			return definitionIn(ctx, from, name)
		})
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		facts.Definitions[name] = found
	}
	if versioned {
		facts.Kubernetes, err = s.kubernetesOf(ctx, u, kyma)
		unread = cmp.Or(unread, err)
	}
	return unread
}

// definitionIn returns what a cluster has of a definition.
func definitionIn(ctx context.Context, from client.Reader, name string) (requirements.Definition, error) {
	var found apiextensionsv1.CustomResourceDefinition
	err := from.Get(ctx, client.ObjectKey{Name: name}, &found)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return requirements.Definition{}, nil
	}
	if err != nil {
		return requirements.Definition{}, err
	}
	return clusterfacts.Of(&found), nil
}

// kubernetesOf returns the version of the cluster of a Kyma.
func (s *Server) kubernetesOf(ctx context.Context, u *User, kyma *v1beta2.Kyma) (string, error) {
	if modulestatus.Here(kyma) {
		return kubernetesVersion(ctx, u)
	}
	return recalled(ctx, u, "version "+keyOfKyma(kyma), func(ctx context.Context) (string, error) {
		config, err := s.reach(ctx, u.Client, u.Config, kyma)
		if err != nil {
			return "", err
		}
		cluster, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			return "", err
		}
		version, err := cluster.ServerVersion()
		if err != nil {
			return "", err
		}
		return version.GitVersion, nil
	})
}

// needs fills in what the module needs, and which modules need it: the version that waits or is asked for, else the installed one.
func (d *moduleDetail) needs(ctx context.Context, s *Server, u *User, o *one) {
	d.NeededBy = []string{}
	if o.kyma == nil || o.module.Mandatory {
		return
	}
	stand := o.now.standOf(o.kyma)
	d.NeededBy = slices.AppendSeq(d.NeededBy, maps.Keys(stand.Dependents(o.module.Name)))
	slices.Sort(d.NeededBy) // a live query must not change by itself
	version := o.module.Version.Desired
	if o.module.Pending != nil {
		version = o.module.Pending.Version
	}
	if template := stand.Template(o.module.Name, version); template != nil {
		found := s.needsOf(ctx, u, o.now, o.kyma, template)
		d.Needs = &found
	}
}
