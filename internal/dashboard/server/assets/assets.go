// Package assets answers one question: what are the files of the dashboard's page? They are built from web/ by npm and committed, so that
// a machine with only Go builds everything.
//
// What it refuses to do: serve them, and read anything else from disk.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var files embed.FS

// Files returns the files of the page: index.html, favicon.svg and, below assets/, everything else, with a hash in each name.
func Files() fs.FS {
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		return files // "dist" is a valid name: this does not happen
	}
	return dist
}
