package modulestatus

import (
	"slices"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

func TestNewestFor(t *testing.T) {
	for name, c := range map[string]struct {
		versions        []string
		installed, want string
	}{
		"none":                            {nil, "1.0.0", ""},
		"the newest, in any order":        {[]string{"1.1.0", "1.10.0", "1.2.0"}, "1.0.0", "1.10.0"},
		"older than what is installed":    {[]string{"0.9.0"}, "1.0.0", "0.9.0"},
		"no pre-release":                  {[]string{"1.1.0-rc1", "1.0.1"}, "1.0.0", "1.0.1"},
		"a pre-release after one":         {[]string{"1.1.0-rc2", "1.0.1"}, "1.1.0-rc1", "1.1.0-rc2"},
		"only pre-releases":               {[]string{"1.1.0-rc1"}, "1.0.0", ""},
		"no versions":                     {[]string{"latest", "main"}, "1.0.0", ""},
		"it is not known what is there":   {[]string{"1.0.0"}, "", "1.0.0"},
		"what is installed is no version": {[]string{"1.0.0-rc1", "0.9.0"}, "main", "0.9.0"},
	} {
		if got := NewestFor(c.versions, c.installed); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func FuzzNewestFor(f *testing.F) {
	f.Add("1.0.0", "1.1.0", "2.0.0-rc1", "1.0.0")
	f.Add("", "v1", "latest", "1.0.0-a")
	f.Fuzz(func(t *testing.T, a, b, c, installed string) {
		versions := []string{a, b, c}
		got := NewestFor(versions, installed)
		if got != "" && !slices.Contains(versions, got) {
			t.Fatalf("%q was never offered", got)
		}
		slices.Reverse(versions)
		if other := NewestFor(versions, installed); moduleversion.IsLower(got, other) || moduleversion.IsLower(other, got) {
			t.Fatalf("the order of versions counts: %q and %q", got, other)
		}
		for _, version := range versions {
			if got != "" && moduleversion.IsLower(got, version) && NewestFor([]string{version}, installed) != "" {
				t.Fatalf("%q is newer than %q", version, got)
			}
		}
	})
}

func TestWithAvailable(t *testing.T) {
	record := Key{Namespace: "kyma-system", Name: "r"}
	direct := Module{Name: "kiosk", Record: &record, Version: Version{Installed: "1.0.0", Available: "1.0.0"}}
	modules := []Module{{Name: "notes", Kyma: "kcp-system/demo", Version: Version{Installed: "1.0.0"}}, direct}
	for name, c := range map[string]struct {
		available map[Key]string
		outdated  bool
		changed   bool
	}{
		"nothing is known":       {nil, false, false},
		"a newer version":        {map[Key]string{record: "1.1.0"}, true, true},
		"the same":               {map[Key]string{record: "1.0.0"}, false, false},
		"an older one":           {map[Key]string{record: "0.9.0"}, false, true},
		"of another record":      {map[Key]string{{Name: "x"}: "2.0.0"}, false, false},
		"no version, and a word": {map[Key]string{record: ""}, false, false},
	} {
		got, changed := WithAvailable(modules, c.available)
		if changed != c.changed || got[1].Version.Outdated != c.outdated || len(got) != 2 {
			t.Errorf("%s: %v %+v", name, changed, got[1].Version)
		}
	}
	if modules[1].Version.Available != "1.0.0" || modules[1].Version.Outdated {
		t.Error("what is shared was changed")
	}
}

func stocked(name, version string, labels map[string]string) v1beta2.ModuleTemplate {
	t := v1beta2.ModuleTemplate{}
	t.Name, t.Namespace, t.Labels = name+"-"+version, "anywhere", labels
	t.Spec.ModuleName, t.Spec.Version = name, version
	return t
}

func TestOffersOf(t *testing.T) {
	stock := Stock{Source: "market", Templates: []v1beta2.ModuleTemplate{
		stocked("kiosk", "1.0.0", nil), stocked("kiosk", "1.1.0", nil), stocked("notes", "3.0.0", nil),
		stocked("claimed", "1.0.0", map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}),
	}, Releases: []v1beta2.ModuleReleaseMeta{{}}}
	stock.Releases[0].Name = "released"
	stock.Releases[0].Spec.Mandatory = &v1beta2.Mandatory{Version: "1.0.0"}
	installed := []Module{{Name: "kiosk", State: Ready, Version: Version{Installed: "1.0.0"}}}
	got := OffersOf(stock, []Offer{{Name: "notes", Type: Manageable}}, installed)
	types := map[string]Type{}
	for _, offer := range got {
		types[offer.Name] = offer.Type
		if offer.Source != "market" || offer.Namespace != "" || offer.Mandatory != "" {
			t.Errorf("%+v", offer)
		}
	}
	want := map[string]Type{"kiosk": Community, "notes": Manageable, "claimed": Manageable, "released": Manageable}
	for name, kind := range want {
		if types[name] != kind {
			t.Errorf("%s is %q, want %q", name, types[name], kind)
		}
	}
	at := slices.IndexFunc(got, func(o Offer) bool { return o.Name == "kiosk" })
	if kiosk := got[at]; len(kiosk.Versions) != 2 || kiosk.Versions[0].Version != "1.1.0" ||
		len(kiosk.Installed) != 1 || kiosk.Installed[0].Version != "1.0.0" {
		t.Errorf("%+v", got[at])
	}
	if stock.Templates[0].Namespace != "anywhere" {
		t.Error("what is shared was changed")
	}
}

func TestCopiedFrom(t *testing.T) {
	there := &Offer{Name: "kiosk", Versions: []OfferVersion{{Version: "1.1.0"}, {Version: "1.0.0"}}}
	copied := Offer{Name: "kiosk", Versions: []OfferVersion{{Version: "1.0.0", Template: Key{"default", "kiosk-1.0.0"}}}}
	of := func(url string) func(Key) string { return func(Key) string { return url } }
	older := copied
	older.Versions = []OfferVersion{{Version: "0.9.0"}}
	channels := copied
	channels.Channels = []OfferChannel{{Channel: "fast"}}
	for name, c := range map[string]struct {
		offer Offer
		url   string
		there *Offer
		want  bool
	}{
		"a copy":                              {copied, "https://a", there, true},
		"of another place":                    {copied, "https://b", there, false},
		"a version that the source dropped":   {older, "https://a", there, false},
		"the cluster has channels for it":     {channels, "https://a", there, false},
		"the source does not have the module": {copied, "https://a", nil, false},
		"without versions":                    {Offer{Name: "kiosk"}, "https://a", there, false},
	} {
		if got := CopiedFrom(&c.offer, of(c.url), "https://a", c.there); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
