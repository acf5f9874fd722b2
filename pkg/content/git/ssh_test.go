package git

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// sshGit is a real SSH server that lets one key in and runs one command.
type sshGit struct {
	git     *gitServer
	config  *ssh.ServerConfig
	address string
	known   string
	key     string
}

func newKey(t *testing.T) (key ssh.Signer, text string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	block, pemErr := ssh.MarshalPrivateKey(private, "test")
	if err := errors.Join(err, pemErr); err != nil {
		t.Fatal(err)
	}
	return signer, string(pem.EncodeToMemory(block))
}

func serveSSH(t *testing.T, git *gitServer) *sshGit {
	t.Helper()
	host, _ := newKey(t)
	user, text := newKey(t)
	server := &sshGit{git: git, key: text}
	server.config = &ssh.ServerConfig{
		PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if meta.User() != "git" || string(key.Marshal()) != string(user.PublicKey().Marshal()) {
				return nil, errors.New("unknown key")
			}
			return &ssh.Permissions{}, nil
		},
		PasswordCallback: func(meta ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			if meta.User() != "me" || string(password) != "mine" {
				return nil, errors.New("wrong password")
			}
			return &ssh.Permissions{}, nil
		},
	}
	server.config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	server.address = listener.Addr().String()
	server.known = knownhosts.Line([]string{server.address}, host.PublicKey())
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go server.serve(connection)
		}
	}()
	return server
}

func (s *sshGit) serve(connection net.Conn) {
	defer connection.Close()
	_, channels, requests, err := ssh.NewServerConn(connection, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for each := range channels {
		channel, requests, err := each.Accept()
		if err != nil {
			return
		}
		for request := range requests {
			_ = request.Reply(request.Type == "exec", nil)
			if request.Type == "exec" {
				s.run(channel, string(request.Payload[4:]))
				break
			}
		}
	}
}

func (s *sshGit) run(channel ssh.Channel, command string) {
	code := byte(0)
	if command != "git-upload-pack '/team/repository.git'" {
		_, _ = io.WriteString(channel.Stderr(), "fatal: '"+command+"' does not appear to be a git repository\n")
		code = 128
	} else if err := s.git.advertise(channel); err != nil || s.git.upload(channel, channel) != nil {
		code = 1
	}
	_, _ = channel.SendRequest("exit-status", false, []byte{0, 0, 0, code})
	_ = channel.Close()
}

func (s *sshGit) source(t *testing.T) *Source {
	t.Helper()
	return &Source{
		Store: newStore(t), URL: "ssh://git@" + s.address + "/team/repository.git", Branch: "main", Timeout: time.Minute,
		Auth: Auth{SSHKey: s.key, KnownHosts: s.known},
	}
}

func TestGitOverSSH(t *testing.T) {
	repository := newRepository(t, gitFiles)
	second := repository.commit(t, map[string]string{"README.md": "second"})
	repository.commit(t, map[string]string{"README.md": "third"})
	for name, git := range map[string]*gitServer{
		"a server that leaves out the history":   {repository: repository},
		"a server that always sends the history": {repository: repository, full: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := serveSSH(t, git)
			source := server.source(t)
			source.Path = "deploy/base"
			resolved, files := get(t, source)
			if diff := cmp.Diff(map[string]string{"a.yaml": "a: 1", "b.yaml": "b: 1"}, files); diff != "" || resolved.Version != repository.head(t) {
				t.Errorf("%v: %s", resolved, diff)
			}
			git.requestLog()
			source.Known = resolved
			if again, _ := get(t, source); again != resolved || git.requestLog() != "refs" {
				t.Errorf("%v, want %v by one request", again, resolved)
			}
			older := server.source(t)
			older.Branch, older.Commit, older.URL = "", second, strings.Replace(older.URL, "git@", "", 1)
			if resolved, files := get(t, older); resolved.Version != second || files["README.md"] != "second" {
				t.Errorf("%v: %v", resolved, files)
			}
			// Some servers let users in by password.
			older.Auth, older.Store = Auth{Username: "me", Password: "mine", KnownHosts: server.known}, newStore(t)
			get(t, older)
		})
	}
}

