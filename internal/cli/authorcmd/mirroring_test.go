package authorcmd_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

func TestMirror_FromRegistryToRegistry(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	ref, image := s.signedModule(host, address)
	target, to := watched(t)

	out, _ := s.ok("mirror", ref, "--to", to+"/inside", "--dry-run", "-o", "json")
	if decoded(t, out)["outcomes"].(map[string]any)["Planned"] != 1.0 || len(target.blobs)+target.manifests > 0 {
		t.Errorf("a dry run sent %d blobs and %d manifests, and says\n%s", len(target.blobs), target.manifests, out)
	}
	out, said := s.ok("mirror", ref, "--to", to+"/inside", "-o", "json")
	if decoded(t, out)["outcomes"].(map[string]any)["Done"] != 1.0 || !strings.Contains(said, "Done: 1 of 1 item") {
		t.Errorf("mirror wrote\n%s\nand said %s", out, said)
	}
	s.mustBeMirrored(target.Host, image)

	before, sent := len(target.blobs)+target.manifests, target.Count(localcluster.Upload)
	out, _ = s.ok("mirror", ref, "--to", to+"/inside", "-o", "json")
	if decoded(t, out)["outcomes"].(map[string]any)["Unchanged"] != 1.0 {
		t.Errorf("the second time:\n%s", out)
	}
	if after := len(target.blobs) + target.manifests; after != before || target.Count(localcluster.Upload) != sent {
		t.Errorf("the second time sent %d blobs and manifests", after-before)
	}
}

// A signature that was made after the image was copied goes along with the next copy.
func TestMirror_ALaterReferrerIsSent(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	ref, image := s.signedModule(host, address)
	_, to := watched(t)
	for _, where := range []string{to + "/inside", "dir:disk"} {
		s.ok("mirror", ref, "--to", where)
		s.attach(host+"/team/worker", image)
		for _, want := range []string{"Done", "Unchanged"} {
			out, _ := s.ok("mirror", ref, "--to", where, "-o", "json")
			if decoded(t, out)["outcomes"].(map[string]any)[want] != 1.0 {
				t.Errorf("to %s, want %s:\n%s", where, want, out)
			}
		}
	}
}

func TestMirror_AcrossADirectory(t *testing.T) {
	s := open(t)
	origin, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ref, image := s.signedModule(origin.Host, "http://"+origin.Host)
	putRelease(t, "release")

	s.ok("mirror", ref, "--release", "release", "--to", "dir:disk", "--dry-run")
	if _, err := os.Stat("disk"); err == nil {
		t.Error("a dry run made the directory")
	}
	s.ok("mirror", ref, "--release", "release", "--to", "dir:disk")
	s.ok("module", "verify", "disk//"+component+":0.1.0", "--key", "public.pem", "--offline")
	if read(t, "disk/release/SHA256SUMS") != read(t, "release/SHA256SUMS") {
		t.Error("the sums of the release are others")
	}
	requests := origin.Count(localcluster.BlobGet)
	out, _ := s.ok("mirror", ref, "--release", "release", "--to", "dir:disk", "-o", "json")
	if decoded(t, out)["outcomes"].(map[string]any)["Unchanged"] != 2.0 || origin.Count(localcluster.BlobGet) > requests+2 { // its descriptor is read
		t.Errorf("the second time:\n%s", out)
	}
	s.refused(1, "only read", "module", "copy", "disk//"+component+":0.1.0", "disk")

	if err := origin.Stop(); err != nil { // on the other side of the gap
		t.Fatal(err)
	}
	target, to := watched(t)
	_, said := s.ok("mirror", "--from", "dir:disk", "--to", to+"/inside")
	s.mustBeMirrored(target.Host, image)
	if !strings.Contains(said, "kyma install --registry "+to+" --manager-arg=--modules-repository-subpath=inside --image "+target.Host+"/inside/lifecycle-manager:1.2.3@sha256:") {
		t.Errorf("mirror said %s", said)
	}
	text := read(t, "mirror/install.yaml")
	for _, want := range []string{"image: " + target.Host + "/inside/lifecycle-manager:1.2.3@sha256:", "- --oci-registry-host=" + to, "- --modules-repository-subpath=inside"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "registry.example.com") {
		t.Errorf("the registry that the release names is still in\n%s", text)
	}
}

func TestMirror_AnInterruptionIsContinued(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	ref, image := s.signedModule(host, address)
	target, to := watched(t)
	ctx, interrupt := context.WithCancel(t.Context())
	target.before = func(stored int) {
		if stored == 3 {
			interrupt()
			panic(http.ErrAbortHandler)
		}
	}
	s.context = ctx
	s.refused(130, "the same command continues", "mirror", ref, "--to", to+"/inside", "--concurrency", "1")
	target.mutex.Lock()
	first := slices.Clone(target.blobs)
	target.before = nil
	target.mutex.Unlock()
	if len(first) == 0 {
		t.Fatal("nothing was stored before the interruption")
	}
	s.context = nil
	s.ok("mirror", ref, "--to", to+"/inside")
	s.mustBeMirrored(target.Host, image)
	for i, blob := range target.blobs {
		if slices.Contains(target.blobs[:i], blob) {
			t.Errorf("blob %s was sent twice: %v, and before the interruption %v", blob, target.blobs, first)
		}
	}
}

