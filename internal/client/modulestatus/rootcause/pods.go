package rootcause

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// pod returns the causes in a pod: where it cannot run, what its containers wait for, and how they end.
func (s *index) pod(t thing) []candidate {
	switch t.text("status", "phase") {
	case "Succeeded":
		return nil
	case "Failed":
		return s.failedPod(t)
	}
	if scheduled := t.condition("PodScheduled"); scheduled.text("status") == "False" {
		return []candidate{s.unscheduled(t, scheduled)}
	}
	var all []candidate
	for _, status := range t.list("status", "initContainerStatuses") {
		all = append(all, s.container(t, status, true)...)
	}
	if len(all) == 0 {
		for _, status := range t.list("status", "containerStatuses") {
			all = append(all, s.container(t, status, false)...)
		}
	}
	if len(all) == 0 && t.text("status", "phase") != "Running" {
		all = append(all, s.starting(t))
	}
	return all
}

// failedPod returns the cause in a pod that has ended for good. A Job tells of its own pods.
func (s *index) failedPod(t thing) []candidate {
	links := s.running(t)
	if len(links) > 1 && links[len(links)-2].isA("batch", kindJob) {
		return nil
	}
	c := s.withEvents(s.at(t, ofPod), t)
	c.since, c.ago = readySince(t), true
	if t.text("status", "reason") == "Evicted" {
		return []candidate{c.because(Evicted, stuck, "was evicted", s.texts.quote(t.text("status", "message")))}
	}
	detail, logs := s.lastEnd(t)
	if detail == "" {
		detail = s.texts.quote(t.text("status", "reason") + " " + t.text("status", "message"))
	}
	c.facts = append(c.facts, logs...)
	return []candidate{c.because(Crashing, stuck, "failed", detail)}
}

// starting returns the cause in a pod that has a node, and whose containers do not start.
func (s *index) starting(t thing) candidate {
	c := s.withEvents(s.at(t, ofPod), t)
	c.since = t.created()
	if scheduled := t.condition("PodScheduled"); scheduled.text("status") == "True" && !scheduled.changed().IsZero() {
		c.since = scheduled.changed()
	}
	for _, e := range s.eventsOf(t) {
		switch e.Reason {
		case "FailedMount", "FailedAttachVolume", "FailedMapVolume":
			if what := s.missingConfig(e.Message); what != "" {
				return c.because(ConfigMissing, broken, "has not started", what)
			}
			return c.because(VolumeNotMounted, broken, "has not started", s.texts.quote(e.Message))
		case "FailedCreatePodSandBox", "NetworkNotReady":
			return c.because(SandboxFailed, broken, "has not started", s.texts.quote(e.Message))
		}
	}
	if t.condition("PodScheduled") == nil && t.text("spec", "nodeName") == "" {
		return c.because(NotScheduled, stuck, "has been Pending", "no scheduler has looked at it")
	}
	return c.because(Starting, waits, "has been starting", "its containers do not run yet")
}

// container returns the cause in one container, none if it is well.
func (s *index) container(pod thing, status fields, initial bool) []candidate {
	state, last := status.sub("state"), status.sub("lastState").sub("terminated")
	waiting, ended := state.sub("waiting"), state.sub("terminated")
	c := s.at(pod, ofContainer)
	c.subject = "Container " + name(status.text("name")) + " of " + c.subject
	if initial {
		c.subject = "Init container " + strings.TrimPrefix(c.subject, "Container ")
	}
	c.since = readySince(pod)
	if waiting != nil {
		c = s.status(c, pod, waiting.text("reason")+": "+waiting.text("message"))
	}
	c = s.withEvents(c, pod)
	switch reason := waiting.text("reason"); {
	case slices.Contains(imageReasons, reason):
		return []candidate{s.image(c, pod, status, waiting)}
	case reason == "CreateContainerConfigError":
		return []candidate{s.configError(c, waiting)}
	case reason == "CreateContainerError", reason == "RunContainerError", reason == "PostStartHookError":
		return []candidate{c.because(ContainerNotStarted, broken, "cannot be started", s.texts.quote(waiting.text("message")))}
	case reason == "CrashLoopBackOff":
		return []candidate{s.crash(c, pod, status, last, initial)}
	case ended != nil && ended.number("exitCode") != 0:
		return []candidate{s.crash(c, pod, status, ended, initial)}
	case state.has("running") && !initial && !status.flag("ready"):
		return []candidate{s.unready(c, pod, status, last)}
	}
	return nil
}

