package authorcmd_test

import (
	"strings"
	"testing"
)

func TestOutputIntoAFullDevice(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	for _, command := range [][]string{{"module", "template", "-c", "notes"}, {"module", "create", "-c", "notes", "--no-git"}} {
		code, _, said := s.run(append(command, "-o", "/dev/full")...)
		if want := "Error: write /dev/full: no space left on device\n"; code != 1 || !strings.HasSuffix(said, want) {
			t.Errorf("kyma %s: exit code %d, said %q", strings.Join(command, " "), code, said)
		}
	}
}
