package hostile

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Secrets that stand nowhere but where they belong.
const (
	canaryToken    = "canary-token-3f9a2c71d8"
	canaryRegistry = "canary-registry-81b0e5d4"
	canaryPull     = "canary-pull-c27f60a9"
)

// canaries are they, in every spelling in which they might get out.
var canaries = func() (all [][]byte) {
	for _, secret := range []string{canaryToken, canaryRegistry, canaryPull} {
		all = append(all, []byte(secret))
		for cut := range 3 { // base64 of it, wherever in a longer text it stands
			text := base64.StdEncoding.EncodeToString([]byte(secret[cut:]))
			all = append(all, []byte(strings.TrimRight(text, "=")[:16]))
		}
	}
	return all
}()

// canaryIn is the first canary in a text.
func canaryIn(text []byte) string {
	for _, canary := range canaries {
		if bytes.Contains(text, canary) {
			return string(canary)
		}
	}
	return ""
}

// leaks looks through everything that is logged.
var leaks watchdog

type watchdog struct {
	mu    sync.Mutex
	lines int
	found []string
}

// Write implements io.Writer.
func (w *watchdog) Write(line []byte) (int, error) {
	canary := canaryIn(line)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines++
	if canary != "" && len(w.found) < 10 {
		w.found = append(w.found, fmt.Sprintf("%s in %.500s", canary, line))
	}
	return len(line), nil
}

// expectNoLeaks looks for canaries in the log, in metrics, and in every object of the hub that is no Secret.
func expectNoLeaks() {
	GinkgoHelper()
	leaks.mu.Lock()
	found := leaks.found
	leaks.found = nil // told once
	leaks.mu.Unlock()
	Expect(found).To(BeEmpty(), "secrets in the log")
	families, err := managerMetrics.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		Expect(canaryIn([]byte(family.String()))).To(BeEmpty(), "a secret in metric %s", family.GetName())
	}
	for _, list := range []client.ObjectList{
		&v1beta2.KymaList{}, &v1beta2.ManifestList{}, &eventsv1.EventList{}, &corev1.EventList{}, &corev1.ConfigMapList{},
		&v1beta2.ModuleTemplateList{}, &v1beta2.ModuleReleaseMetaList{}, &corev1.ServiceAccountList{}, &corev1.NamespaceList{},
	} {
		Expect(env.Hub.Client.List(context.Background(), list)).To(Succeed())
		text, err := json.Marshal(list)
		Expect(err).NotTo(HaveOccurred())
		Expect(canaryIn(text)).To(BeEmpty(), "a secret in a %T", list)
	}
}
