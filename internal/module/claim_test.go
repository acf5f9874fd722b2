package module_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

func TestNextClaim(t *testing.T) {
	for _, test := range []struct {
		name, holder, from string
		want               module.ClaimStep
	}{
		{"no claim", "", "", module.ClaimTake},
		{"no claim, and a take-over that came too late", "", "old", module.ClaimTake},
		{"ours", "us", "", module.ClaimHeld},
		{"ours, and a take-over that is done", "us", "old", module.ClaimHeld},
		{"ours, and a take-over from ourselves", "us", "us", module.ClaimHeld},
		{"another hub's", "old", "", module.ClaimForeign},
		{"another hub's, taken over", "old", "old", module.ClaimTake},
		{"another hub's, taken over from a third one", "old", "older", module.ClaimForeign},
	} {
		if got := module.NextClaim("us", test.holder, test.from); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestClaimRuleOf(t *testing.T) {
	kyma := func(change func(*v1beta2.Kyma)) *v1beta2.Kyma {
		made := &v1beta2.Kyma{}
		made.Labels = map[string]string{}
		change(made)
		return made
	}
	no := false
	for _, test := range []struct {
		name string
		kyma *v1beta2.Kyma
		want module.ClaimRule
	}{
		{"no Kyma", nil, module.ClaimRespected},
		{"a Kyma", kyma(func(*v1beta2.Kyma) {}), module.ClaimRequired},
		{"modules only", kyma(func(k *v1beta2.Kyma) { k.Labels[v1beta2.LabelSync] = "false" }), module.ClaimIgnored},
		{"suspended", kyma(func(k *v1beta2.Kyma) { k.Labels[v1beta2.LabelSkipReconciliation] = "true" }), module.ClaimRespected},
		{"being deleted", kyma(func(k *v1beta2.Kyma) { k.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), module.ClaimRespected},
		{"local", kyma(func(k *v1beta2.Kyma) { k.Spec.Remote = &no }), module.ClaimRespected},
	} {
		if got := module.ClaimRuleOf(test.kyma); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestJudgeClaim(t *testing.T) {
	for _, test := range []struct {
		name   string
		rule   module.ClaimRule
		holder string
		known  bool
		want   module.ClaimVerdict
	}{
		{"ours", module.ClaimRequired, "us", true, module.MayWrite},
		{"ours before it was lost from sight", module.ClaimRequired, "us", false, module.ClaimPending},
		{"another hub's", module.ClaimRequired, "old", true, module.OtherHub},
		{"unclaimed", module.ClaimRequired, "", true, module.ClaimPending},
		{"not known", module.ClaimRequired, "", false, module.ClaimPending},
		{"respected: ours", module.ClaimRespected, "us", true, module.MayWrite},
		{"respected: another hub's", module.ClaimRespected, "old", true, module.OtherHub},
		{"respected: unclaimed", module.ClaimRespected, "", true, module.MayWrite},
		{"respected: not known", module.ClaimRespected, "", false, module.ClaimPending},
		{"ignored: another hub's", module.ClaimIgnored, "old", true, module.MayWrite},
		{"ignored: not known", module.ClaimIgnored, "", false, module.MayWrite},
	} {
		if got := module.JudgeClaim(test.rule, "us", test.holder, test.known); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
