package authorcmd_test

import (
	"strings"
	"testing"
)

// broken creates a module with problems of each kind.
func broken(s *shell) {
	s.Helper()
	s.ok("module", "init", "notes")
	edit(s.T, "notes/manifest.yaml", "registry.k8s.io/pause:3.10@sha256:ee6521f290b2168b6e0935a181d4cff9be1ac3f505666ef0e3c98fae8199917a", "example.com/notes:latest")
	edit(s.T, "notes/default-cr.yaml", "message: ", "massage: ")
}

func TestFormatsOfValidate(t *testing.T) {
	s := open(t)
	broken(s)
	for file, args := range map[string][]string{
		"validate.out": nil, "validate-wide.out": {"-o", "wide"}, "validate.json": {"-o", "json"}, "validate.yaml": {"-o", "yaml"},
		"validate.sarif": {"-o", "sarif"},
	} {
		code, out, said := s.run(append([]string{"module", "validate", "notes"}, args...)...)
		if code != 1 || said != "" {
			t.Errorf("%v: exit code %d, said %q", args, code, said)
		}
		s.golden(file, "", out)
	}
	s.refused(1, "the module has ", "module", "create", "notes", "--no-git")
	s.ok("module", "create", "notes", "--no-git", "--skip-validation", "-o", "-")
	s.refused(64, "there is no rule none", "module", "validate", "notes", "--rule", "none")
}

func TestFormatsOfInspect(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	s.ok("module", "build", "notes", "--no-git", "-o", "notes.tgz")
	for file, format := range map[string]string{
		"inspect.out": "table", "inspect-wide.out": "wide", "inspect.json": "json", "inspect.yaml": "yaml", "inspect-name.out": "name",
	} {
		out, said := s.ok("module", "inspect", "notes.tgz", "-o", format)
		if want := map[bool]string{true: "It is not signed.\n"}[format == "table" || format == "wide"]; said != want {
			t.Errorf("%s: said %q, want %q", format, said, want)
		}
		s.golden(file, "", out)
	}
	s.refused(4, "Hint: it has pause-ee6521f2, raw-manifest,", "module", "inspect", "notes.tgz", "--resource", "nope")
	s.refused(4, "no archive", "module", "inspect", "nowhere.tgz")
	s.refused(64, ":VERSION", "module", "inspect", "oci://example.com//"+component)
}

func TestChangedContentNamesBothDigests(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	s.ok("module", "init", "notes")
	create := []string{"module", "create", "notes", "-r", address, "--no-git"}
	first, _ := s.ok(create...)
	again, said := s.ok(create...)
	if again != first || said != address+"//"+component+":0.1.0 is there already: nothing changed.\n" {
		t.Errorf("the second time: %s after %s, said %q", again, first, said)
	}
	edit(t, "notes/manifest.yaml", "cpu: 10m", "cpu: 20m")
	second, _ := s.ok("module", "build", "notes", "--no-git", "-o", "other.tgz")
	for _, args := range [][]string{create, append(create, "--dry-run")} {
		code, out, said := s.run(args...)
		for _, want := range []string{strings.TrimSpace(first), strings.TrimSpace(second), "--overwrite"} {
			if code != 1 || out != "" || !strings.Contains(said, want) {
				t.Errorf("exit code %d: %s%s, want %s", code, out, said, want)
			}
		}
	}
	replaced, _ := s.ok(append(create, "--overwrite")...)
	if replaced != second {
		t.Errorf("overwritten with %s, built %s", replaced, second)
	}
}
