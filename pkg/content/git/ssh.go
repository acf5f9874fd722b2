package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	sshPort     = "22"
	sshUser     = "git"
	maxSSHNoise = 4 << 10
)

// sshSession runs git-upload-pack on a server. go-git's own session is not used because it reads the SSH configuration of the home
// directory and the agent, and does not limit the time of the handshake.
type sshSession struct {
	client   *ssh.Client
	command  *ssh.Session
	input    io.WriteCloser
	output   io.Reader
	noise    *sshNoise
	released func() bool
}

// openSSH connects, verifies the host key, logs in and starts the command. Everything ends with ctx.
func openSSH(ctx context.Context, want revision, auth Auth, store *content.Store) (uploadSession, error) {
	address := net.JoinHostPort(want.address.Hostname(), orPort(want.address.Port()))
	config, err := sshConfig(address, want.user, auth, store)
	if err != nil {
		return nil, err
	}
	connection, err := content.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, serverError(ctx, want.address, err)
	}
	released := context.AfterFunc(ctx, func() { _ = connection.Close() })
	shaken, channels, requests, err := ssh.NewClientConn(connection, address, config)
	if err != nil {
		released()
		_ = connection.Close()
		return nil, sshError(ctx, want.address, err)
	}
	session := &sshSession{client: ssh.NewClient(shaken, channels, requests), noise: &sshNoise{}, released: released}
	if err := session.start(want.address.Path); err != nil {
		return nil, errors.Join(serverError(ctx, want.address, err), session.Close())
	}
	return session, nil
}

func orPort(port string) string {
	if port == "" {
		return sshPort
	}
	return port
}

func (s *sshSession) start(path string) error {
	var err error
	if s.command, err = s.client.NewSession(); err != nil {
		return err
	}
	s.command.Stderr = s.noise
	if s.output, err = s.command.StdoutPipe(); err != nil {
		return err
	}
	if s.input, err = s.command.StdinPipe(); err != nil {
		return err
	}
	// The path contains no quotes: parseURL refuses them.
	return s.command.Start(transport.UploadPackServiceName + " '" + path + "'")
}

// AdvertisedReferencesContext reads the references, which the server sends first.
func (s *sshSession) AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error) {
	advertised := packp.NewAdvRefs()
	err := advertised.Decode(&cappedBody{ReadCloser: io.NopCloser(s.output), left: overhead})
	if errors.Is(err, packp.ErrEmptyInput) {
		// The command ended without a response; its error output is complete when Wait returns.
		_ = s.command.Wait()
	}
	switch {
	case errors.Is(err, packp.ErrEmptyAdvRefs), err == nil && advertised.IsEmpty():
		return nil, transport.ErrEmptyRemoteRepository
	case err != nil && missingRepository(s.noise.String()+err.Error()):
		return nil, transport.ErrRepositoryNotFound
	case err != nil:
		return nil, fmt.Errorf("%w; %s", err, s.noise)
	}
	transport.FilterUnsupportedCapabilities(advertised.Capabilities)
	return advertised, nil
}

// UploadPack requests the pack and returns the response.
func (s *sshSession) UploadPack(_ context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	err := request.UploadRequest.Encode(s.input)
	if err == nil {
		err = pktline.NewEncoder(s.input).EncodeString("done\n")
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the content: %w; %s", err, s.noise)
	}
	answer := packp.NewUploadPackResponse(request)
	if err := answer.Decode(io.NopCloser(s.output)); err != nil {
		return nil, fmt.Errorf("read the answer: %w; %s", err, s.noise)
	}
	return answer, nil
}

// Close closes the connection.
func (s *sshSession) Close() error {
	s.released()
	if err := s.client.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the SSH connection: %w", err)
	}
	return nil
}

// sshConfig returns the login configuration. It always verifies the host key.
func sshConfig(address, user string, auth Auth, store *content.Store) (*ssh.ClientConfig, error) {
	if strings.TrimSpace(auth.KnownHosts) == "" {
		return nil, sourceInvalid("git over ssh needs known hosts, or any machine could answer: add what `ssh-keyscan` prints for %s", address)
	}
	check, algorithms, err := knownHosts(auth.KnownHosts, address, store)
	if err != nil {
		return nil, err
	}
	config := &ssh.ClientConfig{User: sshUser, HostKeyCallback: check, HostKeyAlgorithms: algorithms, Timeout: content.DialTimeout}
	for _, name := range []string{user, auth.Username} {
		if name != "" {
			config.User = name
		}
	}
	switch {
	case auth.SSHKey != "":
		key, err := gitssh.NewPublicKeys(config.User, []byte(auth.SSHKey), auth.Password)
		if err != nil {
			// The parser's error does not contain the key at present, but that is not guaranteed.
			return nil, sourceInvalid("the SSH key cannot be read: give a private key in PEM, and its password if it has one")
		}
		config.Auth = []ssh.AuthMethod{ssh.PublicKeys(key.Signer)}
	case auth.Password != "":
		config.Auth = []ssh.AuthMethod{ssh.Password(auth.Password)}
	default:
		return nil, content.Errorf(content.ReasonRegistryUnauthorized,
			"git over ssh needs a private key and there is none: add it to the credentials")
	}
	return config, nil
}

// knownHosts uses a file because the parser requires one. It returns the host key check, and the algorithms of the known keys of the host
// at address: for others, the server would present an unknown key.
func knownHosts(lines, address string, store *content.Store) (check ssh.HostKeyCallback, algorithms []string, err error) {
	file, err := store.Temp("known-hosts")
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(file.Name()) // what stays is collected
	_, err = file.WriteString(lines)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, nil, fmt.Errorf("write known hosts: %w", err)
	}
	hosts, err := gitssh.NewKnownHostsDb(file.Name())
	if err != nil {
		return nil, nil, sourceInvalid("the known hosts cannot be read: give lines as `ssh-keyscan` prints them")
	}
	return hosts.HostKeyCallback(), hosts.HostKeyAlgorithms(address), nil
}

func sshError(ctx context.Context, address *url.URL, err error) error {
	if strings.Contains(err.Error(), "knownhosts:") {
		return &content.Error{
			Reason: content.ReasonRegistryUnreachable,
			Err:    fmt.Errorf("%s: the host's key is not among the known hosts: when the host has a new key, add it there", address.Host),
		}
	}
	return serverError(ctx, address, err)
}

// missingRepository recognizes the texts of common servers for a missing repository, for which SSH has no code.
func missingRepository(said string) bool {
	said = strings.ToLower(said)
	known := []string{"not found", "does not exist", "does not appear to be a git repository", "could not be found", "no such repository"}
	for _, each := range known {
		if strings.Contains(said, each) {
			return true
		}
	}
	return false
}

// sshNoise keeps the beginning of a command's error output.
type sshNoise struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (n *sshNoise) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if room := maxSSHNoise - n.data.Len(); room > 0 {
		n.data.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String returns the output so far, printable.
func (n *sshNoise) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return printable(n.data.String())
}
