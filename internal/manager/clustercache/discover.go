package clustercache

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unique"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubeaware "k8s.io/apimachinery/pkg/version"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

const (
	// maxDiscovery is some ten times the discovery document of clusters with hundreds of CustomResourceDefinitions.
	maxDiscovery = 8 << 20
	// maxGroups bounds the calls to an API server without aggregated discovery.
	maxGroups = 500
	// maxNameLength is the longest name of a group, a version or a kind that API servers allow. A longer one is left out: the result is cached
	// for as long as the connection exists, and returned to every caller.
	maxNameLength = 253

	// acceptDiscovery requests aggregated discovery; API servers without it respond with their groups only.
	acceptDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)

// discoveryBuilder collects all that a runtime serves.
type discoveryBuilder struct {
	apis   []string
	kinds  []apply.KindResource
	failed []string
	taken  map[schema.GroupResource]bool // in kinds
}

// wireDiscovery is any of the documents at /api and /apis.
type wireDiscovery struct {
	Kind     string                             `json:"kind"`
	Items    []apidiscoveryv2.APIGroupDiscovery `json:"items"`    // APIGroupDiscoveryList
	Versions []string                           `json:"versions"` // APIVersions
	Groups   []metav1.APIGroup                  `json:"groups"`   // APIGroupList
}

// discover makes the calls: two, or one more for every group and version of an API server without aggregated discovery.
func (r *Runtime) discover(ctx context.Context) (*discoveryBuilder, error) {
	found := &discoveryBuilder{taken: make(map[schema.GroupResource]bool)}
	for _, root := range []string{"api", "apis"} {
		at := r.conn.base.JoinPath(root)
		data, err := r.fetch(ctx, at, acceptDiscovery)
		if err != nil {
			return nil, err
		}
		var list wireDiscovery
		if err := wire.ReadValue(data, &list); err != nil {
			return nil, fmt.Errorf("what the %s serves at %s cannot be read: %w", r.conn.target, at.Path, err)
		}
		switch list.Kind {
		case "APIGroupDiscoveryList":
			found.groups(list.Items)
		case "APIVersions", "APIGroupList":
			err = r.discoverEach(ctx, found, list.versions())
		default:
			err = fmt.Errorf("what the %s serves at %s is told in a %.50q, which is unknown", r.conn.target, at.Path, list.Kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// discoverEach requests the resources of each group and version.
func (r *Runtime) discoverEach(ctx context.Context, found *discoveryBuilder, versions []schema.GroupVersion) error {
	if len(versions) > maxGroups {
		return fmt.Errorf("the %s tells of %d groups and versions; more than %d are not asked for", r.conn.target, len(versions), maxGroups)
	}
	for _, gv := range versions {
		list, err := r.discovery(ctx, gv)
		switch class := apply.Classify(err); {
		case err == nil:
			found.version(gv)
			for i := range list {
				found.resource(gv, list[i].Name, list[i].Kind, list[i].Namespaced, list[i].Verbs)
			}
		case ctx.Err() == nil && !isConnectFailure(err) && (class == apply.ClassKindUnknown || class == apply.ClassUnreachable):
			found.failed = append(found.failed, gv.String())
		default:
			return err
		}
	}
	return nil
}

// versions returns the versions of a legacy document, in its order, which begins with the preferred version of a group.
func (d *wireDiscovery) versions() []schema.GroupVersion {
	var all []schema.GroupVersion
	for _, version := range d.Versions {
		all = append(all, schema.GroupVersion{Version: version})
	}
	for i := range d.Groups {
		for _, version := range d.Groups[i].Versions {
			all = append(all, schema.GroupVersion{Group: d.Groups[i].Name, Version: version.Version})
		}
	}
	return all
}

// groups adds an aggregated document.
func (o *discoveryBuilder) groups(groups []apidiscoveryv2.APIGroupDiscovery) {
	for i := range groups {
		for _, version := range groups[i].Versions {
			gv := schema.GroupVersion{Group: groups[i].Name, Version: version.Version}
			if len(gv.Group) > maxNameLength || len(gv.Version) > maxNameLength {
				continue
			}
			if version.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				o.failed = append(o.failed, gv.String())
				continue
			}
			o.version(gv)
			for _, resource := range version.Resources {
				if kind := resource.ResponseKind; kind != nil {
					o.resource(gv, resource.Resource, kind.Kind, resource.Scope == apidiscoveryv2.ScopeNamespace, resource.Verbs)
				}
				for _, sub := range resource.Subresources {
					if sub.ResponseKind != nil {
						o.resource(gv, resource.Resource+"/"+sub.Subresource, sub.ResponseKind.Kind, false, nil)
					}
				}
			}
		}
	}
}

func (o *discoveryBuilder) version(gv schema.GroupVersion) { o.apis = append(o.apis, gv.String()) }

// resource adds one resource. Versions come in the order in which the API server prefers them, so the first one counts.
func (o *discoveryBuilder) resource(gv schema.GroupVersion, name, kind string, namespaced bool, verbs []string) {
	if kind == "" || len(kind) > maxNameLength || len(name) > 2*maxNameLength {
		return
	}
	o.apis = append(o.apis, gv.String()+"/"+kind)
	gr := schema.GroupResource{Group: gv.Group, Resource: name}
	if strings.Contains(name, "/") || o.taken[gr] || !slices.Contains(verbs, "list") || !slices.Contains(verbs, "delete") {
		return
	}
	o.taken[gr] = true
	o.kinds = append(o.kinds, apply.KindResource{
		Kind: kind, Resource: apply.Resource{GroupVersionResource: gv.WithResource(name), Namespaced: namespaced},
	})
}

// document packs an offer. A group whose server does not respond now is not removed: what was known of it stays.
func (o *discoveryBuilder) buildResult(last *discoveryResult) *discoveryResult {
	for _, gv := range o.failed {
		o.apis = append(o.apis, gv)
		if last == nil {
			continue
		}
		for api := range strings.SplitSeq(last.apis.Value(), "\n") {
			if strings.HasPrefix(api, gv+"/") {
				o.apis = append(o.apis, api)
			}
		}
	}
	slices.Sort(o.apis)
	slices.Sort(o.failed)
	return &discoveryResult{
		apis: unique.Make(strings.Join(slices.Compact(o.apis), "\n")), kinds: unique.Make(text(o.kinds)), failed: o.failed,
	}
}

// newest returns the version that Kubernetes would prefer.
func newest(versions []string) string {
	return slices.MaxFunc(versions, kubeaware.CompareKubeAwareVersionStrings)
}

// fetch reads a response of limited length.
func (r *Runtime) fetch(ctx context.Context, at *url.URL, accept string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, h2stream.CallTimeout)
	defer cancel()
	resp, err := r.call(ctx, at, nil, http.Header{"Accept": {accept}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(&capped{ReadCloser: resp.Body, left: maxDiscovery})
}
