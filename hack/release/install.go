package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
)

// writeInstallation writes what kubectl applies to a hub. Where it is said where the images will be, the manager's is named by its digest.
func (r *release) writeInstallation(context.Context) error {
	image := r.reference(project)
	if r.images != "" {
		image += "@" + r.indexes[0].Algorithm + ":" + r.indexes[0].Digest
	}
	text, err := managerinstall.Export(managerinstall.Options{Image: image})
	if err != nil {
		return err
	}
	return r.add("install.yaml", text)
}

// packChart packs the Helm chart under the version of the release.
func (r *release) packChart(context.Context) error {
	dir := filepath.Join(r.root, "charts", project)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		r.sayf("%s does not exist: the release has no chart", dir)
		return nil
	}
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return fmt.Errorf("load the chart in %s: %w", dir, err)
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = r.version, r.version
	chart.StampModTimes(r.source.time)
	path, err := util.Save(chart, r.work)
	if err != nil {
		return fmt.Errorf("pack the chart in %s: %w", dir, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return r.add(filepath.Base(path), data)
}
