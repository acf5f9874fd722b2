package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// offeredResource is how an available version is configured: its default custom resource, and the schema of its kind.
type offeredResource struct {
	Version string         `json:"version"`
	Default map[string]any `json:"default"`
	// Schema is the schema of the kind, From is where it was read, and Reason is why there is none.
	Schema *apiextensionsv1.JSONSchemaProps `json:"schema"`
	From   schemaFrom                       `json:"from,omitempty"`
	Reason string                           `json:"reason,omitempty"`
}

// schemaFrom is where a schema was read from.
type schemaFrom string

const (
	// fromCluster means that the cluster already serves the kind.
	fromCluster schemaFrom = "cluster"
	// fromLink means that the schema is in the content that the version would install.
	fromLink schemaFrom = "link"
)

// offeredResource answers GET /api/v1/catalog/{name}/resource?version=&namespace=&source=&kyma=.
func (s *Server) offeredResource(ctx context.Context, u *User, r *http.Request) (any, error) {
	_, template, kyma, err := s.offerIn(ctx, u, r)
	if err != nil {
		return nil, err
	}
	is := offeredResource{Version: template.ModuleVersion()}
	if template.Spec.Data == nil {
		is.Reason = noResource
		return is, nil
	}
	is.Default = template.Spec.Data.Object
	kind := template.Spec.Data.GroupVersionKind()
	var missing string
	if is.Schema, missing, err = s.servedSchema(ctx, u, kyma, kind); err != nil {
		missing = problemOf(acted(err)).Message
	}
	if is.Schema != nil {
		is.From = fromCluster
		return is, nil
	}
	if is.Schema, err = s.linkedSchema(ctx, u, template, kind); err != nil {
		is.Reason = missing + "; " + problemOf(err).Message
		return is, nil // a form can be filled in without a schema
	}
	is.From = fromLink
	return is, nil
}

// offerIn returns what a request with the parameters version, namespace, source and kyma is about: an offer of the catalog, and a Kyma
// where one is named.
func (s *Server) offerIn(ctx context.Context, u *User, r *http.Request) (*snapshot, *v1beta2.ModuleTemplate, *v1beta2.Kyma, error) {
	query := r.URL.Query()
	if err := known(query, "version", "namespace", "source", "kyma"); err != nil {
		return nil, nil, nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, nil, nil, err
	}
	template, err := s.chosenTemplate(ctx, u, now, r.PathValue("name"), query)
	if err != nil {
		return nil, nil, nil, err
	}
	kyma, err := now.kymaOf(u, query.Get("kyma"))
	return now, template, kyma, err
}

// chosenTemplate returns the ModuleTemplate of what the parameters source, namespace and version choose.
func (s *Server) chosenTemplate(
	ctx context.Context, u *User, now *snapshot, name string, query url.Values,
) (*v1beta2.ModuleTemplate, error) {
	source, version := query.Get("source"), query.Get("version")
	if source == "" {
		return now.templateOf(u, name, query.Get("namespace"), version)
	}
	from, err := s.sourceNamed(ctx, u, source)
	if err != nil {
		return nil, err
	}
	if found := from.template(name, version); found != nil {
		return found, nil
	}
	return nil, fail(http.StatusNotFound, WhyNotFound, "there is no version %s of module %s in source %s",
		clip(version, 100), clip(name, 100), from.Name)
}

// templateOf returns the ModuleTemplate of an available version, or of the newest one if none is named. If a namespace is named, it must
// be there.
func (s *snapshot) templateOf(u *User, name, namespace, version string) (*v1beta2.ModuleTemplate, error) {
	offer, err := s.offered(u, name, namespace)
	if err != nil {
		return nil, err
	}
	name, version = clip(name, 100), clip(version, 100)
	if namespace != "" && offer.Namespace != namespace {
		return nil, fail(http.StatusNotFound, WhyNotFound, "there is no module %s in namespace %s of the catalog", name, clip(namespace, 100))
	}
	for i := range offer.Versions {
		if v := &offer.Versions[i]; version == "" || v.Version == version {
			return s.templateAt(v.Template), nil
		}
	}
	if version == "" {
		return nil, fail(http.StatusNotFound, WhyNotFound, "no version of module %s is available: there is no ModuleTemplate of it", name)
	}
	return nil, fail(http.StatusNotFound, WhyNotFound, "there is no version %s of module %s in the catalog", version, name)
}

// templateAt returns one of the templates that were read.
func (s *snapshot) templateAt(at modulestatus.Key) *v1beta2.ModuleTemplate {
	for i := range s.in.Templates {
		if t := &s.in.Templates[i]; t.Namespace == at.Namespace && t.Name == at.Name {
			return t
		}
	}
	return &v1beta2.ModuleTemplate{} // not reached: offers are made of these templates
}

// kymaOf returns a Kyma by namespace/name; nil if none is named.
func (s *snapshot) kymaOf(u *User, name string) (*v1beta2.Kyma, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // a module can be obtained without a Kyma
	}
	for i := range s.in.Kymas {
		if k := &s.in.Kymas[i]; (modulestatus.Key{Namespace: k.Namespace, Name: k.Name}).String() == name {
			return k, nil
		}
	}
	if s.forbiddenKind("Kyma") {
		return nil, mayNotRead(u, "Kyma "+clip(name, 200))
	}
	return nil, fail(http.StatusNotFound, WhyNotFound, "there is no Kyma %s", clip(name, 200))
}

// servedSchema returns the schema of a kind in the cluster that the module would be installed in; without a Kyma, that is this cluster.
// missing is the reason why there is none.
func (s *Server) servedSchema(
	ctx context.Context, u *User, kyma *v1beta2.Kyma, kind schema.GroupVersionKind,
) (found *apiextensionsv1.JSONSchemaProps, missing string, err error) {
	from, err := s.runtimeOf(ctx, u, kyma)
	if err != nil {
		return nil, "", err
	}
	of, err := recalled(ctx, u, "schema "+keyOfKyma(kyma)+" "+kind.String(), func(ctx context.Context) (schemaRead, error) {
		return servedIn(ctx, from, kind)
	})
	return of.schema, of.missing, err
}

func keyOfKyma(kyma *v1beta2.Kyma) string {
	if kyma == nil {
		return ""
	}
	return kyma.Namespace + "/" + kyma.Name
}

// schemaRead is a schema, or the reason why there is none.
type schemaRead struct {
	schema  *apiextensionsv1.JSONSchemaProps
	missing string
}

func servedIn(ctx context.Context, from client.Client, kind schema.GroupVersionKind) (schemaRead, error) {
	mapping, err := from.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return schemaRead{missing: fmt.Sprintf("the cluster does not know %s in version %s yet", kind.GroupKind(), kind.Version)}, nil
	}
	if err != nil {
		return schemaRead{}, err
	}
	found := schemaRead{schema: schemaOf(ctx, from, mapping)}
	if found.schema == nil {
		found.missing = fmt.Sprintf("the definition of %s has no schema, or you may not read it", kind.GroupKind())
	}
	return found, nil
}
