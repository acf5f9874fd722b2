package kyma

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestOvertaken(t *testing.T) {
	hub := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "demo"}}
	copied := func(generation int64, isMarked bool) *v1beta2.Kyma {
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Generation: generation}}
		if isMarked {
			kyma.Labels, kyma.Annotations = copyLabels(hub), copyAnnotations(hub)
		}
		return kyma
	}
	for name, c := range map[string]struct {
		before, after *v1beta2.Kyma
		want          bool
	}{
		"a status that was written is no edit":                             {copied(1, true), copied(1, true), false},
		"a user's edit between our read and our write of the status is":    {copied(1, true), copied(2, true), true},
		"marks that a user took away in between are an edit":               {copied(1, true), copied(1, false), true},
		"marks that we have just written are none":                         {copied(1, false), copied(1, true), false},
		"marks that were not there before do not make us try for ever":     {copied(1, false), copied(1, false), false},
		"a user's edit between our read and our write of the marks is one": {copied(1, false), copied(2, true), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := overtaken(c.before, c.after, hub); got != c.want {
				t.Errorf("overtaken() = %t, want %t", got, c.want)
			}
		})
	}
}
