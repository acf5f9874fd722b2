package authorcmd_test

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	imagename "github.com/google/go-containerregistry/pkg/name"
	imageregistry "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// guarded starts a registry that accepts only user ada with password secret. It uses TLS if secure is set.
func guarded(t *testing.T, secure bool) (host string, server *httptest.Server) {
	t.Helper()
	inner := imageregistry.New(imageregistry.Logger(log.New(io.Discard, "", 0)))
	door := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	if server = httptest.NewUnstartedServer(door); secure {
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	_, host, _ = strings.Cut(server.URL, "://")
	return host, server
}

// putImage puts a new image into a registry, and returns its digest.
func putImage(t *testing.T, reference string) (digest string) {
	t.Helper()
	name, err := imagename.ParseReference(reference, imagename.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	made, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(name, made, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
	found, err := made.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return found.String()
}

// oneLine returns the error in a text of standard error, which must be one line.
func oneLine(t *testing.T, said string) string {
	t.Helper()
	_, line, found := strings.Cut(said, "Error: ")
	if line = strings.TrimSuffix(line, "\n"); !found || strings.Contains(line, "\n") {
		t.Errorf("this is not one line: %q", said)
	}
	return line
}

func TestLogins(t *testing.T) {
	s := open(t)
	host, _ := guarded(t, false)
	s.ok("module", "init", "notes")
	push := []string{"module", "push", "-c", "notes", "--no-git", "-r", "http://" + host}
	docker := func(user, password string) string {
		login := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		return fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, login)
	}
	for _, c := range []struct {
		name, in, docker string
		flags            []string
		want             string
	}{
		{"without a login the error explains how to log in", "", "", nil, "registry HOST requires a login: give --username and --password-stdin, or run docker login HOST"},
		{"a wrong password is one line", "", "", []string{"--username", "ada", "--password", "wrong"}, "registry HOST refuses user ada: the user or the password is wrong"},
		{"a wrong password on standard input is one line", "wrong\n", "", []string{"--username", "ada", "--password-stdin"}, "registry HOST refuses user ada: the user or the password is wrong"},
		{"a wrong password of docker's names its file", "", docker("ada", "old"), nil, "registry HOST refuses the login from config.json: run docker login HOST, or give --username and --password-stdin"},
		{"the password may come from standard input", "secret\n", "", []string{"--username", "ada", "--password-stdin"}, ""},
		{"docker's login is used", "", docker("ada", "secret"), nil, ""},
		{"flags win over docker's login", "", docker("ada", "old"), []string{"--username", "ada", "--password", "secret"}, ""},
		{"an empty entry of docker's is no login", "", fmt.Sprintf(`{"auths":{%q:{}}}`, host), []string{"--username", "ada", "--password", "secret"}, ""},
		{"the old CLI's flag works", "", "", []string{"--credentials", "ada:secret"}, ""},
		{"modulectl's flag works", "", "", []string{"--registry-credentials", "ada:secret"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.in = c.in
			write(t, "config.json", "{}")
			if c.docker != "" {
				write(t, "config.json", c.docker)
			}
			code, _, said := s.run(append(push, c.flags...)...)
			if c.want == "" {
				if code != 0 {
					t.Fatalf("exit code %d: %s", code, said)
				}
				return
			}
			line := strings.ReplaceAll(oneLine(t, said), host, "HOST")
			_, after, inFile := strings.Cut(line, "login from ")
			if at := strings.Index(after, "config.json"); inFile && at > 0 { // the folder differs each time
				line = strings.Replace(line, after[:at], "", 1)
			}
			if code != 1 || line != c.want {
				t.Errorf("exit code %d: %s, want %s", code, line, c.want)
			}
		})
	}
}

func TestElsewhere_HowRegistriesAreSpokenTo(t *testing.T) {
	s := open(t)
	secure, server := guarded(t, true)
	plain, _ := registry(t)
	write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	write(t, "registries.yaml", fmt.Sprintf("registries:\n- host: %s\n  caFile: ca.pem\n- host: %s\n  plainHTTP: true\n", secure, plain))
	s.ok("module", "init", "notes")
	ada := []string{"--username", "ada", "--password", "secret"}
	push := func(more ...string) []string {
		return append([]string{"module", "push", "-c", "notes", "--no-git", "-r"}, more...)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"an unknown certificate is refused, and --ca-file is named", append(push(secure), ada...), 1, "--ca-file"},
		{"http is not spoken unasked", push(plain), 1, "uses http, not https"},
		{"a file without certificates is refused", push(secure, "--ca-file", "notes/manifest.yaml"), 1, "holds no certificate"},
		{"a missing registries file is refused", push(secure, "--registries-file", "none.yaml"), 4, "none.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, said := s.run(c.args...)
			if line := oneLine(t, said); code != c.code || !strings.Contains(line, c.want) {
				t.Errorf("exit code %d: %s, want %q in it", code, line, c.want)
			}
		})
	}
	s.ok(append(push(secure, "--ca-file", "ca.pem"), ada...)...)
	s.ok(append(push(secure, "--registries-file", "registries.yaml"), ada...)...)
	s.ok(push(plain, "--registries-file", "registries.yaml")...)
	s.ok(push(plain, "--insecure")...)
	// Each side of a copy has its own flags.
	out, _ := s.ok("module", "copy", "oci://"+secure+"//"+component+":0.1.0", "oci://"+plain+"/team", "--ca-file", "ca.pem",
		"--username", "ada", "--password", "secret", "--to-registries-file", "registries.yaml", "-o", "name")
	if out != "http://"+plain+"/team//"+component+":0.1.0\n" && out != "oci://"+plain+"/team//"+component+":0.1.0\n" {
		t.Errorf("copied to %s", out)
	}
}

func TestTenAtOnceInOneFolderAndRegistry(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	keys(t, "")
	s.ok("module", "init", "notes")
	create := []string{
		"module", "create", "notes", "-r", address, "--no-git", "--sign-key", "private.pem", "--archive", "all.tgz",
		"--output-constructor-file", "component-constructor.yaml",
	}
	digests := make([]string, 10)
	var all sync.WaitGroup
	for i := range digests {
		all.Go(func() {
			code, out, said := s.run(create...)
			if code != 0 {
				t.Errorf("exit code %d: %s", code, said)
			}
			digests[i] = out
		})
	}
	all.Wait()
	for _, digest := range digests {
		if digest != digests[0] || digest == "" {
			t.Errorf("digests differ: %q", digests)
		}
	}
	s.ok("module", "verify", "all.tgz", "--key", "public.pem", "--offline")
	s.ok("module", "verify", address+"//"+component+":0.1.0", "--key", "public.pem", "--offline")
	for _, file := range []string{"template.yaml", "release.yaml", "component-constructor.yaml"} {
		if text := read(t, file); !strings.HasSuffix(text, "\n") {
			t.Errorf("%s is half written:\n%s", file, text)
		}
	}
	leftOvers(t)
}
