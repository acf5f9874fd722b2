package registryauth_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/spf13/pflag"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const missing = "example.org/module/missing"

// serve returns a registry that only admits ada, with the password "secret".
func serve(t *testing.T, secure bool) (host string, server *httptest.Server) {
	t.Helper()
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user == "eve":
			w.WriteHeader(http.StatusForbidden)
		case user != "ada" || password != "secret":
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			handler.ServeHTTP(w, r)
		}
	})
	if secure {
		server = httptest.NewTLSServer(guarded)
	} else {
		server = httptest.NewServer(guarded)
	}
	t.Cleanup(server.Close)
	_, host, _ = strings.Cut(server.URL, "://")
	return host, server
}

// ask reads a component that does not exist: a login that is accepted gets that error.
func ask(t *testing.T, access component.Access, host string) error {
	t.Helper()
	reader := &descriptor.Reader{Registry: host}
	reader.Credentials, reader.Policy = access.Credentials, access.Policy
	_, err := reader.Get(t.Context(), missing, "1.0.0")
	return err
}

// registries reads a file with the certificate of each host; the commands use the operator's format.
func registries(file string) (func(host string) content.HostPolicy, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	err = json.Unmarshal(text, &known)
	return func(host string) content.HostPolicy { return content.HostPolicy{CA: []byte(known[host])} }, err
}

// parsed returns the options of command-line arguments.
func parsed(t *testing.T, args ...string) *registryauth.Options {
	t.Helper()
	options, flags := &registryauth.Options{ReadRegistries: registries}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	options.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return options
}

