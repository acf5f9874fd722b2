package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/internal/provision"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var (
	// root of the checkout.
	root string
	// programs is the folder with what was built.
	programs string
	// stateDir holds the folders of all playgrounds of this suite.
	stateDir string
)

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "e2e")
}

var _ = ReportAfterSuite("failures", testkit.TellFailures)

// The programs are built as make builds them, so that nothing is compiled twice.
var _ = BeforeSuite(func() {
	var err error
	root, err = provision.Root()
	Expect(err).NotTo(HaveOccurred())
	dir, err := os.MkdirTemp("", "playground-e2e-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(os.RemoveAll(dir)).To(Succeed()) })
	programs, stateDir = filepath.Join(dir, "bin"), filepath.Join(dir, "state")
	for _, args := range [][]string{
		{"build", "-trimpath", "-o", filepath.Join(programs, "manager"), "./cmd"},
		{"build", "-trimpath", "-o", programs + "/", "./cmd/playground", "./samples/beacon", "./samples/greeter"},
		{"build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(programs, "kyma"), "./cmd/kyma"},
	} {
		_, err := run("go", args...)
		Expect(err).NotTo(HaveOccurred())
	}
})
