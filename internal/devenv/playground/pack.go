package playground

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/samples"
)

// The folders of samples.Content.
const (
	chartsFolder         = "content/charts"
	kustomizationsFolder = "content/kustomizations"
	bundlesFolder        = "content/bundles"
	layersFolder         = "content/layers"
)

// chartVersion matches the line of a Chart.yaml with the version of the chart.
var chartVersion = regexp.MustCompile(`(?m)^version: .*$`)

// packChart packs a sample chart under a version, as "helm package" does, but reproducibly.
func packChart(name, version string) ([]byte, error) {
	files, err := filesBelow(path.Join(chartsFolder, name))
	if err != nil {
		return nil, err
	}
	for i := range files {
		if files[i].Path == "Chart.yaml" {
			files[i].Data = chartVersion.ReplaceAll(files[i].Data, []byte("version: "+version))
		}
		files[i].Path = path.Join(name, files[i].Path) // Helm requires a folder with the chart's name
	}
	return compress(content.Archive(files))
}

// packFolder packs a folder of samples.Content reproducibly.
func packFolder(folder string) ([]byte, error) {
	files, err := filesBelow(folder)
	if err != nil {
		return nil, err
	}
	return compress(content.Archive(files))
}

// filesBelow reads the files of a folder; their paths are relative to it.
func filesBelow(folder string) ([]content.File, error) {
	var files []content.File
	err := fs.WalkDir(samples.Content, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(samples.Content, name)
		files = append(files, content.File{Path: strings.TrimPrefix(name, folder+"/"), Data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the sample content %s: %w", folder, err)
	}
	return files, nil
}

// compress leaves out the time and the name that gzip could record.
func compress(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(data); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// digestOf returns the digest of a layer.
func digestOf(data []byte) string { return "sha256:" + hexDigest(data) }

func hexDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
