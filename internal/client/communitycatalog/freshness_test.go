package communitycatalog

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// noon is the current time in these tests.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const catalogAddress = "https://example.com/all-modules.yaml"

func TestFreshness_HowFreshACatalogIs(t *testing.T) {
	key := testKeys(t)["ECDSA"].public
	signed := Source{Name: "ours", URL: catalogAddress, Kind: HTTPS, Key: key}
	with := func(change func(*Source)) Source {
		s := signed
		change(&s)
		return s
	}
	plain, seen := Source{Name: "ours", URL: catalogAddress, Kind: HTTPS}, with(func(s *Source) { s.Version = 7 })
	strict, digest := with(func(s *Source) { s.RequireFreshness = true }), digestOf(nil)
	year, past := noon.AddDate(1, 0, 0), noon.Add(-time.Second)
	for name, c := range map[string]struct {
		said          Freshness
		source        Source
		reason, words string // of the warning, where there is no reason
	}{
		"unsigned, without both":                       {Freshness{}, plain, "", ""},
		"unsigned, and expired":                        {Freshness{Version: 7, Expires: past}, plain, WhyExpired, "expired on 2026-06-01T11:59:59Z"},
		"unsigned, with an older one seen":             {Freshness{Version: 1, Expires: year}, plain, "", ""},
		"signed, with both":                            {Freshness{Version: 7, Expires: year}, signed, "", ""},
		"signed, with both, which are required":        {Freshness{Version: 7, Expires: year}, strict, "", ""},
		"signed, and expired":                          {Freshness{Version: 7, Expires: past}, signed, WhyExpired, "Ask who publishes it"},
		"signed, and expires now":                      {Freshness{Version: 7, Expires: noon}, signed, WhyExpired, "(version 7)"},
		"signed, and expires in a moment":              {Freshness{Version: 7, Expires: noon.Add(time.Second)}, signed, "", "expires on 2026-06-01T12:00:01Z"},
		"signed, and expires in eight days":            {Freshness{Version: 7, Expires: noon.AddDate(0, 0, 8)}, signed, "", ""},
		"signed, and says nothing":                     {Freshness{}, signed, "", "no version and no expiry"},
		"signed, without both, which are required":     {Freshness{}, strict, WhyOutdated, "kyma catalog build --key"},
		"signed, without an end":                       {Freshness{Version: 7}, signed, "", "no expiry"},
		"signed, without an expiry, which is required": {Freshness{Version: 7}, strict, WhyOutdated, "no expiry"},
		"signed, without a version":                    {Freshness{Expires: year}, signed, "", "no version"},
		"the version that was seen":                    {Freshness{Version: 7, Expires: year}, seen, "", ""},
		"a newer one than seen":                        {Freshness{Version: 8, Expires: year}, seen, "", ""},
		"an older one than seen":                       {Freshness{Version: 6, Expires: year}, seen, WhyOutdated, "is version 6, and version 7 of it was seen"},
		"one without a version, though one was seen":   {Freshness{}, seen, WhyOutdated, "says no version, and version 7"},
		"an old one that is requested by digest":       {Freshness{Version: 6, Expires: year}, with(func(s *Source) { s.Version, s.Digest = 7, digest }), "", ""},
		"an expired one that is requested by digest":   {Freshness{Expires: past}, with(func(s *Source) { s.Digest = digest }), "", "its digest is pinned"},
		"an expired one, at an address with a digest": {
			Freshness{Expires: past}, Source{Kind: OCI, URL: "oci://example.com/x@" + digest, Key: key}, "", "its digest is pinned",
		},
		"built for its address":              {Freshness{Version: 1, Expires: year, Address: catalogAddress}, signed, "", ""},
		"built for its other file":           {Freshness{Version: 1, Expires: year, Address: "https://example.com/all-modules.json"}, signed, "", ""},
		"built for a registry":               {Freshness{Version: 1, Expires: year, Address: "oci://example.com/x:1"}, signed, "", ""},
		"a different one of the same signer": {Freshness{Version: 9, Expires: year, Address: "https://example.com/beta/all-modules.yaml"}, signed, v1beta2.ReasonSignatureInvalid, "built for https://example.com/beta/"},
		"the same name on another host":      {Freshness{Version: 9, Expires: year, Address: "https://example.org/all-modules.yaml"}, signed, v1beta2.ReasonSignatureInvalid, "--source"},
		"a copy of it, requested by digest":  {Freshness{Version: 9, Address: "https://example.org/x"}, with(func(s *Source) { s.Digest = digest }), "", ""},
		"a copy of one that is not signed":   {Freshness{Version: 9, Expires: year, Address: "https://example.org/x"}, plain, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			warning, err := c.said.judge(c.source, noon)
			if reason := content.ReasonOf(err); reason != c.reason {
				t.Fatalf("reason %q (%v), want %q", reason, err, c.reason)
			}
			if err != nil {
				warning = err.Error()
			}
			if (warning == "") != (c.words == "") || !strings.Contains(warning, c.words) {
				t.Errorf("%q, want %q in it", warning, c.words)
			}
			if warning != "" && !strings.Contains(warning, c.source.URL) {
				t.Errorf("%q does not say where", warning)
			}
		})
	}
}

