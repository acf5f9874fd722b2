package modulecontent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

func manifestOf(sources ...string) *v1beta2.Manifest {
	m := manifest.DeepCopy()
	m.Spec.Install = v1beta2.InstallInfo{Name: "first", Source: runtime.RawExtension{Raw: []byte(sources[0])}}
	for i, source := range sources[1:] {
		m.Spec.AdditionalInstalls = append(m.Spec.AdditionalInstalls, v1beta2.InstallInfo{
			Name: []string{"second", "third"}[i], Source: runtime.RawExtension{Raw: []byte(source)},
		})
	}
	return m
}

func TestSourcesAreNamedWithoutACall(t *testing.T) {
	f := startRegistry(t)
	m := manifestOf(
		`{"repo":"registry.example.com/components","name":"sample","ref":"sha256:`+zeros+`","type":"oci-dir"}`,
		`{"url":"https://charts.example.com/stable","chartName":"mysql","version":"^1.2"}`,
		`{"git":{"url":"https://git.example.com/a.git","ref":{"tag":"v1"}},"type":"kustomize","path":"overlays/a"}`,
	)
	m.Spec.CRDs = &v1beta2.ImageSpec{Repo: "registry.example.com/components", Name: "crds", Ref: "sha256:" + zeros}
	m.Spec.Config = &v1beta2.ImageSpec{Repo: "registry.example.com/components", Name: "config", Ref: "sha256:" + zeros}
	sources, err := f.objects(t).Sources(m)
	if err != nil {
		t.Fatal(err)
	}
	want := []v1beta2.ResolvedSource{
		{Name: "spec.config", Reference: "registry.example.com/components/config@sha256:" + zeros},
		{Name: "spec.crds", Reference: "registry.example.com/components/crds@sha256:" + zeros},
		{Name: "first", Reference: "registry.example.com/components/sample@sha256:" + zeros},
		{Name: "second", Reference: "https://charts.example.com/stable chart mysql version ^1.2"},
		{Name: "third", Reference: "https://git.example.com/a.git tag v1"},
	}
	if diff := cmp.Diff(want, sources); diff != "" || f.requests.Load() != 0 {
		t.Errorf("%d requests, differs (-want +got):\n%s", f.requests.Load(), diff)
	}
}

func TestSourcesThatAreRefused(t *testing.T) {
	layer := `"repo":"registry.example.com/a","ref":"sha256:` + zeros + `"`
	for name, test := range map[string]struct {
		manifest        *v1beta2.Manifest
		reason, message string
	}{
		"one that is not JSON":            {manifestOf(`nonsense`), content.ReasonSourceInvalid, "spec.install.source cannot be read"},
		"one without a place":             {manifestOf(`{"type":"bundle"}`), content.ReasonSourceInvalid, "names 0 places"},
		"one with two places":             {manifestOf(`{` + layer + `,"image":"a.example.com/b:1"}`), content.ReasonSourceInvalid, "names 2 places [repo image]"},
		"one with a misspelt field":       {manifestOf(`{` + layer + `,"digest":"x"}`), content.ReasonSourceInvalid, "spec.install.source.digest is not known"},
		"a field of another place":        {manifestOf(`{"image":"a.example.com/b:1","chartName":"c"}`), content.ReasonSourceInvalid, "source.chartName is not known"},
		"an unknown type":                 {manifestOf(`{` + layer + `,"type":"riddle"}`), v1beta2.ReasonSourceUnsupported, `"riddle"`},
		"a chart without its name":        {manifestOf(`{"url":"https://charts.example.com"}`), content.ReasonSourceInvalid, "chartName is missing"},
		"a url with a login":              {manifestOf(`{"url":"https://me:s3cret@charts.example.com","chartName":"c"}`), content.ReasonSourceInvalid, "credSecretSelector"},
		"a url with a token":              {manifestOf(`{"url":"https://s3cret@charts.example.com","chartName":"c"}`), content.ReasonSourceInvalid, "credSecretSelector"},
		"a signed url of another kind":    {manifestOf(`{"url":"ftp://charts.example.com?sig=s3cret","chartName":"c"}`), content.ReasonSourceInvalid, "scheme"},
		"a signed url without a chart":    {manifestOf(`{"url":"https://charts.example.com?sig=s3cret"}`), content.ReasonSourceInvalid, "chartName is missing"},
		"a url of another kind":           {manifestOf(`{"url":"ftp://charts.example.com","chartName":"c"}`), content.ReasonSourceInvalid, `scheme "ftp"`},
		"a git ref with a typo":           {manifestOf(`{"git":{"url":"https://git.example.com/a.git","ref":{"tga":"v1"}}}`), content.ReasonSourceInvalid, "tga"},
		"a kustomization by url alone":    {manifestOf(`{"url":"https://git.example.com/a.git","type":"kustomize"}`), content.ReasonSourceInvalid, "version"},
		"no ConfigMap":                    {manifestOf(`{"configMaps":[]}`), content.ReasonSourceInvalid, "0 entries"},
		"a ConfigMap path that leads out": {manifestOf(`{"configMaps":[{"name":"a","path":"../b"}]}`), content.ReasonSourceInvalid, "a relative path without .."},
		"two installations of one name":   {sameNames(manifestOf(`{`+layer+`}`, `{`+layer+`}`)), content.ReasonSourceInvalid, `"first" is taken`},
		"a reserved name":                 {renamed(manifestOf(`{`+layer+`}`), PartCRDs), content.ReasonSourceInvalid, `"spec.crds" is taken`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := startRegistry(t).objects(t).Sources(test.manifest)
			if content.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %s with %q", err, test.reason, test.message)
			}
		})
	}
}