func TestGitOverSSHRefuses(t *testing.T) {
	_, stranger := newKey(t)
	otherHost, _ := newKey(t)
	for name, test := range map[string]struct {
		change func(*sshGit, *Source)
		reason string
		says   string
	}{
		"no known hosts":     {func(_ *sshGit, g *Source) { g.Auth.KnownHosts = " \n" }, content.ReasonSourceInvalid, "ssh-keyscan"},
		"broken known hosts": {func(_ *sshGit, g *Source) { g.Auth.KnownHosts = "nonsense" }, content.ReasonSourceInvalid, "ssh-keyscan"},
		"a host with other keys": {func(s *sshGit, g *Source) {
			g.Auth.KnownHosts = knownhosts.Line([]string{s.address}, otherHost.PublicKey())
		}, content.ReasonRegistryUnreachable, "known hosts"},
		"a host that is unknown": {func(_ *sshGit, g *Source) {
			g.Auth.KnownHosts = knownhosts.Line([]string{"example.com"}, otherHost.PublicKey())
		}, content.ReasonRegistryUnreachable, "known hosts"},
		"no key":          {func(_ *sshGit, g *Source) { g.Auth.SSHKey = "" }, content.ReasonRegistryUnauthorized, "private key"},
		"a broken key":    {func(_ *sshGit, g *Source) { g.Auth.SSHKey = "top-secret" }, content.ReasonSourceInvalid, "SSH key"},
		"a key of no one": {func(_ *sshGit, g *Source) { g.Auth.SSHKey = stranger }, content.ReasonRegistryUnauthorized, ""},
		"a wrong password": {func(_ *sshGit, g *Source) {
			g.Auth.SSHKey, g.Auth.Username, g.Auth.Password = "", "me", "top-secret"
		}, content.ReasonRegistryUnauthorized, ""},
		"another repository":         {func(_ *sshGit, g *Source) { g.URL += "x" }, content.ReasonContentNotFound, "no such repository"},
		"a host that is away":        {func(_ *sshGit, g *Source) { g.URL = "ssh://127.0.0.1:1/x" }, content.ReasonRegistryUnreachable, ""},
		"a branch that is not there": {func(_ *sshGit, g *Source) { g.Branch = "x" }, content.ReasonContentNotFound, "no branch"},
		"a commit that is not there": {func(_ *sshGit, g *Source) { g.Branch, g.Commit = "", strings.Repeat("1", 40) }, content.ReasonContentNotFound, "not among"},
	} {
		t.Run(name, func(t *testing.T) {
			server := serveSSH(t, &gitServer{repository: newRepository(t, gitFiles)})
			source := server.source(t)
			test.change(server, source)
			_, err := source.Resolve(t.Context())
			if content.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "top-secret") {
				t.Errorf("reason %s, error %v", content.ReasonOf(err), err)
			}
			if left := files(t, source.Store); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestGitOverSSHIsLookedAt before it is dialled, as everything else is.
func TestGitOverSSHIsLookedAt(t *testing.T) {
	server := serveSSH(t, &gitServer{repository: newRepository(t, gitFiles)})
	looked := ""
	ctx := content.WithDialControl(t.Context(), func(_ context.Context, _, address string, _ syscall.RawConn) error {
		looked = address
		return errors.New("not this address")
	})
	if _, err := server.source(t).Resolve(ctx); err == nil || looked != server.address {
		t.Errorf("looked at %q, want %q: %v", looked, server.address, err)
	}
}

// A server that takes the connection and says nothing, at any of its steps, ends with the time that is given.
func TestGitOverSSHEndsInTime(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	server := serveSSH(t, &gitServer{repository: newRepository(t, gitFiles)})
	source := server.source(t)
	source.URL = "ssh://git@" + listener.Addr().String() + "/x"
	source.Timeout = 50 * time.Millisecond
	if _, err := source.Resolve(t.Context()); content.ReasonOf(err) != content.ReasonRegistryUnreachable {
		t.Errorf("error %v", err)
	}
	source.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := source.Resolve(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
