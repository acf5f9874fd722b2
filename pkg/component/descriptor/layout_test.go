package descriptor

import (
	"archive/tar"
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestLocateMapsNamesAndVersions(t *testing.T) {
	const name = "example.org/module/harbour"
	const sum = "e8209565b4e4dbddc2c372fa937cbdaecdbe1a939ae93da7c62311a56b8defd7"
	for title, test := range map[string]struct {
		sub              string
		mapping          Mapping
		name, version    string
		reference, fails string
	}{
		"the default keeps the name": {"", "", name, "1.0.0", "component-descriptors/" + name + ":1.0.0", ""},
		"urlPath keeps the name":     {"", URLPath, name, "1.0.0", "component-descriptors/" + name + ":1.0.0", ""},
		"a sub path comes before": {
			"prod/one", URLPath, name, "1.0.0", "prod/one/component-descriptors/" + name + ":1.0.0", "",
		},
		"slashes around a sub path do not hurt": {
			"/prod/", URLPath, name, "v1.0.0", "prod/component-descriptors/" + name + ":v1.0.0", "",
		},
		"sha256-digest hashes the name":    {"", SHA256, name, "1.0.0", sum + ":1.0.0", ""},
		"sha256-digest keeps the sub path": {"prod", SHA256, name, "1.0.0", "prod/" + sum + ":1.0.0", ""},
		"a plus becomes .build-": {
			"", "", name, "1.0.0-rc.1+a.b", "component-descriptors/" + name + ":1.0.0-rc.1.build-a.b", "",
		},
		"a short version is allowed":      {"", "", name, "v1", "component-descriptors/" + name + ":v1", ""},
		"an unknown mapping is refused":   {"", "md5", name, "1.0.0", "", `mapping "md5"`},
		"a name without path is refused":  {"", "", "example.org", "1.0.0", "", "no OCM component name"},
		"a name with a tag is refused":    {"", "", name + ":x", "1.0.0", "", "no OCM component name"},
		"a name in upper case is refused": {"", "", "Example.org/m", "1.0.0", "", "no OCM component name"},
		"a name that is too long is refused": {
			"", "", "example.org/" + strings.Repeat("m", 250), "1.0.0", "", "no OCM component name",
		},
		"an empty version is refused":         {"", "", name, "", "", "no version"},
		"a version with a slash is refused":   {"", "", name, "1.0.0/x", "", "no version"},
		"a version that starts with 0 is not": {"", "", name, "01.0.0", "", "no version"},
	} {
		t.Run(title, func(t *testing.T) {
			got, err := locate(test.sub, test.mapping, test.name, test.version)
			if test.fails != "" {
				if ReasonOf(err) != ReasonInvalid || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("error %v, want one that says %q", err, test.fails)
				}
				return
			}
			if err != nil || got.reference() != test.reference {
				t.Errorf("reference %s, error %v, want %s", got.reference(), err, test.reference)
			}
		})
	}
}

func TestUnpackTakesTheDescriptorOutOfItsTar(t *testing.T) {
	const media = "application/vnd.ocm.software.component-descriptor.v2+yaml+tar"
	file := func(name, text string) tar.Header {
		return tar.Header{Name: name, Linkname: text, Typeflag: tar.TypeReg}
	}
	many := append(slices.Repeat([]tar.Header{file("x", "y")}, maxTarEntries), file(fileName, "text"))
	for name, test := range map[string]struct {
		mediaType string
		layer     []byte
		want      string
		fails     string
	}{
		"a plain layer is the descriptor":  {plainMediaTypes[0], []byte("text"), "text", ""},
		"the file is found":                {media, pack(file(fileName, "text")), "text", ""},
		"a leading slash does not hide it": {media, pack(file("/"+fileName, "text")), "text", ""},
		"a leading dot does not hide it":   {media, pack(file("./"+fileName, "text")), "text", ""},
		"other entries are passed by":      {media, pack(file("a", "b"), file(fileName, "text")), "text", ""},
		"a file above its folder is another one": {
			media, pack(file("../"+fileName, "text")), "", "has no component-descriptor.yaml",
		},
		"a tar without it is refused": {media, pack(file("a", "b")), "", "has no component-descriptor.yaml"},
		"the search ends":             {media, pack(many...), "", "first 16 entries"},
		"an empty layer is refused":   {media, nil, "", "has no component-descriptor.yaml"},
		"garbage is no tar":           {media, []byte(strings.Repeat("garbage", 200)), "", "no readable tar"},
		"a link is refused": {
			media, pack(tar.Header{Name: fileName, Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}), "", "not a regular file",
		},
		"a folder of that name is refused": {
			media, pack(tar.Header{Name: fileName, Typeflag: tar.TypeDir}), "", "not a regular file",
		},
		"a file over the cap is refused": {
			media, pack(file(fileName, strings.Repeat("x", 101))), "", "101 bytes, 100 are allowed",
		},
		"a file that is cut off is refused": {media, pack(file(fileName, strings.Repeat("x", 99)))[:600], "", "cut off"},
		"a file of exactly the cap is just right": {
			media, pack(file(fileName, strings.Repeat("x", 100))), strings.Repeat("x", 100), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := unpack(test.mediaType, test.layer, 100)
			if test.fails != "" {
				if ReasonOf(err) != ReasonInvalid || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("error %v, want one that says %q", err, test.fails)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Errorf("got %q, error %v, want %q", got, err, test.want)
			}
		})
	}
}

// pack makes a tar. The text of a regular file comes in its Linkname, so that a case fits on a line.
func pack(entries ...tar.Header) []byte {
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	var failed []error
	for _, entry := range entries {
		var text string
		if entry.Typeflag == tar.TypeReg {
			text, entry.Linkname = entry.Linkname, ""
			entry.Size = int64(len(text))
		}
		failed = append(failed, archive.WriteHeader(&entry))
		_, err := archive.Write([]byte(text))
		failed = append(failed, err)
	}
	if err := errors.Join(append(failed, archive.Close())...); err != nil {
		panic(err)
	}
	return packed.Bytes()
}
