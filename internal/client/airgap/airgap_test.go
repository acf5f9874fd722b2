package airgap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
)

const mirroredImage = "registry.internal:5000/kyma/lifecycle-manager:1.2.3@sha256:0123"

func TestRewrite_NamesImageAndRegistryOnce(t *testing.T) {
	const host = "--oci-registry-host=http://registry.internal:5000"
	for name, tc := range map[string]struct {
		image, registry, subPath string
		want                     []string
	}{
		"an image without a registry":                   {"lifecycle-manager:1.2.3", "", "", []string{host}},
		"an image of another registry":                  {"ghcr.io/kyma/lifecycle-manager:1.2.3", "", "", []string{host}},
		"an image by digest":                            {"ghcr.io/kyma/lifecycle-manager@sha256:" + strings.Repeat("a", 64), "", "", []string{host}},
		"modules below a path":                          {"lifecycle-manager:1.2.3", "", "kyma/modules", []string{host, "--modules-repository-subpath=kyma/modules"}},
		"a release that names a registry":               {"lifecycle-manager:1.2.3", "https://registry.example.com", "", []string{host}},
		"one that names it by its host alone":           {"lifecycle-manager:1.2.3", "registry.example.com", "", []string{host}},
		"one that names it with a port":                 {"lifecycle-manager:1.2.3", "http://localhost:5000", "", []string{host}},
		"one that names the registry that is mirrored":  {"lifecycle-manager:1.2.3", "http://registry.internal:5000", "", []string{host}},
		"one that names a registry, modules below path": {"lifecycle-manager:1.2.3", "https://registry.example.com", "kyma", []string{host, "--modules-repository-subpath=kyma"}},
	} {
		t.Run(name, func(t *testing.T) {
			options := managerinstall.Options{Image: tc.image, Registry: tc.registry}
			text, err := managerinstall.Export(options)
			if err != nil {
				t.Fatal(err)
			}
			made, err := Rewrite(text, mirroredImage, "http://registry.internal:5000", tc.subPath)
			if err != nil {
				t.Fatal(err)
			}
			image, args := containerOf(t, made)
			if image != mirroredImage {
				t.Errorf("the image is %s", image)
			}
			var registry []string
			for _, arg := range args {
				if strings.HasPrefix(arg, "--oci-registry") || strings.HasPrefix(arg, "--modules-repository") {
					registry = append(registry, arg)
				}
			}
			if diff := cmp.Diff(tc.want, registry); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			_, before := containerOf(t, text)
			if options.Registry == "" && len(args) != len(before)+len(tc.want) {
				t.Errorf("arguments %v became %v", before, args)
			}
		})
	}
}

// containerOf returns image and arguments of the manager's container.
func containerOf(t *testing.T, installation []byte) (image string, args []string) {
	t.Helper()
	for document := range strings.SplitSeq(string(installation), "\n---\n") {
		var object struct {
			Kind string `json:"kind"`
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Image string   `json:"image"`
							Args  []string `json:"args"`
						} `json:"containers"`
					} `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err == nil && object.Kind == "Deployment" {
			return object.Spec.Template.Spec.Containers[0].Image, object.Spec.Template.Spec.Containers[0].Args
		}
	}
	t.Fatalf("no Deployment in\n%s", installation)
	return "", nil
}

func TestRewrite_RefusesWhatItDoesNotKnow(t *testing.T) {
	for name, text := range map[string]string{
		"no image":     "args:\n- --leader-elect\n",
		"no arguments": "image: lifecycle-manager:1\n",
		"two images":   "- image: lifecycle-manager:1\n  args:\n  - --leader-elect\n- image: a/lifecycle-manager:2\n",
	} {
		if made, err := Rewrite([]byte(text), mirroredImage, "registry.internal", ""); err == nil {
			t.Errorf("%s became\n%s", name, made)
		}
	}
}

func TestOffersOf_NamesComponents(t *testing.T) {
	template := func(module, version string, annotations map[string]string) v1beta2.ModuleTemplate {
		return v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "kcp-system", Name: module + "-" + version, Annotations: annotations, UID: "1", ResourceVersion: "2",
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
			},
			Spec: v1beta2.ModuleTemplateSpec{ModuleName: module, Version: version},
		}
	}
	found, err := offersOf(
		[]v1beta2.ModuleTemplate{
			template("notes", "0.2.0", nil), template("notes", "0.1.0", nil),
			template("alone", "1.0.0", map[string]string{
				v1beta2.AnnotationOCMComponentName: "example.com/module/alone", "kubectl.kubernetes.io/last-applied-configuration": "{}",
			}),
			template("unknown", "1.0.0", nil),
		},
		[]v1beta2.ModuleReleaseMeta{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "notes"},
			Spec:       v1beta2.ModuleReleaseMetaSpec{ModuleName: "notes", OCMComponentName: "example.com/module/notes"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Offer{
		{"alone", "1.0.0", "example.com/module/alone"}, {"notes", "0.1.0", "example.com/module/notes"},
		{"notes", "0.2.0", "example.com/module/notes"}, {"unknown", "1.0.0", ""},
	}
	if diff := cmp.Diff(want, found.Modules); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	for _, kept := range []string{"uid", "resourceVersion", "managedFields", "last-applied", "status"} {
		if strings.Contains(string(found.Objects), kept) {
			t.Errorf("%s of its cluster stays in\n%s", kept, found.Objects)
		}
	}
	if count := strings.Count(string(found.Objects), "kind: Module"); count != 5 {
		t.Errorf("%d objects in\n%s", count, found.Objects)
	}
}

func TestReadRelease_TakesNoPathsOutOfTheFolder(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for name, line := range map[string]string{
		"a path above":   sum + "  ../etc/passwd",
		"a path below":   sum + "  deep/file",
		"a full path":    sum + "  /etc/passwd",
		"no sum":         "abc  file",
		"one space":      sum + " file",
		"an empty name":  sum + "  ",
		"its own folder": sum + "  .",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, sumsFile), []byte(line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadRelease(dir); err == nil {
				t.Error("it is read")
			}
		})
	}
}