// dated returns a catalog with a version and an expiry.
func dated(t *testing.T, version int64, expires time.Time) Built {
	t.Helper()
	made, err := Build(wholeFolder(), BuildOptions{Version: version, Expires: expires})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestFreshness_WhatIsServedIsHeldToItsAge covers files on the web, as YAML and as JSON: the signature covers their version and expiry.
func TestFreshness_WhatIsServedIsHeldToItsAge(t *testing.T) {
	key := testKeys(t)["ECDSA"]
	files := map[string]string{}
	put := func(name string, data []byte) {
		files[name], files[name+SignatureSuffix] = string(data), string(key.sign(t, data))
	}
	for name, made := range map[string]Built{
		"new": dated(t, 8, noon.AddDate(1, 0, 0)), "old": dated(t, 6, noon.AddDate(1, 0, 0)), "over": dated(t, 9, noon.AddDate(0, 0, -1)),
		"silent": built(t, wholeFolder()),
	} {
		put("/"+name+".yaml", made.YAML)
		put("/"+name+".json", made.JSON)
	}
	s := newSite(t, serving(files))
	limits := near(s.Server)
	limits.Now = func() time.Time { return noon }
	for name, want := range map[string]string{"new": "", "old": WhyOutdated, "over": WhyExpired, "silent": WhyOutdated} {
		for _, end := range []string{".yaml", ".json"} {
			source := Source{Name: "ours", URL: s.URL + "/" + name + end, Key: key.public, Version: 7}
			found, _, err := Fetch(t.Context(), source, limits)
			if reason := content.ReasonOf(err); reason != want {
				t.Errorf("%s%s: reason %q (%v), want %q", name, end, reason, err, want)
			}
			if err != nil && len(found.Templates) > 0 {
				t.Errorf("%s%s is refused, and its modules are given", name, end)
			}
			if err == nil && (found.Freshness.Version != 8 || !found.Freshness.Expires.Equal(noon.AddDate(1, 0, 0))) {
				t.Errorf("%s%s says %+v", name, end, found.Freshness)
			}
		}
	}
	source := Source{Name: "ours", URL: s.URL + "/silent.yaml", Key: key.public}
	if found, _, err := Fetch(t.Context(), source, limits); err != nil || !strings.Contains(found.Warning, "no version") {
		t.Errorf("signed as before, where none was seen: %q %v", found.Warning, err)
	}
	source.URL, source.Key = s.URL+"/over.yaml", ""
	if _, _, err := Fetch(t.Context(), source, limits); content.ReasonOf(err) != WhyExpired {
		t.Errorf("expired, without a key: %v", err)
	}
}

func TestFreshness_AnArtifactIsHeldToItsAge(t *testing.T) {
	server, host := newRegistry(t)
	limits, key := near(server), testKeys(t)["ECDSA"]
	limits.Now = func() time.Time { return noon }
	for name, c := range map[string]struct {
		made   Built
		reason string
	}{
		"new":  {dated(t, 8, noon.AddDate(1, 0, 0)), ""},
		"old":  {dated(t, 6, noon.AddDate(1, 0, 0)), WhyOutdated},
		"over": {dated(t, 9, noon.AddDate(0, 0, -1)), WhyExpired},
	} {
		repository := host + "/" + name
		digest, err := Push(t.Context(), "oci://"+repository+":1", c.made, limits)
		if err != nil {
			t.Fatal(err)
		}
		cosign(t, repository, repository, digest, digest, key, limits)
		source := Source{URL: "oci://" + repository + ":1", Key: key.public, Version: 7}
		if _, _, err := Fetch(t.Context(), source, limits); content.ReasonOf(err) != c.reason {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
		}
		source.URL = "oci://" + repository + "@" + digest
		if _, _, err := Fetch(t.Context(), source, limits); err != nil {
			t.Errorf("%s, by its digest: %v", name, err)
		}
	}
}

// TestFreshness_WhatACatalogSaysOfItself: every object in the file has the version and the expiry, and no parsed object has them.
func TestFreshness_WhatACatalogSaysOfItself(t *testing.T) {
	made, err := Build(wholeFolder(), BuildOptions{Source: catalogAddress, Version: 7, Expires: noon})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(made.YAML), string(made.JSON)} {
		if n := strings.Count(text, AnnotationVersion); n != 3 {
			t.Errorf("%d of 3 objects say the version", n)
		}
		found, err := Parse([]byte(text))
		if diff := cmp.Diff(Freshness{Version: 7, Expires: noon, Address: catalogAddress}, found.Freshness); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		notes := maps.Clone(found.Releases[0].Annotations)
		maps.Copy(notes, found.Templates[1].Annotations)
		for _, note := range []string{AnnotationVersion, AnnotationExpires} {
			if value, there := notes[note]; there {
				t.Errorf("an object says %s=%s, which is of the catalog that it came from", note, value)
			}
		}
	}
	again := folderOf(notesFile, notes("1.0.0", "  annotations:\n", "  annotations:\n    "+AnnotationVersion+": \"9\"\n    "+AnnotationExpires+": x\n"))
	if made := built(t, again); made.Collection.Freshness != (Freshness{}) {
		t.Errorf("what an older build has noted is kept: %+v", made.Collection.Freshness)
	}
}

