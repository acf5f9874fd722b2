package registryauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// credentialResolver finds logins and records their sources, so that an error can name the source of a refused login.
type credentialResolver struct {
	given  auth.Credential
	named  map[string]naming
	docker func() (credentials.Store, string, error)
	// plain reports which hosts are accessed without TLS.
	plain func(host string) bool

	mu sync.Mutex
	// used is the source of the login of a host; kept is the source of a login that is withheld because there is no TLS.
	used, kept map[string]string
}

// credential returns the login for a host:
//
//  1. that of the flags, for a registry that the command names
//  2. that of docker's config or its helpers for the host, unless it would be readable on the network because there is no TLS and the host
//     is another machine
//  3. none
func (l *credentialResolver) credential(ctx context.Context, host string) (auth.Credential, error) {
	if l.given != auth.EmptyCredential && l.named[strings.ToLower(host)] != unnamed {
		l.note(host, fromFlags)
		return l.given, nil
	}
	store, file, err := l.docker()
	if err != nil {
		return auth.EmptyCredential, err
	}
	found, err := store.Get(ctx, credentials.ServerAddressFromHostname(host))
	if err != nil { // its text may contain the login
		return auth.EmptyCredential, dockerError(host, file, err)
	}
	switch {
	case found.RefreshToken != "" || found.AccessToken != "":
	case found.Username == "" || found.Password == "":
		// Docker leaves such entries behind if a helper has the rest, or used to have it.
		return auth.EmptyCredential, nil
	}
	if l.plain(strings.ToLower(host)) && !loopback(host) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.kept[strings.ToLower(host)] = file
		return auth.EmptyCredential, nil // the registry may allow anonymous access
	}
	l.note(host, file)
	return found, nil
}

func (l *credentialResolver) note(host, source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used[strings.ToLower(host)] = source
}

// withheld returns the source of a host's login that was not sent; empty when there is none.
func (l *credentialResolver) withheld(host string) string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept[strings.ToLower(host)]
}

func (l *credentialResolver) source(host string) string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used[strings.ToLower(host)]
}

// only returns the registry that the command names, if it names exactly one.
func (l *credentialResolver) only() string {
	if l == nil || len(l.named) != 1 {
		return ""
	}
	for host := range l.named {
		return host
	}
	return ""
}

// foreign reports whether the command names registries, but not this host.
func (l *credentialResolver) foreign(host string) bool {
	return l != nil && host != "" && len(l.named) > 0 && l.named[host] == unnamed
}

// dockerError explains why docker's login cannot be used. It omits the text of the cause where that may contain a login.
func dockerError(host, file string, err error) error {
	const other = "or give --username and --password-stdin"
	if missing, ok := errors.AsType[*exec.Error](err); ok {
		return fmt.Errorf("%s names the credential helper %s for %s, which is not installed: install it, remove it from that file, %s",
			file, missing.Name, host, other)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if strings.Contains(err.Error(), "auth field") { // the entry in the file itself
		return fmt.Errorf("the entry for %s in %s cannot be read: run docker login %s again, %s", host, file, host, other)
	}
	return fmt.Errorf("the credential helper that %s names for %s failed (%s): fix it, %s", file, host, oneLine(err.Error()), other)
}

// docker returns a function that opens docker's config when it is first called.
func docker(folder string) func() (credentials.Store, string, error) {
	type opened struct {
		store credentials.Store
		file  string
	}
	open := sync.OnceValues(func() (opened, error) {
		folder := cmp.Or(folder, os.Getenv("DOCKER_CONFIG"))
		if folder == "" {
			home, err := os.UserHomeDir()
			if err != nil { // no configuration
				return opened{store: credentials.NewMemoryStore()}, nil //nolint:nilerr // who has no home is anonymous
			}
			folder = filepath.Join(home, ".docker")
		}
		file := filepath.Join(folder, "config.json")
		store, err := credentials.NewStore(file, credentials.StoreOptions{})
		if err != nil {
			return opened{}, fmt.Errorf("docker's config %s cannot be read: correct it, or name another folder with --docker-config", file)
		}
		return opened{store, file}, nil
	})
	return func() (credentials.Store, string, error) {
		found, err := open()
		return found.store, found.file, err
	}
}

// given returns the login of the flags; empty when they have none.
func (o *Options) given(stdin io.Reader, named map[string]naming) (auth.Credential, error) {
	secret, err := o.secret(stdin)
	if err != nil {
		return auth.EmptyCredential, err
	}
	switch {
	case o.Username == "" && secret == "":
		return auth.EmptyCredential, nil
	case o.Username == "" && o.Password != "":
		return auth.EmptyCredential, &FlagError{"there is a --password and no --username", "set the user"}
	case secret == "":
		return auth.EmptyCredential, &FlagError{
			"there is a --username and no password", "give it with --password-stdin",
		}
	case len(named) == 0:
		return auth.EmptyCredential, &FlagError{
			"there is a login and no registry that it would be for", "name the registry, or leave out --username, --password and --token",
		}
	case o.Username == "":
		return auth.Credential{RefreshToken: secret}, nil
	}
	return auth.Credential{Username: o.Username, Password: secret}, nil
}

// secret returns the password or the token, from a flag or from standard input.
func (o *Options) secret(stdin io.Reader) (string, error) {
	several := o.Password != "" && o.Token != "" || o.PasswordStdin && (o.Password != "" || o.Token != "")
	if several {
		return "", &FlagError{"--password, --password-stdin and --token exclude each other", "give one of them"}
	}
	if !o.PasswordStdin {
		return cmp.Or(o.Password, o.Token), nil
	}
	data, err := io.ReadAll(io.LimitReader(stdin, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("read the password from standard input: %w", err)
	}
	secret := strings.TrimRight(string(data), "\r\n")
	if secret == "" || len(secret) > maxSecret || strings.ContainsAny(secret, "\r\n") {
		return "", &FlagError{"standard input does not hold a password", "pipe one line into it"}
	}
	return secret, nil
}
