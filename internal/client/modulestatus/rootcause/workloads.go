package rootcause

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// workloads are the kinds that run pods, with their groups.
var workloads = map[string]string{
	kindDeployment: "apps", kindReplicaSet: "apps", kindStatefulSet: "apps", kindDaemonSet: "apps", kindJob: "batch", kindCronJob: "batch",
}

// IsWorkload reports whether an object runs pods, or is one.
func IsWorkload(o *unstructured.Unstructured) bool {
	gvk := o.GroupVersionKind()
	group, known := workloads[gvk.Kind]
	return known && group == gvk.Group || gvk.Kind == kindPod && gvk.Group == ""
}

// InTrouble reports whether something below an object may explain why a module is not ready: a workload that is not ready, or a CronJob,
// whose status does not say whether its Jobs succeed.
func InTrouble(o *unstructured.Unstructured) bool {
	if !IsWorkload(o) || o.GetDeletionTimestamp() != nil {
		return false
	}
	return o.GetKind() == kindCronJob || health.Of(o).Status != health.Ready
}

// workloads returns the causes in what runs pods: the pods themselves, why there are none, and Jobs that failed.
func (s *index) workloads() []candidate {
	var all []candidate
	for _, t := range s.things {
		if !IsWorkload(t.Unstructured) || t.GetDeletionTimestamp() != nil {
			continue
		}
		if !InTrouble(s.running(t)[0].Unstructured) {
			continue // what is below a workload that is ready is left from before
		}
		switch {
		case t.isA("", kindPod):
			all = append(all, s.pod(t)...)
		case t.isA("batch", kindJob):
			all = append(all, s.job(t)...)
		case t.isA("batch", kindCronJob):
		default:
			all = append(all, s.podless(t)...)
		}
	}
	return all
}

// running returns a workload and the workloads that own it, the topmost first. An operator's own resource may own that.
func (s *index) running(t thing) []thing {
	links := s.chain(t)
	return links[slices.IndexFunc(links, func(link thing) bool { return IsWorkload(link.Unstructured) }):]
}

// podless returns why a workload that is not ready has no pods, or that they could not be looked at.
func (s *index) podless(t thing) []candidate {
	below := len(s.running(t)) > 1
	if health.Of(t.Unstructured).Status == health.Ready || below && !lacksPods(t) {
		return nil
	}
	if refusal := s.refusal(t); refusal != nil {
		return refusal
	}
	if below || t.GetUID() != "" && len(s.owned[t.GetUID()]) > 0 {
		return nil
	}
	c := s.withEvents(s.at(t, ofWorkload), t)
	c.since = s.unreadySince(t)
	kind, group := kindPod, ""
	if t.GetKind() == kindDeployment {
		kind, group = kindReplicaSet, "apps"
	}
	if u := s.unreadOf(kind, t.GetNamespace()); u != nil {
		return []candidate{c.because(PodsNotReadable, waits, "has not been ready",
			"its pods cannot be looked at: "+s.texts.quote(u.Text))}
	}
	if s.listed(group, kind, t.GetNamespace()) {
		return []candidate{c.because(NoPods, stuck, "has had no pods", "its controller has created none")}
	}
	return nil
}

// lacksPods reports whether a workload has fewer pods than it wants, so that a refusal is not from before. A ReplicaSet of an earlier
// version wants none.
func lacksPods(t thing) bool {
	spec, _ := t.at("spec").(map[string]any)
	status, _ := t.at("status").(map[string]any)
	switch t.GetKind() {
	case kindDaemonSet:
		return fields(status).number("desiredNumberScheduled") > fields(status).number("currentNumberScheduled")
	case kindJob:
		return fields(status).number("active") == 0
	}
	wanted := int64(1)
	if fields(spec).has("replicas") {
		wanted = fields(spec).number("replicas")
	}
	return wanted > fields(status).number("replicas")
}

// refusal returns why the cluster refuses the pods of a workload, as its status or its events say.
func (s *index) refusal(t thing) []candidate {
	type said struct {
		text  string
		since time.Time
	}
	var all []said
	if failure := t.condition("ReplicaFailure"); failure.text("status") == "True" {
		all = append(all, said{failure.text("message"), failure.changed()})
	}
	for _, e := range s.eventsOf(t) {
		if e.Reason == "FailedCreate" && lacksPods(t) {
			all = append(all, said{e.Message, e.First})
		}
	}
	if len(all) == 0 {
		return nil
	}
	why := s.refused(all[0].text)
	if why.reason == "" {
		why = refusedFor{PodsRefused, s.texts.quote(all[0].text)}
	}
	c := s.withEvents(s.status(s.at(t, ofWorkload+1), t, all[0].text), t)
	c.since = all[0].since
	return []candidate{c.because(why.reason, broken, "has not been able to create its pods", why.detail)}
}

