package editcmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestNotTaken(t *testing.T) {
	entry := func(name string) inventory.Entry {
		return inventory.Entry{ID: inventory.ID{Kind: "ConfigMap", Namespace: "kyma-system", Name: name}, Version: "v1", Hash: "x"}
	}
	recorded := []inventory.Entry{entry("both"), entry("left"), entry("hook").AsHook()}
	elsewhere := entry("left").ID
	elsewhere.Namespace = "default"
	answered := []releaseoutlook.Answered{{ID: entry("both").ID}, {ID: elsewhere}, {ID: entry("new").ID}}
	if got := fmt.Sprint(notTaken(recorded, answered, "module-notes.generated")); got != "[ConfigMap kyma-system/left]" {
		t.Errorf("left behind are %s", got)
	}
}

func TestWouldBeRefused(t *testing.T) {
	answer := &releaseoutlook.Answer{Objects: []releaseoutlook.Answered{{Change: apply.ChangeUpdate, Note: "it is taken over"}}}
	if err := wouldBeRefused("notes", "1.0.0", answer); err != nil {
		t.Error(err)
	}
	answer.Objects = append(answer.Objects, releaseoutlook.Answered{Change: apply.ChangeRefused, Note: "apply ConfigMap a/b: a webhook denies it"})
	answer.Refused = 1
	err := wouldBeRefused("notes", "1.0.0", answer)
	if err == nil || !strings.Contains(err.Error(), "1 object of version 1.0.0, first apply ConfigMap a/b: a webhook denies it") {
		t.Errorf("it says %v", err)
	}
}
