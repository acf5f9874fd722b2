package directinstall_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// planWithDigest returns a plan whose template states the digest of its content.
func (f *fixture) planWithDigest(version, text, digest string) directinstall.Plan {
	plan := f.plan("vouched", version, text)
	plan.Template.Annotations = map[string]string{v1beta2.AnnotationRawManifestDigest: digest}
	return plan
}

func TestDigest_OtherContentThanTheTemplateSaysIsRefused(t *testing.T) {
	f := onCluster(t)
	good, evil := configMap("vouched-a", "1"), configMap("vouched-a", "evil")
	digits := strings.TrimPrefix(sumOf(good), "sha256:")
	for name, test := range map[string]struct {
		digest, served, want string
		words                []string
		change               func(*directinstall.Plan)
	}{
		"another file behind the link": {
			digest: sumOf(good), served: evil, want: content.ReasonDigestMismatch,
			words: []string{sumOf(good), sumOf(evil), "vouched-0.1.0", "/vouched-0.1.0.yaml", "nothing was changed", "ask who publishes it"},
		},
		"a changed file, although changed content is accepted": {
			digest: sumOf(good), served: evil, want: content.ReasonDigestMismatch,
			change: func(p *directinstall.Plan) { p.AllowOtherContent = true },
		},
		"a changed file in a dry run": {
			digest: sumOf(good), served: evil, want: content.ReasonDigestMismatch, change: func(p *directinstall.Plan) { p.DryRun = true },
		},
		"a changed file behind the link's other name": {
			digest: sumOf(good), served: evil, want: content.ReasonDigestMismatch,
			change: func(p *directinstall.Plan) { p.Template.Spec.Resources[0].Name = "raw-manifest" },
		},
		"an invalid digest": {
			digest: "abc", served: good, want: directinstall.ReasonPlanInvalid,
			words: []string{v1beta2.AnnotationRawManifestDigest, "vouched-0.1.0", "64 hex digits"},
		},
		"a digest without its algorithm": {digest: digits, served: good, want: directinstall.ReasonPlanInvalid},
		"a digest in upper case":         {digest: "sha256:" + strings.ToUpper(digits), served: good, want: directinstall.ReasonPlanInvalid},
		"a digest of another algorithm":  {digest: "sha512:" + digits + digits, served: good, want: directinstall.ReasonPlanInvalid},
		"an annotation without a value":  {digest: "", served: good, want: directinstall.ReasonPlanInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			f := on(t, f.plane)
			plan := f.planWithDigest("0.1.0", test.served, test.digest)
			if test.change != nil {
				test.change(&plan)
			}
			writes := f.writes(func(config *rest.Config) {
				plan.Config = config
				report, err := directinstall.Install(t.Context(), plan)
				f.reason(report, err, test.want, test.words...)
			})
			if writes != 0 || f.listed("vouched") != nil || f.configMap("vouched-a") != nil {
				t.Errorf("%d writes, listed as %+v", writes, f.listed("vouched"))
			}
		})
	}
}

func TestDigest_AnUpgradeToOtherContentThanTheTemplateSaysLeavesWhatRuns(t *testing.T) {
	f := onCluster(t)
	good := configMap("vouched-a", "1")
	first := f.planWithDigest("0.1.0", good, sumOf(good))
	first.Store = t.TempDir()
	f.installs(first)

	report, err := directinstall.Upgrade(t.Context(), f.planWithDigest("0.2.0", configMap("vouched-a", "2"), sumOf(good)))
	f.reason(report, err, content.ReasonDigestMismatch, "0.2.0")
	if live := f.configMap("vouched-a"); live.Object["data"].(map[string]any)["value"] != "1" || f.listed("vouched").Version != "0.1.0" {
		t.Errorf("a part of the refused version was applied: %v", live.Object["data"])
	}

	f.web.Close() // the content is in the store
	if report := f.installs(first); report.Changed {
		t.Errorf("the same again changes %+v", report.Objects)
	}
	first.Template.Annotations[v1beta2.AnnotationRawManifestDigest] = sumOf("other")
	report, err = directinstall.Install(t.Context(), first)
	f.reason(report, err, content.ReasonDigestMismatch, sumOf(good))
	f.deletes(f.removal("vouched"))
}
