// Command helmtemplate writes what `helm template --include-crds` gives for the charts beside it, which the renderer is held to:
//
//	cp go.mod /tmp/helm.mod && cp go.sum /tmp/helm.sum
//	go run -modfile=/tmp/helm.mod -mod=mod ./pkg/render/testdata/helmtemplate pkg/render/testdata
//
// Helm's pkg/action links its registry client, a WASM runtime and a database: this module requires none of it, hence the other go.mod.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
)

type testCase struct {
	Name, Chart, Release, Namespace, KubeVersion string
	APIVersions                                  []string
	Values                                       map[string]any
}

func main() {
	dir := os.Args[1]
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	var cases []testCase
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	for i, c := range cases {
		if err == nil {
			err = write(dir, fmt.Sprintf("%02d-%s.yaml", i, c.Chart), c)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

func write(dir, name string, c testCase) error {
	chart, err := loader.Load(filepath.Join(dir, "charts", c.Chart))
	if err != nil {
		return err
	}
	install := action.NewInstall(&action.Configuration{})
	install.DryRunStrategy, install.IncludeCRDs = action.DryRunClient, true
	install.ReleaseName, install.Namespace, install.APIVersions = c.Release, c.Namespace, c.APIVersions
	if install.ReleaseName == "" {
		install.ReleaseName = "demo"
	}
	if install.Namespace == "" {
		install.Namespace = "default"
	}
	if c.KubeVersion != "" {
		if install.KubeVersion, err = common.ParseKubeVersion(c.KubeVersion); err != nil {
			return err
		}
	}
	if c.Values == nil {
		c.Values = map[string]any{}
	}
	released, err := install.RunWithContext(context.Background(), chart, c.Values)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return os.WriteFile(filepath.Join(dir, "helm", name), []byte(released.(*release.Release).Manifest), 0o644)
}
