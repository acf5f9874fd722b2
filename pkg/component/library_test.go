package component_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/open-component-model/ocm/pkg/blobaccess"
	"github.com/open-component-model/ocm/pkg/common/accessio"
	"github.com/open-component-model/ocm/pkg/common/accessobj"
	"github.com/open-component-model/ocm/pkg/contexts/datacontext"
	"github.com/open-component-model/ocm/pkg/contexts/ocm"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/accessmethods/ociartifact"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	metav1 "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/meta/v1"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/cpi"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/repositories/ctf"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/repositories/ocireg"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// full returns a version that has everything that a version can have.
func full(version, schema string) component.Version {
	return component.Version{
		Name: name, Version: version, Provider: "example.org", Schema: schema,
		ProviderLabels: map[string]string{"kyma-project.io/built-by": "cli"},
		Labels:         map[string]string{"security.kyma-project.io/scan": "enabled"},
		MoreLabels:     []descriptor.Label{{Name: "example.org/list", Value: json.RawMessage(`["a"]`), Version: "v1"}},
		Sources: []component.Source{{
			RepoURL: "https://github.com/example/harbour", Commit: "0123456789012345678901234567890123456789", Ref: "refs/heads/main",
		}},
		Resources: []component.Resource{
			{Name: "raw-manifest", MediaType: component.MediaTypeTar, Data: component.Tar("m.yaml", []byte(manifest)), Labels: map[string]string{"b": "c", "a": "b"}},
			{Name: "default-cr", Data: []byte("kind: B"), Version: "0.1.0"},
			{Name: "again", Data: []byte("kind: B")},
			{Name: "operator", Image: "registry.example.org/harbour/operator:1.0.0", ImageDigest: "sha256:" + sha("image")},
		},
	}
}

// byLibrary writes the version with the OCM library alone.
func byLibrary(t *testing.T, repository ocm.Repository, v component.Version) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	opened, err := repository.LookupComponent(v.Name)
	must(err)
	defer func() { must(opened.Close()) }()
	draft, err := opened.NewVersion(v.Version, true)
	must(err)
	defer func() { must(draft.Close()) }()
	document := draft.GetDescriptor()
	*document = *compdesc.New(v.Name, v.Version)
	document.Metadata.ConfiguredVersion, document.Provider.Name = v.Schema, metav1.ProviderName(v.Provider)
	must(document.Provider.Labels.Set("kyma-project.io/built-by", "cli", metav1.WithSigning()))
	must(document.Labels.Set("security.kyma-project.io/scan", "enabled", metav1.WithSigning()))
	must(document.Labels.Set("example.org/list", []string{"a"}, metav1.WithVersion("v1")))
	source := compdesc.Source{SourceMeta: compdesc.SourceMeta{Type: "Github"}}
	source.Name, source.Version = "module-sources", v.Version
	must(source.Labels.Set("git.kyma-project.io/ref", v.Sources[0].Ref, metav1.WithSigning()))
	access, err := ocm.DefaultContext().AccessSpecForConfig([]byte(`{"type":"gitHub","repoUrl":"`+v.Sources[0].RepoURL+`","commit":"`+v.Sources[0].Commit+`"}`), nil)
	must(err)
	source.Access = access
	document.Sources = append(document.Sources, source)
	for _, r := range v.Resources[:3] {
		mediaType, kind := component.MediaTypeYAML, "PlainText"
		if r.MediaType != "" {
			mediaType, kind = r.MediaType, "directoryTree"
		}
		meta := cpi.NewResourceMeta(r.Name, kind, metav1.LocalRelation)
		if meta.Version = r.Version; r.Version == "" {
			meta.Version = v.Version
		}
		if len(r.Labels) > 0 {
			must(meta.Labels.Set("a", "b", metav1.WithSigning()))
			must(meta.Labels.Set("b", "c", metav1.WithSigning()))
		}
		must(draft.SetResourceBlob(meta, blobaccess.ForData(mediaType, r.Data), "", nil))
	}
	image := compdesc.Resource{ResourceMeta: *cpi.NewResourceMeta("operator", "ociImage", metav1.ExternalRelation), Access: ociartifact.New(v.Resources[3].Image)}
	image.Version = v.Version
	image.Digest = &metav1.DigestSpec{HashAlgorithm: "SHA-256", NormalisationAlgorithm: descriptor.DigestArtifact, Value: sha("image")}
	document.Resources = append(document.Resources, image)
	must(opened.AddVersion(draft, true))
}

