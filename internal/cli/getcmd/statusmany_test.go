package getcmd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/bulk"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestTroubles(t *testing.T) {
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "hub", Name: name} }
	notes := func(kyma string, state modulestatus.State, reason, message string) modulestatus.Module {
		return modulestatus.Module{Name: "notes", Kyma: "hub/" + kyma, State: state, Installation: modulestatus.Installation{
			State: modulestatus.Failed, Reason: reason, Message: message,
		}}
	}
	for name, c := range map[string]struct {
		lines   []modulestatus.KymaLine
		modules []modulestatus.Module
		want    []bulk.Result
	}{
		"what is ready is no trouble": {
			[]modulestatus.KymaLine{{Namespace: "hub", Name: "a", State: modulestatus.Ready}},
			[]modulestatus.Module{notes("a", modulestatus.Ready, "", ""), notes("a", modulestatus.Unmanaged, "", "")}, nil,
		},
		"a module explains its Kyma, whose name is left out": {
			[]modulestatus.KymaLine{{Namespace: "hub", Name: "a", State: modulestatus.Error, Reason: "ModuleError"}},
			[]modulestatus.Module{notes("a", modulestatus.Error, "SignatureMissing", "the component of hub/a is not signed")},
			[]bulk.Result{{Key: key("a"), Outcome: "Error", Message: "module notes: SignatureMissing: the component of NAME is not signed"}},
		},
		"a Kyma has troubles of its own": {
			[]modulestatus.KymaLine{{Namespace: "hub", Name: "a", State: modulestatus.Error, Reason: "RuntimeUnreachable", Message: "no answer"}},
			[]modulestatus.Module{notes("b", modulestatus.Processing, "", "")},
			[]bulk.Result{
				{Key: key("b"), Outcome: "Processing", Message: "module notes"},
				{Key: key("a"), Outcome: "Error", Message: "the Kyma itself: RuntimeUnreachable: no answer"},
			},
		},
		"a reason that is the state is said once": {
			nil, []modulestatus.Module{{
				Name: "notes", Kyma: "hub/a", State: modulestatus.Error,
				Module: modulestatus.Condition{State: modulestatus.Error, Reason: "Error", Message: "its disk is full"},
			}},
			[]bulk.Result{{Key: key("a"), Outcome: "Error", Message: "module notes: its disk is full"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, troubles(c.lines, c.modules)); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectionOfKymas(t *testing.T) {
	config := startHub(t)
	for name, c := range map[string]struct {
		args string
		code int
		out  string
		said string
	}{
		"modules of Kymas in a state":        {"list --state warning -o name", 0, "module/beacon\nmodule/greeter\n", ""},
		"modules of Kymas that have one":     {"list --with-module greeter -o name", 0, "module/beacon\nmodule/greeter\n", ""},
		"in its installed version":           {"list --with-module greeter@0.2.0 -o name", 0, "module/beacon\nmodule/greeter\n", ""},
		"on a channel of its own":            {"list --with-module beacon:fast -o name", 0, "module/beacon\n", ""},
		"no Kyma follows the channel":        {"list --on-channel fast", 0, "", "There are no such modules. kyma list shows all."},
		"no Kyma has the label":              {"kyma list -l ring=canary", 0, "", "There are no such Kymas. kyma kyma list shows all."},
		"Kymas in a state":                   {"kyma list --state Ready -o name", 0, "kyma/kcp-system/here\n", ""},
		"one Kyma and many":                  {"list --state Ready --kyma alice", 64, "", "exclude each other"},
		"a state that there is not":          {"status --state Broken", 64, "", "--state=Broken is unknown"},
		"a module that none of them has":     {"status lone --state Warning", 4, "", "lone"},
		"a named module of them":             {"status greeter --state Warning", 2, "kymas: 1 Warning\nmodules: 1 Warning\nWarning: module greeter: Downgrade: ", ""},
		"what is not ready, by its reason":   {"status --with-module beacon", 1, "kymas: 1 Warning, 1 Ready\nmodules: 1 Error, 1 Warning, 1 Ready\nError: module beacon: Beacon kyma-system/other: its lamp says  [31mError\n  kcp-system/here\nWarning: module greeter: Downgrade: ", ""},
		"everything about them if requested": {"status --state Warning -o wide", 2, "modules: 1 Warning, 1 Ready\nmodule/beacon of kyma/kcp-system/alice: Ready\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, said, requests := kyma(t, config, append(strings.Fields(c.args), "-n", "kcp-system")...)
			exact := c.out == "" || strings.Contains(c.args, "-o name")
			if code != c.code || exact && out != c.out || !strings.HasPrefix(out, c.out) || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, want %d\n%s\nwant\n%s\nsaid %q, want %q in it", code, c.code, out, c.out, said, c.said)
			}
			if requests > 14 {
				t.Errorf("it took %d requests", requests)
			}
		})
	}
}
