package kymaedit

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// connect makes a client of its own, for the API server that all tests of this package share: no one looks after what is there.
var connect = apiserver.Client

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }
