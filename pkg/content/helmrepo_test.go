package content

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chartArchive returns a packed chart of that version.
func chartArchive(t testing.TB, version string) string {
	t.Helper()
	return zip(t, archive(t, entry{name: "sample/Chart.yaml", data: "version: " + version}, entry{name: "sample/values.yaml", data: "{}"}))
}

// chartRepository serves an index and the charts in it, which are at the given URLs.
func chartRepository(t *testing.T, urls map[string]string, digests bool) (*HelmRepositorySource, *site) {
	t.Helper()
	files := map[string]string{}
	index := "apiVersion: v1\nentries:\n  other:\n  - version: 9.9.9\n    urls: [other.tgz]\n  sample:\n"
	for version, address := range urls {
		data := chartArchive(t, version)
		files["/charts/sample-"+version+".tgz"] = data
		index += fmt.Sprintf("  - version: %s\n    name: sample\n    urls: [%q]\n", version, address)
		if digests {
			index += "    digest: " + strings.TrimPrefix(digestOf(data), digestPrefix) + "\n"
		}
	}
	files["/charts/index.yaml"] = index
	server := newSite(t, at(files))
	return &HelmRepositorySource{Store: newStore(t), URL: server.URL + "/charts", Chart: "sample", CA: certificateOf(server.Server)}, server
}

// versions have relative URLs.
func versions(all ...string) map[string]string {
	urls := map[string]string{}
	for _, each := range all {
		urls[each] = "sample-" + each + ".tgz"
	}
	return urls
}

func TestHelmRepositoryPicksTheVersion(t *testing.T) {
	for name, test := range map[string]struct {
		want   string
		have   []string
		picked string
		reason string
	}{
		"the newest":                                  {"", []string{"1.0.0", "1.10.0", "1.9.0"}, "1.10.0", ""},
		"the newest that is no pre-release":           {"", []string{"1.0.0", "2.0.0-rc.1"}, "1.0.0", ""},
		"nothing when there are only pre-releases":    {"", []string{"2.0.0-rc.1"}, "", ReasonContentNotFound},
		"an exact version":                            {"1.0.0", []string{"1.0.0", "1.10.0"}, "1.0.0", ""},
		"an exact version that is a pre-release":      {"2.0.0-rc.1", []string{"1.0.0", "2.0.0-rc.1"}, "2.0.0-rc.1", ""},
		"an exact version with another spelling":      {"v1.0.0", []string{"1.0.0", "1.10.0"}, "1.0.0", ""},
		"an exact version that is not there":          {"1.0.1", []string{"1.0.0"}, "", ReasonContentNotFound},
		"the newest of a range":                       {"^1.2", []string{"1.1.0", "1.2.3", "1.3.0", "2.0.0"}, "1.3.0", ""},
		"of a range with bounds":                      {">=1.0 <1.3", []string{"1.1.0", "1.2.3", "1.3.0"}, "1.2.3", ""},
		"no pre-release of a range that names none":   {">=1.0.0", []string{"1.0.0", "1.1.0-alpha"}, "1.0.0", ""},
		"a pre-release of a range that names one":     {">=1.0.0-0", []string{"1.0.0", "1.1.0-alpha"}, "1.1.0-alpha", ""},
		"nothing out of range":                        {"~3", []string{"1.0.0"}, "", ReasonContentNotFound},
		"the last of those with build metadata":       {"1.x", []string{"1.0.0+b", "1.0.0+c", "1.0.0+a"}, "1.0.0+c", ""},
		"the one with the build metadata asked for":   {"1.0.0+a", []string{"1.0.0+b", "1.0.0+a"}, "1.0.0+a", ""},
		"what no semantic version is, by its letters": {"nightly", []string{"nightly", "1.0.0"}, "nightly", ""},
		"no range that cannot be read":                {"not a range", []string{"1.0.0"}, "", ReasonSourceInvalid},
		"no range that is endless":                    {strings.Repeat(">1 ", 1000), []string{"1.0.0"}, "", ReasonSourceInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			source, server := chartRepository(t, versions(test.have...), true)
			source.Version = test.want
			resolved, err := source.Resolve(t.Context())
			if ReasonOf(err) != test.reason || resolved.Version != test.picked {
				t.Fatalf("%v, %v", resolved, err)
			}
			if got := server.requests(); got != "/charts/index.yaml" {
				t.Errorf("requests %s", got)
			}
			if err != nil {
				return
			}
			if _, files := get(t, source); files["sample/Chart.yaml"] != "version: "+test.picked {
				t.Errorf("files %v", files)
			}
		})
	}
}

