package helm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	chartFile = "Chart.yaml"
	// maxPacked is how many bytes the archives in charts/ may unpack to, all together; maxChartDepth how deep charts nest.
	maxPacked     = 64 << 20
	maxChartDepth = 8
)

var byteOrderMark = []byte("\ufeff")

// chartFiles finds the chart in the tree and gives its files, archives of subcharts unpacked, without those that .helmignore names.
func chartFiles(tree *content.Tree) ([]content.File, error) {
	root, err := chartRoot(tree)
	if err != nil {
		return nil, err
	}
	var files []content.File
	for _, file := range tree.Files {
		if name, below := strings.CutPrefix(file.Path, root); below {
			files = append(files, content.File{Path: name, Data: bytes.TrimPrefix(file.Data, byteOrderMark)})
		}
	}
	if files, err = withoutIgnored(files); err != nil {
		return nil, err
	}
	budget := int64(maxPacked)
	return unpackSubcharts(files, &budget, 0)
}

// chartRoot is "" or "name/": where the Chart.yaml is.
func chartRoot(tree *content.Tree) (string, error) {
	var roots []string
	for _, file := range tree.Files {
		dir, name := path.Split(file.Path)
		switch {
		case name != chartFile || strings.Count(dir, "/") > 1:
		case dir == "":
			return "", nil
		default:
			roots = append(roots, dir)
		}
	}
	switch len(roots) {
	case 0:
		return "", invalidChart("the content is no Helm chart: it has no Chart.yaml, neither at its root nor in a directory at its root")
	case 1:
		return roots[0], nil
	}
	slices.Sort(roots)
	return "", invalidChart("the content holds %d Helm charts (%s): put each into its own content",
		len(roots), strings.Join(roots[:min(len(roots), 5)], ", "))
}

// withoutIgnored leaves out what `helm package` leaves out; a packaged chart has nothing of it any more.
func withoutIgnored(files []content.File) ([]content.File, error) {
	rules := ignore.Empty()
	for _, file := range files {
		if file.Path != ignore.HelmIgnore {
			continue
		}
		parsed, err := ignore.Parse(bytes.NewReader(file.Data))
		if err != nil {
			return nil, invalidChart(".helmignore of the chart cannot be read: %w", err)
		}
		rules = parsed
	}
	rules.AddDefaults()
	return slices.DeleteFunc(files, func(file content.File) bool {
		for at, char := range file.Path {
			if char == '/' && rules.Ignore(file.Path[:at], ignoreEntry{file.Path[:at], fs.ModeDir}) {
				return true
			}
		}
		return rules.Ignore(file.Path, ignoreEntry{file.Path, 0})
	}), nil
}

// ignoreEntry is what the rules of .helmignore want to know about a file: its name, and whether it is a directory.
type ignoreEntry struct {
	path string
	mode fs.FileMode
}

func (e ignoreEntry) Name() string      { return path.Base(e.path) }
func (ignoreEntry) Size() int64         { return 0 }
func (e ignoreEntry) Mode() fs.FileMode { return e.mode }
func (ignoreEntry) ModTime() time.Time  { return time.Time{} }
func (e ignoreEntry) IsDir() bool       { return e.mode.IsDir() }
func (ignoreEntry) Sys() any            { return nil }

// unpackSubcharts puts the files of charts/*.tgz in their place. Helm would do it too, with a limit for each archive alone: charts in
// charts in charts could fill the memory.
func unpackSubcharts(files []content.File, budget *int64, depth int) ([]content.File, error) {
	var unpacked []content.File
	for _, file := range files {
		name, packed := strings.CutPrefix(file.Path, "charts/")
		if !packed || strings.Contains(name, "/") || path.Ext(name) != ".tgz" || strings.IndexAny(name, "_.") == 0 {
			unpacked = append(unpacked, file)
			continue
		}
		if depth >= maxChartDepth {
			return nil, invalidChart("the chart nests packed charts deeper than %d", maxChartDepth)
		}
		inside, err := unpackChart(file, budget)
		if err != nil {
			return nil, err
		}
		if inside, err = unpackSubcharts(inside, budget, depth+1); err != nil {
			return nil, err
		}
		for _, below := range inside {
			unpacked = append(unpacked, content.File{Path: file.Path + ".unpacked/" + below.Path, Data: below.Data})
		}
	}
	return unpacked, nil
}

func unpackChart(file content.File, budget *int64) ([]content.File, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(file.Data))
	if err != nil {
		return nil, invalidChart("%s is no packed chart: %w", file.Path, err)
	}
	size, err := io.Copy(io.Discard, io.LimitReader(unzipped, *budget+1))
	if err != nil {
		return nil, invalidChart("%s is no packed chart: %w", file.Path, err)
	}
	if *budget -= size; *budget < 0 {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"%s: the packed subcharts have more than %d MiB unpacked", file.Path, maxPacked>>20)
	}
	// This checks the paths of the entries and cuts off the directory of the chart.
	buffered, err := archive.LoadArchiveFiles(bytes.NewReader(file.Data))
	if err != nil {
		return nil, invalidChart("%s is no packed chart: %w", file.Path, err)
	}
	files := make([]content.File, 0, len(buffered))
	for _, file := range buffered {
		files = append(files, content.File{Path: file.Name, Data: file.Data})
	}
	return files, nil
}

// loadChart returns a chart of its own: rendering changes it.
func loadChart(files []content.File) (*chart.Chart, error) {
	buffered := make([]*archive.BufferedFile, 0, len(files))
	for _, file := range files {
		buffered = append(buffered, &archive.BufferedFile{Name: file.Path, Data: file.Data})
	}
	loaded, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, invalidChart("the Helm chart cannot be loaded: %s", shorten(err.Error()))
	}
	sortSubcharts(loaded)
	return loaded, nil
}

// sortSubcharts gives subcharts an order; Helm has them in another one at each load.
func sortSubcharts(c *chart.Chart) {
	subcharts := slices.SortedFunc(slices.Values(c.Dependencies()), func(a, b *chart.Chart) int {
		return cmp.Or(cmp.Compare(a.Name(), b.Name()), cmp.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	c.SetDependencies(subcharts...)
	for _, subchart := range subcharts {
		sortSubcharts(subchart)
	}
}

// checkChart refuses a chart that cannot be installed, here or at all.
func checkChart(c *chart.Chart, capabilities *common.Capabilities) error {
	if api := c.Metadata.APIVersion; api != chart.APIVersionV1 && api != chart.APIVersionV2 {
		return invalidChart("chart %s has apiVersion %q in its Chart.yaml: only v1 and v2 are known", c.Name(), api)
	}
	if c.Metadata.Type == "library" {
		return invalidChart("chart %s is a library chart, which declares nothing by itself: install a chart that uses it", c.Name())
	}
	if needs := c.Metadata.KubeVersion; needs != "" && !util.IsCompatibleRange(needs, capabilities.KubeVersion.String()) {
		return invalidChart("chart %s needs Kubernetes %s, and the cluster has %s", c.Name(), needs, capabilities.KubeVersion.Version)
	}
	var missing []string
	for _, needed := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(has *chart.Chart) bool { return has.Name() == needed.Name }) {
			missing = append(missing, needed.Name)
		}
	}
	if len(missing) > 0 {
		return invalidChart("chart %s names subcharts in Chart.yaml that are not in its charts/: %s: "+
			"run `helm dependency build` before packing it", c.Name(), strings.Join(missing, ", "))
	}
	return nil
}
