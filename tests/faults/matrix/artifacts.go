package matrix

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

func artifactFaults() []Fault {
	unreachable := []string{v1beta2.ReasonRegistryUnreachable}
	archived := []string{v1beta2.ReasonArchiveRefused}
	refused := func(name, cause string, layer func(*operation.Scenario) component.Resource) []Form {
		return []Form{{Name: name, Begin: published(layer), Cause: []string{cause}, On: fetching}}
	}
	return []Fault{
		{Group: "artifact", Name: "registry", Forms: []Form{
			{Name: "down", Begin: registry(func(*operation.Scenario) localcluster.Fault { return localcluster.Down() }),
				Cause: unreachable, On: fetching},
			{
				Name: "slow", Lasts: 4 * time.Second,
				Begin: registry(func(*operation.Scenario) localcluster.Fault { return localcluster.Slow(3 * time.Second) }),
			},
			{
				Name: "401", Begin: registry(func(*operation.Scenario) localcluster.Fault { return localcluster.Deny() }),
				Cause: []string{v1beta2.ReasonRegistryUnauthorized}, On: fetching,
			},
		}},
		{Group: "artifact", Name: "other bytes", Forms: []Form{
			{Name: "of the same length", Begin: registry(corrupted), Cause: []string{v1beta2.ReasonDigestMismatch}, On: fetching},
		}},
		{Group: "artifact", Name: "truncated", Forms: []Form{
			{
				Name:  "after half of a layer",
				Begin: registry(func(*operation.Scenario) localcluster.Fault { return localcluster.Only(truncate, localcluster.BlobGet) }),
				Cause: []string{v1beta2.ReasonRegistryUnreachable, v1beta2.ReasonDigestMismatch, v1beta2.ReasonComponentInvalid}, On: fetching,
			},
		}},
		{Group: "artifact", Name: "bomb", Forms: refused("a thousand to one", v1beta2.ReasonContentTooLarge, bomb)},
		{Group: "artifact", Name: "entries", Forms: refused("a hundred thousand", v1beta2.ReasonArchiveRefused, manyEntries)},
		{Group: "artifact", Name: "links", Forms: []Form{
			{Name: "parent", Begin: published(archive("../../etc/passwd", tar.TypeReg)), Cause: archived, On: fetching},
			{Name: "symbolic", Begin: published(archive("link", tar.TypeSymlink)), Cause: archived, On: fetching},
			{Name: "hard", Begin: published(archive("link", tar.TypeLink)), Cause: archived, On: fetching},
		}},
		{Group: "artifact", Name: "bad objects", Forms: []Form{
			{Name: "not an object", Begin: published(among("just: text\n")), Cause: []string{v1beta2.ReasonContentInvalid}, On: fetching},
			{Name: "twice and not alike", Begin: published(twice), Cause: []string{v1beta2.ReasonContentInvalid}, On: fetching},
			// An object of an unknown kind is not a form of this: its content is sound, so it is pinned, and publishing the version again is noticed
			// only by the audit of references, an hour later. The remedy is a definition in the runtime, or another version.
		}},
		{Group: "artifact", Name: "tag moves", Forms: []Form{{Name: "between verify and fetch", Begin: moves, Lasts: 3 * time.Second}}},
	}
}

// registry breaks the registry.
func registry(fault func(*operation.Scenario) localcluster.Fault) beginner {
	return func(_ context.Context, s *operation.Scenario) (mender, error) {
		s.Rig.Registry.Inject(fault(s))
		return func(context.Context) error {
			s.Rig.Registry.Inject(nil)
			return nil
		}, nil
	}
}

var versions = []string{"1.0.0", "1.1.0"}