func TestFreshness_WhatACatalogSaysWrongly(t *testing.T) {
	whole := string(built(t, wholeFolder()).YAML)
	dated := string(dated(t, 7, noon).YAML)
	for name, c := range map[string]struct{ text, want string }{
		"two catalogs in one":       {dated + "---\n" + notes("1.2.0"), "two catalogs"},
		"the other way round":       {notes("1.2.0") + "---\n" + dated, "two catalogs"},
		"two versions":              {strings.Replace(dated, `"7"`, `"8"`, 1), "two catalogs"},
		"a version without end":     {strings.ReplaceAll(dated, `"7"`, `"`+strings.Repeat("9", 400)+`"`), "no version of a catalog"},
		"a negative version":        {strings.ReplaceAll(dated, `"7"`, `"-7"`), "no version of a catalog"},
		"a version with zeros":      {strings.ReplaceAll(dated, `"7"`, `"007"`), "no version of a catalog"},
		"a version that is no text": {strings.ReplaceAll(dated, `"7"`, `7`), "put it in quotes"},
		"a date without a time":     {strings.ReplaceAll(dated, "2026-06-01T12:00:00Z", "2026-06-01x"), "no moment"},
		"an expiry that is no text": {strings.ReplaceAll(whole, "  annotations:\n", "  annotations:\n    "+AnnotationExpires+": {}\n"), "put it in quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Parse([]byte(c.text))
			if content.ReasonOf(err) != content.ReasonContentInvalid || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 700 {
				t.Errorf("%+v, %v, want %q in it", found.Freshness, err, c.want)
			}
		})
	}
}

// FuzzFreshness: for any annotations, an accepted catalog has a version of at least 1 or none, and formats it as it was.
func FuzzFreshness(f *testing.F) {
	for _, seed := range [][2]string{
		{"7", "2026-06-01T12:00:00Z"}, {"", ""}, {"0", "never"}, {"-1", "2026-06-01"}, {"999999999999999999", "9999-12-31T23:59:59+14:00"},
		{"1000000000000000000", "0000-01-01T00:00:00Z"}, {"\u0661", "\x1b"}, {"1e3", "2026-06-01T24:00:00Z"},
	} {
		f.Add(seed[0], seed[1], int64(7))
	}
	f.Fuzz(func(t *testing.T, version, expires string, seen int64) {
		said, err := noted{version: version, expires: expires}.freshness()
		if err != nil {
			if text := err.Error(); len(text) > 700 || strings.ContainsAny(text, "\n\x1b") {
				t.Errorf("the error is no line for people: %q", text)
			}
			return
		}
		if version != "" && strconv.FormatInt(said.Version, 10) != version || said.Version < 0 || said.Version > MaxVersion {
			t.Errorf("%q is read as %d", version, said.Version)
		}
		source := Source{Kind: HTTPS, URL: catalogAddress, Key: "a key", Version: seen}
		if _, err := said.judge(source, noon); err == nil && (said.Version < seen || !said.Expires.IsZero() && !noon.Before(said.Expires)) {
			t.Errorf("%+v is taken, and version %d was seen", said, seen)
		}
	})
}
