package programimage

import (
	"archive/tar"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImage_IsReproducible(t *testing.T) {
	first, err := Program{Name: "manager", Content: []byte("program"), Certificates: []byte("certificates"), Arch: "amd64"}.Image()
	if err != nil {
		t.Fatal(err)
	}
	second, err := Program{Name: "manager", Content: []byte("program"), Certificates: []byte("certificates"), Arch: "amd64"}.Image()
	if err != nil {
		t.Fatal(err)
	}
	one, err := first.Digest()
	if err != nil {
		t.Fatal(err)
	}
	two, err := second.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if one != two {
		t.Errorf("the same input gave %s and %s", one, two)
	}
}

func TestImage_RunsUnprivileged(t *testing.T) {
	image, err := Program{Name: "manager", Content: []byte("program"), Arch: "arm64"}.Image()
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.Architecture != "arm64" || config.OS != "linux" {
		t.Errorf("got user %q on %s/%s", config.Config.User, config.OS, config.Architecture)
	}
	if diff := cmp.Diff([]string{"/manager"}, config.Config.Entrypoint); diff != "" {
		t.Errorf("entry point (-want +got):\n%s", diff)
	}
}

func TestImage_HoldsNothingElse(t *testing.T) {
	for name, tc := range map[string]struct {
		certificates string
		want         map[string]int64
	}{
		"without certificates": {"", map[string]int64{"tmp/": 0o1777, "manager": 0o555}},
		"with certificates": {"certificates", map[string]int64{
			"tmp/": 0o1777, "manager": 0o555,
			"etc/": 0o755, "etc/ssl/": 0o755, "etc/ssl/certs/": 0o755, "etc/ssl/certs/ca-certificates.crt": 0o444,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			image, err := Program{Name: "manager", Content: []byte("program"), Certificates: []byte(tc.certificates), Arch: "amd64"}.Image()
			if err != nil {
				t.Fatal(err)
			}
			layers, err := image.Layers()
			if err != nil || len(layers) != 1 {
				t.Fatalf("got %d layers, %v", len(layers), err)
			}
			content, err := layers[0].Uncompressed()
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int64{}
			for archive := tar.NewReader(content); ; {
				header, err := archive.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got[header.Name] = header.Mode
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}
