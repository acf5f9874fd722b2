package authorcmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// leftOvers finds drafts and locks that are no longer needed.
func leftOvers(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") && !strings.HasSuffix(entry.Name(), ".lock") {
			t.Errorf("%s is left over", entry.Name())
		}
	}
}

// resources returns the resources of a component version, by name, with the image or the digest.
func (s *shell) resources(ref string) map[string]string {
	s.Helper()
	out, _ := s.ok("module", "inspect", ref, "-o", "json")
	found := map[string]string{}
	list, _ := decoded(s.T, out)["resources"].([]any)
	for _, entry := range list {
		resource, _ := entry.(map[string]any)
		name, _ := resource["name"].(string)
		digest, _ := resource["digest"].(string)
		if image, _ := resource["image"].(string); image != "" {
			digest = image + " " + digest
		}
		found[name] = digest
	}
	return found
}

func TestBeginWithWhatIsThere(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	digest := putImage(t, host+"/team/worker:1.0.0")
	write(t, "extra.txt", "hello\n")
	named := []string{"--name", "example.com/module/worker", "--version", "1.0.0"}

	s.ok(append([]string{"module", "build", "--from", "http://" + host + "/team/worker:1.0.0", "-o", "worker.tgz", "--resource", "extra=extra.txt",
		"--label", "team=ada"}, named...)...)
	found := s.resources("worker.tgz")
	if len(found) != 2 || !strings.Contains(found["worker"], digest) || found["extra"] == "" {
		t.Errorf("from an image: %v", found)
	}
	out, _ := s.ok("module", "inspect", "worker.tgz")
	if !strings.Contains(out, "team=ada") {
		t.Errorf("the label is missing:\n%s", out)
	}

	s.ok("module", "init", "notes")
	s.ok("module", "push", "-c", "notes", "--no-git", "-r", address)
	s.ok("module", "push", "--from", address+"//"+component+":0.1.0", "--name", component, "--version", "0.1.1", "-r", address,
		"--resource", "extra=extra.txt")
	before, after := s.resources(address+"//"+component+":0.1.0"), s.resources(address+"//"+component+":0.1.1")
	if len(after) != len(before)+1 || after["raw-manifest"] != before["raw-manifest"] || after["extra"] != found["extra"] {
		t.Errorf("from a component: %v, after %v", after, before)
	}
	// A module on top of an image: both are in it.
	s.ok("module", "build", "notes", "--no-git", "--from", "http://"+host+"/team/worker:1.0.0", "-o", "both.tgz")
	if both := s.resources("both.tgz"); both["worker"] != found["worker"] || both["raw-manifest"] != before["raw-manifest"] {
		t.Errorf("a module from an image: %v", both)
	}

	s.refused(1, "neither tag nor digest", append([]string{"module", "build", "--from", host + "/team/worker"}, named...)...)
	s.refused(64, "--version", "module", "build", "--from", "http://"+host+"/team/worker:1.0.0", "--name", component)
	s.refused(64, "says 0.1.0", "module", "build", "notes", "--version", "0.2.0")
}