func TestHelmRepositoryFindsTheChart(t *testing.T) {
	elsewhere := newSite(t, at(map[string]string{"/x.tgz": chartArchive(t, "1.0.0")}))
	for name, test := range map[string]struct {
		url, at  string
		digests  bool
		requests string
		away     string
	}{
		"below the repository":                 {"sample-1.0.0.tgz", "/charts", true, "/charts/index.yaml by me:mine, /charts/index.yaml by me:mine, /charts/sample-1.0.0.tgz by me:mine", ""},
		"below a repository with a slash":      {"sample-1.0.0.tgz", "/charts/", true, "/charts/index.yaml by me:mine, /charts/index.yaml by me:mine, /charts/sample-1.0.0.tgz by me:mine", ""},
		"below a repository with a query":      {"sample-1.0.0.tgz", "/charts?t=1", true, "/charts/index.yaml?t=1 by me:mine, /charts/index.yaml?t=1 by me:mine, /charts/sample-1.0.0.tgz?t=1 by me:mine", ""},
		"below the root":                       {"/charts/sample-1.0.0.tgz", "/charts", true, "/charts/index.yaml by me:mine, /charts/index.yaml by me:mine, /charts/sample-1.0.0.tgz by me:mine", ""},
		"without a digest in the index":        {"sample-1.0.0.tgz", "/charts", false, "/charts/index.yaml by me:mine, /charts/sample-1.0.0.tgz by me:mine", ""},
		"on another server, without a login":   {elsewhere.URL + "/x.tgz", "/charts", true, "/charts/index.yaml by me:mine, /charts/index.yaml by me:mine", "/x.tgz"},
		"on another server and without digest": {elsewhere.URL + "/x.tgz", "/charts", false, "/charts/index.yaml by me:mine", "/x.tgz"},
	} {
		t.Run(name, func(t *testing.T) {
			source, server := chartRepository(t, map[string]string{"1.0.0": test.url}, test.digests)
			source.URL = server.URL + test.at
			source.CA = append(source.CA, certificateOf(elsewhere.Server)...)
			source.Username, source.Password = "me", "mine"
			resolved, got := get(t, source)
			want := Resolved{Digest: digestOf(chartArchive(t, "1.0.0")), Version: "1.0.0", MediaType: mediaTypeChart}
			if diff := cmp.Diff(want, resolved); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string]string{"sample/Chart.yaml": "version: 1.0.0", "sample/values.yaml": "{}"}, got); diff != "" {
				t.Error(diff)
			}
			if _, err := source.Fetch(t.Context(), resolved); err != nil {
				t.Error(err)
			}
			if got := server.requests(); got != test.requests {
				t.Errorf("requests %s", got)
			}
			if got := elsewhere.requests(); got != test.away {
				t.Errorf("requests elsewhere %q", got)
			}
			if left := files(t, source.Store); len(left) != 1 {
				t.Errorf("files %v", left)
			}
		})
	}
}

