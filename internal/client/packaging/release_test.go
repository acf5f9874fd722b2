package packaging_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
)

const head = `# Who gets what.
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleReleaseMeta
metadata: {name: notes, namespace: kcp-system} # the hub
spec:
  moduleName: notes
  ocmComponentName: example.com/module/notes
`

func TestMoveKeepsTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		text, channel, version, want string
	}{
		"a version is replaced in place": {
			head + "  channels:\n    # slow\n    - channel: regular # most\n      version: \"0.1.0\" # old\n    - {channel: fast, version: 0.2.0}\n",
			"regular", "0.2.0",
			head + "  channels:\n    # slow\n    - channel: regular # most\n      version: \"0.2.0\" # old\n    - {channel: fast, version: 0.2.0}\n",
		},
		"so is one in a list on one line": {
			head + "  channels: [{channel: regular, version: 0.1.0}, {channel: fast, version: '0.2.0'}]\n", "fast", "0.10.0",
			head + "  channels: [{channel: regular, version: 0.1.0}, {channel: fast, version: '0.10.0'}]\n",
		},
		"a new channel is added after the last one": {
			head + "  channels:\n  - version: 0.1.0\n    channel: regular\n  beta: false # old\n", "fast", "0.2.0",
			head + "  channels:\n  - version: 0.1.0\n    channel: regular\n  - channel: fast\n    version: 0.2.0\n  beta: false # old\n",
		},
		"it has the style of the last one": {
			head + "  channels:\n  - {channel: regular, version: 0.1.0}", "fast", "0.2.0",
			head + "  channels:\n  - {channel: regular, version: 0.1.0}\n  - {channel: fast, version: 0.2.0}\n",
		},
		"the first channel is added, and comments are kept": {
			head, "regular", "0.1.0",
			head +
				"  channels:\n    - channel: regular\n      version: 0.1.0\n",
		},
		"other documents stay": {
			"kind: ConfigMap\n---\n" + head + "  channels:\n  - channel: regular\n    version: 0.1.0\n---\n# last\nkind: Secret\n", "regular", "0.2.0",
			"kind: ConfigMap\n---\n" + head + "  channels:\n  - channel: regular\n    version: 0.2.0\n---\n# last\nkind: Secret\n",
		},
		"the same version is no change": {
			head + "  channels:\n  - channel: regular\n    version:   0.1.0\n", "regular", "0.1.0",
			head + "  channels:\n  - channel: regular\n    version:   0.1.0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := packaging.ParseReleaseFile("release.yaml", []byte(c.text), "notes")
			if err != nil {
				t.Fatal(err)
			}
			moves, err := packaging.Moves(file.Meta.Spec.Channels, []v1beta2.ChannelVersion{{Channel: c.channel, Version: c.version}})
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Move(moves); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(file.Text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := packaging.Apply(nil, moves)[0]; file.Meta.Spec.Channels[0] != got && file.Meta.Spec.Channels[len(file.Meta.Spec.Channels)-1] != got {
				t.Errorf("the channels are %v", file.Meta.Spec.Channels)
			}
		})
	}
}

func TestReleaseFilesThatAreNone(t *testing.T) {
	for name, c := range map[string]struct{ text, module, want string }{
		"no YAML":                             {"a: [", "", "no YAML"},
		"no ModuleReleaseMeta":                {"kind: Secret\n", "notes", "has no ModuleReleaseMeta"},
		"one of another module":               {head, "other", "it has notes"},
		"several, without a choice":           {head + "---\n" + strings.Replace(head, "name: notes", "name: other", 1), "", "several"},
		"a field that there is not":           {head + "  chanels: []\n", "notes", "chanels"},
		"a map instead of a list of channels": {head + "  channels: {regular: 0.1.0}\n", "notes", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := packaging.ParseReleaseFile("release.yaml", []byte(c.text), c.module); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestMoves(t *testing.T) {
	offered := []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}, {Channel: "fast", Version: "1.10.0"}}
	for name, c := range map[string]struct {
		channel, version string
		want             packaging.Move
		err              string
	}{
		"a higher version":                      {"regular", "1.2.0", packaging.Move{Channel: "regular", From: "1.0.0", To: "1.2.0"}, ""},
		"ten is more than two":                  {"fast", "1.2.0", packaging.Move{Channel: "fast", From: "1.10.0", To: "1.2.0", Downgrade: true}, ""},
		"a prerelease is less than its release": {"regular", "1.0.0-rc", packaging.Move{Channel: "regular", From: "1.0.0", To: "1.0.0-rc", Downgrade: true}, ""},
		"a new channel":                         {"experimental", "2.0.0", packaging.Move{Channel: "experimental", To: "2.0.0"}, ""},
		"an invalid channel":                    {"Fast!", "2.0.0", packaging.Move{}, "no name for a channel"},
		"none is no channel":                    {"none", "2.0.0", packaging.Move{}, "can be called none"},
		"a version that is none":                {"fast", "two", packaging.Move{}, "cannot offer"},
	} {
		t.Run(name, func(t *testing.T) {
			moves, err := packaging.Moves(offered, []v1beta2.ChannelVersion{{Channel: c.channel, Version: c.version}})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !cmp.Equal(moves[0], c.want) {
				t.Errorf("got %+v %v, want %+v", moves, err, c.want)
			}
		})
	}
	if _, err := packaging.Promotion(offered, "slow", "regular"); err == nil || !strings.Contains(err.Error(), "regular, fast") {
		t.Errorf("got %v, want the channels that there are", err)
	}
}

func FuzzReleaseFile(f *testing.F) {
	f.Add([]byte(head + "  channels:\n  - channel: regular\n    version: 0.1.0\n"))
	f.Add([]byte(head + "  channels: [{channel: regular, version: '0.1.0'}]\n"))
	f.Add([]byte(head))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := packaging.ParseReleaseFile("release.yaml", text, "notes")
		if err != nil {
			return
		}
		moves, err := packaging.Moves(file.Meta.Spec.Channels, []v1beta2.ChannelVersion{{Channel: "fast", Version: "9.9.9"}})
		if err != nil {
			return
		}
		want := packaging.Apply(file.Meta.Spec.Channels, moves)
		if err := file.Move(moves); err != nil {
			return
		}
		if diff := cmp.Diff(want, file.Meta.Spec.Channels); diff != "" {
			t.Error(diff)
		}
	})
}
