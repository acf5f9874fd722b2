package localcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestAssetsTakesAFolderThatHoldsEverything(t *testing.T) {
	dir := t.TempDir()
	for _, program := range programs {
		if missing := lacks(dir); missing != program {
			t.Errorf("%q is said to be missing, want %q", missing, program)
		}
		write(t, filepath.Join(dir, program), "")
	}
	t.Setenv(assetsVariable, dir)
	got, err := Assets(t.Context())
	if err != nil || got != dir {
		t.Errorf("got %q, %v; want %q", got, err, dir)
	}
}

func TestAssetsOutsideOfACheckoutSaysWhatToDo(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(assetsVariable, "")
	_, err := Assets(t.Context())
	if err == nil || !strings.Contains(err.Error(), "set "+assetsVariable) {
		t.Errorf("the error is no help: %v", err)
	}
}

func TestRootPassesOverModulesInside(t *testing.T) {
	outer, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(outer, "hack", "controlplane"))
	inner, err := Root()
	if err != nil || inner != outer {
		t.Errorf("from hack/controlplane it is %q (%v), want %q", inner, err, outer)
	}
}

func TestKubeconfigRefusesFiles(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:6443", TLSClientConfig: rest.TLSClientConfig{CAFile: os.DevNull}}
	if data, err := KubeconfigOf("demo", config); err == nil {
		t.Errorf("it refers to a file:\n%s", data)
	}
}
