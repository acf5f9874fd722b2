package target

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// selected returns the selection of some flags.
func selected(t *testing.T, flags string) *Selection {
	t.Helper()
	s, command := &Selection{}, &cobra.Command{}
	s.AddFlags(command)
	if err := command.ParseFlags(strings.Fields(flags)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSelection_Given(t *testing.T) {
	for flags, want := range map[string]bool{
		"": false, "-A": false, "-l a=b": true, "--state Error": true, "--on-channel fast": true, "--with-module notes": true, "--all-kymas": true,
	} {
		if got := selected(t, flags).Given(); got != want {
			t.Errorf("%q is about many Kymas: %t, want %t", flags, got, want)
		}
	}
}

func TestSelection_Matches(t *testing.T) {
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: "hub", Name: "demo", Generation: 2},
		Spec: v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{
			{Name: "notes"}, {Name: "beacon", Channel: "fast"}, {Name: "pinned", Version: "1.0.0"},
		}},
		Status: v1beta2.KymaStatus{
			State: v1beta2.StateWarning, ObservedGeneration: 2,
			Modules: []v1beta2.ModuleStatus{
				{Name: "notes", State: v1beta2.StateReady, Version: "1.1.0"},
				{Name: "beacon", State: v1beta2.StateError, Version: "0.2.0", InstalledVersion: "0.1.0"},
			},
			LastSeen: &v1beta2.LastSeen{
				Hub: &v1beta2.SeenSpec{Channel: "regular", Modules: []v1beta2.SeenModule{
					{Name: "notes"}, {Name: "beacon", Channel: "fast"}, {Name: "pinned", Version: "1.0.0"},
				}},
				Runtime: &v1beta2.SeenSpec{Channel: "regular", Modules: []v1beta2.SeenModule{
					{Name: "notes"}, {Name: "beacon", Channel: "fast"}, {Name: "pinned", Version: "1.0.0"}, {Name: "theirs"},
				}},
			},
		},
	}
	for flags, want := range map[string]bool{
		"--all-kymas":                         true,
		"--state Warning":                     true,
		"--state error,WARNING":               true,
		"--state Error --state Ready":         false,
		"--on-channel regular":                true,
		"--on-channel fast":                   false,
		"--with-module notes":                 true,
		"--with-module notes,beacon":          true,
		"--with-module notes,nobody":          false,
		"--with-module theirs":                true,
		"--with-module notes:regular":         true,
		"--with-module notes:fast":            false,
		"--with-module beacon:fast":           true,
		"--with-module pinned:regular":        false,
		"--with-module notes@1.1.0":           true,
		"--with-module notes@1.0.0":           false,
		"--with-module beacon@0.2.0":          false, // it is asked for, and what runs is older
		"--with-module beacon@0.1.0":          true,
		"--with-module pinned@1.0.0":          false, // nothing is installed yet
		"--state Ready --with-module notes":   false,
		"-l other=label --on-channel regular": true, // labels are compared by the API server
	} {
		filter, err := selected(t, flags).Filter()
		if err != nil {
			t.Fatal(err)
		}
		if got := filter.Matches(kyma); got != want {
			t.Errorf("%s selects the Kyma: %t, want %t", flags, got, want)
		}
	}
	filter, err := selected(t, "--state Processing").Filter()
	if err != nil {
		t.Fatal(err)
	}
	kyma.Status.State, kyma.Generation = v1beta2.StateReady, 3
	if !filter.Matches(kyma) {
		t.Error("a Kyma whose last change was not seen is not Processing")
	}
}

func TestSelection_FlagsThatMakeNoSense(t *testing.T) {
	for flags, want := range map[string]string{
		"-l a=b=c":                "--selector: ",
		"--state Broken":          "--state=Broken is unknown",
		"--on-channel Fast":       "--on-channel=Fast is not a channel",
		"--with-module notes@one": "--with-module: ",
	} {
		_, err := selected(t, flags).Filter()
		if console.Code(err) != console.CodeUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in a usage error", flags, err, want)
		}
	}
}
