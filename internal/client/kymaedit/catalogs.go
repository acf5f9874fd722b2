package kymaedit

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Catalogs are the catalogs for many Kymas, by namespace.
type Catalogs map[string]*KymaContext

// LoadCatalogs reads the catalogs of some namespaces by two requests: that of the only one, or those of all namespaces of the cluster.
func LoadCatalogs(ctx context.Context, reader client.Reader, namespaces []string) (Catalogs, error) {
	var options []client.ListOption
	if len(namespaces) == 1 {
		options = append(options, client.InNamespace(namespaces[0]))
	}
	releases, templates, err := readCatalog(ctx, reader, options...)
	if err != nil {
		return nil, err
	}
	catalogs := Catalogs{}
	for _, namespace := range namespaces {
		catalogs[namespace] = &KymaContext{}
	}
	for i := range releases {
		if catalog := catalogs[releases[i].Namespace]; catalog != nil {
			catalog.Releases = append(catalog.Releases, releases[i])
		}
	}
	for i := range templates {
		if catalog := catalogs[templates[i].Namespace]; catalog != nil {
			catalog.Templates = append(catalog.Templates, templates[i])
		}
	}
	for _, catalog := range catalogs {
		catalog.Offers = Offers(catalog.Releases, catalog.Templates)
	}
	return catalogs, nil
}

// ContextOf returns the context of a Kyma, with the catalog of its namespace if that was loaded.
func (c Catalogs) ContextOf(kyma *v1beta2.Kyma) KymaContext {
	s := StandOf(kyma)
	if catalog := c[kyma.Namespace]; catalog != nil {
		s.Releases, s.Templates, s.Offers = catalog.Releases, catalog.Templates, catalog.Offers
	}
	return s
}

// readCatalog lists releases and templates. A cluster that does not serve one of the kinds has no objects of it.
func readCatalog(
	ctx context.Context, reader client.Reader, options ...client.ListOption,
) ([]v1beta2.ModuleReleaseMeta, []v1beta2.ModuleTemplate, error) {
	var releases v1beta2.ModuleReleaseMetaList
	var templates v1beta2.ModuleTemplateList
	for _, list := range []client.ObjectList{&releases, &templates} {
		if err := reader.List(ctx, list, options...); err != nil && !unserved(err) {
			return nil, nil, err
		}
	}
	return releases.Items, templates.Items, nil
}
