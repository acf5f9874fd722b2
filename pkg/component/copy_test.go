package component_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	imagename "github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sync/errgroup"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// index puts an image for two platforms into the registry, under a tag.
func (s *served) index(t *testing.T, path string) (image, digest string) {
	t.Helper()
	made, err := random.Index(100_000, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := imagename.ParseReference(s.Host+"/"+path, imagename.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(reference, made); err != nil {
		t.Fatal(err)
	}
	hash, err := made.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return s.Host + "/" + path, hash.String()
}

// mustPull reads an image or an index with all its layers, by the tag and by the digest.
func mustPull(t *testing.T, reference, digest string) {
	t.Helper()
	parsed, err := imagename.ParseReference(reference, imagename.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	found, err := remote.Get(parsed)
	if err != nil || found.Digest.String() != digest {
		t.Fatalf("%s is %v, want %s, error %v", reference, found, digest, err)
	}
	images := 1
	if found.MediaType.IsIndex() {
		index, err := found.ImageIndex()
		if err != nil {
			t.Fatal(err)
		}
		list, err := index.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		images = len(list.Manifests)
		for _, entry := range list.Manifests {
			one, err := index.Image(entry.Digest)
			if err != nil {
				t.Fatal(err)
			}
			mustHold(t, one)
		}
	} else {
		one, err := found.Image()
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, one)
	}
	if images == 0 {
		t.Error("the index is empty")
	}
}

func mustHold(t *testing.T, image v1.Image) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) == 0 {
		t.Fatalf("%d layers, error %v", len(layers), err)
	}
	for _, layer := range layers {
		content, err := layer.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, content); err != nil { // which verifies the digest
			t.Error(err)
		}
	}
}