// docker writes a docker config for a host and returns its folder. In the text, HOST stands for the host, and LOGIN for a valid login.
func docker(t *testing.T, host, text string) string {
	t.Helper()
	folder := t.TempDir()
	good := base64.StdEncoding.EncodeToString([]byte("ada:secret"))
	text = strings.NewReplacer("HOST", host, "LOGIN", good).Replace(text)
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestLOGIN_WhoIsLetIn(t *testing.T) {
	helpers := t.TempDir()
	helper := func(name, does string) {
		if err := os.WriteFile(filepath.Join(helpers, "docker-credential-"+name), []byte("#!/bin/sh\ncat >/dev/null\n"+does+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	helper("good", `echo '{"Username":"ada","Secret":"secret"}'`)
	helper("empty", `echo 'credentials not found in native keychain'; exit 1`)
	helper("broken", `echo 'the keychain is locked'; exit 1`)
	t.Setenv("PATH", helpers+":"+os.Getenv("PATH"))
	const empty = `{}`
	for title, test := range map[string]struct {
		docker, stdin string
		args          []string
		want          string // of the explained error; empty means admitted
	}{
		"by flags":                                         {empty, "", []string{"--username=ada", "--password=secret"}, ""},
		"by the flag of the earlier tools":                 {empty, "", []string{"--credentials=ada:secret", "--insecure"}, ""},
		"by a password from standard input":                {empty, "secret\n", []string{"--username=ada", "--password-stdin"}, ""},
		"by a token as the password":                       {empty, "", []string{"--username=ada", "--token=secret"}, ""},
		"by docker's config":                               {`{"auths":{"HOST":{"auth":"LOGIN"}}}`, "", nil, ""},
		"by docker's config with a scheme in its key":      {`{"auths":{"http://HOST/v1/":{"auth":"LOGIN"}}}`, "", nil, ""},
		"by a helper for the host":                         {`{"credHelpers":{"HOST":"good"}}`, "", nil, ""},
		"by a helper for all, beside an empty entry":       {`{"auths":{"HOST":{}},"credsStore":"good"}`, "", nil, ""},
		"by flags, although docker's entry is empty":       {`{"auths":{"HOST":{}}}`, "", []string{"--username=ada", "--password=secret"}, ""},
		"by flags, although docker has another login":      {`{"auths":{"HOST":{"username":"bob","password":"x"}}}`, "", []string{"--username=ada", "--password=secret"}, ""},
		"by flags, although docker's helper is broken":     {`{"credsStore":"broken"}`, "", []string{"--username=ada", "--password=secret"}, ""},
		"not with a wrong password":                        {empty, "", []string{"--username=ada", "--password=x"}, "registry HOST refuses user ada: the user or the password is wrong"},
		"not without a login":                              {empty, "", nil, "registry HOST requires a login: give --username and --password-stdin, or run docker login HOST"},
		"not with an empty entry":                          {`{"auths":{"HOST":{"auth":""}}}`, "", nil, "registry HOST requires a login: give --username and --password-stdin, or run docker login HOST"},
		"not with an entry that has only a user":           {`{"auths":{"HOST":{"username":"ada"}}}`, "", nil, "registry HOST requires a login: give --username and --password-stdin, or run docker login HOST"},
		"not when the helper has no entry":                 {`{"credsStore":"empty"}`, "", nil, "registry HOST requires a login: give --username and --password-stdin, or run docker login HOST"},
		"not with an outdated password in the config":      {`{"auths":{"HOST":{"username":"ada","password":"old"}}}`, "", nil, "registry HOST refuses the login from FILE: run docker login HOST, or give --username and --password-stdin"},
		"not with insufficient permissions":                {empty, "", []string{"--username=eve", "--password=x"}, "registry HOST does not allow that with the login from the flags: ask for the right, or use another login"},
		"not with a helper that is not installed":          {`{"credsStore":"nowhere"}`, "", nil, "docker-credential-nowhere"},
		"not with a failing helper, whose error is shown":  {`{"credsStore":"broken"}`, "", nil, "the keychain is locked"},
		"not with an entry that cannot be read":            {`{"auths":{"HOST":{"auth":"c2VjcmV0"}}}`, "", nil, "the entry for HOST in FILE cannot be read"},
		"not with a docker config that cannot be read":     {`{"auths":[`, "", nil, "docker's config FILE cannot be read"},
		"not with a token where the registry wants a user": {empty, "", []string{"--token=secret"}, "refuses the token: it is wrong or expired, or the registry wants --username with it"},
	} {
		t.Run(title, func(t *testing.T) {
			host, _ := serve(t, false)
			folder := docker(t, host, test.docker)
			options := parsed(t, append([]string{"--plain-http", "--docker-config", folder}, test.args...)...)
			access, err := options.Access(strings.NewReader(test.stdin), "http://"+host)
			if err != nil {
				t.Fatal(err)
			}
			err = options.Explain(ask(t, access, host), host)
			if test.want == "" {
				if descriptor.ReasonOf(err) != descriptor.ReasonNotFound {
					t.Errorf("not let in: %v", err)
				}
				return
			}
			want := strings.NewReplacer("HOST", host, "FILE", filepath.Join(folder, "config.json")).Replace(test.want)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("error %v, want one that says %q", err, want)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "c2VjcmV0") || strings.Contains(err.Error(), "secret'") {
				t.Errorf("error is longer than a line, or tells a secret: %v", err)
			}
			if reason := descriptor.ReasonOf(err); reason != descriptor.ReasonUnauthorized && reason != descriptor.ReasonInvalid {
				t.Errorf("the cause is lost: %v", err)
			}
		})
	}
}

func TestLOGIN_ALoginByFlagsIsForTheNamedRegistriesOnly(t *testing.T) {
	mine, _ := serve(t, false)
	other, _ := serve(t, false)
	options := parsed(t, "--plain-http", "--username=ada", "--password=secret", "--docker-config", t.TempDir())
	access, err := options.Access(nil, mine+"/modules")
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]auth.Credential{mine: {Username: "ada", Password: "secret"}, other: {}} {
		if got, err := access.Credentials(t.Context(), host); err != nil || got != want {
			t.Errorf("%s gets %v, error %v", host, got, err)
		}
		if access.Policy(host).PlainHTTP != (host == mine) {
			t.Errorf("http is spoken to %s: %v", host, access.Policy(host).PlainHTTP)
		}
	}
}

func TestDockersConfigIsWhereDockerHasIt(t *testing.T) {
	host, _ := serve(t, false)
	const known = `{"auths":{"HOST":{"auth":"LOGIN"}}}`
	home := t.TempDir()
	if err := os.Rename(docker(t, host, known), filepath.Join(home, ".docker")); err != nil {
		t.Fatal(err)
	}
	for title, test := range map[string]struct{ variable, home string }{
		"in the folder of the environment": {docker(t, host, known), t.TempDir()},
		"at home":                          {"", home},
	} {
		t.Run(title, func(t *testing.T) {
			t.Setenv("DOCKER_CONFIG", test.variable)
			t.Setenv("HOME", test.home)
			access, err := (&registryauth.Options{}).Access(nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := access.Credentials(t.Context(), host); err != nil || got.Username != "ada" {
				t.Errorf("it is %v, error %v", got, err)
			}
		})
	}
}

func TestCertificatesAndRegistriesFile(t *testing.T) {
	host, server := serve(t, true)
	folder := t.TempDir()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ca, file, junk := filepath.Join(folder, "ca.pem"), filepath.Join(folder, "registries.json"), filepath.Join(folder, "junk")
	text, err := json.Marshal(map[string]string{host: string(certificate)})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{ca: certificate, file: text, junk: []byte("x")} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for title, test := range map[string]struct {
		args   []string
		reason string
	}{
		"an unknown certificate":                  {nil, descriptor.ReasonUnreachable},
		"a certificate by flag":                   {[]string{"--ca-file", ca}, descriptor.ReasonNotFound},
		"a certificate of the host in a file":     {[]string{"--registries-file", file}, descriptor.ReasonNotFound},
		"both":                                    {[]string{"--registries-file", file, "--ca-file", ca}, descriptor.ReasonNotFound},
		"a registries file that is not there":     {[]string{"--registries-file", file + "x"}, ""},
		"a certificate file that is not there":    {[]string{"--ca-file", ca + "x"}, ""},
		"a certificate file without certificates": {[]string{"--ca-file", junk}, ""},
	} {
		t.Run(title, func(t *testing.T) {
			options := parsed(t, append(test.args, "--username=ada", "--password=secret")...)
			access, err := options.Access(nil, host)
			if (err == nil) != (test.reason != "") {
				t.Fatal(err)
			}
			if err == nil {
				if err := ask(t, access, host); descriptor.ReasonOf(err) != test.reason {
					t.Errorf("error %v, want reason %s", err, test.reason)
				}
			}
		})
	}
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	for title, test := range map[string]struct {
		stdin   string
		args    []string
		message string
	}{
		"a user without a password":                  {"", []string{"--username=ada"}, "no password"},
		"a password without a user":                  {"", []string{"--password=x"}, "no --username"},
		"a password twice":                           {"x", []string{"--username=ada", "--password=x", "--password-stdin"}, "exclude each other"},
		"a password and a token":                     {"", []string{"--username=ada", "--password=x", "--token=y"}, "exclude each other"},
		"nothing on standard input":                  {"\n", []string{"--username=ada", "--password-stdin"}, "does not hold a password"},
		"two lines on standard input":                {"a\nb\n", []string{"--username=ada", "--password-stdin"}, "does not hold a password"},
		"an unknown mapping":                         {"", []string{"--component-name-mapping=x"}, "use urlPath or sha256-digest"},
		"an unknown mapping, by the flag's old name": {"", []string{"--name-mapping=x"}, "use urlPath or sha256-digest"},
		"a login that would be for nobody":           {"", []string{"--username=ada", "--password=x"}, "no registry that it would be for"},
		"a token from standard input, for nobody":    {"x", []string{"--password-stdin"}, "no registry that it would be for"},
	} {
		t.Run(title, func(t *testing.T) {
			_, err := parsed(t, test.args...).Access(strings.NewReader(test.stdin), map[bool][]string{true: nil, false: {"reg.example.com"}}[strings.Contains(title, "nobody")]...)
			wrong, ok := errors.AsType[*registryauth.FlagError](err)
			if !ok || !strings.Contains(wrong.Error(), test.message) {
				t.Errorf("error %v, want one that says %q", err, test.message)
			}
		})
	}
	if err := func() error {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		(&registryauth.Options{}).AddFlags(flags)
		return flags.Parse([]string{"--credentials=ada"})
	}(); err == nil || !strings.Contains(err.Error(), "USER:PASSWORD") {
		t.Error(err)
	}
}

func TestLOGIN_TwoRegistriesHaveFlagsOfTheirOwn(t *testing.T) {
	from, to, flags := &registryauth.Options{}, &registryauth.Options{}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	from.AddFlags(flags)
	to.AddFlagsFor(flags, "to-")
	if err := flags.Parse([]string{"--username=a", "--to-username=b", "--to-plain-http"}); err != nil {
		t.Fatal(err)
	}
	if from.Username != "a" || to.Username != "b" || from.PlainHTTP || !to.PlainHTTP {
		t.Errorf("from %+v, to %+v", from, to)
	}
}

func TestModulesArePublishedWithALogin(t *testing.T) {
	version := component.Version{
		Name: "example.org/module/harbour", Version: "1.0.0", Provider: "example.org",
		Resources: []component.Resource{{Name: "raw-manifest", Data: []byte("kind: ConfigMap\n")}},
	}
	for title, test := range map[string]struct {
		secure   bool
		password string
		want     string
	}{
		"by http with the password":         {false, "secret", ""},
		"by https with the password":        {true, "secret", ""},
		"by http with another password":     {false, "x", "registry HOST refuses user ada: the user or the password is wrong"},
		"by https with another password":    {true, "x", "registry HOST refuses user ada: the user or the password is wrong"},
		"by https and with no login at all": {true, "", "registry HOST requires a login: give --username and --password-stdin, or run docker login HOST"},
	} {
		t.Run(title, func(t *testing.T) {
			host, server := serve(t, test.secure)
			args := []string{"--docker-config", t.TempDir()}
			if test.password != "" {
				args = append(args, "--username=ada", "--password="+test.password)
			}
			if test.secure {
				ca := filepath.Join(t.TempDir(), "ca.pem")
				certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
				if err := os.WriteFile(ca, certificate, 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--ca-file", ca)
			} else {
				args = append(args, "--plain-http")
			}
			options := parsed(t, args...)
			access, err := options.Access(nil, host)
			if err != nil {
				t.Fatal(err)
			}
			ref, err := component.ParseRef("oci://"+host+"//"+version.Name+":"+version.Version, access)
			if err != nil {
				t.Fatal(err)
			}
			_, err = component.Push(t.Context(), *ref.Registry, version)
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				opened, err := component.Open(t.Context(), ref)
				if err != nil {
					t.Fatal(err)
				}
				if err := opened.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			if got := options.Explain(err, host); got == nil || got.Error() != strings.ReplaceAll(test.want, "HOST", host) {
				t.Errorf("error %v", got)
			}
		})
	}
}
