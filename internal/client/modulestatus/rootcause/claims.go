package rootcause

import (
	"regexp"
	"strings"
)

var noClass = regexp.MustCompile(`storageclass(?:\.storage\.k8s\.io)? "([^"]{1,253})" not found`)

// claims returns the causes in PersistentVolumeClaims.
func (s *index) claims() []candidate {
	var all []candidate
	for _, t := range s.things {
		if !t.isA("", kindClaim) || t.GetDeletionTimestamp() != nil {
			continue
		}
		c := s.withEvents(s.at(t, ofClaim), t)
		c.since = t.created()
		switch t.text("status", "phase") {
		case "Lost":
			all = append(all, c.because(VolumeClaimLost, broken, "has lost its volume", ""))
		case "Pending":
			if one, stuck := s.pendingClaim(c, t); stuck {
				all = append(all, one)
			}
		}
	}
	return all
}

// pendingClaim returns why a claim has no volume. One that waits for its first pod does not wait for a volume.
func (s *index) pendingClaim(c candidate, t thing) (candidate, bool) {
	class := t.text("spec", "storageClassName")
	const says = "has been Pending"
	for _, e := range s.everyEventOf(t) {
		switch {
		case e.Reason == "WaitForFirstConsumer":
			return c, false
		case noClass.MatchString(e.Message):
			return c.because(NoStorageClass, broken, says, "StorageClass "+name(noClass.FindStringSubmatch(e.Message)[1])+" does not exist"), true
		case strings.Contains(e.Message, "no storage class is set"):
			return c.because(NoStorageClass, broken, says, "it names no StorageClass, and the cluster has no default one"), true
		case e.Reason == "ProvisioningFailed":
			return c.because(ProvisioningFailed, broken, says, s.texts.quote(e.Message)), true
		case e.Reason == "ExternalProvisioning":
			return c.because(NoProvisioner, broken, says, "the provisioner of StorageClass "+name(class)+" has not created a volume"), true
		case e.Reason == "FailedBinding":
			return c.because(VolumeClaimPending, broken, says, s.texts.quote(e.Message)), true
		}
	}
	if class == "" {
		return c.because(NoStorageClass, broken, says, "it names no StorageClass, and no volume fits it"), true
	}
	return c.because(VolumeClaimPending, stuck, says, "there is no volume of StorageClass "+name(class)+" yet"), true
}

// everyEventOf is eventsOf with events that are no warning: those of claims are normal.
func (s *index) everyEventOf(t thing) []Event {
	var all []Event
	for i := range s.Events {
		e := &s.Events[i]
		if e.Object.Kind == t.GetKind() && e.Object.Name == t.GetName() && e.Object.Namespace == t.GetNamespace() &&
			(e.UID == "" || t.GetUID() == "" || e.UID == t.GetUID()) {
			all = append(all, *e)
		}
	}
	return all
}
