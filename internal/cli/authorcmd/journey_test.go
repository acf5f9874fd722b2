package authorcmd_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const component = "example.com/module/notes"

// The life of a module in a registry, as an author sees it.
func TestJourney_FromNothingToARegistryAndBack(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	keys(t, "")
	ref := address + "//" + component + ":0.1.0"

	out, said := s.ok("module", "init", "notes")
	s.golden("init.out", "", out)
	s.golden("init.err", "", said)

	out, said = s.ok("module", "validate", "notes", "--strict")
	if out != "" || said != "notes 0.1.0 is valid.\n" {
		t.Errorf("a new module is not valid without warnings: %s%s", out, said)
	}

	create := []string{"module", "create", "-c", "notes", "--registry", address, "--sign-key", "private.pem", "--no-git"}
	digest, said := s.ok(create...)
	s.golden("create.err", host, said)
	s.golden("template.yaml", "", read(t, "template.yaml"))
	s.golden("release.yaml", "", read(t, "release.yaml"))

	again, said := s.ok(create...)
	if again != digest || !strings.Contains(said, "nothing changed") {
		t.Errorf("the second time it was %s, after %s; said %q", again, digest, said)
	}

	out, said = s.ok("module", "verify", ref, "--key", "public.pem", "--offline")
	s.golden("verify.out", host, out)
	if !strings.Contains(said, "is what was signed") {
		t.Errorf("verify said %q", said)
	}
	keys(t, "other-")
	s.refused(1, "", "module", "verify", ref, "--key", "other-public.pem", "--offline")

	out, _ = s.ok("module", "inspect", ref, "--key", "public.pem")
	if !strings.Contains(out, "registry.k8s.io/pause") || !strings.Contains(out, "Valid") {
		t.Errorf("inspect shows neither the image nor the signature:\n%s", out)
	}

	edit(t, "notes/manifest.yaml", "cpu: 10m", "cpu: 20m")
	s.refused(1, "other content", create...)
	s.refused(1, "--overwrite", create...)
	edit(t, "notes/manifest.yaml", "cpu: 20m", "cpu: 10m")

	// Elsewhere, the same bytes.
	out, _ = s.ok("module", "pull", ref, "pulled.tgz", "-o", "json")
	if got := decoded(t, out)["digest"]; got != strings.TrimSpace(digest) {
		t.Errorf("pulled %v, published %s", got, digest)
	}
	other, elsewhere := registry(t)
	out, said = s.ok("module", "copy", "pulled.tgz", elsewhere+"/team", "-o", "json")
	if got := decoded(t, out)["digest"]; got != strings.TrimSpace(digest) {
		t.Errorf("copied %v, published %s", got, digest)
	}
	s.golden("copy.err", other, said)
	out, said = s.ok("module", "copy", "pulled.tgz", elsewhere+"/team")
	if !strings.Contains(said, "nothing changed") || !strings.Contains(out, "false") {
		t.Errorf("the second copy: %s%s", out, said)
	}
	s.ok("module", "verify", elsewhere+"/team//"+component+":0.1.0", "--key", "public.pem", "--offline")

	out, _ = s.ok("module", "unpack", "pulled.tgz")
	if out != "notes-0.1.0\n" {
		t.Errorf("unpacked into %q", out)
	}
	files, err := os.ReadDir("notes-0.1.0")
	if err != nil || len(files) == 0 {
		t.Errorf("nothing was unpacked: %v", err)
	}
	out, _ = s.ok("module", "inspect", "pulled.tgz", "--resource", "raw-manifest")
	if out != read(t, "notes/manifest.yaml") {
		t.Error("the manifest that comes back is another one")
	}

	// The ModuleTemplate is in the component, too.
	out, _ = s.ok("module", "template", ref)
	if out != read(t, "template.yaml") {
		t.Errorf("the ModuleTemplate of the component is another one:\n%s", out)
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var data map[string]any
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if data["apiVersion"] != "cli.kyma-project.io/v1" || data["kind"] == "" {
		t.Errorf("a document without version and kind: %s", text)
	}
	return data
}

func TestSecondVersionGoesIntoAChannel(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	s.ok("module", "init", "notes")
	create := []string{"module", "create", "notes", "-r", address, "--no-git"}
	s.ok(create...)
	write(t, "release.yaml", "# Who may have what.\n"+read(t, "release.yaml"))
	edit(t, "notes/module-config.yaml", "version: 0.1.0", "version: 0.2.0")

	if _, said := s.ok(create...); !strings.Contains(said, "release.yaml stays as it is") {
		t.Errorf("without a channel: %q", said)
	}
	both, _ := s.ok(append(create, "--channel", "fast", "-o", "-", "--release-output", "release.yaml")...)
	if !strings.Contains(both, "channel: regular") || strings.Contains(read(t, "release.yaml"), "fast") {
		t.Errorf("printed with the channels of a file that stays as it is:\n%s", both)
	}
	s.ok(append(create, "--channel", "fast")...)
	out, _ := s.ok("release", "show", "-f", "release.yaml")
	s.golden("release-show.out", "", out)
	s.ok("release", "promote", "notes", "fast", "regular", "-f", "release.yaml", "--registry", address)
	s.golden("release-promoted.yaml", "", read(t, "release.yaml"))
	s.refused(4, "has no version 0.9.0", "release", "set", "notes", "fast=0.9.0", "-f", "release.yaml", "--registry", address)
	s.refused(1, "--allow-downgrade", "release", "set", "notes", "fast=0.1.0", "-f", "release.yaml")

	edit(t, "notes/module-config.yaml", "version: 0.2.0", "version: 0.1.0")
	s.refused(1, "higher than 0.1.0", append(create, "--channel", "fast")...)
}

// Scripts for modulectl, which writes a ModuleTemplate alone, make one module after the other in one folder.
func TestJourney_ASecondModuleInTheSameFolder(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	s.ok("module", "init", "notes")
	s.ok("module", "init", "other")
	s.ok("module", "create", "notes", "-r", address, "--no-git", "-o", "notes.yaml")
	first := read(t, "release.yaml")

	create := []string{"module", "create", "other", "-r", address, "--no-git", "-o", "other.yaml"}
	if _, said := s.ok(create...); !strings.Contains(said, "release.yaml belongs to notes: the ModuleReleaseMeta of other is written to release-other.yaml.") {
		t.Errorf("the second module: %q", said)
	}
	if read(t, "release.yaml") != first || !strings.Contains(read(t, "release-other.yaml"), "moduleName: other") {
		t.Errorf("the ModuleReleaseMetas are\n%s---\n%s", read(t, "release.yaml"), read(t, "release-other.yaml"))
	}
	edit(t, "other/module-config.yaml", "version: 0.1.0", "version: 0.2.0")
	s.ok(append(create, "--channel", "fast")...)
	if text := read(t, "release-other.yaml"); !strings.Contains(text, "channel: regular") || !strings.Contains(text, "channel: fast") {
		t.Errorf("the second version of the second module:\n%s", text)
	}
	s.refused(1, "release.yaml has no ModuleReleaseMeta other: it has notes", append(create, "--release-output", "release.yaml")...)
}

// Published content stays published: files that cannot be written afterwards must be noticed before.
func TestJourney_NothingIsPublishedForAReleaseThatCannotBeChanged(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	s.ok("module", "init", "notes")
	create := []string{"module", "create", "notes", "-r", address, "--no-git", "--channel", "fast", "--archive", "notes.tgz"}
	for text, want := range map[string]string{
		"a: [\n": "release.yaml is no YAML",
		"apiVersion: operator.kyma-project.io/v1beta2\nkind: ModuleReleaseMeta\nmetadata: {name: notes}\n" +
			"spec: {moduleName: notes, ocmComponentName: " + component + ", channels: [{channel: fast, version: 0.2.0}]}\n": "higher than 0.1.0",
	} {
		write(t, "release.yaml", text)
		s.refused(1, want, create...)
		s.refused(4, "", "module", "inspect", address+"//"+component+":0.1.0")
		for _, file := range []string{"template.yaml", "notes.tgz"} {
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%s is written, though the command was refused", file)
			}
		}
	}
}

