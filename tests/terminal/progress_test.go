package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func module(name string, state v1beta2.State, message string) v1beta2.ModuleStatus {
	return v1beta2.ModuleStatus{Name: name, Version: "1.0.0", Channel: "regular", State: state, Message: message}
}

func TestProgressIsRedrawn(t *testing.T) {
	h := newHub(t)
	h.offers("one", "two")
	s := h.run("add", "one", "two")
	s.await("Processing   two: the lifecycle manager has not seen the change yet")
	h.says(module("one", v1beta2.StateProcessing, "3 of 20 objects"), module("two", v1beta2.StateProcessing, "is being fetched"))
	s.await("Processing   one: 3 of 20 objects")
	h.says(module("one", v1beta2.StateReady, ""), module("two", v1beta2.StateProcessing, "4 of 5 objects"))
	s.await("Ready        one")
	s.await("Processing   two: 4 of 5 objects")
	h.says(module("one", v1beta2.StateReady, ""), module("two", v1beta2.StateReady, ""))
	s.ends(0)
	want := "Ready        one: version 1.0.0\nReady        two: version 1.0.0"
	if text := s.text(); !strings.HasSuffix(text, want) || strings.Contains(text, "Processing") || strings.Contains(text, "of 5") {
		t.Errorf("one line for each module, in its last state, and nothing that shone through; there is:\n%s", text)
	}
}

func TestTroubleIsTold(t *testing.T) {
	h := newHub(t)
	h.offers("one")
	s := h.run("add", "one", "--timeout", "15s")
	s.await("Processing   one")
	h.says(module("one", v1beta2.StateProcessing, "Deployment one: 0 of 1 replicas"))
	s.await("0 of 1 replicas")
	s.ends(3)
	s.await("after 15s")
	s.await("Hint: it continues in the background")
}

func TestCtrlCDuringTheWait(t *testing.T) {
	h := newHub(t)
	h.offers("one")
	s := h.run("add", "one")
	s.await("Processing   one")
	s.press("C-c")
	s.ends(130)
	if text := s.text(); !strings.HasSuffix(text, "\nInterrupted.") {
		t.Errorf("the last word is that it was interrupted; there is:\n%s", text)
	}
	if modules := h.kyma().Spec.Modules; len(modules) != 1 {
		t.Errorf("the Kyma has modules %v: who interrupts the waiting takes nothing back", modules)
	}
}

func TestProgress_ANarrowWindow(t *testing.T) {
	h := newHub(t)
	h.offers("one", "two")
	s := open(t, window{width: 34, height: 40}, h.line("add", "one", "two", "-o", "name")...)
	s.await("Processing   two: the lifecycle …")
	long := strings.Repeat("a long story ", 10)
	for _, message := range []string{long + "1", long, "short"} {
		h.says(module("one", v1beta2.StateProcessing, message), module("two", v1beta2.StateProcessing, message))
	}
	s.await("Processing   two: short")
	h.says(module("one", v1beta2.StateReady, ""), module("two", v1beta2.StateReady, ""))
	s.ends(0)
	for _, name := range []string{"one", "two"} {
		if lines := s.lines("Ready", name); len(lines) != 1 {
			t.Errorf("%s has the lines %q, want one; there is:\n%s", name, lines, s.text())
		}
	}
	if text := s.text(); strings.Contains(text, "story") || strings.Contains(text, "Processing") {
		t.Errorf("a line that was cut leaves nothing behind; there is:\n%s", text)
	}
}

// TestProgress_MoreThanAWindowHolds has more modules than lines: what is out of reach of the cursor cannot be redrawn.
func TestProgress_MoreThanAWindowHolds(t *testing.T) {
	h := newHub(t)
	var names []string
	for i := range 15 {
		names = append(names, fmt.Sprintf("module%c", 'a'+i))
	}
	h.offers(names...)
	s := open(t, window{width: 100, height: 10}, h.line(append([]string{"add", "-o", "name"}, names...)...)...)
	s.await("moduleo: the lifecycle")
	var ready []v1beta2.ModuleStatus
	for i, name := range names {
		ready = append(ready, module(name, v1beta2.StateReady, ""))
		h.says(append(ready, pending(names[i+1:])...)...)
	}
	s.ends(0)
	text := s.text()
	for _, name := range names {
		if count := strings.Count(text, name+": "); count != 1 {
			t.Errorf("%s stands there %d times, want once", name, count)
		}
	}
	if strings.Contains(text, "Processing") || t.Failed() {
		t.Errorf("there is:\n%s", text)
	}
}

func pending(names []string) []v1beta2.ModuleStatus {
	var all []v1beta2.ModuleStatus
	for _, name := range names {
		all = append(all, module(name, v1beta2.StateProcessing, "its turn has not come"))
	}
	return all
}

func TestColours(t *testing.T) {
	h := newHub(t, "one", "two")
	h.says(module("one", v1beta2.StateReady, ""), module("two", v1beta2.StateError, "no such image"))
	const green, red = "\x1b[32mInstalled", "\x1b[31mFailed"
	for name, c := range map[string]struct {
		line    string
		colours bool
	}{
		"states have colours":                   {"kyma list", true},
		"so have those of status":               {"kyma status one two || true", true},
		"NO_COLOR takes them away":              {"NO_COLOR=1; export NO_COLOR; kyma list", false},
		"a terminal that cannot do it has none": {"TERM=dumb; export TERM; kyma list", false},
		"what goes into a pipe has none":        {"kyma list | cat", false},
		"json has none":                         {"kyma list -o json", false},
	} {
		t.Run(name, func(t *testing.T) {
			inner := *h
			inner.T = t
			s := inner.script(c.line)
			s.ends(0)
			painted := s.painted()
			if !strings.Contains(painted, "Installed") || !strings.Contains(painted, "Failed") {
				t.Fatalf("there is:\n%s", painted)
			}
			if got := strings.Contains(painted, green) && strings.Contains(painted, red); got != c.colours {
				t.Errorf("colours: %v, want %v: %q", got, c.colours, painted)
			}
		})
	}
}

// TestTermDumb has a terminal that cannot move its cursor: every change of progress is one line.
func TestTermDumb(t *testing.T) {
	h := newHub(t)
	h.offers("one")
	s := h.script("TERM=dumb; export TERM; kyma add one")
	s.await("Processing   one: the lifecycle")
	h.says(module("one", v1beta2.StateReady, ""))
	s.ends(0)
	if text := s.text(); !strings.Contains(text, "Processing   one") || !strings.HasSuffix(text, "Ready        one: version 1.0.0") {
		t.Errorf("there is:\n%s", text)
	}
}