func TestHelmRepositoryRefuses(t *testing.T) {
	good := chartArchive(t, "1.0.0")
	index := func(entry string) map[string]string {
		return map[string]string{"/index.yaml": "entries:\n  sample:\n  - " + entry + "\n", "/good.tgz": good}
	}
	digest := "digest: " + digestOf(good)
	for name, test := range map[string]struct {
		files  map[string]string
		change func(*HelmRepositorySource)
		reason string
		says   string
	}{
		"a server without an index":     {nil, nil, ReasonContentNotFound, "404"},
		"an index that is a web page":   {map[string]string{"/index.yaml": "<html><body>hello</body></html>"}, nil, ReasonContentInvalid, ""},
		"an index without charts":       {map[string]string{"/index.yaml": "apiVersion: v1"}, nil, ReasonContentInvalid, "lists no charts"},
		"an index that cannot be read":  {map[string]string{"/index.yaml": "entries: [\n"}, nil, ReasonContentInvalid, "cannot be read"},
		"an index of nothing":           {map[string]string{"/index.yaml": ""}, nil, ReasonContentInvalid, ""},
		"an index that is too large":    {map[string]string{"/index.yaml": strings.Repeat("#", maxIndex+1)}, nil, ReasonContentTooLarge, ""},
		"an index that grows by itself": {map[string]string{"/index.yaml": laughs()}, nil, ReasonContentInvalid, "no URL"},
		"another chart":                 {index("{version: 1.0.0}"), func(h *HelmRepositorySource) { h.Chart = "other" }, ReasonContentNotFound, `no chart "other"`},
		"a chart name with a path":      {index("{version: 1.0.0}"), func(h *HelmRepositorySource) { h.Chart = "../x" }, ReasonSourceInvalid, ""},
		"no chart name":                 {index("{version: 1.0.0}"), func(h *HelmRepositorySource) { h.Chart = "" }, ReasonSourceInvalid, ""},
		"a version without a number":    {index("{urls: [a]}"), nil, ReasonContentNotFound, ""},
		"a version that is nothing":     {index("null"), nil, ReasonContentNotFound, ""},
		"a version without a URL":       {index("{version: 1.0.0, " + digest + "}"), nil, ReasonContentInvalid, "no URL"},
		"a digest that is none":         {index("{version: 1.0.0, urls: [good.tgz], digest: abc}"), nil, ReasonContentInvalid, "no sha256"},
		"a digest of something else":    {index("{version: 1.0.0, urls: [good.tgz], digest: " + digestOf("x") + "}"), nil, ReasonDigestMismatch, ""},
		"a chart that is not there":     {index("{version: 1.0.0, urls: [other.tgz], " + digest + "}"), nil, ReasonContentNotFound, ""},
		"a chart that is no archive":    {map[string]string{"/index.yaml": "entries: {sample: [{version: 1.0.0, urls: [x]}]}", "/x": "no archive"}, nil, ReasonContentInvalid, ""},
		"a chart in an OCI registry":    {index("{version: 1.0.0, urls: ['oci://example.com/sample'], " + digest + "}"), nil, ReasonContentInvalid, "OCI chart"},
		"a chart without TLS":           {index("{version: 1.0.0, urls: ['http://example.com/sample'], " + digest + "}"), nil, ReasonContentInvalid, "https"},
		"a chart of this machine":       {index("{version: 1.0.0, urls: ['file:///etc/passwd'], " + digest + "}"), nil, ReasonContentInvalid, "https"},
		"a chart with credentials":      {index("{version: 1.0.0, urls: ['https://me:top-secret@example.com/x'], " + digest + "}"), nil, ReasonContentInvalid, "credentials"},
		"a chart over the limit":        {index("{version: 1.0.0, urls: [good.tgz]}"), func(h *HelmRepositorySource) { h.Store.Limits.Packed = 10 }, ReasonContentTooLarge, ""},
		"an OCI registry":               {nil, func(h *HelmRepositorySource) { h.URL = "oci://example.com/charts" }, ReasonSourceInvalid, "OCI chart"},
		"a repository without TLS":      {nil, func(h *HelmRepositorySource) { h.URL = "http://example.com/charts" }, ReasonSourceInvalid, "https"},
		"a repository with credentials": {nil, func(h *HelmRepositorySource) { h.URL = "https://me:top-secret@example.com" }, ReasonSourceInvalid, "credentials"},
		"a repository that is away":     {nil, func(h *HelmRepositorySource) { h.URL = "https://127.0.0.1:1" }, ReasonRegistryUnreachable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := newSite(t, at(test.files))
			source := &HelmRepositorySource{Store: newStore(t), URL: server.URL, Chart: "sample", CA: certificateOf(server.Server)}
			if test.change != nil {
				test.change(source)
			}
			resolved, err := source.Resolve(t.Context())
			if err == nil {
				_, err = source.Fetch(t.Context(), resolved)
			}
			if ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "top-secret") {
				t.Errorf("reason %s, error %v", ReasonOf(err), err)
			}
		})
	}
}

// laughs returns a document of a few lines that stands for more than memory holds.
func laughs() string {
	text := "a0: &a0 [x]\n"
	for i := range 12 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return text + "entries: {sample: [{version: 1.0.0, urls: *a12}]}\n"
}

