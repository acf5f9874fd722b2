package modulestatus

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPatternOf(t *testing.T) {
	for name, c := range map[string]struct{ messages, want string }{
		"the name of the Kyma, also within other names": {
			"Manifest kcp-system/alice-istio of Kyma kcp-system/alice failed|Manifest kcp-system/bob-istio of Kyma kcp-system/bob failed",
			"Manifest kcp-system/*-istio of Kyma kcp-system/* failed",
		},
		"numbers": {"0 of 1 replicas are available|2 of 3 replicas are available", "* of * replicas are available"},
		"names that Kubernetes generates": {
			"Pod istio-system/istiod-7d9f8b6c5-x2x4z is pending|Pod istio-system/istiod-6bdbc7948f-jkmnp is pending",
			"Pod istio-system/istiod-* is pending",
		},
		"addresses": {
			`Post "https://10.0.0.1:6443/apis/apps/v1": dial tcp 10.0.0.1:6443: connect: refused|` +
				`Post "https://172.16.20.7:443/apis/apps/v1": dial tcp 172.16.20.7:443: connect: refused`,
			`Post "https://*/apis/apps/v1": dial tcp *: connect: refused`,
		},
		"host names with identifiers": {
			"api.c-3f2a1b4.kyma.example.com does not answer|api.c-90ffe12.kyma.example.com does not answer", "api.c-*.kyma.example.com does not answer",
		},
		"identifiers": {
			"cluster 3f2a1b4c-aaaa-bbbb-cccc-1234567890ab is another one|cluster deadbeef-dead-beef-dead-beefdeadbeef is another one",
			"cluster * is another one",
		},
		"digests":   {"digest sha256:8f43c1d2aa was expected|digest sha256:00ff00ff00 was expected", "digest * was expected"},
		"durations": {"timed out after 30s|timed out after 1m30s|timed out after 2h3m1s", "timed out after *"},
		"moments": {
			"not seen since 2026-11-28T21:14:32Z.|not seen since 2025-01-02T03:04:05Z.", "not seen since *.",
		},
		"objects of users": {
			"Greeting shop/welcome still exists|Greeting default/other-one still exists", "Greeting * still exists",
		},
		"objects of modules stay": {"Deployment kyma-system/notes is not ready", "Deployment kyma-system/notes is not ready"},
		"status codes stay":       {"the registry answers with status 403", "the registry answers with status 403"},
		"versions of APIs stay":   {"no matches for kind Sample in example.com/v1beta2", "no matches for kind Sample in example.com/v1beta2"},
		"what webhooks say stays": {
			`admission webhook "validate.example.com" denied the request: no limits`, `admission webhook "validate.example.com" denied the request: no limits`,
		},
		"k8s is a word":      {"k8s.gcr.io/pause is gone", "k8s.gcr.io/pause is gone"},
		"space is one space": {"a  b\n c", "a b c"},
		"nothing":            {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for i, message := range strings.Split(c.messages, "|") {
				kyma := []string{"kcp-system/alice", "kcp-system/bob", ""}[i]
				if got := PatternOf(message, kyma); got != c.want {
					t.Errorf("%q becomes\n%q, want\n%q", message, got, c.want)
				}
			}
		})
	}
	if different := PatternOf("denied by policy", "a/b") == PatternOf("denied by quota", "a/b"); different {
		t.Error("two causes are one")
	}
}

// FuzzPatternOf holds what must be true of every text: the pattern is text, bounded, and its own pattern.
func FuzzPatternOf(f *testing.F) {
	for _, text := range []string{"a-1-2.3:4/5 K8s 404", "Kind ns/name status 404x", "*-* ** *.*", "…a1é2", "e-bcdfg-7d9f8b6c5", "v1 v12 v1beta1 a1b2"} {
		f.Add(text, "kcp-system/alice")
	}
	f.Fuzz(func(t *testing.T, text, kyma string) {
		pattern := PatternOf(text, kyma)
		if len(pattern) > mostPattern || !utf8.ValidString(pattern) {
			t.Errorf("%q has the pattern %q", text, pattern)
		}
		if again := PatternOf(pattern, ""); again != pattern {
			t.Errorf("%q has the pattern %q, and that has %q", text, pattern, again)
		}
	})
}
