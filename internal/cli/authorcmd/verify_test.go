package authorcmd_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	imagename "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// forge changes the descriptor in an archive that is a folder, like an attacker who adapts the manifest and the index. Both words must
// have the same length.
func forge(t *testing.T, archive, before, after string) {
	t.Helper()
	file := blobWith(t, archive, "component-descriptor.yaml\x00")
	pair := func(file, before, after string) (was, is string) {
		text := read(t, file)
		if !strings.Contains(text, before) || len(before) != len(after) {
			t.Fatalf("%s has no %q", file, before)
		}
		text = strings.Replace(text, before, after, 1)
		sum := sha256.Sum256([]byte(text))
		is = hex.EncodeToString(sum[:])
		was = strings.TrimPrefix(filepath.Base(file), "sha256.")
		write(t, filepath.Join(archive, "blobs", "sha256."+is), text)
		return was, is
	}
	descriptorWas, descriptorIs := pair(file, before, after)
	manifest := blobWith(t, archive, `"layers"`)
	config := blobWith(t, archive, `{"componentDescriptorLayer"`)
	configWas, configIs := pair(config, descriptorWas, descriptorIs)
	write(t, manifest, strings.ReplaceAll(read(t, manifest), descriptorWas, descriptorIs))
	manifestWas, manifestIs := pair(manifest, configWas, configIs)
	edit(t, filepath.Join(archive, "artifact-index.json"), manifestWas, manifestIs)
}

// blobWith returns the file of the blob that contains some text.
func blobWith(t *testing.T, archive, text string) (file string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(archive, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.Contains(read(t, path), text) {
			file = path
		}
		return err
	})
	if err != nil || file == "" {
		t.Fatalf("no blob with %q: %v", text, err)
	}
	return file
}

func TestVerify_EachKindOfTamperingIsTold(t *testing.T) {
	s := open(t)
	host, _ := registry(t)
	keys(t, "")
	keys(t, "other-")
	worker := host + "/team/worker:0.1.0"
	s.ok("module", "init", "notes")
	write(t, "notes/module-config.yaml", read(t, "notes/module-config.yaml")+"images: ["+worker+"]\n")
	write(t, "registries.yaml", "registries:\n- host: "+host+"\n  plainHTTP: true\n")
	name, err := imagename.ParseReference(worker, imagename.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, "notes/manifest.yaml", "registry.k8s.io/pause:3.10@sha256:ee6521f290b2168b6e0935a181d4cff9be1ac3f505666ef0e3c98fae8199917a", worker)
	for _, c := range []struct {
		name, key, want string
		tamper          func()
	}{
		{"an unchanged version is valid", "public.pem", "", func() {}},
		{"another key", "other-public.pem", "SignatureUntrusted", func() {}},
		{"no signature", "public.pem", "SignatureMissing", func() {
			if err := os.RemoveAll("ctf"); err != nil {
				t.Fatal(err)
			}
			s.ok("module", "build", "notes", "--no-git", "-o", "ctf")
		}},
		{"signed again with another key", "public.pem", "SignatureUntrusted", func() {
			s.ok("module", "sign", "ctf", "--key", "other-private.pem", "--registries-file", "registries.yaml")
		}},
		{"a byte of a layer", "public.pem", "BlobChanged", func() {
			edit(t, blobWith(t, "ctf", "# What module notes installs"), "cpu: 10m", "cpu: 90m")
		}},
		{"a layer is gone", "public.pem", "BlobMissing", func() {
			if err := os.Remove(blobWith(t, "ctf", "# What module notes installs")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a byte of the descriptor", "public.pem", "DescriptorChanged", func() {
			edit(t, blobWith(t, "ctf", "component-descriptor.yaml\x00"), "raw-manifest", "raw-manifesx")
		}},
		{"the descriptor, with digests that fit", "public.pem", "SignatureInvalid", func() {
			forge(t, "ctf", "name: raw-manifest", "name: raw-manifesx")
		}},
		{"the reference of an image", "public.pem", "ImageMissing", func() {
			forge(t, "ctf", worker, strings.Replace(worker, "/team/", "/evil/", 1))
		}},
		{"a layer is said to be nowhere", "public.pem", "ContentNotComparable", func() {
			forge(t, "ctf", "type: localBlob", "type: NONE     ")
		}},
		{"the image is said to be elsewhere", "public.pem", "ContentNotComparable", func() {
			forge(t, "ctf", "type: ociArtifact", "type: gitHub     ")
		}},
		{"the image behind its tag", "public.pem", "ImageChanged", func() { putImage(t, worker) }},
		{"the image is gone", "public.pem", "ImageMissing", func() {
			if err := remote.Delete(name); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.RemoveAll("ctf"); err != nil {
				t.Fatal(err)
			}
			putImage(t, worker)
			s.ok("module", "build", "notes", "--no-git", "-o", "ctf", "--sign-key", "private.pem", "--registries-file", "registries.yaml")
			c.tamper()
			code, out, said := s.run("module", "verify", "ctf", "--key", c.key, "--registries-file", "registries.yaml")
			if c.want == "" {
				if code != 0 {
					t.Errorf("exit code %d\n%s%s", code, out, said)
				}
				return
			}
			if line := oneLine(t, said); code != 1 || !strings.HasPrefix(line, c.want+": ") {
				t.Errorf("exit code %d: %s, want %s\n%s", code, line, c.want, out)
			}
			code, out, _ = s.run("module", "verify", "ctf", "--key", c.key, "--registries-file", "registries.yaml", "-o", "json")
			var report struct {
				Verified bool `json:"verified"`
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 || report.Verified {
				t.Errorf("exit code %d, %v: %s", code, err, out)
			}
			if !strings.Contains(out, `"reason": "`+c.want+`"`) {
				t.Errorf("no reason %s in %s", c.want, out)
			}
		})
	}
}