// TestVersionsAreLaidOutAsTheLibraryDoes compares digests, so every byte of manifest, config and descriptor.
func TestVersionsAreLaidOutAsTheLibraryDoes(t *testing.T) {
	for _, schema := range []string{descriptor.SchemaV2, descriptor.SchemaV3Alpha1} {
		for _, version := range []string{"1.0.0", "2.0.0-rc.1+build.5"} {
			t.Run(schema+" "+version, func(t *testing.T) {
				theirs, ours := serve(t), serve(t)
				library := ocm.New(datacontext.MODE_DEFAULTED)
				spec := ocireg.NewRepositorySpec("http://"+theirs.Host, ocireg.NewComponentRepositoryMeta("", ocireg.OCIRegistryURLPathMapping))
				repository, err := library.RepositoryForSpec(spec)
				if err != nil {
					t.Fatal(err)
				}
				byLibrary(t, repository, full(version, schema))
				if err := repository.Close(); err != nil {
					t.Fatal(err)
				}
				want, err := theirs.reader().GetDocument(t.Context(), name, version)
				if err != nil {
					t.Fatal(err)
				}
				pushed := push(t, ours.Registry, full(version, schema))
				built, err := component.Build(t.Context(), filepath.Join(t.TempDir(), "a.ctf"), full(version, schema))
				if err != nil || pushed != want.Digest || built != want.Digest {
					got, _ := ours.reader().GetDocument(t.Context(), name, version)
					t.Errorf("the library gives %s, Push %s, Build %s, error %v\n%s\n%s\n%s\n%s", want.Digest, pushed, built, err, want.Text, got.Text, want.Manifest, got.Manifest)
				}
			})
		}
	}
}

// TestLibrary_TheLibraryReadsOurArchives opens archives of every form with the library, those with images beside the components too.
func TestLibrary_TheLibraryReadsOurArchives(t *testing.T) {
	from, version := serve(t), harbour("1.0.0+build.1")
	version.Resources = append(version.Resources, component.Resource{Name: "operator", Image: from.image(t)})
	push(t, from.Registry, version)
	for _, file := range []string{"a.ctf", "a.tar", "a.tgz"} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), file)
			if _, err := component.Copy(t.Context(), at(from.Registry, version.Version), component.Ref{Path: path}, component.CopyOptions{Images: true}); err != nil {
				t.Fatal(err)
			}
			repository, err := ctf.Open(ocm.New(datacontext.MODE_DEFAULTED), accessobj.ACC_READONLY, path, 0, accessio.PathFileSystem(nil))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = repository.Close() }()
			found, err := repository.LookupComponentVersion(name, version.Version)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = found.Close() }()
			resource, err := found.GetResource(metav1.NewIdentity("raw-manifest"))
			if err != nil {
				t.Fatal(err)
			}
			method, err := resource.AccessMethod()
			if err != nil {
				t.Fatal(err)
			}
			if data, err := method.Get(); err != nil || string(data) != manifest {
				t.Errorf("the library reads %q, error %v", data, err)
			}
			names, err := repository.ComponentLister().GetComponents("", true)
			if err != nil || !slices.Contains(names, name) {
				t.Errorf("the library lists %v, error %v", names, err)
			}
		})
	}
}

// at names the version of harbour in a registry.
func at(registry component.Registry, version string) component.Ref {
	return component.Ref{Registry: &registry, Name: name, Version: version}
}
