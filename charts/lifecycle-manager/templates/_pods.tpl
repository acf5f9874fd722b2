{{- /* Appends lists to those of a pod and its container. Takes .pod and .added, which has the lists by their names. */ -}}
{{- define "lifecycle-manager.append" -}}
{{- $pod := .pod -}}
{{- $added := .added -}}
{{- $container := first $pod.containers -}}
{{- range $name := list "args" "env" "ports" "volumeMounts" -}}
{{- with index $added $name -}}
{{- $_ := set $container $name (concat (index $container $name | default list) .) -}}
{{- end -}}
{{- end -}}
{{- with $added.volumes -}}
{{- $_ := set $pod "volumes" (concat ($pod.volumes | default list) .) -}}
{{- end -}}
{{- end -}}

{{- /* Gives the manager's Deployment what the parts add to it, and the arguments that values stand for. Takes .root and .deployment. */ -}}
{{- define "lifecycle-manager.manager" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $pod := .deployment.spec.template.spec -}}
{{- range $part := include "lifecycle-manager.parts" $root | fromJsonArray -}}
{{- include "lifecycle-manager.append" (dict "pod" $pod "added" (fromYaml ($root.Files.Get (printf "files/%s/manager.yaml" $part)))) -}}
{{- end -}}
{{- $args := list -}}
{{- with $values.registry.host -}}{{- $args = append $args (printf "--oci-registry-host=%s" .) -}}{{- end -}}
{{- with $values.registry.credentialSecret -}}{{- $args = append $args (printf "--oci-registry-cred-secret=%s" .) -}}{{- end -}}
{{- with $values.logLevel -}}{{- $args = append $args (printf "--log-level=%d" (int .)) -}}{{- end -}}
{{- with $values.tracing.endpoint -}}{{- $args = append $args (printf "--otlp-endpoint=%s" .) -}}{{- end -}}
{{- $namespaces := join "," $values.local.namespaces -}}
{{- if and $values.local.enabled (ne $namespaces "kcp-system") -}}
{{- $args = append $args (printf "--local-namespaces=%s" $namespaces) -}}
{{- end -}}
{{- include "lifecycle-manager.append" (dict "pod" $pod "added" (dict "args" $args)) -}}
{{- if $values.registries.entries -}}
{{- include "lifecycle-manager.append" (dict "pod" $pod "added" (dict
      "args" (list "--registries-file=/registries/registries.yaml")
      "volumeMounts" (list (dict "name" "registries" "mountPath" "/registries" "readOnly" true))
      "volumes" (list (dict "name" "registries" "configMap" (dict "name" "klm-registries"))))) -}}
{{- end -}}
{{- $_ := set .deployment.spec "replicas" $values.replicas -}}
{{- end -}}

{{- /*
Gives a Deployment what values say of its pod: those of the manager, or those of the dashboard, which have the same names. Takes .root,
.values and .deployment.
*/ -}}
{{- define "lifecycle-manager.pod" -}}
{{- $values := .values -}}
{{- $pod := .deployment.spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $_ := set $container "image" (include "lifecycle-manager.image" .) -}}
{{- $_ := set $container "imagePullPolicy" $values.image.pullPolicy -}}
{{- $_ := set $container "resources" $values.resources -}}
{{- range $container.env -}}
{{- if eq .name "GOMEMLIMIT" -}}{{- $_ := set . "value" (include "lifecycle-manager.goMemLimit" $values) -}}{{- end -}}
{{- end -}}
{{- include "lifecycle-manager.append" (dict "pod" $pod "added" (dict
      "args" $values.extraArgs "env" $values.extraEnv "volumeMounts" $values.extraVolumeMounts "volumes" $values.extraVolumes)) -}}
{{- $secrets := list -}}
{{- range $values.image.pullSecrets -}}{{- $secrets = append $secrets (dict "name" .) -}}{{- end -}}
{{- with $secrets -}}{{- $_ := set $pod "imagePullSecrets" . -}}{{- end -}}
{{- $_ := unset $pod "priorityClassName" -}}
{{- range $name := list "priorityClassName" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" -}}
{{- with index $values $name -}}{{- $_ := set $pod $name . -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Writes the image of .values, by digest or by tag. Takes .root, too. */ -}}
{{- define "lifecycle-manager.image" -}}
{{- $image := .values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository ($image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /*
Writes GOMEMLIMIT for the limit of the memory: a little below it, so that the collector works harder before the kernel kills. Takes the values
of the manager, or of the dashboard.
*/ -}}
{{- define "lifecycle-manager.goMemLimit" -}}
{{- $limit := (.resources.limits | default dict).memory | default "" | toString -}}
{{- if .goMemLimit -}}
{{- .goMemLimit -}}
{{- else if not $limit -}}
{{- "off" -}}
{{- else if regexMatch "^[0-9]+([.][0-9]+)?(Mi|Gi)$" $limit -}}
{{- $mebibytes := $limit | trimSuffix "Mi" | trimSuffix "Gi" | float64 -}}
{{- if hasSuffix "Gi" $limit -}}{{- $mebibytes = mulf $mebibytes 1024 -}}{{- end -}}
{{- printf "%dMiB" (mul 10 (div (mul (int $mebibytes) 88) 1000)) -}}
{{- else -}}
{{- fail (printf "the limit of the memory, %s, is not in Mi or Gi: set goMemLimit to a little less than that, such as 1800MiB for 2Gi" $limit) -}}
{{- end -}}
{{- end -}}