func TestMirror_AnInterruptedDirectoryIsContinued(t *testing.T) {
	s := open(t)
	origin, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Stop() })
	ref, image := s.signedModule(origin.Host, "http://"+origin.Host)
	ctx, interrupt := context.WithCancel(t.Context())
	var fetched sync.Map
	// What comes after the image itself is interrupted.
	signature := layerOf(t, origin.Host+"/team/worker:"+strings.ReplaceAll(image, ":", "-")+".sig")
	origin.Inject(localcluster.Only(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, signature) {
			interrupt()
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	}, localcluster.BlobGet))
	s.context = ctx
	s.refused(130, "the same command continues", "mirror", ref, "--to", "dir:disk", "--concurrency", "1")
	s.context = nil
	stored, err := os.ReadDir("disk/blobs/sha256")
	if err != nil || len(stored) == 0 {
		t.Fatalf("nothing was stored before the interruption: %v", err)
	}
	origin.Inject(localcluster.Only(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		fetched.Store(filepath.Base(r.URL.Path), true)
		next.ServeHTTP(w, r)
	}, localcluster.BlobGet))
	s.ok("mirror", ref, "--to", "dir:disk")
	s.ok("module", "verify", "disk//"+component+":0.1.0", "--key", "public.pem", "--offline")
	layers := 0
	for _, blob := range stored {
		if data := read(t, filepath.Join("disk/blobs/sha256", blob.Name())); strings.HasPrefix(data, "{") || strings.Contains(data, "component-descriptor.yaml") {
			continue // read to know what is below them
		}
		layers++
		if _, again := fetched.Load("sha256:" + blob.Name()); again {
			t.Errorf("blob %s was fetched again", blob.Name())
		}
	}
	if layers == 0 {
		t.Error("no layer was stored before the interruption: the test interrupts too early")
	}
}

func TestMirror_ATamperedBlobIsNotCopied(t *testing.T) {
	s := open(t)
	origin, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Stop() })
	ref, image := s.signedModule(origin.Host, "http://"+origin.Host)
	layer := layerOf(t, origin.Host+"/team/worker@"+image)

	origin.Inject(localcluster.Corrupt(layer))
	target, to := watched(t)
	for _, where := range []string{to + "/inside", "dir:disk"} {
		code, out, said := s.run("mirror", ref, "--to", where, "-o", "json")
		if code != 1 || !strings.Contains(out, `"Failed"`) || !strings.Contains(strings.ToLower(out), "digest") {
			t.Errorf("to %s: exit code %d\n%s%s", where, code, out, said)
		}
	}
	origin.Inject(nil)
	s.refused(4, "", "module", "inspect", to+"/inside//"+component+":0.1.0")

	// On the disk, what was changed there is found on the way into the registry.
	s.ok("mirror", ref, "--to", "dir:disk")
	write(t, filepath.Join("disk/blobs/sha256", strings.TrimPrefix(layer, "sha256:")), "tampered")
	code, out, _ := s.run("mirror", "--from", "dir:disk", "--to", to+"/inside", "-o", "json")
	if code != 1 || !strings.Contains(out, `"Failed"`) || !strings.Contains(out, layer) {
		t.Errorf("from a tampered disk: exit code %d\n%s", code, out)
	}
	s.refused(4, "", "module", "inspect", to+"/inside//"+component+":0.1.0")
	s.ok("mirror", ref, "--to", "dir:disk") // which mends it
	s.ok("mirror", "--from", "dir:disk", "--to", to+"/inside")
	s.mustBeMirrored(target.Host, image)
}

func TestMirror_WithoutRights(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	ref, _ := s.signedModule(host, address)
	closed, _ := guarded(t, false)
	code, out, _ := s.run("mirror", ref, "--to", "http://"+closed+"/inside", "-o", "json")
	if code != 1 || !strings.Contains(out, "requires a login") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	s.in = "secret"
	s.ok("mirror", ref, "--to", "http://"+closed+"/inside", "--to-username", "ada", "--to-password-stdin")
}

func TestMirror_OtherContentIsRefused(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	ref, _ := s.signedModule(host, address)
	target, to := watched(t)
	s.ok("mirror", ref, "--to", to+"/inside")
	edit(t, "notes/manifest.yaml", "cpu: 10m", "cpu: 20m")
	s.ok("module", "push", "-c", "notes", "--no-git", "-r", address, "--overwrite")
	before := target.manifests
	code, out, _ := s.run("mirror", ref, "--to", to+"/inside", "-o", "json")
	if code != 1 || !strings.Contains(out, `"Refused"`) || target.manifests != before {
		t.Errorf("exit code %d, %d manifests\n%s", code, target.manifests-before, out)
	}
	s.ok("mirror", ref, "--to", to+"/inside", "--overwrite")
}

