package editcmd

import (
	"fmt"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
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
	if got := fmt.Sprint(notTaken(recorded, answered)); got != "[ConfigMap kyma-system/left]" {
		t.Errorf("left behind are %s", got)
	}
}
