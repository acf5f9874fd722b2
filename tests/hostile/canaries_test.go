package hostile

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// canary is a secret that occurs only where it belongs.
type canary struct {
	what   string
	secret string
	// spelled lists every encoding in which it might leak.
	spelled []string
	// planted reports whether it was seen where it belongs: a secret that is nowhere cannot leak either.
	planted atomic.Bool
}

// canaries lists all of them.
var canaries []*canary

var (
	token         = hatch("the token of a runtime", "canary-token-3f9a2c71d8")
	password      = hatch("the password of a runtime", "canary-password-5be08d13")
	registryLogin = hatch("the password of the registry's login", "canary-registry-81b0e5d4")
	sourceLogin   = hatch("the password that credSecretSelector finds", "canary-source-9d1f37c2")
	pullSecret    = hatch("the image pull Secret", "canary-pull-c27f60a9")
	deployerData  = hatch("the data of module deployer", "canary-deployer-e6a41b70")
	contentSecret = hatch("a Secret of the content", "canary-content-07c9d2fe")
	valuesSecret  = hatch("the values of a Manifest", "canary-values-b3315a8c")
	visitorToken  = hatch("the token that a user shows to the content server", "canary-visitor-60d7f9b4")
	brokenToken   = hatch("the credentials of a broken kubeconfig", "canary-broken-2ac84e51")
)

// hatch creates a canary. Further spellings are searched for as they are.
func hatch(what, secret string, further ...string) *canary {
	c := &canary{what: what, secret: secret, spelled: append([]string{secret}, further...)}
	for cut := range 3 { // its base64 at any position in a longer text
		text := strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret[cut:])), "=")
		c.spelled = append(c.spelled, text[:16])
	}
	numbers := fmt.Sprintf("%d", []byte(secret)) // as a careless %v of bytes prints it
	c.spelled = append(c.spelled, hex.EncodeToString([]byte(secret)), strings.Trim(numbers, "[]"))
	canaries = append(canaries, c)
	return c
}

// seen marks the canary as planted when the text, which belongs to a legitimate recipient, contains it.
func (c *canary) seen(text string) {
	if c.in(text) {
		c.planted.Store(true)
	}
}

func (c *canary) in(text string) bool {
	for _, spelling := range c.spelled {
		if strings.Contains(text, spelling) {
			return true
		}
	}
	return false
}

// canaryIn returns the canaries in a text, except for those in but, which are allowed there.
func canaryIn(text string, but ...*canary) string {
	var found []string
	for _, c := range canaries {
		allowed := false
		for _, other := range but {
			allowed = allowed || other == c
		}
		if !allowed && c.in(text) {
			found = append(found, c.what)
		}
	}
	return strings.Join(found, ", ")
}

// expectAllPlanted fails for a canary that was searched for but was never planted.
func expectAllPlanted() {
	GinkgoHelper()
	suite, _ := GinkgoConfiguration()
	if len(suite.FocusStrings)+len(suite.SkipStrings)+len(suite.FocusFiles)+len(suite.SkipFiles) > 0 || suite.LabelFilter != "" {
		return // a user has chosen some specs
	}
	for _, c := range canaries {
		Expect(c.planted.Load()).To(BeTrue(), "%s was put where it belongs", c.what)
	}
}
