package task

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/edit"
	"github.com/kyma-project/lifecycle-manager/internal/reach"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// scheme has the kinds of Kubernetes and ours.
var scheme = func() *runtime.Scheme {
	made := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(made))
	utilruntime.Must(v1beta2.AddToScheme(made))
	return made
}()

// cluster is one cluster as one person reaches it.
type cluster struct {
	client.WithWatch
	config *rest.Config
}

func connect(config *rest.Config) (*cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server has limits of its own
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{HTTPClient: httpClient, Scheme: scheme, Mapper: mapper})
	return &cluster{c, config}, err
}

// scene is a hub with the Kyma that a deed is about, and what can be had beside it.
type scene struct {
	*cluster
	kyma *v1beta2.Kyma
	// asked is what the Kyma asks for, together with the user of its runtime.
	asked     v1beta2.KymaSpec
	releases  []v1beta2.ModuleReleaseMeta
	templates []v1beta2.ModuleTemplate
	offers    map[string]edit.Offer
}

// open finds a Kyma and its catalog, as the person.
func (p *planner) open(ctx context.Context, kyma string) (*scene, error) {
	c, err := connect(p.as.Config)
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(kyma, "/")
	s := &scene{cluster: c, kyma: &v1beta2.Kyma{}}
	err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s.kyma)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, refuse(WhyNotFound, "there is no Kyma %s", kyma)
	}
	if err != nil {
		return nil, err
	}
	s.asked = view.Effective(s.kyma)
	if s.here() {
		p.here = append(p.here, kyma)
	}
	return s, s.load(ctx)
}

// load reads what can be had beside the Kyma.
func (s *scene) load(ctx context.Context) error {
	var releases v1beta2.ModuleReleaseMetaList
	var templates v1beta2.ModuleTemplateList
	in := client.InNamespace(s.kyma.Namespace)
	if err := s.List(ctx, &releases, in); err != nil && !unserved(err) {
		return err
	}
	if err := s.List(ctx, &templates, in); err != nil && !unserved(err) {
		return err
	}
	s.releases, s.templates = releases.Items, templates.Items
	s.offers = edit.Offers(s.releases, s.templates)
	return nil
}

// unserved says that a cluster does not have a kind at all.
func unserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

func (s *scene) key() client.ObjectKey { return client.ObjectKeyFromObject(s.kyma) }

// here says whether the modules of the Kyma are in the cluster that it was read from.
func (s *scene) here() bool { return view.Here(s.kyma) }

// modules is the cluster that the modules of the Kyma are in.
func (s *scene) modules(ctx context.Context) (*cluster, error) {
	if s.here() {
		return s.cluster, nil
	}
	config, err := reach.Cluster(ctx, s.WithWatch, s.config, s.kyma)
	if err != nil {
		return nil, err
	}
	return connect(config)
}

// check says whether a wish leads to something. A runtime's catalog shows the versions of channels only, so that a version which it does
// not show may exist all the same: the hub decides.
func (s *scene) check(spec *v1beta2.KymaSpec, wish edit.Wish) error {
	err := edit.Check(s.offers, spec, wish)
	var unknown *edit.UnknownError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &unknown):
		return refuse(WhyRefused, "%s", err)
	case unknown.What == "version" && view.IsCopy(s.kyma):
		return nil
	}
	return refuse(WhyNotFound, "%s", unknown)
}

// version is the one that a module's entry leads to, empty when that is not known here.
func (s *scene) version(spec *v1beta2.KymaSpec, name string) string {
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
func (s *scene) status(name string) *v1beta2.ModuleStatus {
	for i := range s.kyma.Status.Modules {
		if s.kyma.Status.Modules[i].Name == name {
			return &s.kyma.Status.Modules[i]
		}
	}
	return nil
}

// template is that of a module's version, nil when there is none here.
func (s *scene) template(name, version string) *v1beta2.ModuleTemplate {
	for i := range s.templates {
		if view.ModuleOf(&s.templates[i]) == name && view.VersionOf(&s.templates[i]) == version {
			return &s.templates[i]
		}
	}
	return nil
}

// installed is the template of the version that is installed, or else of the one that is asked for.
func (s *scene) installed(name string) *v1beta2.ModuleTemplate {
	if known := s.status(name); known != nil && known.Version != "" {
		return s.template(name, known.Version)
	}
	return s.template(name, s.version(&s.asked, name))
}

// has says whether the Kyma asks for a module.
func (s *scene) has(name string) bool { return edit.Entry(&s.asked, name) != nil }

// absent is a module that a Kyma does not have.
func (s *scene) absent(name string) error {
	var have []string
	for i := range s.asked.Modules {
		have = append(have, s.asked.Modules[i].Name)
	}
	if len(have) == 0 {
		return refuse(WhyNotFound, "Kyma %s has no module %s: it has none at all", s.key(), name)
	}
	return refuse(WhyNotFound, "Kyma %s has no module %s: it has %s", s.key(), name, strings.Join(have, ", "))
}

// told is what the API server said about a Kyma, in a sentence.
func (s *scene) told(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return refuse(WhyNotFound, "the Kyma %s is gone", s.key())
	case apierrors.IsForbidden(err):
		return fmt.Errorf("you may not change Kyma %s: %w", s.key(), err)
	}
	return err
}
