package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
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

// programsVariable names a folder with the programs, as make hands it on; without it the suite builds them.
const programsVariable = "E2E_PROGRAMS"

// One process builds the programs for all; each keeps its playgrounds in a folder of its own.
var _ = SynchronizedBeforeSuite(func() []byte {
	if built := os.Getenv(programsVariable); built != "" {
		return []byte(built)
	}
	findRoot()
	dir, err := os.MkdirTemp("", "e2e-programs-")
	Expect(err).NotTo(HaveOccurred())
	ownPrograms = dir
	for _, args := range [][]string{
		{"build", "-o", filepath.Join(dir, "manager"), "./cmd"},
		{"build", "-o", dir + "/", "./cmd/kyma", "./cmd/playground", "./samples/beacon", "./samples/greeter"},
	} {
		_, err := run("go", args...)
		Expect(err).NotTo(HaveOccurred())
	}
	return []byte(dir)
}, func(built []byte) {
	findRoot()
	dir, err := os.MkdirTemp("", "playground-e2e-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(os.RemoveAll(dir)).To(Succeed()) })
	programs, stateDir = string(built), filepath.Join(dir, "state")
})

// ownPrograms is the folder that process 1 built programs into; it goes when no process needs it any more.
var ownPrograms string

var _ = SynchronizedAfterSuite(func() {}, func() {
	if ownPrograms != "" {
		Expect(os.RemoveAll(ownPrograms)).To(Succeed())
	}
})

func findRoot() {
	GinkgoHelper()
	var err error
	root, err = localcluster.Root()
	Expect(err).NotTo(HaveOccurred())
}