func TestStandardOutputHasBothObjects(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	out, _ := s.ok("module", "create", "notes", "-o", "-", "--no-git", "--namespace", "somewhere")
	for _, want := range []string{"kind: ModuleTemplate", "kind: ModuleReleaseMeta", "\n---\n", "namespace: somewhere"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if files, _ := os.ReadDir("."); len(files) != 1 {
		t.Errorf("files were written beside the module: %v", files)
	}
}

func TestArchives(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	keys(t, "")
	s.ok("module", "init", "notes")
	digest, _ := s.ok("module", "build", "notes", "--no-git", "--sign-key", "private.pem")
	first := read(t, "notes-0.1.0.tgz")
	again, said := s.ok("module", "build", "notes", "--no-git", "--sign-key", "private.pem")
	if again != digest || !strings.Contains(said, "nothing changed") || read(t, "notes-0.1.0.tgz") != first {
		t.Errorf("built again: %s after %s, said %q", again, digest, said)
	}
	other := strings.TrimSpace(digest)
	if unsigned, _ := s.ok("module", "build", "notes", "--no-git", "-o", "dir"); strings.TrimSpace(unsigned) == other {
		t.Error("signed and unsigned have the same digest")
	}
	out, _ := s.ok("module", "push", "notes-0.1.0.tgz", "-r", address, "-o", "json", "--dry-run")
	if decoded(t, out)["changed"] != true {
		t.Errorf("dry run: %s", out)
	}
	s.refused(4, "", "module", "inspect", address+"//"+component+":0.1.0")
	out, _ = s.ok("module", "push", "notes-0.1.0.tgz", "-r", address, "-o", "json")
	if decoded(t, out)["digest"] != other {
		t.Errorf("pushed %s, built %s", out, digest)
	}
	out, _ = s.ok("module", "push", "-c", "notes", "-r", address, "--no-git", "--dry-run", "-o", "json")
	if decoded(t, out)["changed"] != false {
		t.Errorf("dry run of the same: %s", out)
	}
	edit(t, "notes/manifest.yaml", "cpu: 10m", "cpu: 20m")
	s.refused(1, "other content", "module", "push", "-c", "notes", "-r", address, "--no-git", "--dry-run")
	s.ok("module", "push", "-c", "notes", "-r", address, "--no-git", "--overwrite")
}

func TestSignWhereItLies(t *testing.T) {
	s := open(t)
	keys(t, "")
	s.ok("module", "init", "notes")
	s.ok("module", "build", "notes", "--no-git", "-o", "notes.tar")
	s.refused(1, "", "module", "verify", "notes.tar", "--key", "public.pem", "--offline")
	for _, how := range [][]string{{}, {"--algorithm", "pss"}, {"--normalisation", "v1", "--hash", "sha512"}} {
		sign := append([]string{"module", "sign", "notes.tar", "--key", "private.pem"}, how...)
		if _, said := s.ok(sign...); said != "notes.tar//"+component+":0.1.0 is signed.\n" {
			t.Errorf("%v: said %q", how, said)
		}
		if _, said := s.ok(sign...); len(how) == 0 && !strings.Contains(said, "is signed like that already: nothing changed") {
			t.Errorf("the second time: %q", said)
		}
		s.ok("module", "verify", "notes.tar", "--key", "public.pem", "--offline")
	}
}
