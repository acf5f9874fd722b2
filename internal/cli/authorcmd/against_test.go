package authorcmd_test

import (
	"strings"
	"testing"
)

// narrowed changes notes to its next version, whose definition accepts less.
func narrowed(t *testing.T, version string) {
	t.Helper()
	edit(t, "notes/module-config.yaml", "version: 0.1.0", "version: "+version)
	edit(t, "notes/manifest.yaml", "maxLength: 256", "maxLength: 100")
}

const narrower = "BoundNarrowed (1): v1alpha1 spec.message: maxLength changes from 256 to 100"

func TestValidateAgainstAnEarlierVersion(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	s.ok("module", "init", "notes")
	s.ok("module", "build", "notes", "--no-git", "-o", "old.tgz")
	s.ok("module", "push", "old.tgz", "-r", address)
	s.ok("module", "validate", "notes", "--against", "old.tgz")
	narrowed(t, "0.2.0")
	refs := []string{"old.tgz", address + "//" + component + ":0.1.0"}
	for _, ref := range refs {
		code, out, said := s.run("module", "validate", "notes", "--rule", "crd-change", "--against", ref, "-o", "json")
		if code != 1 || !strings.Contains(out, narrower) || !strings.Contains(out, "in every cluster that has an object") {
			t.Errorf("against %s: exit code %d\n%s%s", ref, code, out, said)
		}
	}
	s.refused(4, "", "module", "validate", "notes", "--against", address+"//"+component+":0.0.9")
	s.refused(4, "", "module", "validate", "notes", "--against", "missing.tgz")
	s.refused(64, "has no version", "module", "validate", "notes", "--against", address+"//"+component)

	write(t, "notes/module-config.yaml", read(t, "notes/module-config.yaml")+"\nallowCRDChanges: [BoundNarrowed]\n")
	s.ok("module", "validate", "notes", "--rule", "crd-change", "--against", "old.tgz")

	s.ok("module", "init", "others")
	s.refused(64, "name an earlier version of the same module", "module", "validate", "others", "--against", "old.tgz")
}

func TestReleasesTellWhatClustersWouldRefuse(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	s.ok("module", "init", "notes")
	create := []string{"module", "create", "notes", "-r", address, "--no-git", "--channel"}
	s.ok(append(create, "regular")...)
	narrowed(t, "0.2.0")
	s.ok(append(create, "fast")...)

	promote := []string{"release", "promote", "notes", "fast", "regular", "-f", "release.yaml"}
	if _, said := s.ok(append(promote, "--dry-run=client")...); !strings.Contains(said, "are not compared: set --registry") {
		t.Errorf("without a registry: %q", said)
	}
	promote = append(promote, "--registry", address)
	out, said := s.ok(append(promote, "--dry-run=client", "-o", "json")...)
	if !strings.Contains(said, narrower) || !strings.Contains(out, `"unsafeCRDChanges": [`) {
		t.Errorf("a dry run tells it and does not ask: %s%s", out, said)
	}
	before := read(t, "release.yaml")
	s.refused(64, "--yes", promote...)
	s.asks, s.in = true, "n\n"
	s.refused(1, narrower, promote...)
	if read(t, "release.yaml") != before {
		t.Error("it was released without a yes")
	}
	s.in = "y\n"
	if _, said := s.ok(promote...); strings.Index(said, narrower) > strings.Index(said, "[y/N]") {
		t.Errorf("asked before it was told: %s", said)
	}
	if read(t, "release.yaml") == before {
		t.Error("it was not released")
	}

	// A change that the version allows by name needs no confirmation.
	edit(t, "notes/module-config.yaml", "version: 0.2.0", "version: 0.3.0\nallowCRDChanges: [BoundNarrowed]")
	edit(t, "notes/manifest.yaml", "maxLength: 100", "maxLength: 50")
	s.asks, s.in = false, ""
	s.ok(append(create, "fast")...)
	if _, said := s.ok(promote...); strings.Contains(said, "BoundNarrowed") || strings.Contains(said, "not compared") {
		t.Errorf("an allowed change: %s", said)
	}
}
