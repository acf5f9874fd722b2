package modulestatus

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestNamespaces_WhichNamespaceOffersAModule(t *testing.T) {
	for name, c := range map[string]struct {
		choice     Choice
		namespaces string
		want       string
		err        string // words of the error
	}{
		"the only one":                              {Choice{}, "shop", "shop", ""},
		"the runtime's catalog before a tenant":     {Choice{}, "aaa kcp-system kyma-system tenant", "kyma-system", ""},
		"the hub's before a tenant":                 {Choice{}, "aaa kcp-system tenant", "kcp-system", ""},
		"two tenants are ambiguous":                 {Choice{}, "shop tenant", "", "offered from namespaces shop, tenant"},
		"the one that is named":                     {Choice{Named: "tenant"}, "kyma-system shop tenant", "tenant", ""},
		"a named one without templates":             {Choice{Named: "x"}, "shop tenant", "", "namespace x has no ModuleTemplate of module notes; it is offered from namespaces shop, tenant"},
		"the one it came from, despite others":      {Choice{Before: "shop"}, "kyma-system shop tenant", "shop", ""},
		"the one it came from, which has none left": {Choice{Before: "shop"}, "kyma-system", "", "came from namespace shop, which has no ModuleTemplate of it any more"},
		"the named one takes precedence":            {Choice{Named: "tenant", Before: "shop"}, "shop tenant", "tenant", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.choice.Among("notes", strings.Fields(c.namespaces))
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %q and %v, want %q and %q", got, err, c.want, c.err)
			}
		})
	}
	if got, err := (Choice{}).Among("notes", []string{"", "kyma-system"}); got != "" || err != nil {
		t.Errorf("what lies in no namespace was asked for: got %q, %v", got, err)
	}
}

func TestNamespaces_TheReleaseOfATemplateIsBesideIt(t *testing.T) {
	release := func(namespace string) v1beta2.ModuleReleaseMeta {
		return v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "notes"}}
	}
	other := v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}}
	for name, c := range map[string]struct {
		namespace string
		releases  []v1beta2.ModuleReleaseMeta
		want      string // its namespace; - for none
		ambiguous bool
	}{
		"the one of its namespace":                 {"shop", []v1beta2.ModuleReleaseMeta{release("tenant"), release("shop")}, "shop", false},
		"not that of another namespace":            {"shop", []v1beta2.ModuleReleaseMeta{release("tenant"), other}, "-", false},
		"of a file: that of the catalog":           {"", []v1beta2.ModuleReleaseMeta{release("kcp-system"), release("")}, "", false},
		"of a file: that of the administrators":    {"", []v1beta2.ModuleReleaseMeta{release("tenant"), release("kcp-system")}, "kcp-system", false},
		"of a file: none where there is none":      {"", []v1beta2.ModuleReleaseMeta{other}, "-", false},
		"of a file: two of which neither is usual": {"", []v1beta2.ModuleReleaseMeta{release("shop"), release("tenant")}, "-", true},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := ReleaseOf("notes", c.namespace, c.releases)
			_, ambiguous := errors.AsType[*AmbiguousError](err)
			got := "-"
			if found != nil {
				got = found.Namespace
			}
			if got != c.want || ambiguous != c.ambiguous {
				t.Errorf("got %q and %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestNamespaces_ATenantOffersNoUpgrade covers a module that is installed directly from one namespace while another one offers a higher
// version.
func TestNamespaces_ATenantOffersNoUpgrade(t *testing.T) {
	offered := func(namespace, version string) v1beta2.ModuleTemplate {
		made := template("notes", version)
		made.Namespace = namespace
		return made
	}
	record := Direct{Module: "notes", DirectNote: DirectNote{
		Version: "1.0.0", Complete: true, Template: Key{Namespace: "shop", Name: "notes-1.0.0"},
	}}
	for name, c := range map[string]struct {
		templates []v1beta2.ModuleTemplate
		want      string
	}{
		"a higher version elsewhere":          {[]v1beta2.ModuleTemplate{offered("shop", "1.0.0"), offered("tenant", "99.0.0")}, "1.0.0"},
		"a higher version where it came from": {[]v1beta2.ModuleTemplate{offered("shop", "1.1.0"), offered("tenant", "99.0.0")}, "1.1.0"},
		"nothing left where it came from":     {[]v1beta2.ModuleTemplate{offered("tenant", "99.0.0")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := Inputs{Templates: c.templates, Direct: []Direct{record}}
			modules := Modules(in)
			if len(modules) != 1 || modules[0].Version.Available != c.want {
				t.Errorf("available is %+v, want %q", modules, c.want)
			}
		})
	}
}
