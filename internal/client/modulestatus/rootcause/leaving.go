package rootcause

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// holders are the finalizers of Kubernetes itself, and what they wait for.
var holders = map[string]string{
	"foregroundDeletion":           "the garbage collector waits for the objects that it owns",
	"orphan":                       "the garbage collector releases the objects that it owns",
	"kubernetes":                   "Kubernetes deletes what is in it",
	"kubernetes.io/pvc-protection": "a pod still uses it",
	"kubernetes.io/pv-protection":  "a claim still uses it",
	"service.kubernetes.io/load-balancer-cleanup": "the cloud provider removes its load balancer",
	"batch.kubernetes.io/job-tracking":            "the Job controller counts it",
	"customresourcecleanup.apiextensions.k8s.io":  "the objects of its kind are deleted first",
}

// deletionTakes is how long the controller behind a finalizer may need.
const deletionTakes = time.Minute

// leaving returns the objects whose deletion a finalizer holds.
func (s *index) leaving() []candidate {
	var all []candidate
	for _, t := range s.things {
		if t.GetDeletionTimestamp() == nil {
			continue
		}
		finalizers := slices.Clone(t.GetFinalizers())
		if t.isA("", kindNamespace) {
			list, _ := t.at("spec", "finalizers").([]any)
			for _, one := range list {
				text, _ := one.(string)
				finalizers = append(finalizers, text)
			}
		}
		if len(finalizers) == 0 {
			continue
		}
		slices.Sort(finalizers)
		c := s.withEvents(s.at(t, ofWorkload), t)
		c = s.status(c, t, "finalizers: "+strings.Join(finalizers, ", "))
		c.since = t.GetDeletionTimestamp().Time
		bad := stuck
		if s.now.Sub(c.since) < deletionTakes {
			bad = waits
		}
		all = append(all, c.because(FinalizerHolds, bad, "has been Terminating", s.holder(t, finalizers)))
	}
	return all
}

// holder returns which finalizer holds an object, and whose it is.
func (s *index) holder(t thing, finalizers []string) string {
	for _, kind := range []string{"NamespaceContentRemaining", "NamespaceFinalizersRemaining"} {
		if c := t.condition(kind); c.text("status") == "True" {
			return s.texts.quote(c.text("message"))
		}
	}
	at := max(slices.IndexFunc(finalizers, func(f string) bool { return holders[f] == "" }), 0) // one of a controller tells more
	first := finalizers[at]
	text := fmt.Sprintf("finalizer %s holds it", name(first))
	if means, known := holders[first]; known {
		text += ", " + means
	} else if owner, _, cut := strings.Cut(first, "/"); cut {
		text += ", which the controller of " + name(owner) + " has not removed"
	} else {
		text += ", which its controller has not removed"
	}
	if len(finalizers) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(finalizers)-1)
	}
	return text
}
