// Command chart writes what the operator's Helm chart has from elsewhere: the objects that kustomize builds of config/, and the table of
// the chart's values in its README.
//
// The chart repeats nothing of config/: its templates read these files, switch parts on, and change what values say. It does not render the
// chart, and builds no kustomization but those of config/.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// chartFolder is where the chart is, from the root of the repository.
	chartFolder = "charts/lifecycle-manager"
	// partsFolder is the folder of the chart that only this program writes.
	partsFolder = "files"
	valuesFile  = "values.yaml"
	readmeFile  = "README.md"
	// valuesHeading begins the part of the README that is generated, which is its end.
	valuesHeading = "## Values\n"
)

func main() {
	root := flag.String("root", ".", "`folder` of the repository")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// write writes the generated files. It empties their folder first, so that none outlives its component.
func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	chart := filepath.Join(root, chartFolder)
	if err := os.RemoveAll(filepath.Join(chart, partsFolder)); err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(chart, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the generated files by their paths in the chart.
func generate(root string) (map[string][]byte, error) {
	files, err := partFiles(root)
	if err != nil {
		return nil, err
	}
	chart := filepath.Join(root, chartFolder)
	readme, err := os.ReadFile(filepath.Join(chart, readmeFile))
	if err != nil {
		return nil, err
	}
	values, err := os.ReadFile(filepath.Join(chart, valuesFile))
	if err != nil {
		return nil, err
	}
	table, err := tableOf(values)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", chartFolder, valuesFile, err)
	}
	head, _, found := bytes.Cut(readme, []byte(valuesHeading))
	if !found {
		return nil, fmt.Errorf("%s/%s has no heading %q, below which the table of the values goes", chartFolder, readmeFile, valuesHeading)
	}
	files[readmeFile] = bytes.Join([][]byte{head, []byte(valuesHeading), []byte("\n"), table}, nil)
	return files, nil
}
