package integration

import (
	. "github.com/onsi/ginkgo/v2"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// hiddenRole is a role that a cluster gets only once it serves an API, which the template does not even spell out.
const hiddenRole = `{{ if .Capabilities.APIVersions.Has (print "exam" "ple.com/v" 1) }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Name }}}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: {{ .Release.Name }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Release.Name }}}
subjects: [{kind: ServiceAccount, name: {{ .Release.Name }}, namespace: default}]
{{ end }}`

// offerHiding offers a version of a module from a chart with a ServiceAccount, a ConfigMap and one more template.
func offerHiding(module, version, template string) {
	GinkgoHelper()
	chart := testkit.Chart(module, version, testkit.Files{
		"templates/account.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: {{ .Release.Name }}, namespace: default}\n",
		"templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-0, namespace: default}\n" +
			"data: {version: {{ .Chart.Version | quote }}}\n",
		"templates/more.yaml": template,
	})
	env.Publish(testkit.ComponentName(module), version, component.Resource{Name: "raw-manifest", Type: "helmChart",
		MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chart.Gzip()})
	env.Hub.Create(testkit.ModuleTemplate(module, version))
	env.Point(module, version, "regular")
}
