package render

// Builtin returns the formats that this package reads, by the source types of Manifests. A new format is added to such a map.
func Builtin() map[string]Renderer {
	return map[string]Renderer{
		"":           Raw{},
		"oci-ref":    Raw{},
		"oci-dir":    FirstFile{},
		"helm-chart": Helm{},
		"kustomize":  Kustomize{},
		"bundle":     Bundle{},
	}
}