// corrupted serves other bytes for the layers of all versions of both modules.
func corrupted(s *operation.Scenario) localcluster.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		for _, contents := range s.Contents {
			for _, content := range contents {
				digest := fmt.Sprintf("sha256:%x", sha256.Sum256(content.YAML()))
				if strings.HasSuffix(r.URL.Path, "/"+digest) {
					localcluster.Corrupt(digest)(w, r, next)
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	}
}

// truncate breaks the connection in the middle of a body.
func truncate(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(&half{ResponseWriter: w}, r)
	panic(http.ErrAbortHandler)
}

type half struct{ http.ResponseWriter }

// Write passes on the first half.
func (h *half) Write(data []byte) (int, error) {
	if _, err := h.ResponseWriter.Write(data[:len(data)/2]); err != nil {
		return 0, err
	}
	return len(data), nil
}

// published replaces the content of module Maps in every version by something that must be refused, and then publishes the right one again.
// Content that is installed already is not read again.
func published(layer func(*operation.Scenario) component.Resource) beginner {
	return func(ctx context.Context, s *operation.Scenario) (mender, error) {
		for _, version := range versions {
			if err := s.Republish(ctx, s.Maps, version, layer(s)); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context) error { return right(ctx, s) }, nil
	}
}

func right(ctx context.Context, s *operation.Scenario) error {
	var err error
	for _, version := range versions {
		err = errors.Join(err, s.Republish(ctx, s.Maps, version, testkit.RawManifest(s.Contents[s.Maps][version].YAML())))
	}
	return err
}

// among returns a valid object with something invalid beside it.
func among(bad string) func(*operation.Scenario) component.Resource {
	return func(s *operation.Scenario) component.Resource {
		return testkit.RawManifest([]byte(string(s.Contents[s.Maps]["1.0.0"].YAML()) + "---\n" + bad))
	}
}

// twice contains the same objects in two variants: which one is meant is unclear.
func twice(s *operation.Scenario) component.Resource {
	contents := s.Contents[s.Maps]
	return testkit.RawManifest([]byte(string(contents["1.0.0"].YAML()) + "---\n" + string(contents["1.1.0"].YAML())))
}

// bomb returns an archive of a few hundred KiB that unpacks to a GiB of nothing.
func bomb(*operation.Scenario) component.Resource {
	return testkit.RawManifestTar(bombArchive())
}

var bombArchive = sync.OnceValue(func() []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	const size = 1 << 30
	_ = archive.WriteHeader(&tar.Header{Name: "manifest.yaml", Mode: 0o600, Size: size}) // a buffer accepts everything
	zeros := make([]byte, 1<<20)
	for range size / len(zeros) {
		_, _ = archive.Write(zeros)
	}
	_, _ = archive.Close(), zip.Close()
	return out.Bytes()
})

func manyEntries(*operation.Scenario) component.Resource {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for n := range 100_000 {
		_ = archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.yaml", n), Mode: 0o600}) // a buffer accepts everything
	}
	_ = archive.Close()
	return testkit.RawManifestTar(out.Bytes())
}

// archive has a single entry, of a type that is not accepted.
func archive(name string, kind byte) func(*operation.Scenario) component.Resource {
	return func(*operation.Scenario) component.Resource {
		var out bytes.Buffer
		writer := tar.NewWriter(&out)
		_ = writer.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Linkname: "/etc/passwd", Mode: 0o600}) // a buffer accepts everything
		_ = writer.Close()
		return testkit.RawManifestTar(out.Bytes())
	}
}

// moves makes every version name other content as soon as its manifest was read once.
func moves(ctx context.Context, s *operation.Scenario) (mender, error) {
	var once sync.Once
	moved := make(chan struct{})
	var failed error
	s.Rig.Registry.Inject(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		if localcluster.KindOf(r) != localcluster.ManifestGet || !strings.Contains(r.URL.Path, s.Maps) {
			return
		}
		once.Do(func() {
			s.Rig.Registry.Inject(nil) // publishing goes through it as well
			go func() {
				defer close(moved)
				for _, version := range versions {
					failed = errors.Join(failed, s.Republish(ctx, s.Maps, version, testkit.RawManifest([]byte(
						"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil-"+s.ID+", namespace: default}\n"))))
				}
			}()
		})
	})
	return func(ctx context.Context) error {
		s.Rig.Registry.Inject(nil)
		once.Do(func() { close(moved) })
		<-moved
		return errors.Join(failed, right(ctx, s))
	}, nil
}