// What was picked stays what it was: a version that is served again, or taken away, is noticed.
func TestHelmRepositoryKeepsToWhatWasPicked(t *testing.T) {
	files := map[string]string{"/index.yaml": "entries: {sample: [{version: 1.0.0, urls: [x.tgz]}]}", "/x.tgz": chartArchive(t, "1.0.0")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { at(files).ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	source := &HelmRepositorySource{Store: newStore(t), URL: server.URL, Chart: "sample", AllowPlain: true}
	resolved, _ := get(t, source)
	if want := server.URL + " chart sample"; source.Reference() != want {
		t.Errorf("reference %s, want %s", source.Reference(), want)
	}

	files["/index.yaml"] = "entries: {sample: [{version: 2.0.0, urls: [y.tgz]}, {version: 1.0.0, urls: [x.tgz]}]}"
	source.Store = newStore(t)
	if _, err := source.Fetch(t.Context(), resolved); err != nil {
		t.Errorf("a newer version: %v", err)
	}
	files["/x.tgz"] = chartArchive(t, "1.0.0-evil")
	source.Store = newStore(t)
	if _, err := source.Fetch(t.Context(), resolved); ReasonOf(err) != ReasonDigestMismatch {
		t.Errorf("another chart: %v", err)
	}
	files["/index.yaml"] = "entries: {sample: [{version: 2.0.0, urls: [y.tgz]}]}"
	if _, err := source.Fetch(t.Context(), resolved); ReasonOf(err) != ReasonContentNotFound {
		t.Errorf("no such version any more: %v", err)
	}
}

func TestHelmIndex(t *testing.T) {
	want := []indexEntry{{Version: "1.10", URLs: []string{"a"}}}
	for name, text := range map[string]string{
		"as Helm writes it":      "apiVersion: v1\nentries:\n  other:\n  - version: {}\n  sample:\n  - description: |\n      x\n\n      other:\n    version: \"1.10\"\n    urls:\n    - a\n  third: \n  - version: 1\ngenerated: \"x\"\n",
		"with CRLF":              "entries:\r\n  sample:\r\n  - version: 1.10\r\n    urls:\r\n    - a\r\n  third:\r\n  - version: 1\r\n",
		"with an indented list":  "entries:\n  sample:\n    - version: 1.10\n      urls:\n        - a\n",
		"in other columns":       "entries:\n    sample:\n    - version: 1.10\n      urls: [a]\n",
		"with names in quotes":   "entries:\n  \"sample\":\n  - version: 1.10\n    urls: [a]\n",
		"with values in a line":  "entries:\n  sample: [{version: 1.10, urls: [a]}]\n",
		"with anchors of others": "entries:\n  other:\n  - urls: &u [a]\n  sample:\n  - version: 1.10\n    urls: *u\n",
		"as JSON":                `{"entries": {"sample": [{"version": "1.10", "urls": ["a"]}]}}`,
		"with wrong types":       `{"entries": {"other": "nonsense", "third": [{"version": {}}], "sample": [{"version": 1.10, "urls": ["a"]}, {"version": []}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			entries, err := decodeIndex([]byte(text), "sample")
			if diff := cmp.Diff(want, entries); err != nil || diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
			if _, err := decodeIndex([]byte(text), "nothing"); ReasonOf(err) != ReasonContentNotFound {
				t.Errorf("another chart: %v", err)
			}
		})
	}
}

// An index of 30 MiB costs little when it is laid out as Helm writes it.
func TestHelmIndexIsReadInPart(t *testing.T) {
	entry := "  - annotations:\n      a: b\n    description: |\n      some text\n\n    urls:\n    - sample.tgz\n    version: 1.0.0\n"
	text := "apiVersion: v1\nentries:\n"
	for i := range 200 {
		text += fmt.Sprintf("  chart%d:\n%s", i, strings.Repeat(entry, 100))
	}
	lines, understood := chartLines([]byte(text), "chart7")
	if want := "entries:\n  chart7:\n" + strings.Repeat(entry, 100); !understood || len(lines) < len(entry)*90 || len(lines) > len(want) {
		t.Errorf("%d of %d bytes, understood %t", len(lines), len(text), understood)
	}
	if entries, err := decodeIndex([]byte(text), "chart7"); err != nil || len(entries) != 100 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if lines, understood := chartLines([]byte(text), "other"); lines != nil || !understood {
		t.Errorf("%q, understood %t", lines, understood)
	}
}

// An index that says little in many characters takes no more memory than one of descriptions.
func TestHelmrepo_AnIndexOfManyEntriesTakesLittleMemory(t *testing.T) {
	const (
		good = `{"version": "1.0.0", "urls": ["a"]}`
		size = 4 << 20   // of what may be 32 MiB
		most = 200 << 20 // of all that is ever allocated; what lives is less
	)
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	for name, test := range map[string]struct {
		index  string
		most   uint64
		reason string
	}{
		"JSON with many versions of another chart": {`{"entries": {"other": [` + fill("{},") + `{}], "sample": [` + good + `]}}`, 1 << 20, ""},
		"JSON with many charts":                    {`{"entries": {` + fill(`"a":[],`) + `"sample": [` + good + `]}}`, 1 << 20, ""},
		"JSON with many versions of the chart":     {`{"entries": {"sample": [` + fill("{},") + good + `]}}`, 64 << 20, ReasonContentTooLarge},
		"JSON with one endless version":            {`{"entries": {"sample": [{"urls": [` + fill(`"",`) + `""]}, ` + good + `]}}`, 1 << 20, ""},
		"YAML with many versions of another chart": {"entries:\n  other:\n" + fill("  - {}\n") + "  sample:\n  - " + good + "\n", 1 << 20, ""},
		"YAML with many versions of the chart":     {"entries:\n  sample:\n" + fill("  - {}\n"), most, ReasonContentTooLarge},
		"YAML with too many of them":               {"entries:\n  sample:\n" + strings.Repeat("  - {version: 1.0.0}\n", maxVersions+1), most, ReasonContentTooLarge},
		"YAML in one line":                         {"entries: {sample: [" + fill("[],") + good + "]}", most, ReasonContentTooLarge},
		"YAML of nested lists":                     {"entries: \n    sample:\n" + fill("- "), most, ReasonContentTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(test.index)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			entries, err := decodeIndex(data, "sample")
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > test.most {
				t.Errorf("%d MiB make %d MiB", len(data)>>20, took>>20)
			}
			if ReasonOf(err) != test.reason || (err == nil && (len(entries) != 1 || entries[0].Version != "1.0.0")) {
				t.Errorf("%d entries, %v", len(entries), err)
			}
		})
	}
}

func TestHelmrepo_AnIndexInJSON(t *testing.T) {
	for name, test := range map[string]struct {
		text       string
		understood bool
		want       []indexEntry
	}{
		"as it may be written":           {"\n {\"a\": {\"b\": [1, \"}\"]}, \"entries\": {\"x\": null, \"sample\": [{\"urls\": [\"u\", \"v\"], \"version\": \"1\"}, {\"version\": 2.0}]}} \n", true, []indexEntry{{Version: "1", URLs: []string{"u"}}, {Version: "2.0"}}},
		"quotes in texts":                {`{"entries": {"a\"": ["\\", "\"]"], "\u0073ample": [{"digest": "d"}]}}`, true, []indexEntry{{Digest: "d"}}},
		"what has another type":          {`{"entries": {"sample": [null, 1, "a", {"version": {}, "urls": 1}]}}`, true, make([]indexEntry, 4)},
		"a name that stands there twice": {`{"entries": {"sample": [{"version": "1"}], "sample": [{"version": "2"}]}}`, true, []indexEntry{{Version: "2"}}},
		"no entries":                     {`{"a": 1}`, false, nil},
		"entries that are no object":     {`{"entries": []}`, false, nil},
		"YAML with braces":               {`{entries: {sample: [{version: 1}]}}`, false, nil},
		"half of it":                     {`{"entries": {"sample": [{"version": "1"`, false, nil},
		"something behind it":            {`{"entries": {}} x`, false, nil},
		"a text in other quotes":         {`{"entries": {"sample": [{"version": '1'}]}}`, false, nil},
		"a comma too many":               {`{"entries": {"sample": [{"version": "1"},]}}`, false, nil},
		"nothing":                        {"", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, listed, understood, err := jsonIndex([]byte(test.text), "sample")
			if diff := cmp.Diff(test.want, found); err != nil || diff != "" || understood != test.understood || listed != (test.want != nil) {
				t.Errorf("understood %t, listed %t, error %v: %s", understood, listed, err, diff)
			}
		})
	}
}
