package modulestatus

import "testing"

func TestTag(t *testing.T) {
	for image, want := range map[string]string{
		"beacon":                               "",
		"beacon:1.0.0":                         "1.0.0",
		"host:5000/beacon":                     "",
		"host:5000/a/beacon:1.0.0":             "1.0.0",
		"host:5000/beacon:1.0.0@sha256:abcdef": "1.0.0",
		"host:5000/beacon@sha256:abcdef":       "",
		"":                                     "",
	} {
		if is := Tag(image); is != want {
			t.Errorf("tag of %q is %q, want %q", image, is, want)
		}
	}
}

func TestManagerVersion(t *testing.T) {
	if v := managerVersion(nil); v != "" {
		t.Errorf("nothing has version %q", v)
	}
	for image, want := range map[string]string{
		"host:5000/beacon:v1.2.3@sha256:abc": "1.2.3", "beacon:latest": "", "beacon:1": "",
	} {
		if v := managerVersion(deployment(image)); v != want {
			t.Errorf("version of %q is %q, want %q", image, v, want)
		}
	}
	sidecar := deployment("x")
	sidecar.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"] = map[string]any{"containers": []any{
		map[string]any{"name": "proxy", "image": "proxy:9.9.9"}, map[string]any{"name": "the-manager", "image": "b:1.0.0"},
	}}
	if v := managerVersion(sidecar); v != "1.0.0" {
		t.Errorf("the manager beside a proxy has version %q", v)
	}
}

func TestVersionsDiffer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.0.0", "11.0.0", true}, {"v1.0.0", "1.0.0", false}, {"", "1.0.0", false}, {"x", "y", true}, {"1.0.0", "1.0.0", false},
	} {
		if differ(c.a, c.b) != c.want {
			t.Errorf("%q and %q differ: %v", c.a, c.b, !c.want)
		}
	}
}

func TestPrereleasesAreOptIn(t *testing.T) {
	in := seen(nil)
	in.Templates = append(in.Templates, template("beacon", "2.0.0-rc"))
	if v := newestOf(in, "beacon", "1.0.0"); v != "1.1.0" {
		t.Errorf("newest is %s", v)
	}
	if v := newestOf(in, "beacon", "2.0.0-alpha"); v != "2.0.0-rc" {
		t.Errorf("newest after a prerelease is %s", v)
	}
	in.Prereleases = true
	if v := newestOf(in, "beacon", "1.0.0"); v != "2.0.0-rc" {
		t.Errorf("newest with prereleases is %s", v)
	}
	if v := newestOf(in, "other", ""); v != "" {
		t.Errorf("newest of nothing is %s", v)
	}
}

func newestOf(in Inputs, module, installed string) string {
	r := newReader(in)
	return r.newest(r.offered(module, Choice{}), installed)
}

func FuzzMatches(f *testing.F) {
	f.Add("a {x} b {y}", "a 1 b 2")
	f.Add("{detail}", "anything")
	f.Fuzz(func(t *testing.T, template, text string) {
		if matches(template, text) && template == "{detail}" {
			t.Error("a placeholder alone matched")
		}
	})
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		template, text string
		want           bool
	}{
		{"a {x} b {y}", "a 1 b 2", true}, {"a {x} b", "a 1 b", true}, {"a {x} b", "a 1 c", false}, {"a", "a", true},
		{"a {x} b {y} c", "a 1 d 2 c", false}, {"{detail}", "x", false}, {"b {x}", "a", false}, {"{x} is", "it is", true},
	} {
		if matches(c.template, c.text) != c.want {
			t.Errorf("%q matches %q: %v", c.template, c.text, !c.want)
		}
	}
}
