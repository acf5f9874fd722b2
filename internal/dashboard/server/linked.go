package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	// linkLasts is how long the result of reading a link, or the failure to read it, is reused.
	linkLasts = 5 * time.Minute
	// linkTime is how long fetching may take.
	linkTime = 15 * time.Second
	// mostLinked and mostLinkedOfOne bound how many links are read at once.
	mostLinked, mostLinkedOfOne = 4, 2
)

// linkedLimits bound how much is read from one link: enough for the definitions of a module, and less than an installation may use.
var linkedLimits = content.Limits{Packed: 8 << 20, Unpacked: 16 << 20, Entries: 100}

// linkedSchema returns the schema of a kind from the content that a template's link leads to: the very objects that the version would
// install. Components are not read, since registries require credentials that this server does not have.
func (s *Server) linkedSchema(
	ctx context.Context, u *User, template *v1beta2.ModuleTemplate, kind schema.GroupVersionKind,
) (*apiextensionsv1.JSONSchemaProps, error) {
	at := slices.IndexFunc(template.Spec.Resources, func(n v1beta2.Named) bool {
		return slices.Contains(modulestatus.ManifestLinks(), n.Name)
	})
	if at < 0 {
		return nil, fail(http.StatusNotFound, WhyNotFound, "and ModuleTemplate %s has no link rawManifest to read its schema from: the cluster "+
			"checks the configuration when the module is there", template.Name)
	}
	link, digest := template.Spec.Resources[at].Link, template.Annotations[v1beta2.AnnotationRawManifestDigest]
	key := "link " + link + " " + digest + " " + kind.String()
	return recalledFor(ctx, u, key, linkLasts, func(ctx context.Context) (*apiextensionsv1.JSONSchemaProps, error) {
		done, err := s.links.take(ctx, u.Name)
		if err != nil {
			return nil, err
		}
		defer done()
		ctx, over := context.WithTimeout(ctx, linkTime)
		defer over()
		objects, err := s.behind(ctx, link, digest)
		if err != nil {
			return nil, notBehind(template, err)
		}
		return schemaAmong(objects, template, kind)
	})
}

// behind reads the objects behind a link, and only those that the template promises. In a cluster, addresses are checked when they are
// dialled, as are those of catalogs.
func (s *Server) behind(ctx context.Context, link, digest string) ([]*unstructured.Unstructured, error) {
	folder, err := os.MkdirTemp("", "kyma-link-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) // it is not needed again
	if s.options.Mode == ModeCluster {
		ctx = content.WithDialControl(ctx, communitycatalog.Control(false))
	}
	source := &content.LinkSource{Store: &content.Store{Dir: folder, Limits: linkedLimits}, URL: link, CA: s.options.linkCA, Timeout: linkTime}
	resolved, err := source.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	if digest != "" && resolved.Digest != digest {
		return nil, errors.New("its digest differs from the one in the template")
	}
	tree, err := source.Fetch(ctx, resolved)
	if err != nil {
		return nil, err
	}
	rendered, err := render.Raw{}.Render(ctx, tree, render.Input{})
	if err != nil {
		return nil, err
	}
	return slices.Concat(rendered.Steps...), nil
}

// notBehind returns why nothing was read, without the address: the user may not be allowed to see it.
func notBehind(template *v1beta2.ModuleTemplate, err error) error {
	if refused := communitycatalog.Undialled(err); refused != nil {
		err = refused
	}
	return fail(http.StatusBadGateway, WhyUnreachable, "and the link rawManifest of ModuleTemplate %s cannot be read: %s", template.Name,
		cause(err))
}

// schemaAmong returns the schema of a kind from the definitions among some objects.
func schemaAmong(
	objects []*unstructured.Unstructured, template *v1beta2.ModuleTemplate, kind schema.GroupVersionKind,
) (*apiextensionsv1.JSONSchemaProps, error) {
	for _, o := range objects {
		var definition apiextensionsv1.CustomResourceDefinition
		if o.GroupVersionKind() != definitionKind ||
			runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &definition) != nil ||
			definition.Spec.Group != kind.Group || definition.Spec.Names.Kind != kind.Kind {
			continue
		}
		if found := schemaIn(&definition, kind.Version); found != nil {
			return found, nil
		}
	}
	return nil, fail(http.StatusNotFound, WhyNotFound, "and what ModuleTemplate %s links to does not define %s", template.Name,
		fmt.Sprintf("%s in version %s", kind.GroupKind(), kind.Version))
}