func TestAcrossAnAirGap(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	other, elsewhere := registry(t)
	keys(t, "")
	digest := putImage(t, host+"/team/worker:0.1.0")
	s.ok("module", "init", "notes")
	write(t, "notes/manifest.yaml", regexp.MustCompile(`registry.k8s.io/pause:\S+`).ReplaceAllString(read(t, "notes/manifest.yaml"), host+"/team/worker:0.1.0"))
	ref := "//" + component + ":0.1.0"
	s.ok("module", "create", "notes", "--no-git", "-r", address, "--sign-key", "private.pem")
	s.ok("module", "verify", address+ref, "--key", "public.pem")

	_, said := s.ok("module", "pull", address+ref, "carried.tgz", "--images")
	if !strings.Contains(said, "carried.tgz") {
		t.Errorf("pull said %q", said)
	}
	s.ok("module", "verify", "carried.tgz", "--key", "public.pem", "--offline")
	out, said := s.ok("module", "copy", "carried.tgz", elsewhere+"/inside", "--images", "-o", "json")
	s.golden("airgap.err", other, strings.ReplaceAll(said, host, "SOURCE"))
	images, _ := decoded(t, out)["images"].([]any)
	if len(images) != 1 {
		t.Fatalf("images that went along: %s", out)
	}
	found := s.resources(elsewhere + "/inside" + ref)
	if !strings.HasPrefix(found["worker"], other+"/inside") || !strings.HasSuffix(found["worker"], digest) {
		t.Errorf("the reference leads to %s", found["worker"])
	}
	// The signature is valid, and the image is requested from its new place.
	s.ok("module", "verify", elsewhere+"/inside"+ref, "--key", "public.pem")
	if _, said := s.ok("module", "copy", "carried.tgz", elsewhere+"/inside", "--images"); !strings.Contains(said, "nothing changed") {
		t.Errorf("the second time: %q", said)
	}

	s.ok("module", "unpack", elsewhere+"/inside"+ref, "out")
	if read(t, "out/raw-manifest.yaml") != read(t, "notes/manifest.yaml") {
		t.Error("the manifest that comes out is another one")
	}
	s.refused(1, "not empty", "module", "unpack", "carried.tgz", "out")
	s.refused(64, "no path of an archive", "module", "pull", address+ref, elsewhere+ref)
}

func TestVersionsWithBuildMetadataAndHashedNames(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	s.ok("module", "init", "notes", "--version", "0.1.0+build.5")
	for _, mapping := range []string{"urlPath", "sha256-digest"} {
		create := []string{
			"module", "create", "notes", "--no-git", "-r", address + "/" + strings.ToLower(mapping), "--component-name-mapping", mapping,
		}
		digest, _ := s.ok(create...)
		if again, said := s.ok(create...); again != digest || !strings.Contains(said, "nothing changed") {
			t.Errorf("the second time: %s after %s, %q", again, digest, said)
		}
		ref := address + "/" + strings.ToLower(mapping) + "//" + component + ":0.1.0+build.5"
		out, _ := s.ok("module", "pull", ref, mapping+".tgz", "-o", "json", "--component-name-mapping", mapping)
		got := decoded(t, out)
		if got["version"] != "0.1.0+build.5" || got["digest"] != strings.TrimSpace(digest) {
			t.Errorf("%s: pulled %v", mapping, got)
		}
		s.ok("module", "copy", mapping+".tgz", address+"/back/"+strings.ToLower(mapping), "--to-component-name-mapping", mapping)
	}
	s.refused(4, "", "module", "inspect", address+"/sha256-digest//"+component+":0.1.0+build.5")
	s.refused(64, "use urlPath or sha256-digest", "module", "push", "-c", "notes", "-r", host, "--name-mapping", "other")
}

func TestFrom_TheSameInputGivesTheSameBytesFromAnotherFolder(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	build := []string{"module", "build", "--no-git", "-o"}
	first, _ := s.ok(append(build, "one.tgz", "notes")...)
	elsewhere := filepath.Join(t.TempDir(), "another", "place")
	if err := os.CopyFS(elsewhere, os.DirFS("notes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(elsewhere, "manifest.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LC_ALL", "tr_TR.UTF-8")
	t.Setenv("TZ", "Asia/Tokyo")
	second, _ := s.ok(append(build, "two.tgz", elsewhere)...)
	if first != second || read(t, "one.tgz") != read(t, "two.tgz") {
		t.Errorf("%s and %s", first, second)
	}
	for _, schema := range []string{"v3alpha1", "ocm.software/v3alpha1"} {
		s.ok("module", "build", "notes", "--no-git", "--schema", schema, "-o", "three.tgz")
	}
	out, _ := s.ok("module", "inspect", "three.tgz", "-o", "json")
	if decoded(t, out)["schema"] != "ocm.software/v3alpha1" {
		t.Errorf("another form: %s", out)
	}
	s.refused(64, "use v2 or v3alpha1", "module", "build", "notes", "--schema", "v4")
	if names := slices.Sorted(func(yield func(string) bool) {
		for name := range s.resources("one.tgz") {
			if !yield(name) {
				return
			}
		}
	}); len(names) != 4 {
		t.Errorf("resources %v", names)
	}
}
