package integration

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// try asks the API server whether it would take an object.
func try(object client.Object) error {
	return env.Hub.Client.Create(ctx(), object, client.DryRunAll)
}

// accepted matches what the API server takes, refused what it calls invalid.
func expectValid(object client.Object, valid bool) {
	GinkgoHelper()
	err := try(object)
	if valid {
		Expect(err).NotTo(HaveOccurred())
		return
	}
	Expect(apierrors.IsInvalid(err)).To(BeTrue(), "want the API server to call it invalid, got: %v", err)
}

var _ = Describe("The API server", func() {
	DescribeTable("judges channels", func(channel string, valid bool) {
		expectValid(testkit.Kyma("channels", testkit.OnChannel(channel)), valid)
		expectValid(testkit.Kyma("channels", testkit.WithModule("any", testkit.FromChannel(channel))), valid || channel == "")
		expectValid(testkit.ModuleReleaseMeta("any", channel+"=1.0.0"), valid)
	},
		Entry("a usual one", "regular", true),
		Entry("the shortest", "abc", true),
		Entry("the longest", strings.Repeat("a", 32), true),
		Entry("too short", "ab", false),
		Entry("too long", strings.Repeat("a", 33), false),
		Entry("with a digit", "beta1", false),
		Entry("with an upper case letter", "Regular", false),
		Entry("with a dash", "very-fast", false),
	)

	It("refuses channel and version together", func() {
		expectValid(testkit.Kyma("both", testkit.WithModule("any", testkit.FromChannel("fast"), testkit.AtVersion("1.0.0"))), false)
	})

	It("does not let remote change, not even by leaving it out", func() {
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Local())
		env.Hub.Create(kyma)
		// A patch, because the manager writes to the Kyma too.
		err := env.Hub.Client.Patch(ctx(), kyma, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"remote":null}}`)))
		Expect(err).To(MatchError(ContainSubstring("remote is immutable")))
		env.Hub.Delete(kyma)
	})

	DescribeTable("judges component names", func(name string, valid bool) {
		release := testkit.ModuleReleaseMeta("any", "regular=1.0.0")
		release.Spec.OCMComponentName = name
		expectValid(release, valid)
	},
		Entry("a usual one", "kyma-project.io/module/template-operator", true),
		Entry("none", "", true),
		Entry("without a path", "kyma-project.io", false),
		Entry("without a domain", "module/template-operator", false),
		Entry("with an upper case letter", "kyma-project.io/Module", false),
		Entry("too long", "kyma-project.io/"+strings.Repeat("a", 250), false),
	)

	It("wants exactly one of channels and mandatory", func() {
		release := testkit.ModuleReleaseMeta("any", "regular=1.0.0")
		release.Spec.Mandatory = &v1beta2.Mandatory{Version: "1.0.0"}
		expectValid(release, false)
		release.Spec.Channels = nil
		expectValid(release, true)
		release.Spec.Mandatory = nil
		expectValid(release, false)
	})

	DescribeTable("judges versions of mandatory modules", func(version string, valid bool) {
		release := testkit.ModuleReleaseMeta("any", "regular=1.0.0")
		release.Spec.Channels, release.Spec.Mandatory = nil, &v1beta2.Mandatory{Version: version}
		expectValid(release, valid)
	},
		Entry("plain", "1.0.0", true), Entry("zeros", "0.0.0", true), Entry("prerelease", "1.0.0-rc1", true),
		Entry("dotted prerelease", "1.0.0-rc.1", true), Entry("build", "1.0.0+build.5", true), Entry("both", "1.0.0-rc.1+build", true),
		Entry("large", "10.20.30", true), Entry("dashes", "1.0.0-a-b", true), Entry("zero prerelease", "1.0.0-0", true),
		Entry("empty", "", false), Entry("two parts", "1.0", false), Entry("leading v", "v1.0.0", false), Entry("leading zero", "01.0.0", false),
		Entry("leading zero in prerelease", "1.0.0-01", false), Entry("letters", "latest", false),
	)

	DescribeTable("judges versions of templates and channels", func(version string, valid bool) {
		template := testkit.ModuleTemplate("any", "1.0.0")
		template.Spec.Version = version
		expectValid(template, valid)
		expectValid(testkit.ModuleReleaseMeta("any", "regular="+version), valid)
	},
		Entry("plain", "1.0.0", true), Entry("zeros", "0.0.0", true), Entry("prerelease", "1.0.0-rc", true), Entry("dashes", "1.0.0-a-b1", true),
		Entry("large", "10.20.30", true), Entry("empty", "", true), Entry("32 characters", "1.0.0-"+strings.Repeat("a", 26), true),
		Entry("33 characters", "1.0.0-"+strings.Repeat("a", 27), false), Entry("two parts", "1.0", false), Entry("leading v", "v1.0.0", false),
		Entry("leading zero", "1.00.0", false), Entry("dotted prerelease", "1.0.0-rc.1", false), Entry("build", "1.0.0+build", false),
		Entry("prerelease with a digit first", "1.0.0-1a", false),
	)

	DescribeTable("judges module names", func(name string, valid bool) {
		template := testkit.ModuleTemplate("any", "1.0.0")
		template.Spec.ModuleName = name
		expectValid(template, valid)
	},
		Entry("plain", "istio", true), Entry("with dashes", "api-gateway", true), Entry("empty", "", true),
		Entry("too short", "ab", false), Entry("with a digit", "s3module", false), Entry("upper case", "Istio", false),
		Entry("short part", "api-gw", false),
	)

	It("refuses a ModuleTemplate that is too large", func() {
		template := testkit.ModuleTemplate("any", "1.0.0")
		template.Annotations = map[string]string{"note": strings.Repeat("x", 300<<10)}
		Expect(try(template)).To(HaveOccurred())
	})
})
