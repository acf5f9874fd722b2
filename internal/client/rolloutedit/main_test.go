package rolloutedit

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }
