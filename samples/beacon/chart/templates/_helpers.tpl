{{- define "beacon.labels" -}}
app: beacon
beacon: {{ .Release.Name }}
{{- end }}
