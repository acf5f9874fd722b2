package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	labelRequire = "require"
	labelReason  = "reason"
)

// Signatures counts Manifests by the requirement of the signature policy and its result.
type Signatures struct {
	count *prometheus.Desc

	mu   sync.Mutex
	seen map[types.NamespacedName]signatureState
}

type signatureState struct{ require, reason string }

// NewSignatures registers the count with registry.
func NewSignatures(registry prometheus.Registerer) (*Signatures, error) {
	s := &Signatures{
		count: prometheus.NewDesc("lifecycle_mgr_manifest_signatures",
			"Number of Manifests by what the policy asks for (off, audit, enforce) and the reason of condition Signed.",
			[]string{labelRequire, labelReason}, nil),
		seen: map[types.NamespacedName]signatureState{},
	}
	return s, registry.Register(s)
}

// Record records the signature status of a Manifest; nil forgets it.
func (s *Signatures) Record(manifest types.NamespacedName, status *v1beta2.SignatureStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status == nil {
		delete(s.seen, manifest)
		return
	}
	s.seen[manifest] = signatureState{status.Require, status.Reason}
}

// Describe implements prometheus.Collector.
func (s *Signatures) Describe(into chan<- *prometheus.Desc) { into <- s.count }

// Collect implements prometheus.Collector.
func (s *Signatures) Collect(into chan<- prometheus.Metric) {
	counts := map[signatureState]int{}
	s.mu.Lock()
	for _, one := range s.seen {
		counts[one]++
	}
	s.mu.Unlock()
	for one, count := range counts {
		into <- prometheus.MustNewConstMetric(s.count, prometheus.GaugeValue, float64(count), one.require, one.reason)
	}
}