// job returns the cause in a Job that failed. Of the Jobs of a CronJob only the last one counts.
func (s *index) job(t thing) []candidate {
	failed := t.condition("Failed")
	if failed.text("status") != "True" {
		return s.refusal(t)
	}
	if owner := s.running(t)[0]; owner.isA("batch", kindCronJob) && slices.ContainsFunc(s.owned[owner.GetUID()], func(other thing) bool {
		return other.isA("batch", kindJob) && other.created().After(t.created())
	}) {
		return nil
	}
	detail := "it ran too long"
	if failed.text("reason") != "DeadlineExceeded" {
		detail = s.texts.quote(failed.text("message"))
	}
	c := s.withEvents(s.status(s.at(t, ofWorkload+1), t, failed.text("reason")+": "+failed.text("message")), t)
	for _, pod := range s.owned[t.GetUID()] {
		if end, logs := s.lastEnd(pod); end != "" {
			detail = end
			c.facts = append(c.facts, logs...)
			break
		}
	}
	c.since, c.ago = failed.changed(), true
	return []candidate{c.because(JobFailed, broken, "failed", detail)}
}

// lastEnd returns how a container of a pod of a Job failed, and its log as evidence.
func (s *index) lastEnd(pod thing) (string, []modulestatus.Fact) {
	for _, status := range slices.Concat(pod.list("status", "initContainerStatuses"), pod.list("status", "containerStatuses")) {
		end := status.sub("state").sub("terminated")
		if end == nil {
			end = status.sub("lastState").sub("terminated")
		}
		if end == nil || end.number("exitCode") == 0 {
			continue
		}
		return s.ending(pod, status.text("name"), end, 0), s.logFacts(pod, status.text("name"))
	}
	return "", nil
}

// unreadySince returns since when a workload has not been available.
func (s *index) unreadySince(t thing) time.Time {
	for _, kind := range []string{"Available", "Ready", "Progressing"} {
		if c := t.condition(kind); c.text("status") == "False" && !c.changed().IsZero() {
			return c.changed()
		}
	}
	return t.created()
}

// objects returns the objects of the module that are not ready or not there, without knowing why.
func (s *index) objects() []candidate {
	var all []candidate
	for _, ref := range s.Missing {
		all = append(all, candidate{
			object: ref, subject: name(ref.Kind) + " " + name(ref.Name), depth: ofObject, reason: modulestatus.WhyMissing, weight: broken,
			says: "is missing", detail: "the module installs it, and the cluster does not have it",
		})
	}
	for _, t := range s.things {
		if len(s.chain(t)) > 1 || t.GetDeletionTimestamp() != nil || t.isA("", kindPod) || t.isA("", kindSecret) || s.isOwnResource(t) {
			continue
		}
		result := health.Of(t.Unstructured)
		c := s.withEvents(s.status(s.at(t, ofObject), t, result.Message), t)
		c.since = s.unreadySince(t)
		switch detail := s.texts.quote(result.Message); result.Status {
		case health.Failed:
			all = append(all, c.because(ObjectNotReady, stuck, "has failed", detail))
		case health.InProgress:
			all = append(all, c.because(ObjectNotReady, vague, "has not been ready", detail))
		default: // it is ready, it is being deleted, or its status is not readable
		}
	}
	return all
}

// isOwnResource reports whether an object is the module's custom resource: its state is part of the module's status.
func (s *index) isOwnResource(t thing) bool {
	own := s.Module.Resource
	return own != nil && own.Kind == t.GetKind() && own.Name == t.GetName()
}

// ending returns how a container ended: "exit code 1 after 7 restarts, the last line of its log: panic".
func (s *index) ending(pod thing, container string, end fields, restarts int64) string {
	text := fmt.Sprintf("exit code %d", end.number("exitCode"))
	if signal := end.number("signal"); signal > 0 {
		text = fmt.Sprintf("signal %d", signal)
	}
	switch {
	case restarts == 1:
		text += " after 1 restart"
	case restarts > 1:
		text += fmt.Sprintf(" after %d restarts", restarts)
	}
	if last := s.texts.quote(lastLine(s.logOf(pod, container))); last != "" {
		return text + ", the last line of its log: " + last
	}
	if message := s.texts.quote(end.text("message")); message != "" {
		return text + ", its last message: " + message
	}
	return text
}

// logFacts returns the last lines of a container's log as evidence.
func (s *index) logFacts(pod thing, container string) []modulestatus.Fact {
	const most = 5
	lines := s.logOf(pod, container)
	var all []modulestatus.Fact
	for _, text := range lines[max(0, len(lines)-most):] {
		if text = s.texts.clean(text, MostFact); text != "" {
			about := refText(pod.ref()) + ", container " + name(container)
			all = append(all, modulestatus.Fact{Source: modulestatus.FactLog, Object: about, Text: text})
		}
	}
	return all
}
