package testkit_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var env *testkit.Env

func TestTestkit(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	RunSpecs(t, "testkit")
}

// This uses Launch instead of Start, which would rightly fail this suite: the suite violates invariants to check that they are noticed.
var _ = BeforeSuite(func(ctx context.Context) {
	var err error
	env, err = testkit.Launch(ctx, testkit.Options{Runtimes: 1, Workloads: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
}, NodeTimeout(20*time.Minute))
