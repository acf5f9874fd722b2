package helm

import (
	"maps"
	"slices"
	"strings"
)

// varying are the functions that give something else each time, with what can be done about it.
var varying = map[string]*remedy{
	"randAlphaNum": &giveValue, "randAlpha": &giveValue, "randAscii": &giveValue, "randNumeric": &giveValue, "randBytes": &giveValue,
	"randInt": &giveValue, "shuffle": &giveValue, "uuidv4": &giveValue, "now": &giveValue, "ago": &giveValue,
	"genPrivateKey": &giveKey, "genCA": &giveKey, "genCAWithKey": &giveKey, "genSelfSignedCert": &giveKey,
	"genSelfSignedCertWithKey": &giveKey, "genSignedCert": &giveKey, "genSignedCertWithKey": &giveKey,
	"bcrypt": &takeHash, "htpasswd": &takeHash, "encryptAES": &takeHash,
}

// remedy is what an author can do about functions of one sort.
type remedy struct {
	text string
	// named reports whether the text begins with the functions.
	named bool
}

var (
	giveValue = remedy{text: "what is random or depends on the time must come from the values"}
	giveKey   = remedy{text: "keys and certificates must come from the values, or be made in the cluster (by cert-manager, by the operator)"}
	takeHash  = remedy{text: "uses a new salt each time, whatever the values are: the chart must take the result instead", named: true}
	findCause = remedy{text: "a chart must declare the same objects each time"}
)

// remedies say what can be done about functions.
func remedies(functions []string) string {
	if len(functions) == 0 {
		return findCause.text
	}
	by := map[*remedy][]string{}
	for _, name := range functions {
		by[varying[name]] = append(by[varying[name]], name)
	}
	var texts []string
	for _, of := range []*remedy{&giveValue, &giveKey, &takeHash} {
		switch names := by[of]; {
		case len(names) > 0 && of.named:
			texts = append(texts, strings.Join(names, " and ")+" "+of.text)
		case len(names) > 0:
			texts = append(texts, of.text)
		}
	}
	return strings.Join(texts, "; ")
}

// variedIn returns those of the functions that a template calls, itself or in what it includes by name; all of them where the text of the
// template does not tell, as with tpl.
func variedIn(templates chartTemplates, file string, varied map[string]bool) []string {
	all := slices.Sorted(maps.Keys(varied))
	calls := templates.read(file).calls
	called := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !calls[name] && (name != "now" || !callsDate(calls)) })
	if len(called) == 0 {
		return all
	}
	return called
}

// callsDate reports whether a function of dates is called, which takes the clock where it gets no date.
func callsDate(calls map[string]bool) bool {
	for name := range dates {
		if calls[name] {
			return true
		}
	}
	return false
}
