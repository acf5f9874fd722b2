package rootcause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// refusedFor is why the API server refuses an object.
type refusedFor struct{ reason, detail string }

var (
	exceeded   = regexp.MustCompile(`exceeded quota: ([^,]+), requested: ([^ ]+), used: ([^ ]+), limited: ([^ ]+)`)
	noAccount  = regexp.MustCompile(`(?i)error looking up service account ([^:\s]+)`)
	noAccount2 = regexp.MustCompile(`serviceaccounts? "([^"]+)" not found`)
	security   = regexp.MustCompile(`violates PodSecurity "([^"]+)": (.+)`)
	uncalled   = regexp.MustCompile(`failed calling webhook "([^"]+)": (.+)`)
	denied     = regexp.MustCompile(`admission webhook "([^"]+)" denied the request(?::| without explanation)? ?(.*)`)
	policy     = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)' (?:with binding '[^']*' )?denied request: (.*)`)
	forbidden  = regexp.MustCompile(`User "([^"]+)" cannot ([a-z]+) resource "([^"]+)"`)
	called     = regexp.MustCompile(`"https://([a-z0-9.-]+)\.svc[:/?][^"]*"`)
)

// refused recognises why the API server refuses an object. The reason is empty if it does not.
func (s *index) refused(message string) refusedFor {
	text := line(message[:min(len(message), mostRaw)])
	if m := uncalled.FindStringSubmatch(text); m != nil {
		return refusedFor{WebhookUnreachable, s.uncalledWebhook(name(m[1]), m[2])}
	}
	if m := denied.FindStringSubmatch(text); m != nil {
		return refusedFor{AdmissionDenied, withReason(fmt.Sprintf("admission webhook %s denies them", name(m[1])), s.texts.quote(m[2]))}
	}
	if m := policy.FindStringSubmatch(text); m != nil {
		return refusedFor{AdmissionDenied, withReason(fmt.Sprintf("admission policy %s denies them", name(m[1])), s.texts.quote(m[2]))}
	}
	if m := exceeded.FindStringSubmatch(text); m != nil {
		return refusedFor{QuotaExceeded, fmt.Sprintf("quota %s allows %s, %s is used, and %s is requested",
			name(m[1]), name(m[4]), name(m[3]), name(m[2]))}
	}
	for _, find := range []*regexp.Regexp{noAccount, noAccount2} {
		if m := find.FindStringSubmatch(text); m != nil {
			return refusedFor{ServiceAccountMissing, fmt.Sprintf("ServiceAccount %s does not exist", name(m[1]))}
		}
	}
	if m := security.FindStringSubmatch(text); m != nil {
		return refusedFor{PodSecurityRefused, withReason("the Pod Security Standard "+name(m[1])+" forbids them", s.texts.quote(m[2]))}
	}
	if m := forbidden.FindStringSubmatch(text); m != nil {
		return refusedFor{PermissionDenied, fmt.Sprintf("%s may not %s %s", name(m[1]), name(m[2]), name(m[3]))}
	}
	return refusedFor{}
}

// uncalledWebhook returns which webhook does not answer, the Service behind it, and the configuration that asks for it.
func (s *index) uncalledWebhook(webhook, why string) string {
	text := "admission webhook " + webhook
	if at := slices.IndexFunc(s.things, func(t thing) bool { return asksFor(t, webhook) }); at >= 0 {
		text += " of " + subjectOf(s.things[at])
	}
	if m := called.FindStringSubmatch(why); m != nil {
		text += " (Service " + name(m[1]) + ")"
	}
	if at := strings.LastIndex(why, ": "); at > 0 {
		why = why[at+2:]
	}
	return withReason(text+" does not answer", s.texts.quote(why))
}

// asksFor reports whether an object is a configuration with a webhook of that name.
func asksFor(t thing, webhook string) bool {
	return strings.HasSuffix(t.GetKind(), "WebhookConfiguration") &&
		slices.ContainsFunc(t.list("webhooks"), func(one fields) bool { return one.text("name") == webhook })
}

func withReason(text, why string) string {
	if why == "" {
		return text
	}
	return text + ": " + why
}
