package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	chart "helm.sh/helm/v4/pkg/chart/v2"
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
	text, err := managerinstall.Export(managerinstall.Options{Image: image, Registry: r.registry})
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
	packed, err := loader.LoadDir(dir)
	if err != nil {
		return fmt.Errorf("load the chart in %s: %w", dir, err)
	}
	if err := r.presetRegistry(packed); err != nil {
		return fmt.Errorf("name the registry in the chart in %s: %w", dir, err)
	}
	packed.Metadata.Version, packed.Metadata.AppVersion = r.version, r.version
	packed.StampModTimes(r.source.time)
	path, err := util.Save(packed, r.work)
	if err != nil {
		return fmt.Errorf("pack the chart in %s: %w", dir, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return r.add(filepath.Base(path), data)
}

// registryPresets find where the chart says what registry.host is without another value: in its values, and in their table in the README.
var registryPresets = map[string]*regexp.Regexp{
	"values.yaml": regexp.MustCompile(`(?m)^(registry:\n(?: +#.*\n)* +host: )""()$`),
	"README.md":   regexp.MustCompile("(?m)^(\\| `registry\\.host` \\| `)\"\"(` \\|)"),
}

// presetRegistry makes the registry of the release, if there is one, what the chart takes where users say nothing else. It changes the
// text, so that the comments of the values stay.
func (r *release) presetRegistry(packed *chart.Chart) error {
	if r.registry == "" {
		return nil
	}
	for name, preset := range registryPresets {
		changed := 0
		for _, file := range slices.Concat(packed.Raw, packed.Files) { // the values are saved from the first, everything else from the second
			if file.Name == name && len(preset.FindAllIndex(file.Data, -1)) == 1 {
				file.Data = preset.ReplaceAll(file.Data, fmt.Appendf(nil, "${1}%q${2}", r.registry))
				changed++
			}
		}
		if changed == 0 {
			return fmt.Errorf("%s does not say once that registry.host is empty", name)
		}
	}
	return nil
}
