package e2e

import (
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// worksAsInOldDays applies what the first README files show, looks at the result, in both versions, edits it and removes it.
func worksAsInOldDays(p *program) {
	GinkgoHelper()
	file := func(kind string) string {
		return "--filename=" + filepath.Join(p.state, "samples", "v1alpha1-"+kind+".yaml")
	}
	const manifest, kyma = "manifests.v1alpha1.operator.kyma-project.io/manifestkyma-sample-delete", "kymas.v1alpha1.operator.kyma-project.io/kyma-sample"

	By("the Kyma gets its components in the hub itself")
	p.hub("apply", "--validate=strict", file("kyma"))
	p.hub("wait", untilReady, minute, kyma)
	light := []string{"get", "configmaps", "istio-light", "serverless-light", "--namespace=kyma-system", "-o", "jsonpath={.items[*].data.colour}"}
	Expect(p.hub(light...)).To(Equal("white white"))
	Expect(p.hub("get", "kyma", "kyma-sample", "-o", "jsonpath={.spec.channel} {.spec.remote} {.spec.readiness} {.spec.modules[*].name}")).
		To(Equal("regular false Both istio serverless"))
	Expect(p.hub("get", kyma, "--no-headers")).To(MatchRegexp(`kyma-sample +Ready`))

	By("what v1beta2 says beside stays when the old file is applied again")
	p.hub("patch", "kyma", "kyma-sample", "--type=merge", `--patch={"spec":{"channel":"fast"}}`)
	p.hub("apply", file("kyma"))
	p.hub("wait", untilReady, minute, kyma)
	Expect(p.hub(light...)).To(Equal("green green"))

	By("the Manifest installs two charts, definitions and a custom resource in the runtime")
	p.hub("apply", "--validate=strict", file("manifest"))
	p.hub("wait", untilReady, minute, "--namespace=default", manifest)
	Expect(p.runtime("get", "deployment", "redis-redis", "bitnami-mysql", "-o", "jsonpath={.items[*].status.readyReplicas}")).To(Equal("2 1"))
	Expect(p.runtime("get", "samplecrd", "sample-crd-from-manifest", "-o", "jsonpath={.spec.randomkey}")).To(Equal("samplevalue"))
	Expect(p.hub("get", "manifests", "manifestkyma-sample-delete", "--namespace=default", "-o",
		"jsonpath={.spec.install.source.type} {.spec.additionalInstalls[*].name}")).To(Equal("helm-chart bitnami"))
	Expect(p.hub("get", manifest, "--namespace=default", "-o", "jsonpath={.spec.installs[*].source.type}")).To(Equal("oci-ref helm-chart"))

	By("an installation less, as v1alpha1")
	p.hub("patch", manifest, "--namespace=default", "--type=json", `--patch=[{"op":"remove","path":"/spec/installs/1"}]`)
	p.runtime("wait", "--for=delete", minute, "deployment/bitnami-mysql")
	p.hub("wait", untilReady, minute, "--namespace=default", manifest)

	By("all of it goes")
	p.hub("delete", minute, file("manifest"), file("kyma"))
	Expect(p.runtime("get", "deployments,services,crds", "--ignore-not-found", "-o", "name")).NotTo(Or(
		ContainSubstring("redis"), ContainSubstring("samplecrds")))
	p.hub("wait", "--for=delete", minute, "--namespace=kyma-system", "configmap/istio-light", "configmap/serverless-light")
}