func doCopy(t *testing.T, from, to component.Ref, opts component.CopyOptions) component.CopyReport {
	t.Helper()
	report, err := component.Copy(t.Context(), from, to, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestCopy_ACopyHasTheSameDigestEverywhere(t *testing.T) {
	from, to := serve(t), serve(t)
	to.SubPath, to.Mapping = "mirror", descriptor.SHA256
	want := push(t, from.Registry, full("1.0.0+build.1", ""))
	dir := t.TempDir()
	ref := at(from.Registry, "1.0.0+build.1")
	for i, next := range []component.Ref{
		{Path: filepath.Join(dir, "a.ctf")}, {Path: filepath.Join(dir, "b.tgz")}, at(to.Registry, ""), {Path: filepath.Join(dir, "c.tar")}, {Path: filepath.Join(dir, "d")},
	} {
		for again := range 2 {
			report := doCopy(t, ref, next, component.CopyOptions{})
			if report.Digest != want || report.Changed == (again == 1) {
				t.Errorf("copy %d.%d gives %+v, want digest %s", i, again, report, want)
			}
			next = report.Ref
		}
		if got := blob(t, next, "default-cr"); got != "kind: B" {
			t.Errorf("default-cr is %q in %s", got, next)
		}
		ref = next
	}
	if _, err := to.reader().Get(t.Context(), name, "1.0.0+build.1"); err != nil {
		t.Error(err)
	}
}

func TestCopy_OtherContentIsNotCopiedOver(t *testing.T) {
	from, to := serve(t), serve(t)
	other := harbour("1.0.0")
	other.Resources[0].Data = []byte("other")
	offered := push(t, from.Registry, other)
	there := push(t, to.Registry, harbour("1.0.0"))
	file := component.Ref{Path: filepath.Join(t.TempDir(), "a.tgz")}
	build(t, file.Path, harbour("1.0.0"))
	for _, target := range []component.Ref{at(to.Registry, "1.0.0"), file} {
		_, err := component.Copy(t.Context(), at(from.Registry, "1.0.0"), target, component.CopyOptions{})
		var conflict *component.ConflictError
		if !errors.As(err, &conflict) || conflict.Digest != there || conflict.OfferedDigest != offered {
			t.Fatalf("%s: error %v", target, err)
		}
		report := doCopy(t, at(from.Registry, "1.0.0"), target, component.CopyOptions{Overwrite: true})
		if !report.Changed || report.Digest != offered {
			t.Errorf("%s: %+v", target, report)
		}
		if got := blob(t, report.Ref, "raw-manifest"); got != "other" {
			t.Errorf("%s has %q", target, got)
		}
	}
	if _, err := component.Copy(t.Context(), at(from.Registry, "1.0.0"), component.Ref{Path: file.Path, Name: name, Version: "2.0.0"}, component.CopyOptions{}); err == nil {
		t.Error("a copy got another version")
	}
}

// TestAcrossAnAirGap goes from a registry to an archive and on to another registry, while the first one is gone.
func TestAcrossAnAirGap(t *testing.T) {
	for _, file := range []string{"a.ctf", "a.tar", "a.tgz"} {
		t.Run(file, func(t *testing.T) {
			from, to := serve(t), serve(t)
			to.SubPath = "inside"
			version := harbour("1.0.0")
			tagged, indexDigest := from.index(t, "team/operator:1.0.0")
			byDigest, otherDigest := from.index(t, "other/job:2")
			byDigest = strings.TrimSuffix(byDigest, ":2") + "@" + otherDigest
			plain := from.image(t)
			version.Resources = append(version.Resources, component.Resource{Name: "operator", Image: tagged}, component.Resource{Name: "job", Image: byDigest},
				component.Resource{Name: "plain", Image: plain})
			version.Signer = &component.Signer{Key: keys()[0]}
			version.Access = from.Access
			original := push(t, from.Registry, version)

			// The tag moves on after the version was signed; the digest that was signed is what is copied.
			from.index(t, "team/operator:1.0.0")

			path := filepath.Join(t.TempDir(), "new", file)
			report := doCopy(t, at(from.Registry, "1.0.0"), component.Ref{Path: path}, component.CopyOptions{Images: true})
			if report.Digest != original || !report.Changed || len(report.Images) != 3 || report.Images[0].To != tagged || report.Images[0].Digest != indexDigest {
				t.Fatalf("%+v", report)
			}
			if again := doCopy(t, at(from.Registry, "1.0.0"), component.Ref{Path: path}, component.CopyOptions{Images: true}); again.Changed {
				t.Error("the second time something changed")
			}
			from.gone.Store(true)

			there := component.Ref{Path: path, Access: component.Access{}}
			report = doCopy(t, there, at(to.Registry, ""), component.CopyOptions{Images: true, ImagePrefix: "images"})
			if !report.Changed || report.Digest == original {
				t.Errorf("%+v", report)
			}
			prefix := to.Host + "/inside/images/"
			for i, want := range []component.CopiedImage{
				{Resource: "operator", From: tagged, To: prefix + "team/operator:1.0.0", Digest: indexDigest},
				{Resource: "job", From: byDigest, To: prefix + "other/job@" + otherDigest, Digest: otherDigest},
				{Resource: "plain", From: plain, To: prefix + "images/operator:1.0.0", Digest: "sha256:" + from.digest},
			} {
				want.Changed = true
				if report.Images[i] != want {
					t.Errorf("image %d is %+v, want %+v", i, report.Images[i], want)
				}
				mustPull(t, want.To, want.Digest)
			}
			got, err := to.reader().Get(t.Context(), name, "1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			if images := got.Images(); len(images) != 3 || images[0] != prefix+"team/operator:1.0.0" {
				t.Errorf("the images are %v", images)
			}
			if _, err := got.Verify(trusting(keys()[0]), today); err != nil {
				t.Errorf("the signature is lost: %v", err)
			}
			if again := doCopy(t, there, at(to.Registry, ""), component.CopyOptions{Images: true, ImagePrefix: "images"}); again.Changed || again.Digest != report.Digest {
				t.Errorf("the second time: %+v", again)
			}
		})
	}
}

func TestImagesThatCannotBeCopiedAreToldBeforeAnythingIsWritten(t *testing.T) {
	from, to := serve(t), serve(t)
	for title, test := range map[string]struct {
		resource component.Resource
		message  string
	}{
		"one that is gone":         {component.Resource{Image: from.Host + "/none:1"}, "resource operator: image " + from.Host + "/none:1"},
		"one of another digest":    {component.Resource{Image: from.image(t), ImageDigest: "sha256:" + sha("x")}, sha("x")},
		"one with two digests":     {component.Resource{Image: from.Host + "/a@sha256:" + sha("y"), ImageDigest: "sha256:" + sha("x")}, "it is ambiguous"},
		"one without tag":          {component.Resource{Image: from.Host + "/none"}, "neither tag nor digest"},
		"one that is no reference": {component.Resource{Image: "a b"}, "no reference"},
	} {
		t.Run(title, func(t *testing.T) {
			version := harbour("1.0.0")
			test.resource.Name = "operator"
			version.Resources = append(version.Resources, test.resource)
			push(t, from.Registry, version, component.Overwrite)
			path := filepath.Join(t.TempDir(), "a")
			for _, target := range []component.Ref{at(to.Registry, ""), {Path: path}} {
				to.writes.Store(0)
				_, err := component.Copy(t.Context(), at(from.Registry, "1.0.0"), target, component.CopyOptions{Images: true})
				if err == nil || !strings.Contains(err.Error(), test.message) || to.writes.Load() != 0 {
					t.Errorf("error %v after %d writes, want one that says %q", err, to.writes.Load(), test.message)
				}
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("an archive was made")
			}
		})
	}
}

func TestCopy_ATagOfAnotherImageIsNotTakenAway(t *testing.T) {
	from, to := serve(t), serve(t)
	image, digest := from.index(t, "team/operator:1.0.0")
	to.index(t, "team/operator:1.0.0")
	version := harbour("1.0.0")
	version.Resources = append(version.Resources, component.Resource{Name: "operator", Image: image})
	push(t, from.Registry, version)
	_, err := component.Copy(t.Context(), at(from.Registry, "1.0.0"), at(to.Registry, ""), component.CopyOptions{Images: true})
	if err == nil || !strings.Contains(err.Error(), digest) || !strings.Contains(err.Error(), "another place") {
		t.Errorf("error %v", err)
	}
	doCopy(t, at(from.Registry, "1.0.0"), at(to.Registry, ""), component.CopyOptions{Images: true, Overwrite: true})
	mustPull(t, to.Host+"/team/operator:1.0.0", digest)
}

func TestSignaturesAreAddedAndNeverTakenAway(t *testing.T) {
	from, to := serve(t), serve(t)
	unsigned := push(t, from.Registry, harbour("1.0.0"))
	doCopy(t, at(from.Registry, "1.0.0"), at(to.Registry, ""), component.CopyOptions{})
	signed, err := component.Sign(t.Context(), from.Registry, name, "1.0.0", &component.Signer{Key: keys()[0]})
	if err != nil || signed == unsigned {
		t.Fatal(signed, err)
	}
	if report := doCopy(t, at(from.Registry, "1.0.0"), at(to.Registry, ""), component.CopyOptions{}); !report.Changed || report.Digest != signed {
		t.Errorf("the signature is not copied: %+v", report)
	}
	push(t, from.Registry, harbour("1.0.0"), component.Overwrite)
	fresh := serve(t)
	push(t, fresh.Registry, harbour("1.0.0"))
	if report := doCopy(t, at(fresh.Registry, "1.0.0"), at(to.Registry, ""), component.CopyOptions{}); report.Changed || report.Digest != signed {
		t.Errorf("the signature is taken away: %+v", report)
	}
	if _, err := component.Sign(t.Context(), fresh.Registry, name, "1.0.0", &component.Signer{Key: keys()[1]}); err != nil {
		t.Fatal(err)
	}
	_, err = component.Copy(t.Context(), at(fresh.Registry, "1.0.0"), at(to.Registry, ""), component.CopyOptions{})
	if conflict := (*component.ConflictError)(nil); !errors.As(err, &conflict) {
		t.Errorf("error %v", err)
	}
}

func TestTenPushesAndCopiesAtOnce(t *testing.T) {
	from, to := serve(t), serve(t)
	dir := t.TempDir()
	version := harbour("1.0.0")
	image, _ := from.index(t, "team/operator:1.0.0")
	version.Resources = append(version.Resources, component.Resource{Name: "operator", Image: image})
	var all errgroup.Group
	for i := range 10 {
		all.Go(func() error { // the same version
			_, err := component.Push(t.Context(), from.Registry, version)
			return err
		})
		all.Go(func() error { // one each, by way of one archive
			other, archive := version, component.Ref{Path: filepath.Join(dir, "all.tar")}
			other.Version = fmt.Sprintf("2.%d.0", i)
			archive.Name, archive.Version = name, other.Version
			_, err := component.Push(t.Context(), from.Registry, other)
			if err == nil {
				_, err = component.Copy(t.Context(), at(from.Registry, other.Version), archive, component.CopyOptions{Images: true})
			}
			if err == nil {
				_, err = component.Copy(t.Context(), archive, at(to.Registry, other.Version), component.CopyOptions{Images: true})
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if _, err := to.reader().Get(t.Context(), name, fmt.Sprintf("2.%d.0", i)); err != nil {
			t.Error(err)
		}
	}
}
