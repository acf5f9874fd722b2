package registryauth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
)

func TestHost(t *testing.T) {
	for text, want := range map[string]string{
		"Reg.example.com:5000":               "reg.example.com:5000",
		"oci://reg.example.com/sub//a.b/c:1": "reg.example.com",
		"http://localhost:5000":              "localhost:5000",
		"localhost/x":                        "localhost",
		"reg.example.com/modules":            "reg.example.com",
		"./module.tar//a.b/c:1":              "",
		"../x":                               "",
		"out/module.tgz":                     "",
		"":                                   "",
	} {
		if got := registryauth.Host(text); got != want {
			t.Errorf("host of %q is %q, want %q", text, got, want)
		}
	}
}

func TestExplainKeepsToOneLine(t *testing.T) {
	options := &registryauth.Options{}
	if options.Explain(nil, "") != nil {
		t.Error("nothing was explained")
	}
	plain := errors.New("disk is full")
	if got := options.Explain(plain, "x.example.com"); got != plain { //nolint:errorlint // it must be the same
		t.Error(got)
	}
	joined := errors.Join(plain, errors.New("and slow"))
	if got := options.Explain(joined, ""); got.Error() != "disk is full; and slow" || !errors.Is(got, plain) {
		t.Error(got)
	}
	if _, err := options.Access(nil, "oci://reg.example.com/x"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`HEAD "https://images.example.com/v2/x/manifests/1": status code 401: unauthorized`:   "registry images.example.com requires a login: run docker login images.example.com",
		`Get "https://reg.example.com/v2/x": http: server gave HTTP response to HTTPS client`: "registry reg.example.com uses http, not https: if that is intended, write http:// before it, use --plain-http",
		`Get "https://reg.example.com/v2/x": x509: certificate signed by unknown authority`:   "give the signer's with --ca-file",
		"unexpected status code 403 Forbidden":                                                "registry reg.example.com",
	} {
		if got := options.Explain(errors.New(text), ""); !strings.Contains(got.Error(), want) {
			t.Errorf("%q is explained as %q", text, got)
		}
	}
	unknown := (&registryauth.Options{}).Explain(errors.New("401 Unauthorized"), "").Error()
	if want := "the registry requires a login: give --username and --password-stdin, or run docker login"; unknown != want {
		t.Errorf("%q instead of %q", unknown, want)
	}
	if got := options.Explain(errors.New("failed: unexpected status: 401 Unauthorized"), "reg.example.com"); !strings.Contains(got.Error(), "reg.example.com requires a login") {
		t.Error(got)
	}
}