func TestMirror_AFailureStopsNoOther(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	ref, image := s.signedModule(host, address)
	target, to := watched(t)
	code, out, said := s.run("mirror", address+"//"+component+":9.9.9", ref, "--to", to+"/inside", "--concurrency", "1", "-o", "json")
	outcomes := decoded(t, out)["outcomes"].(map[string]any)
	if code != 1 || outcomes["Failed"] != 1.0 || outcomes["Done"] != 1.0 || !strings.Contains(said, "1 of 2 items are not copied") {
		t.Errorf("exit code %d\n%s%s", code, out, said)
	}
	s.mustBeMirrored(target.Host, image)
}

func TestMirror_Release(t *testing.T) {
	s := open(t)
	digest := putRelease(t, "release")
	target, to := watched(t)
	out, _ := s.ok("mirror", "--release", "release", "--to", to, "-o", "json")
	if !strings.Contains(out, digest) || decoded(t, out)["outcomes"].(map[string]any)["Done"] != 1.0 {
		t.Errorf("the digest of the image is another than %s:\n%s", digest, out)
	}
	before := len(target.blobs) + target.manifests
	s.ok("mirror", "--release", "release", "--to", to)
	if after := len(target.blobs) + target.manifests; after != before {
		t.Errorf("the second time sent %d", after-before)
	}
	write(t, "release/install.yaml", read(t, "release/install.yaml")+"# more\n")
	s.refused(1, "install.yaml is not what was released", "mirror", "--release", "release", "--to", to)
	s.refused(4, "no folder of a release", "mirror", "--release", ".", "--to", to)
}

func TestMirror_Flags(t *testing.T) {
	s := open(t)
	for words, args := range map[string][]string{
		"--to is missing":                {"mirror", "--release", "r"},
		"nothing is to be copied":        {"mirror", "--to", "dir:disk"},
		"is no directory":                {"mirror", "--to", "dir:disk", "--from", "oci://registry.example.com"},
		"are the same directory":         {"mirror", "--to", "dir:disk", "--from", "dir:./disk/"},
		"and nothing else":               {"mirror", "--to", "oci://registry.example.com", "--from", "dir:disk", "--hub", "--registry", "oci://a.example.com"},
		"set --registry to the registry": {"mirror", "--hub", "--to", "dir:disk"},
		"is no version in a registry":    {"mirror", "notes.tgz", "--to", "dir:disk"},
		"--concurrency 0 is not":         {"mirror", "--release", "r", "--to", "dir:disk", "--concurrency", "0"},
		"is no registry":                 {"mirror", "oci://a.example.com//example.com/module/notes:0.1.0", "--to", "somewhere"},
	} {
		s.refused(64, words, args...)
	}
	write(t, "full/thesis.txt", "work of years")
	s.refused(1, "is no OCI image layout", "mirror", "oci://a.example.com//example.com/module/notes:0.1.0", "--to", "dir:full")
	s.refused(4, "", "mirror", "--from", "dir:nowhere", "--to", "oci://a.example.com")
}

// mirrorsAHub copies what a hub offers, and writes the objects that another one applies.
func mirrorsAHub(s *shell) {
	s.T.Chdir(s.TempDir())
	host, address := registry(s.T)
	ref, image := s.signedModule(host, address)
	edit(s.T, "notes/module-config.yaml", "version: 0.1.0", "version: 0.2.0")
	s.ok("module", "push", "-c", "notes", "--no-git", "-r", address)
	target, to := watched(s.T)
	hub := []string{"mirror", "--hub", "--registry", address, "--namespace", "default", "-o", "json"}
	out, _ := s.ok(append(hub, "--to", to+"/inside")...)
	if decoded(s.T, out)["outcomes"].(map[string]any)["Done"] != 2.0 {
		s.Errorf("of %s and the next version:\n%s", ref, out)
	}
	s.mustBeMirrored(target.Host, image)
	objects := read(s.T, "mirror/modules.yaml")
	for _, want := range []string{"name: notes-0.1.0", "name: notes-0.2.0", "kind: ModuleReleaseMeta", "ocmComponentName: " + component} {
		if !strings.Contains(objects, want) {
			s.Errorf("no %q in\n%s", want, objects)
		}
	}
	s.ok(append(hub, "--to", "dir:disk")...)
	s.ok("mirror", "--from", "dir:disk", "--to", to+"/inside", "--results", "later")
	if read(s.T, "later/modules.yaml") != objects {
		s.Error("the objects that went by disk are others")
	}
}
