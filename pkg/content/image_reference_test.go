package content

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseImage(t *testing.T) {
	for name, test := range map[string]struct {
		image string
		want  Image
	}{
		"a tag":                {"example.com/a/b:1.0", Image{"example.com", "a/b", "1.0", ""}},
		"a digest":             {"example.com/a@" + zeros, Image{"example.com", "a", "", zeros}},
		"both":                 {"example.com/a:v1@" + zeros, Image{"example.com", "a", "v1", zeros}},
		"a port":               {"registry:5000/a:v1", Image{"registry:5000", "a", "v1", ""}},
		"a port and a digest":  {"example.com:5000/a@" + zeros, Image{"example.com:5000", "a", "", zeros}},
		"this machine":         {"localhost/a:v1", Image{"localhost", "a", "v1", ""}},
		"an IPv6 address":      {"[::1]:5000/a:v1", Image{"[::1]:5000", "a", "v1", ""}},
		"a host in capitals":   {"Example.COM/a:V1", Image{"example.com", "a", "V1", ""}},
		"all letters of a tag": {"example.com/a:_A-z.0_", Image{"example.com", "a", "_A-z.0_", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseImage(test.image)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v, image (-want +got):\n%s", err, diff)
			}
			if again, err := ParseImage(got.String()); err != nil || again != got {
				t.Errorf("%s is read as %v, %v", got, again, err)
			}
		})
	}
}

func TestParseImageRefuses(t *testing.T) {
	for name, test := range map[string]struct{ image, want string }{
		"nothing":                     {"", "neither tag nor digest"},
		"no tag and no digest":        {"example.com/a", "neither tag nor digest"},
		"a port is no tag":            {"example.com:5000/a", "neither tag nor digest"},
		"no registry":                 {"library/nginx:1", "does not name its registry"},
		"a name alone":                {"nginx:1", "does not name its registry"},
		"no path":                     {"example.com:1", "which no registry can have"},
		"a scheme":                    {"https://example.com/a:1", "has a scheme"},
		"the scheme of Helm":          {"oci://example.com/a:1", "has a scheme"},
		"a login":                     {"me:secret@example.com/a:1", "without a login"},
		"a login and a digest":        {"me:secret@example.com/a@" + zeros, "without a login"},
		"two digests":                 {"example.com/a@" + zeros + "@" + zeros, "is no digest"},
		"a digest of another kind":    {"example.com/a@sha512:00", "that no sha256 digest follows"},
		"a digest that is cut":        {"example.com/a@sha256:00", "is no digest"},
		"a tag with a slash":          {"example.com/a:b/c", "neither tag nor digest"},
		"a tag that begins with -":    {"example.com/a:-b", "is no tag"},
		"a tag that is too long":      {"example.com/a:" + strings.Repeat("x", 129), "is no tag"},
		"an empty tag":                {"example.com/a:", "is no tag"},
		"a path in capitals":          {"example.com/A:1", "which no registry can have"},
		"a path that climbs":          {"example.com/../a:1", "which no registry can have"},
		"a path with a question mark": {"example.com/a?b:1", "which no registry can have"},
		"a host with a space":         {"exa mple.com/a:1", "is no host name"},
		"much too long":               {"example.com/" + strings.Repeat("a", 600) + ":1", "the image is longer than the 512"},
		"a path that is too long":     {"example.com/" + strings.Repeat("a", 300) + ":1", "longer than 255"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseImage(test.image)
			if ReasonOf(err) != ReasonSourceInvalid || !strings.Contains(err.Error(), test.want) || got != (Image{}) {
				t.Errorf("image %v, error %v with reason %q, want %q in it", got, err, ReasonOf(err), test.want)
			}
			if strings.Contains(err.Error(), "secret") || len(err.Error()) > 500 {
				t.Errorf("the message tells too much: %v", err)
			}
			source := &ImageSource{Image: test.image}
			if strings.Contains(source.Reference(), "secret") {
				t.Errorf("the reference tells the login: %s", source.Reference())
			}
			for _, err := range []error{second(source.Resolve(t.Context())), second(source.Fetch(t.Context(), Resolved{Digest: zeros}))} {
				if ReasonOf(err) != ReasonSourceInvalid {
					t.Errorf("as a source: %v", err)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// FuzzParseImage holds that whatever is accepted is one place in one repository of one host, and reads the same when it is written.
func FuzzParseImage(f *testing.F) {
	for _, image := range []string{
		"example.com/a:1", "example.com/a@" + zeros, "localhost:5000/a/b:v1@" + zeros, "[::1]/a:b", "me:secret@h.d/a:1", "a.b/c:d/e:f",
		"a.b/../c:1", "A.B/c:D", "x://a.b/c:1", "a.b/c:1@", "a.b/c?d:1", "a.b/c#d:1", strings.Repeat("\xf8", 400) + ":0",
	} {
		f.Add(image)
	}
	f.Fuzz(func(t *testing.T, text string) {
		image, err := ParseImage(text)
		if err != nil {
			if ReasonOf(err) != ReasonSourceInvalid || image != (Image{}) || len(err.Error()) > 3000 {
				t.Fatalf("%v beside error %v", image, err)
			}
			return
		}
		if again, err := ParseImage(image.String()); err != nil || again != image {
			t.Fatalf("%s is read as %v, %v", image, again, err)
		}
		if err := image.at(zeros).validate(); err != nil {
			t.Fatalf("%s has no valid place: %v", image, err)
		}
		if image.Tag == "" && image.Digest == "" || strings.ContainsAny(image.Tag+image.Repository, "?#@ \\%") || strings.Contains(image.Repository, "..") {
			t.Fatalf("%q became %#v", text, image)
		}
	})
}
