package rootcause

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// obstacles are the usual reasons why a node does not take a pod, as the scheduler writes them. all is the text if every node has it, some
// if only a part has.
var obstacles = []struct {
	found  *regexp.Regexp
	reason string
	all    string
	some   string
}{
	{regexp.MustCompile(`node affinity/selector|node\(s\) didn't match.*(selector|affinity rules)`), NoNodeMatches,
		"no node matches its selector", "%d do not match its selector"},
	{regexp.MustCompile(`untolerated taint|taint`), TaintNotTolerated,
		"it does not tolerate the taints of any node", "%d have a taint that it does not tolerate"},
	{regexp.MustCompile(`^Insufficient ([^ ,.]{1,80})`), InsufficientResources, "no node has enough %s left", "%d have too little %s left"},
	{regexp.MustCompile(`^Too many pods`), InsufficientResources, "no node has room for more pods", "%d have no room for more pods"},
	{regexp.MustCompile(`unbound immediate PersistentVolumeClaims|persistentvolumeclaim "[^"]*" not found|persistent volumes to bind`),
		VolumeClaimPending, "a volume that it needs is not there", "%d have no volume for it"},
	{regexp.MustCompile(`volume node affinity conflict`), VolumeClaimPending,
		"its volume cannot be used on any node", "%d cannot use its volume"},
	{regexp.MustCompile(`were unschedulable`), NoNodes, "all nodes are closed for new pods", "%d are closed for new pods"},
	{regexp.MustCompile(`pod (anti-)?affinity`), NoNodeMatches, "no node fits the other pods that it must or must not run beside",
		"%d do not fit the other pods that it must or must not run beside"},
	{regexp.MustCompile(`free ports`), InsufficientResources, "its ports are in use on all nodes", "its ports are in use on %d"},
}

var available = regexp.MustCompile(`^(\d{1,7})/(\d{1,7}) nodes are available: (.*)$`)

// tolerable ends the part of the scheduler's message that counts nodes.
var tolerable = regexp.MustCompile(`\.? ?(preemption|no new claims).*$`)

// unscheduled returns the cause in a pod that has no node.
func (s *index) unscheduled(t thing, scheduled fields) candidate {
	c := s.withEvents(s.status(s.at(t, ofPod), t, scheduled.text("reason")+": "+scheduled.text("message")), t)
	if c.since = scheduled.changed(); c.since.IsZero() || earlier(t.created(), c.since) < 0 {
		c.since = t.created()
	}
	const says = "has been Pending"
	message := line(scheduled.text("message"))
	switch {
	case scheduled.text("reason") == "SchedulingGated":
		return c.because(NotScheduled, stuck, says, "scheduling gates hold it: their owner has not removed them")
	case strings.Contains(message, "no nodes available to schedule pods"), strings.HasPrefix(message, "0/0 nodes"):
		return c.because(NoNodes, broken, says, "the cluster has no node for pods")
	}
	if reason, detail := obstacle(message); reason != "" {
		return c.because(reason, broken, says, detail)
	}
	return c.because(NotScheduled, broken, says, s.texts.quote(message))
}

// obstacle returns what keeps most nodes from taking a pod, and all of it in words.
func obstacle(message string) (reason, detail string) {
	found := available.FindStringSubmatch(message)
	if found == nil {
		for _, o := range obstacles {
			if o.found.MatchString(message) && !strings.Contains(o.all, "%s") {
				return o.reason, o.all
			}
		}
		return "", ""
	}
	total, _ := strconv.Atoi(found[2])
	var some []string
	most := 0
	for part := range strings.SplitSeq(tolerable.ReplaceAllString(found[3], ""), ", ") {
		count, rest := counted(part, total)
		for _, o := range obstacles {
			match := o.found.FindStringSubmatch(rest)
			if match == nil {
				continue
			}
			words := append([]string{""}, match...)[len(match)] // the group of the expression, or all of it
			if count >= total {
				return o.reason, filled(o.all, words)
			}
			if count > most {
				most, reason = count, o.reason
			}
			some = append(some, filled(fmt.Sprintf(strings.ReplaceAll(o.some, "%s", "%%s"), count), words))
			break
		}
	}
	if len(some) == 0 {
		return "", ""
	}
	return reason, fmt.Sprintf("of %d nodes, %s", total, strings.Join(some, ", "))
}

func filled(template, words string) string { return strings.ReplaceAll(template, "%s", name(words)) }

// counted returns how many nodes a part of the scheduler's message is about, and the rest of it; without a number it is about all.
func counted(part string, total int) (int, string) {
	number, rest, found := strings.Cut(strings.TrimSpace(part), " ")
	count, err := strconv.Atoi(number)
	if !found || err != nil {
		return total, part
	}
	return count, rest
}
