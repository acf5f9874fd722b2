package changecmd

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/edit"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// session is a cluster, the Kyma that a command is about, and what can be had there.
type session struct {
	client.WithWatch
	kyma *v1beta2.Kyma
	// asked is what the Kyma asks for, together with the user of its runtime.
	asked     v1beta2.KymaSpec
	releases  []v1beta2.ModuleReleaseMeta
	templates []v1beta2.ModuleTemplate
	offers    map[string]edit.Offer
}

// open finds cluster and Kyma.
func (c *change) open(ctx context.Context) (*session, error) {
	if err := c.checked(); err != nil {
		return nil, err
	}
	cluster, err := c.target.Client()
	if err != nil {
		return nil, err
	}
	kyma, err := c.target.Kyma(ctx, cluster, c.kyma)
	if err != nil {
		return nil, err
	}
	return &session{WithWatch: cluster, kyma: kyma, asked: view.Effective(kyma)}, nil
}

// load reads what can be had: the releases and templates beside the Kyma. In a runtime that is its catalog.
func (s *session) load(ctx context.Context) error {
	var releases v1beta2.ModuleReleaseMetaList
	var templates v1beta2.ModuleTemplateList
	in := client.InNamespace(s.kyma.Namespace)
	if err := s.List(ctx, &releases, in); err != nil && !meta.IsNoMatchError(err) {
		return err
	}
	if err := s.List(ctx, &templates, in); err != nil && !meta.IsNoMatchError(err) {
		return err
	}
	s.releases, s.templates = releases.Items, templates.Items
	s.offers = edit.Offers(s.releases, s.templates)
	return nil
}

// key names the Kyma.
func (s *session) key() client.ObjectKey { return client.ObjectKeyFromObject(s.kyma) }

// inRuntime says whether the Kyma is the copy that the runtime's user edits, and not the one of the hub.
func (s *session) inRuntime() bool {
	return s.kyma.Labels[v1beta2.LabelManagedBy] == v1beta2.ManagedByKyma
}

// modulesHere says whether the modules of the Kyma are installed into this cluster, so that their objects can be seen here.
func (s *session) modulesHere() bool {
	return s.inRuntime() || s.kyma.Spec.Remote != nil && !*s.kyma.Spec.Remote
}

// check says whether a wish leads to something. A runtime's catalog shows the versions of channels only, so that a version which it does
// not show may exist all the same: the hub decides.
func (s *session) check(spec *v1beta2.KymaSpec, wish edit.Wish) error {
	err := edit.Check(s.offers, spec, wish)
	var unknown *edit.UnknownError
	switch {
	case !errors.As(err, &unknown):
		return err
	case unknown.What == "version" && s.inRuntime():
		return nil
	}
	return console.NotFound("%w", err).With("kyma catalog list shows what can be had")
}

// version is the one that a module's entry leads to, empty when that is not known here.
func (s *session) version(spec *v1beta2.KymaSpec, name string) string {
	entry := edit.Entry(spec, name)
	switch {
	case entry == nil:
		return ""
	case entry.Version != "":
		return entry.Version
	case entry.Channel != "":
		return s.offers[name].Channels[entry.Channel]
	}
	return s.offers[name].Channels[spec.Channel]
}

// status is what the Kyma says of a module, nil when that is nothing.
func status(kyma *v1beta2.Kyma, name string) *v1beta2.ModuleStatus {
	for i := range kyma.Status.Modules {
		if kyma.Status.Modules[i].Name == name {
			return &kyma.Status.Modules[i]
		}
	}
	return nil
}

// template is that of a module's version, nil when there is none here.
func (s *session) template(name, version string) *v1beta2.ModuleTemplate {
	for i := range s.templates {
		if s.templates[i].Spec.ModuleName == name && s.templates[i].Spec.Version == version {
			return &s.templates[i]
		}
	}
	return nil
}
