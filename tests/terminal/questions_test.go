package terminal

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestQuestions_AQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		keys  []string
		code  int
		said  string
		letGo bool
	}{
		"y means yes":                        {[]string{"y", "Enter"}, 0, "changed", true},
		"a whole word does, too":             {[]string{"YES", "Enter"}, 0, "changed", true},
		"n means no":                         {[]string{"n", "Enter"}, 1, "cancelled: nothing was changed", false},
		"Enter alone means no":               {[]string{"Enter"}, 1, "cancelled: nothing was changed", false},
		"the end of input means no":          {[]string{"C-d"}, 1, "cancelled: nothing was changed", false},
		"Ctrl-C interrupts":                  {[]string{"C-c"}, 130, "Interrupted.", false},
		"Ctrl-C interrupts half of a yes":    {[]string{"ye", "C-c"}, 130, "Interrupted.", false},
		"what was corrected was never typed": {[]string{"n", "BSpace", "y", "Enter"}, 0, "changed", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, "one")
			s := h.run("unmanage", "one", "--wait=false")
			s.await("neither upgraded nor repaired. [y/N]")
			s.press(c.keys...)
			s.ends(c.code)
			s.await(c.said)
			if managed := h.kyma().Spec.Modules[0].Managed; (managed != nil && !*managed) != c.letGo {
				t.Errorf("managed is %v; the screen:\n%s", managed, s.text())
			}
		})
	}
}

func TestQuestions_WhatIsAboutToChangeIsShown(t *testing.T) {
	h := newHub(t, "one")
	s := h.run("delete", "one", "--wait=false", "--yes")
	s.ends(0)
	text := s.text()
	if strings.Contains(text, "[y/N]") || !strings.Contains(text, "-    name: one") {
		t.Errorf("--yes asks nothing and the difference is shown; there is:\n%s", text)
	}
}

func TestQuestions_ATypedConfirmation(t *testing.T) {
	for name, c := range map[string]struct {
		module    string
		keys      []string
		code      int
		said      string
		installed bool
	}{
		"the word goes on":             {"first", []string{"first", "Enter"}, 0, "enabled", true},
		"yes is not the word":          {"second", []string{"yes", "Enter"}, 1, "cancelled: nothing was changed", false},
		"the half of it is not either": {"third", []string{"thi", "Enter"}, 1, "cancelled: nothing was changed", false},
		"Ctrl-C interrupts":            {"fourth", []string{"C-c"}, 130, "Interrupted.", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.offers(c.module)
			s := h.run("add", c.module, "--unmanaged", "--registry-plain-http", "--timeout", "1m")
			s.await(fmt.Sprintf("Type %q to continue:", c.module))
			s.press(c.keys...)
			s.ends(c.code)
			s.await(c.said)
			err := h.Get(t.Context(), client.ObjectKey{Namespace: h.namespace, Name: c.module}, &corev1.ConfigMap{})
			if c.installed != (err == nil) || err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("the module's ConfigMap: %v; the screen:\n%s", err, s.text())
			}
			if c.installed {
				gone := h.run("delete", c.module)
				gone.await("[y/N]")
				gone.press("y", "Enter")
				gone.ends(0)
			}
		})
	}
}

// TestQuestions_NobodyToAsk has questions that no one can see or answer: they are refused with the flag that answers them.
func TestQuestions_NobodyToAsk(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		code int
		said string
	}{
		"a pipe is no person":                   {"echo y | kyma unmanage one", 64, "--yes confirms it"},
		"no input is no person":                 {"kyma delete one </dev/null", 64, "--yes confirms it"},
		"without a question there is no answer": {"kyma unmanage one 2>message; code=$?; cat message; exit $code", 64, "--yes confirms it"},
		"a typed word needs a terminal":         {"echo one | kyma add one --unmanaged --template-namespace HERE", 64, "--unmanaged --yes confirms it"},
		"--yes answers":                         {"kyma unmanage one --yes --wait=false </dev/null", 0, "changed"},
		"data in a pipe does not hinder to ask": {"kyma unmanage one -o name --wait=false | cat; true", 0, "module/one"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, "one")
			h.offers("one")
			t.Chdir(t.TempDir())
			s := h.script(strings.ReplaceAll(c.line, "HERE", h.namespace))
			if strings.Contains(name, "to ask") {
				s.await("[y/N]")
				s.press("y", "Enter")
			}
			s.ends(c.code)
			s.await(c.said)
		})
	}
}
