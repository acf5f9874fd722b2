{{- define "gateway.routes" }}
{{- range $route := .Values.routes }}
- path: {{ $route.path }}
  backend: {{ tpl $route.to $ }}
{{- else }}
[]
{{- end }}
{{- end }}
{{- define "gateway.count" -}}
{{- if gt (int .) 0 }}{{ . }} {{ include "gateway.count" (sub . 1) }}{{ else }}0{{ end -}}
{{- end }}
