{{- /*
Writes the parts that the values switch on, as a JSON list of the folders of files/. The order is that in which their arguments follow each
other.
*/ -}}
{{- define "lifecycle-manager.parts" -}}
{{- $parts := list "default" -}}
{{- range list
      (list "local" .Values.local)
      (list "all-namespaces" .Values.allNamespaces)
      (list "maintenance-windows" .Values.maintenanceWindows)
      (list "signatures" .Values.signatures)
      (list "approvals" .Values.approvals)
      (list "content" .Values.content)
      (list "webhook" .Values.webhook)
      (list "dashboard" .Values.dashboard) -}}
{{- if (last .).enabled -}}{{- $parts = append $parts (first .) -}}{{- end -}}
{{- end -}}
{{- toJson $parts -}}
{{- end -}}

{{- /*
Puts the objects of a file of every part into .objects, by "kind namespace/name". What a later part has takes the place of what an earlier one
has. Takes .root, .file and .objects.
*/ -}}
{{- define "lifecycle-manager.collect" -}}
{{- $root := .root -}}
{{- $file := .file -}}
{{- $objects := .objects -}}
{{- range $part := include "lifecycle-manager.parts" $root | fromJsonArray -}}
{{- range splitList "\n---\n" ($root.Files.Get (printf "files/%s/%s" $part $file)) -}}
{{- with fromYaml . -}}
{{- $_ := set $objects (printf "%s %s/%s" .kind (.metadata.namespace | default "") .metadata.name) . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Writes the port of the collector that gets traces; nothing if there is none. */ -}}
{{- define "lifecycle-manager.tracingPort" -}}
{{- with .Values.tracing.endpoint -}}
{{- $url := urlParse . -}}
{{- regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end -}}
{{- end -}}

{{- /* Refuses values that contradict each other. */ -}}
{{- define "lifecycle-manager.check" -}}
{{- if and (ne .Release.Namespace "kcp-system") (not .Values.namespace.create) -}}
{{- fail "the lifecycle manager runs in namespace kcp-system: use --namespace kcp-system --create-namespace, or set namespace.create to keep the release in another namespace" -}}
{{- end -}}
{{- if and .Values.registry.host .Values.registry.credentialSecret -}}
{{- fail "registry.host and registry.credentialSecret are exclusive: the Secret names its registry itself; with it, set registry.host to the empty text" -}}
{{- end -}}
{{- if and .Values.registries.files (not .Values.registries.entries) -}}
{{- fail "registries.files has no effect without registries.entries" -}}
{{- end -}}
{{- range $name := list "maintenanceWindows" "signatures" "approvals" -}}
{{- $part := index $.Values $name -}}
{{- if and (or $part.policy $part.files) (not $part.enabled) -}}
{{- fail (printf "what %s says has no effect without %s.enabled" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
