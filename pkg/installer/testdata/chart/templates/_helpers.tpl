{{- define "demo.name" }}{{ .Release.Name }}{{ end }}
