package editcmd

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

func TestDescribed(t *testing.T) {
	spec := &v1beta2.KymaSpec{Channel: "fast", Modules: []v1beta2.Module{
		{Name: "notes"}, {Name: "beacon", Channel: "slow"}, {Name: "pinned", Version: "1.2.0"},
	}}
	change := func(module string, action kymaedit.Action, fields ...string) []kymaedit.Change {
		return []kymaedit.Change{{Module: module, Action: action, Fields: fields}}
	}
	for name, c := range map[string]struct {
		changes []kymaedit.Change
		want    string
	}{
		"nothing is said of what stays":              {change("notes", kymaedit.Unchanged), ""},
		"a new entry is told as on the command line": {change("notes", kymaedit.Enabled), "add notes"},
		"with its channel":                           {change("beacon", kymaedit.Enabled), "add beacon:slow"},
		"with its version":                           {change("pinned", kymaedit.Enabled), "add pinned@1.2.0"},
		"an entry goes":                              {change("gone", kymaedit.Disabled), "delete gone"},
		"a channel of the Kyma":                      {change("", kymaedit.Changed, "channel"), "set channel fast"},
		"a version":                                  {change("pinned", kymaedit.Changed, "version"), "change pinned (version 1.2.0)"},
		"a channel in place of a version":            {change("beacon", kymaedit.Changed, "channel", "version"), "change beacon (channel slow)"},
		"other fields by name":                       {change("beacon", kymaedit.Changed, "upgradeStrategy", "values"), "change beacon (upgradeStrategy, values)"},
		"the way back to the channel of the Kyma":    {change("notes", kymaedit.Changed, "version"), "change notes (the channel of the Kyma)"},
		"several at once": {
			append(change("notes", kymaedit.Enabled), change("pinned", kymaedit.Changed, "version")...), "add notes, change pinned (version 1.2.0)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := described(c.changes, spec); got != c.want {
				t.Errorf("it is told as %q, want %q", got, c.want)
			}
		})
	}
}

func TestPlural(t *testing.T) {
	for count, want := range map[int]string{0: "0 Kymas were", 1: "1 Kyma was", 1000: "1,000 Kymas were"} {
		if got := was(count); got != want {
			t.Errorf("%d is %q, want %q", count, got, want)
		}
	}
}
