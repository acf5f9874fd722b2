package dashcmd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

const version = "1.2.3"

// buffer is a buffer for concurrent use.
type buffer struct {
	mutex sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(data []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.Write(data)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.String()
}

// running is a command that runs.
type running struct {
	out  *bufio.Reader
	said *buffer
	stop context.CancelFunc
	done chan error
}

func start(t *testing.T, d *dashboard, run func(context.Context) error) *running {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	reader, writer := io.Pipe()
	r := &running{out: bufio.NewReader(reader), said: &buffer{}, done: make(chan error, 1)}
	d.console, d.target = &console.Console{Out: writer, Err: r.said, In: strings.NewReader("")}, target.Of(config)
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.done <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-r.done:
			if err != nil {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("it does not end")
		}
	})
	return r
}

func TestDashboard_TheLinkLetsIn(t *testing.T) {
	d := &dashboard{}
	opened := make(chan string, 1)
	d.open, d.opener = true, func(path string) error { opened <- path; return nil }
	command := &cobra.Command{}
	d.cluster.add(command.Flags())
	r := start(t, d, func(ctx context.Context) error { return d.runHere(ctx, version) })
	link, err := r.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`^(http://127\.0\.0\.1:\d+)/#code=([A-Za-z0-9_-]{43})\n$`).FindStringSubmatch(link)
	if parts == nil {
		t.Fatalf("the link is %q", link)
	}
	path := <-opened
	page, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || info.Mode().Perm() != 0o600 || !strings.Contains(string(page), strings.TrimSpace(link)) {
		t.Errorf("the browser gets %q %v %v", page, err, statErr)
	}
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	defer browser.CloseIdleConnections()
	response, err := browser.Post(parts[1]+"/api/v1/session", "application/json", strings.NewReader(`{"code":"`+parts[2]+`"}`))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("log in: %v %v", response, err)
	}
	_ = response.Body.Close()
	response, err = browser.Get(parts[1] + "/api/v1/overview")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("overview: %v %v", response, err)
	}
	_ = response.Body.Close()
	if strings.Contains(r.said.String(), parts[2]) {
		t.Error("the code is said on standard error, too")
	}
	r.stop()
	if err := <-r.done; err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
	r.done <- nil
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file with the link stays: %v", err)
	}
}

func TestDashboard_InAClusterItSpeaksTLS(t *testing.T) {
	d := &dashboard{}
	command := &cobra.Command{}
	d.cluster.add(command.Flags())
	d.cluster.addr, d.cluster.name = "127.0.0.1:0", "the test"
	r := start(t, d, func(ctx context.Context) error { return d.runInCluster(ctx, version) })
	var address []string
	for end := time.Now().Add(20 * time.Second); address == nil && time.Now().Before(end); {
		address = regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(r.said.String())
		<-time.After(20 * time.Millisecond)
	}
	if address == nil {
		t.Fatalf("it says %s", r.said)
	}
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer browser.CloseIdleConnections()
	response, err := browser.Get("https://" + address[1] + "/api/v1/session")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var session struct {
		Mode    string `json:"mode"`
		Cluster string `json:"cluster"`
	}
	if err := json.NewDecoder(response.Body).Decode(&session); err != nil || session.Mode != "cluster" || session.Cluster != "the test" {
		t.Errorf("session: %+v %v", session, err)
	}
	if response.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
}

func TestFlagsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a flag of the cluster here":  {[]string{"--addr", ":1"}, "--addr: only with --in-cluster"},
		"an invalid port":             {[]string{"--port", "70000"}, "--port is 70000"},
		"a key without a certificate": {[]string{"--in-cluster", "--tls-key", "x"}, "come together"},
		"TLS and none":                {[]string{"--in-cluster", "--plain-http", "--tls-cert", "x", "--tls-key", "x"}, "exclude"},
		"a provider without a client": {[]string{"--in-cluster", "--oidc-issuer", "https://x"}, "--oidc-client-id"},
		"a provider without TLS": {
			[]string{"--in-cluster", "--oidc-issuer", "http://x", "--oidc-client-id", "a", "--public-url", "https://y"}, "https://",
		},
		"a public address with a path": {[]string{"--in-cluster", "--public-url", "https://x/y"}, "without a path"},
		"a public address without TLS": {[]string{"--in-cluster", "--public-url", "http://x"}, "https://"},
		"an unexpected argument":       {[]string{"x"}, "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			c0 := &console.Console{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
			command := Commands(c0, target.New(), version)[0]
			command.SetArgs(c.args)
			command.SilenceErrors, command.SilenceUsage = true, true
			if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func TestCertificates(t *testing.T) {
	get, err := certificatesOf("", "", []string{"kyma.example.com:8443"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := get(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(made.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kyma.example.com", "localhost", "127.0.0.1"} {
		if err := leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}

	cert, key := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	if _, err := certificatesOf(cert, key, nil); err == nil {
		t.Error("files that there are not are no error")
	}
	write := func(modified time.Time) *tls.Certificate {
		t.Helper()
		one, err := selfSigned(nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(one.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		for path, block := range map[string]*pem.Block{
			cert: {Type: "CERTIFICATE", Bytes: one.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: der},
		} {
			if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, modified, modified); err != nil {
				t.Fatal(err)
			}
		}
		return one
	}
	first := write(time.Now().Add(-time.Hour))
	get, err = certificatesOf(cert, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	second := write(time.Now())
	is, err := get(nil)
	if err != nil || bytes.Equal(is.Certificate[0], first.Certificate[0]) || !bytes.Equal(is.Certificate[0], second.Certificate[0]) {
		t.Errorf("a renewed certificate is not taken: %v", err)
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if is, err = get(nil); err != nil || !bytes.Equal(is.Certificate[0], second.Certificate[0]) {
		t.Errorf("while it is written there is none: %v", err)
	}
}
