package kymaedit

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// connect returns a new client for the API server that all tests of this package share, in which no controllers run.
var connect = apiserver.Client

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }
