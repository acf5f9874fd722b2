package kymaedit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestParseWish(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want ModuleRequest
		bad  bool
	}{
		"a name alone":            {"notes", ModuleRequest{Name: "notes"}, false},
		"a version":               {"notes@1.2.3", ModuleRequest{Name: "notes", Version: "1.2.3"}, false},
		"a pre-release":           {"notes@1.2.3-rc1", ModuleRequest{Name: "notes", Version: "1.2.3-rc1"}, false},
		"a channel":               {"template-operator:fast", ModuleRequest{Name: "template-operator", Channel: "fast"}, false},
		"nothing":                 {"", ModuleRequest{}, true},
		"no name":                 {"@1.2.3", ModuleRequest{}, true},
		"a version that is none":  {"notes@latest", ModuleRequest{}, true},
		"a version with a v":      {"notes@v1.2.3", ModuleRequest{}, true},
		"a channel with capitals": {"notes:Fast", ModuleRequest{}, true},
		"the reserved channel":    {"notes:none", ModuleRequest{}, true},
		"an empty channel":        {"notes:", ModuleRequest{}, true},
		"an empty version":        {"notes@", ModuleRequest{}, true},
		"a version and a channel": {"notes@1.2.3:fast", ModuleRequest{}, true},
		"a channel and a version": {"notes:fast@1.2.3", ModuleRequest{}, true},
		"a name with a namespace": {"kyma-system/notes", ModuleRequest{}, true},
		"a misplaced flag":        {"-notes", ModuleRequest{}, true},
		"a name that is too long": {strings.Repeat("a", 254), ModuleRequest{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseWish(c.text)
			if (err != nil) != c.bad {
				t.Fatalf("error %v, want one: %v", err, c.bad)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseWish(f *testing.F) {
	for _, text := range []string{"notes", "notes@1.2.3", "notes:fast", "@", ":", "a@b:c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		wish, err := ParseWish(text)
		if err == nil && (wish.String() != text || wish.Channel != "" && wish.Version != "") {
			t.Errorf("%q became %+v, which is %q", text, wish, wish)
		}
	})
}

func TestEdits(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		have []v1beta2.Module
		edit func(*v1beta2.KymaSpec) Change
		want []v1beta2.Module
		told Change
	}{
		"a new module is added at the end": {
			[]v1beta2.Module{{Name: "a"}}, func(s *v1beta2.KymaSpec) Change { return Enable(s, ModuleRequest{Name: "b", Policy: "Ignore"}) },
			[]v1beta2.Module{{Name: "a"}, {Name: "b", CustomResourcePolicy: "Ignore"}},
			Change{Module: "b", Action: Enabled, Fields: []string{"customResourcePolicy"}},
		},
		"an existing module that is requested without more stays as it is": {
			[]v1beta2.Module{{Name: "a", Version: "1.0.0"}}, func(s *v1beta2.KymaSpec) Change { return Enable(s, ModuleRequest{Name: "a"}) },
			[]v1beta2.Module{{Name: "a", Version: "1.0.0"}}, Change{Module: "a", Action: Unchanged},
		},
		"values take the place of those of the entry": {
			[]v1beta2.Module{{Name: "a", Values: &runtime.RawExtension{Raw: []byte(`{"x":1}`)}}},
			func(s *v1beta2.KymaSpec) Change {
				return Enable(s, ModuleRequest{Name: "a", Values: &runtime.RawExtension{Raw: []byte(`{"y":2}`)}})
			},
			[]v1beta2.Module{{Name: "a", Values: &runtime.RawExtension{Raw: []byte(`{"y":2}`)}}},
			Change{Module: "a", Action: Changed, Fields: []string{"values"}},
		},
		"the same values in another spelling change nothing": {
			[]v1beta2.Module{{Name: "a", Values: &runtime.RawExtension{Raw: []byte(`{"x":1,"y":2}`)}}},
			func(s *v1beta2.KymaSpec) Change {
				return Enable(s, ModuleRequest{Name: "a", Values: &runtime.RawExtension{Raw: []byte(`{ "y":2, "x":1 }`)}})
			},
			[]v1beta2.Module{{Name: "a", Values: &runtime.RawExtension{Raw: []byte(`{ "y":2, "x":1 }`)}}},
			Change{Module: "a", Action: Unchanged},
		},
		"a channel replaces a version": {
			[]v1beta2.Module{{Name: "a", Version: "1.0.0"}}, func(s *v1beta2.KymaSpec) Change { return Enable(s, ModuleRequest{Name: "a", Channel: "fast"}) },
			[]v1beta2.Module{{Name: "a", Channel: "fast"}}, Change{Module: "a", Action: Changed, Fields: []string{"channel", "version"}},
		},
		"a version replaces a channel": {
			[]v1beta2.Module{{Name: "a", Channel: "fast"}}, func(s *v1beta2.KymaSpec) Change { return Enable(s, ModuleRequest{Name: "a", Version: "1.0.0"}) },
			[]v1beta2.Module{{Name: "a", Version: "1.0.0"}}, Change{Module: "a", Action: Changed, Fields: []string{"channel", "version"}},
		},
		"a module follows the Kyma's channel again": {
			[]v1beta2.Module{{Name: "a", Channel: "fast"}}, func(s *v1beta2.KymaSpec) Change { return Follow(s, "a") },
			[]v1beta2.Module{{Name: "a"}}, Change{Module: "a", Action: Changed, Fields: []string{"channel"}},
		},
		"a module is removed, and the others stay": {
			[]v1beta2.Module{{Name: "a"}, {Name: "b"}, {Name: "c"}}, func(s *v1beta2.KymaSpec) Change { return Disable(s, "b") },
			[]v1beta2.Module{{Name: "a"}, {Name: "c"}}, Change{Module: "b", Action: Disabled},
		},
		"a missing module is not removed": {
			[]v1beta2.Module{{Name: "a"}}, func(s *v1beta2.KymaSpec) Change { return Disable(s, "b") },
			[]v1beta2.Module{{Name: "a"}}, Change{Module: "b", Action: Unchanged},
		},
		"a module is let go of": {
			[]v1beta2.Module{{Name: "a"}}, func(s *v1beta2.KymaSpec) Change { return Manage(s, "a", false, "") },
			[]v1beta2.Module{{Name: "a", Managed: &no}}, Change{Module: "a", Action: Changed, Fields: []string{"managed"}},
		},
		"a managed module is not changed": {
			[]v1beta2.Module{{Name: "a"}}, func(s *v1beta2.KymaSpec) Change { return Manage(s, "a", true, "") },
			[]v1beta2.Module{{Name: "a"}}, Change{Module: "a", Action: Unchanged},
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &v1beta2.KymaSpec{Modules: c.have}
			told := c.edit(spec)
			if diff := cmp.Diff(c.want, spec.Modules); diff != "" {
				t.Errorf("modules (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// offered returns two modules and a mandatory one.
func offered() map[string]Offer {
	release := func(name string, channels ...v1beta2.ChannelVersion) v1beta2.ModuleReleaseMeta {
		return v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta2.ModuleReleaseMetaSpec{ModuleName: name, Channels: channels}}
	}
	template := func(module, version string) v1beta2.ModuleTemplate {
		return v1beta2.ModuleTemplate{Spec: v1beta2.ModuleTemplateSpec{ModuleName: module, Version: version}}
	}
	warden := release("warden")
	warden.Spec.Mandatory = &v1beta2.Mandatory{Version: "1.0.0"}
	return Offers([]v1beta2.ModuleReleaseMeta{
		release("notes", v1beta2.ChannelVersion{Channel: "regular", Version: "1.0.0"}, v1beta2.ChannelVersion{Channel: "fast", Version: "1.10.0"}),
		release("beacon", v1beta2.ChannelVersion{Channel: "fast", Version: "0.1.0"}), warden,
	}, []v1beta2.ModuleTemplate{
		template("notes", "1.0.0"), template("notes", "1.10.0"), template("notes", "1.9.0"), template("notes", "2.0.0-rc"), template("stranger", "1.0.0"),
	})
}

func TestCheck(t *testing.T) {
	pinned := &v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "beacon", Channel: "fast"}}}
	for name, c := range map[string]struct {
		wish ModuleRequest
		said string
	}{
		"the Kyma's channel offers it":                     {ModuleRequest{Name: "notes"}, ""},
		"another channel offers it":                        {ModuleRequest{Name: "notes", Channel: "fast"}, ""},
		"the version has a template":                       {ModuleRequest{Name: "notes", Version: "1.9.0"}, ""},
		"an entry with a channel of its own is enough":     {ModuleRequest{Name: "beacon"}, ""},
		"an unknown module lists the most similar first":   {ModuleRequest{Name: "note"}, "there is no module note; did you mean notes? Known modules: notes, beacon"},
		"an unknown channel lists channels and versions":   {ModuleRequest{Name: "notes", Channel: "slow"}, "module notes has no channel slow; it has fast (1.10.0), regular (1.0.0)"},
		"an unknown version lists versions, newest first":  {ModuleRequest{Name: "notes", Version: "3.0.0"}, "it has 2.0.0-rc, 1.10.0, 1.9.0, 1.0.0"},
		"a version without a template is unknown":          {ModuleRequest{Name: "beacon", Version: "0.1.0"}, "module beacon has no version 0.1.0, nor any other"},
		"a template without a release cannot be requested": {ModuleRequest{Name: "stranger"}, "there is no module stranger"},
		"a mandatory module cannot be requested":           {ModuleRequest{Name: "warden"}, "mandatory"},
		"mandatory modules are no suggestions":             {ModuleRequest{Name: "wardens"}, "; known modules: notes, beacon"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(offered(), pinned, c.wish)
			if (err == nil) != (c.said == "") || err != nil && !strings.Contains(err.Error(), c.said) {
				t.Errorf("said %v, want %q", err, c.said)
			}
			var unknown *UnknownError
			if err != nil && !errors.As(err, &unknown) && !strings.Contains(c.said, "mandatory") {
				t.Errorf("%T is no UnknownError", err)
			}
		})
	}
	if err := Check(offered(), &v1beta2.KymaSpec{Channel: "regular"}, ModuleRequest{Name: "beacon"}); err == nil || !strings.Contains(err.Error(), "no channel regular") {
		t.Errorf("a module that the Kyma's channel does not offer: %v", err)
	}
}

func TestSimilar(t *testing.T) {
	among := []string{"notes", "hello", "beacon", "docker-registry", "hello"}
	for name, want := range map[string]string{
		"helo": "hello", "hell": "hello", "registry": "docker-registry", "notes-system": "notes", "baecon": "beacon",
		"unicorn": "", "": "", "e": "", "he": "",
	} {
		if got := strings.Join(Similar(name, among), " "); got != want {
			t.Errorf("%q may mean %q, want %q", name, got, want)
		}
	}
	if got := Similar("aaaa", []string{"aaad", "aaab", "aaac", "aaae", "aaaa"}); strings.Join(got, " ") != "aaaa aaab aaac" {
		t.Errorf("the likeliest three are %q", got)
	}
}

func TestNewest(t *testing.T) {
	offer := offered()["notes"]
	for above, want := range map[string]string{
		"": "1.10.0", "1.0.0": "1.10.0", "1.9.0": "1.10.0", "1.10.0": "", "2.0.0-alpha": "2.0.0-rc", "3.0.0": "",
	} {
		if got := offer.Newest(above); got != want {
			t.Errorf("newest above %q is %q, want %q", above, got, want)
		}
	}
}
