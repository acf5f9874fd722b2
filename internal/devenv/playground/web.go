package playground

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	// helmFolder is the path of the Helm repository on the web server, bundleFile that of a bundle.
	helmFolder = "/charts"
	bundleFile = "/bundles/signpost.tar.gz"
	// webHeaderTimeout bounds how long a client may take to send its headers.
	webHeaderTimeout = 10 * time.Second
)

// web is a web server on loopback, without TLS, with files in memory.
type web struct {
	host   string // 127.0.0.1:<port>
	server *http.Server
}

// startWeb serves files by their paths.
func startWeb(ctx context.Context, files map[string][]byte) (*web, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot start a web server: %w", err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data, ok := files[req.URL.Path]
		if !ok {
			http.NotFound(w, req)
			return
		}
		http.ServeContent(w, req, req.URL.Path, time.Time{}, bytes.NewReader(data))
	})
	s := &web{host: listener.Addr().String(), server: &http.Server{Handler: handler, ReadHeaderTimeout: webHeaderTimeout}}
	go func() { _ = s.server.Serve(listener) }() // always ends with an error: ErrServerClosed after stop
	return s, nil
}

// stop ends the server and its connections at once.
func (s *web) stop() error { return s.server.Close() }

// webFiles returns the Helm repository with all charts, and the bundle.
func webFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	index := helmIndex{APIVersion: "v1", Entries: map[string][]helmEntry{}}
	for _, c := range charts {
		for _, version := range c.versions {
			packed, err := packChart(c.name, version)
			if err != nil {
				return nil, err
			}
			file := c.name + "-" + version + ".tgz"
			files[helmFolder+"/"+file] = packed
			index.Entries[c.name] = append(index.Entries[c.name], helmEntry{
				APIVersion: "v2", Name: c.name, Version: version, URLs: []string{file}, Digest: hexDigest(packed),
			})
		}
	}
	var err error
	if files[helmFolder+"/index.yaml"], err = yaml.Marshal(index); err != nil {
		return nil, err
	}
	files[bundleFile], err = packFolder(bundlesFolder + "/signpost")
	return files, err
}

// helmIndex is the index.yaml of a Helm repository.
type helmIndex struct {
	APIVersion string                 `json:"apiVersion"`
	Entries    map[string][]helmEntry `json:"entries"`
}

type helmEntry struct {
	APIVersion string   `json:"apiVersion"`
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	URLs       []string `json:"urls"` // relative to the index
	Digest     string   `json:"digest"`
}