// crash returns the cause in a container that ends again and again.
func (s *index) crash(c candidate, pod thing, status, end fields, initial bool) candidate {
	c.facts = append(c.facts, s.logFacts(pod, status.text("name"))...)
	c.since = s.crashesSince(pod, c.since)
	detail := s.ending(pod, status.text("name"), end, status.number("restartCount"))
	if end == nil { // the status has only its back-off
		detail = s.texts.quote(lastLine(s.logOf(pod, status.text("name"))))
	}
	switch probe := s.probe(pod, "Liveness", "Startup"); {
	case end.text("reason") == "OOMKilled":
		detail = "it needs more memory than it may have"
		if limit := memoryLimit(pod, status.text("name")); limit != "" {
			detail = "it needs more memory than its limit of " + limit
		}
		return c.because(OutOfMemory, broken, "has been killed for lack of memory", detail)
	case probe != "" && end.text("reason") != "StartError" && killed(end):
		return c.because(LivenessProbeFailing, broken, "has been restarted again and again", probe)
	case initial:
		return c.because(InitContainerFailing, broken, "has been failing", detail)
	case end != nil && end.number("exitCode") == 0:
		return c.because(Crashing, broken, "has been ending again and again", detail)
	}
	return c.because(Crashing, broken, "has been crashing", detail)
}

// killed reports whether a container may have been ended by the node, as after a failed probe.
func killed(end fields) bool {
	code := end.number("exitCode")
	return end == nil || code == 0 || code == 137 || code == 143
}

// unready returns the cause in a container that runs without being ready.
func (s *index) unready(c candidate, pod thing, status, last fields) candidate {
	if last != nil && status.number("restartCount") > 1 && (last.number("exitCode") != 0 || last.text("reason") == "OOMKilled") {
		return s.crash(c, pod, status, last, false)
	}
	if probe := s.probe(pod, "Startup", "Readiness"); probe != "" {
		return c.because(ReadinessProbeFailing, stuck, "has run without being ready", probe)
	}
	return c.because(NotReadyYet, waits, "has run without being ready", "its readiness probe has not succeeded")
}

// probe returns what the last failed probe of one of some kinds says, "" if no event tells of one.
func (s *index) probe(pod thing, kinds ...string) string {
	for _, e := range s.eventsOf(pod) {
		for _, kind := range kinds {
			if rest, found := strings.CutPrefix(e.Message, kind+" probe failed"); found && e.Reason == "Unhealthy" {
				why := s.texts.quote(strings.TrimLeft(rest, ": "))
				if why == "" {
					return "its " + strings.ToLower(kind) + " probe fails"
				}
				return fmt.Sprintf("its %s probe fails: %s", strings.ToLower(kind), why)
			}
		}
	}
	return ""
}

// crashesSince returns since when the containers of a pod crash: since the first event about its back-off, if that is known to be earlier.
func (s *index) crashesSince(pod thing, otherwise time.Time) time.Time {
	since := otherwise
	for _, e := range s.eventsOf(pod) {
		if e.Reason == "BackOff" && !e.First.IsZero() && earlier(e.First, since) < 0 {
			since = e.First
		}
	}
	return since
}

// readySince returns since when a pod has not been ready, or when it was created.
func readySince(pod thing) time.Time {
	for _, kind := range []string{"ContainersReady", "Ready", "Initialized"} {
		if c := pod.condition(kind); c.text("status") == "False" && !c.changed().IsZero() {
			return c.changed()
		}
	}
	return pod.created()
}

// memoryLimit returns the limit of a container, "" if it has none.
func memoryLimit(pod thing, container string) string {
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range pod.list("spec", list) {
			if c.text("name") == container {
				return name(c.sub("resources").sub("limits").text("memory"))
			}
		}
	}
	return ""
}