func sameNames(m *v1beta2.Manifest) *v1beta2.Manifest {
	m.Spec.AdditionalInstalls[0].Name = m.Spec.Install.Name
	return m
}

func renamed(m *v1beta2.Manifest, name string) *v1beta2.Manifest {
	m.Spec.Install.Name = name
	return m
}

func TestValuesAndConfigThatNobodyTakesAreRefused(t *testing.T) {
	f := startRegistry(t)
	for name, test := range map[string]struct {
		config, values, message string
	}{
		"values without a chart":               {values: `{"replicas":2}`, message: "spec.values: no installation takes values"},
		"values for plain YAML":                {config: "configs: [{name: first, values: {a: b}}]", message: "values, overrides and ReleaseName are for charts"},
		"overrides for plain YAML":             {config: "configs: [{name: first, overrides: 'a=b'}]", message: "values, overrides and ReleaseName are for charts"},
		"a config for an unknown installation": {config: "configs: [{name: other, clientConfig: Namespace=a}]", message: `installation "other"`},
		"an invalid config":                    {config: "configs: 5", message: "configs"},
	} {
		t.Run(name, func(t *testing.T) {
			source := f.source(t, configMap)
			m := manifestOf(encode(t, source))
			if test.values != "" {
				m.Spec.Values = &runtime.RawExtension{Raw: []byte(test.values)}
			}
			if test.config != "" {
				layer := f.source(t, test.config)
				m.Spec.Config = &layer
			}
			_, err := f.objects(t).Read(t.Context(), m, noCluster)
			if content.ReasonOf(err) != content.ReasonValuesInvalid || !strings.Contains(err.Error(), test.message) {
				t.Errorf("error %v, want %q", err, test.message)
			}
		})
	}
}

func TestParts_WhatWasResolvedOnceStays(t *testing.T) {
	f := startRegistry(t)
	registries := content.Registries{PlainHTTP: func(string) bool { return true }}
	image := f.host + "/bundles/sample:latest"
	push := func(name string) string {
		t.Helper()
		files := []content.File{{Path: "manifests/a.yaml", Data: []byte(strings.ReplaceAll(configMap, "sample", name))}}
		digest, err := registries.PushImage(t.Context(), image, files)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	old := push("old")
	contents, m := f.objects(t), manifestOf(`{"image":"`+image+`"}`)
	parts, err := contents.Read(t.Context(), m, noCluster)
	if err != nil || parts[0].Source.Digest != old {
		t.Fatalf("parts %+v, error %v", parts, err)
	}
	m.Status.Resolved = []v1beta2.ResolvedSource{parts[0].Source}
	moved := push("new")
	if parts, err = contents.Read(t.Context(), m, noCluster); err != nil || parts[0].Rendered.Objects()[0].GetName() != "old" {
		t.Errorf("a tag that moved is followed: %+v, error %v", parts, err)
	}
	if now, err := contents.Current(t.Context(), m, "first"); err != nil || now.Digest != moved {
		t.Errorf("current is %+v, error %v, want %s", now, err, moved)
	}
	resolved, tree, err := contents.Files(t.Context(), m, "first")
	if err != nil || resolved.Digest != old || len(tree.Files) != 1 || tree.Files[0].Path != "manifests/a.yaml" {
		t.Errorf("files of %+v: %+v, error %v", resolved, tree, err)
	}
}

func TestParts_TheConfigOfAModuleMayUseItsName(t *testing.T) {
	f := startRegistry(t)
	for name, test := range map[string]struct{ install, entry, reason string }{
		"the name that every module has":             {rawManifest, rawManifest, ""},
		"the module's own name":                      {rawManifest, "lantern", ""},
		"the module's name for another installation": {"other", "lantern", content.ReasonValuesInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			m := renamed(manifestOf(encode(t, f.source(t, configMap))), test.install)
			m.Labels = map[string]string{v1beta2.LabelModuleName: "lantern"}
			layer := f.source(t, "configs: [{name: "+test.entry+", clientConfig: Namespace=own}]")
			m.Spec.Config = &layer
			parts, err := f.objects(t).Read(t.Context(), m, noCluster)
			if content.ReasonOf(err) != test.reason || err == nil && parts[1].Namespace != "own" {
				t.Errorf("parts %+v, error %v", parts, err)
			}
		})
	}
}
