package contentserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

var _ manager.LeaderElectionRunnable = &Server{}

// running is a Server that listens, with a function that ends it.
type running struct {
	address string
	end     func() error
}

// start runs a server on its own port until the test ends.
func start(t *testing.T, s *Server) running {
	t.Helper()
	listening := make(chan net.Addr, 1)
	s.Addr, s.Listening = "127.0.0.1:0", func(a net.Addr) { listening <- a }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	t.Cleanup(cancel)
	select {
	case address := <-listening:
		return running{address: address.String(), end: func() error { cancel(); return <-ended }}
	case err := <-ended:
		t.Fatalf("the server does not start: %v", err)
		return running{}
	}
}

// browse returns a client that opens a new connection for every request, and trusts roots or, without any, every certificate.
func browse(roots *x509.CertPool) *http.Client {
	config := &tls.Config{RootCAs: roots, InsecureSkipVerify: roots == nil}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
}

func TestServerServesByHTTPSToAnAccountOfTheCluster(t *testing.T) {
	f := newFixture(t)
	r := start(t, &Server{
		Tokens: f.clients.AuthenticationV1().TokenReviews(), Access: f.clients.AuthorizationV1().SubjectAccessReviews(),
		Contents: f.contents,
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.address+Path(f.namespace, "sample", "raw")+"/manifest.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.reader())
	answer, err := browse(nil).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK || string(body) != "kind: Raw\n" || answer.ProtoMajor != 1 {
		t.Errorf("got %s %s: %q", answer.Proto, answer.Status, body)
	}
	if err := r.end(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

func TestServerWithoutACertificateMakesOne(t *testing.T) {
	r := start(t, &Server{})
	connection, err := tls.Dial("tcp", r.address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	leaf := connection.ConnectionState().PeerCertificates[0]
	if err := leaf.VerifyHostname("localhost"); err != nil || time.Until(leaf.NotAfter) < 365*24*time.Hour {
		t.Errorf("the certificate: %v, until %s", err, leaf.NotAfter)
	}
	if answer, err := http.Get("http://" + r.address + "/v1/manifests/a/b"); err == nil {
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS it answers %s", answer.Status)
		}
	}
	if _, err := tls.Dial("tcp", r.address, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("an old TLS is spoken")
	}
}

// certify writes a new certificate into a folder and returns roots that trust only it.
func certify(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name+".new"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, name+".new"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	return roots
}

func TestServerTakesANewCertificateWhileItRuns(t *testing.T) {
	dir := t.TempDir()
	old := certify(t, dir)
	r := start(t, &Server{CertDir: dir, reread: 20 * time.Millisecond})
	trusts := func(roots *x509.CertPool) bool {
		answer, err := browse(roots).Get("https://" + r.address + "/")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	}
	if !trusts(old) {
		t.Fatal("the certificate of the folder is not used")
	}
	renewed := certify(t, dir)
	eventually(t, "the new certificate is used", func() bool { return trusts(renewed) })
	if trusts(old) {
		t.Error("the old certificate is used still")
	}
	if err := r.end(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

// While a file is half written or missing, the previous certificate is served.
func TestServerKeepsItsCertificateWhileTheNextOneIsBroken(t *testing.T) {
	dir := t.TempDir()
	roots := certify(t, dir)
	var told atomic.Int64
	r := start(t, &Server{CertDir: dir, reread: 5 * time.Millisecond, Log: funcr.New(func(string, string) { told.Add(1) }, funcr.Options{})})
	if err := os.WriteFile(filepath.Join(dir, "tls.key"), []byte("half of"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is told", func() bool { return told.Load() > 0 })
	answer, err := browse(roots).Get("https://" + r.address + "/")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	renewed := certify(t, dir)
	eventually(t, "a whole one is used", func() bool {
		answer, err := browse(renewed).Get("https://" + r.address + "/")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
	if told.Load() != 1 {
		t.Errorf("one trouble is told %d times", told.Load())
	}
	if err := r.end(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

func TestServerThatCannotStartSaysWhy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, test := range map[string]struct {
		server Server
		says   string
	}{
		"no certificate in the folder": {Server{Addr: "127.0.0.1:0", CertDir: t.TempDir()}, "tls.crt and tls.key"},
		"an address that is in use":    {Server{Addr: taken.Addr().String()}, "in use"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.server.Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), "content server") || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestServerLetsAnAnswerComeToItsEnd(t *testing.T) {
	f := newFixture(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	r := start(t, &Server{
		Tokens: f.clients.AuthenticationV1().TokenReviews(), Access: f.clients.AuthorizationV1().SubjectAccessReviews(),
		Contents: func(context.Context, string, string) ([]Item, error) {
			close(begun)
			<-goOn
			return bundle(), nil
		},
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.address+Path(f.namespace, "sample", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.reader())
	got := make(chan error, 1)
	go func() {
		answer, err := browse(nil).Do(req)
		if err == nil {
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				err = errors.New(answer.Status)
			}
		}
		got <- err
	}()
	<-begun
	ended := make(chan error, 1)
	go func() { ended <- r.end() }()
	eventually(t, "no one new is let in", func() bool {
		connection, err := net.Dial("tcp", r.address)
		if err == nil {
			connection.Close()
		}
		return err != nil
	})
	close(goOn)
	if err := <-got; err != nil {
		t.Errorf("the answer that had begun: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

func TestServerIsForEveryReplica(t *testing.T) {
	if (&Server{}).NeedLeaderElection() {
		t.Error("it waits for leader election")
	}
}

func TestComplaintsOfTheHTTPServer(t *testing.T) {
	var got []string
	c := &complaints{log: funcr.New(func(_, args string) { got = append(got, args) }, funcr.Options{})}
	fmt.Fprintln(c, "http: TLS handshake error from 192.0.2.1:55: EOF")
	if len(got) != 0 {
		t.Errorf("a port scanner fills the log: %q", got)
	}
	fmt.Fprintln(c, "http: panic serving 192.0.2.1:55: oops")
	if len(got) != 1 || !strings.Contains(got[0], "oops") {
		t.Errorf("a crash is not told: %q", got)
	}
}
