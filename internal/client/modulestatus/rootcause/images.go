package rootcause

import (
	"regexp"
	"strings"
)

// imageReasons are what a container waits for that has no image.
var imageReasons = []string{
	"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable",
	"SignatureValidationFailed",
}

// pulls are the usual errors of a pull, by what runtimes and registries write. The first one that is found counts.
var pulls = []struct {
	found  *regexp.Regexp
	reason string
	says   string
}{
	{regexp.MustCompile(`(?i)no such host|dial tcp|i/o timeout|connection (refused|reset)|network is unreachable|no route to host|` +
		`tls: |x509: |deadline exceeded|timeout|\bEOF\b|server misbehaving|(502|503|504) `), ImageRegistryUnreachable, "cannot be reached"},
	{regexp.MustCompile(`(?i)pull access denied|may require`), ImageUnauthorized, "does not exist, or may not be pulled without a login"},
	{regexp.MustCompile(`(?i)manifest unknown|not found|no such image|name unknown|repository does not exist|no match for platform`),
		ImageNotFound, "is not in its registry"},
	{regexp.MustCompile(`(?i)unauthorized|authentication required|authorization failed|pull access denied|access denied|denied: |` +
		`insufficient_scope|forbidden|no basic auth`), ImageUnauthorized, "may not be pulled"},
}

// image returns the cause in a container whose image cannot be pulled.
func (s *index) image(c candidate, pod thing, status, waiting fields) candidate {
	image := s.texts.clean(status.text("image"), 2*mostName)
	if image == "" {
		image = "its image"
	} else {
		image = "image " + image
	}
	const says = "has been waiting for its image"
	switch waiting.text("reason") {
	case "InvalidImageName":
		return c.because(ImageNotFound, broken, says, image+" is no valid name")
	case "ErrImageNeverPull":
		return c.because(ImageNotFound, broken, says, image+" is not on the node, and its pull policy is Never")
	}
	for _, text := range s.pullErrors(pod, waiting) {
		for _, p := range pulls {
			if !p.found.MatchString(text) {
				continue
			}
			if p.reason == ImageRegistryUnreachable {
				image = "the registry of " + image
			}
			return c.because(p.reason, broken, says, image+" "+p.says)
		}
	}
	return c.because(ImagePullFailed, broken, says, image+" cannot be pulled: "+s.texts.quote(waiting.text("message")))
}

// pullErrors returns what is told of a pull, the latest first: the status, and the events, since "Back-off pulling image" alone gives no
// reason.
func (s *index) pullErrors(pod thing, waiting fields) []string {
	all := []string{waiting.text("message")}
	for _, e := range s.eventsOf(pod) {
		if e.Reason == "Failed" && strings.Contains(e.Message, "pull") {
			all = append(all, e.Message)
		}
	}
	for i := range all {
		all[i] = all[i][:min(len(all[i]), mostRaw)]
	}
	return all
}

// notFound finds the ConfigMap, Secret or key that a container or volume needs.
var notFound = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(configmap|secret) "([^"]+)" not found`),
	regexp.MustCompile(`(?i)couldn't find key ([^ ]+) in (ConfigMap|Secret) ([^ ]+)`),
	regexp.MustCompile(`(?i)references non-existent (config|secret) key: ?([^ ]+)`),
}

// missingConfig returns which ConfigMap, Secret or key of it is missing, "" if a message tells of none.
func (s *index) missingConfig(text string) string {
	if len(text) > mostRaw {
		return ""
	}
	if m := notFound[0].FindStringSubmatch(text); m != nil {
		return properKind(m[1]) + " " + name(m[2]) + " does not exist"
	}
	if m := notFound[1].FindStringSubmatch(text); m != nil {
		return properKind(m[2]) + " " + name(m[3]) + " has no key " + name(m[1])
	}
	if m := notFound[2].FindStringSubmatch(text); m != nil {
		kind := "ConfigMap"
		if strings.EqualFold(m[1], "secret") {
			kind = kindSecret
		}
		return "the " + kind + " of a volume has no key " + name(m[2])
	}
	return ""
}

func properKind(word string) string {
	if strings.EqualFold(word, kindSecret) {
		return kindSecret
	}
	return "ConfigMap"
}

func (s *index) configError(c candidate, waiting fields) candidate {
	detail := s.missingConfig(waiting.text("message"))
	if detail == "" {
		return c.because(ContainerNotStarted, broken, "cannot be started", s.texts.quote(waiting.text("message")))
	}
	return c.because(ConfigMissing, broken, "cannot be started", detail)
}
