package alerts

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/tests/faults/matrix"
)

const recordings = "testdata"

func TestExpectations_AreThoseOfTheMatrix(t *testing.T) {
	alerts := map[string]bool{}
	for _, alert := range deployed(t).Alerts {
		alerts[alert.Name] = true
	}
	var forms, expected []string
	for _, fault := range matrix.Faults() {
		for _, form := range fault.Forms {
			forms = append(forms, fault.Name+"/"+form.Name)
		}
		if one, known := ExpectationOf(fault.Name); known {
			expected = append(expected, one.Fault)
		} else {
			t.Errorf("nothing says what rings for %s", fault.Name)
		}
	}
	for _, one := range Expectations() {
		if !slices.Contains(forms, one.Fault+"/"+one.Form) {
			t.Errorf("the matrix has no %s/%s", one.Fault, one.Form)
		}
		if (one.Alert == "") == (one.Silent == "") || one.Alert != "" && !alerts[one.Alert] {
			t.Errorf("%s rings %q, silent because %q", one.Fault, one.Alert, one.Silent)
		}
	}
	if len(expected) != len(Expectations()) {
		t.Errorf("%d expectations for %d faults", len(Expectations()), len(expected))
	}
}

// TestReliability_TellsWhatRings holds the table of the page to the expectations, and to what is recorded of them.
func TestReliability_TellsWhatRings(t *testing.T) {
	text := page(t, "docs/reliability.md")
	for _, one := range Expectations() {
		row := "| " + one.Fault + ", " + one.Form + " | none: " + one.Silent
		if one.Alert != "" {
			row = "| " + one.Fault + ", " + one.Form + " | [" + one.Alert + "](runbooks.md#" + strings.ToLower(one.Alert) + ")"
		}
		if row += " | " + recorded(t, one.Fault) + " |\n"; !strings.Contains(text, row) {
			t.Errorf("docs/reliability.md has no row %s", row)
		}
	}
	if row := "| clean: half an hour of everyday operations | none | " + recorded(t, Clean) + " |\n"; !strings.Contains(text, row) {
		t.Errorf("docs/reliability.md has no row %s", row)
	}
}

// recorded says when a fault was recorded.
func recorded(t *testing.T, fault string) string {
	t.Helper()
	recording, err := Read(recordings, fault)
	if err != nil {
		t.Fatalf("make record-alerts has not recorded %s: %v", fault, err)
	}
	return recording.At
}

// promtool returns what evaluates the rules.
func promtool(t *testing.T) *Promtool {
	t.Helper()
	program := os.Getenv("PROMTOOL")
	if program == "" {
		t.Skip("PROMTOOL names no promtool: make test-alerts gets one")
	}
	return &Promtool{Program: program, Rules: deployed(t)}
}

func TestPromtool_AcceptsTheRules(t *testing.T) {
	if err := promtool(t).Check(t.Context(), t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestReplay(t *testing.T) {
	tool := promtool(t)
	clean, _ := ExpectationOf(Clean)
	for _, expected := range append(Expectations(), clean) {
		t.Run(expected.Fault, func(t *testing.T) {
			recording, err := Read(recordings, expected.Fault)
			if err != nil {
				t.Fatal(err)
			}
			if err := tool.Replay(t.Context(), t.TempDir(), recording, expected); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReplay_FindsWhatIsWrong turns recordings around: a test of alerts that cannot fail is none.
func TestReplay_FindsWhatIsWrong(t *testing.T) {
	tool := promtool(t)
	up := func(samples string) *Recording {
		return &Recording{
			Fault: "made up", Samples: 40, Began: 3, Struck: 4, Mended: 15,
			Series: Series{`up{instance="manager-1"}`: samples},
		}
	}
	for name, test := range map[string]struct {
		samples string
		rings   string
		fails   bool
	}{
		"it rings, and clears":                {"1*5 0*11 1*24", "LifecycleManagerDown", false},
		"it rings before the fault":           {"0*16 1*24", "LifecycleManagerDown", true},
		"it does not ring":                    {"1*40", "LifecycleManagerDown", true},
		"it rings too late":                   {"1*12 0*4 1*24", "LifecycleManagerDown", true},
		"it does not clear":                   {"1*5 0*35", "LifecycleManagerDown", true},
		"another one rings":                   {"1*5 0*11 1*24", "HubSlow", true},
		"nothing rings, as nothing should":    {"1*40", "", false},
		"something rings, and nothing should": {"1*5 0*11 1*24", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			err := tool.Replay(t.Context(), t.TempDir(), up(test.samples), Expectation{Fault: "made up", Alert: test.rings})
			if (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestEncode_AndDecodeAreOpposites(t *testing.T) {
	for name, test := range map[string]struct {
		samples map[int]float64
		count   int
		want    string
	}{
		"no sample":                     {nil, 0, ""},
		"one":                           {map[int]float64{0: 1.5}, 1, "1.5"},
		"the same again and again":      {map[int]float64{0: 2, 1: 2, 2: 2}, 3, "2*3"},
		"what was not there":            {map[int]float64{1: 7}, 4, "_ 7 _*2"},
		"a large number and a small":    {map[int]float64{0: 1764000000.25, 1: -3600}, 2, "1764000000.25 -3600"},
		"what comes after a break":      {map[int]float64{0: 1, 1: 1, 3: 1, 4: 0}, 5, "1*2 _ 1 0"},
		"zero is a sample, and not one": {map[int]float64{0: 0}, 2, "0 _"},
	} {
		t.Run(name, func(t *testing.T) {
			got := encode(test.samples, test.count)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			samples, err := decode(got)
			if err != nil || len(samples) != test.count {
				t.Errorf("%d samples, error %v", len(samples), err)
			}
		})
	}
}

func TestDecode_RefusesWhatIsNoSample(t *testing.T) {
	for _, text := range []string{"one", "1*0", "1*x", "1**2", "*3", "__"} {
		if samples, err := decode(text); err == nil {
			t.Errorf("%q is %q", text, samples)
		}
	}
}

func TestRecording_IsReadAsItWasWritten(t *testing.T) {
	dir := t.TempDir()
	written := &Recording{
		Fault: "hub's webhook", Form: "denies", Operation: "channel", Manager: "abc", At: "2026-01-02", Samples: 4, Began: 1, Struck: 1, Mended: 2,
		Series: Series{`up{a="b} c"}`: "1*4", `down{a="b", c="d"}`: "_ 1*3"},
	}
	if err := written.Write(dir); err != nil {
		t.Fatal(err)
	}
	read, err := Read(dir, written.Fault)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, read); diff != "" {
		t.Errorf("differs (-written +read):\n%s", diff)
	}
	for name, change := range map[string]func(*Recording){
		"moments that are not in order":      func(r *Recording) { r.Struck = 3 },
		"a series that lacks a sample":       func(r *Recording) { r.Series[`up{a="b"}`] = "1*3" },
		"a series with something else in it": func(r *Recording) { r.Series[`up{a="b"}`] = "1*3 x" },
	} {
		t.Run(name, func(t *testing.T) {
			wrong := *written
			wrong.Series = Series{`up{a="b"}`: "1*4"}
			change(&wrong)
			if err := wrong.Write(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(dir, written.Fault); err == nil {
				t.Error("it was read")
			}
		})
	}
}

func TestStaleAfter_EndsWhatIsGone(t *testing.T) {
	got := strings.Join(staleAfter([]string{"_", "1", "_", "_", "2", "_"}), " ")
	if want := "_ 1 stale _ 2 stale"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
