package render

// Builtin are the formats that this package reads, by the source types of Manifests. Whoever adds a format adds it to such a map.
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
