// Package crd answers: how does the API server get to know our kinds? It carries the generated CustomResourceDefinitions, so that a
// manager can bring those to its runtimes that users need there. It decides nothing and changes nothing.
package crd

import "embed"

// Bases are the generated definitions: bases/<group>_<plural>.yaml.
//
//go:embed bases/*.yaml
var Bases embed.FS
