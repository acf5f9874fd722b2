package packaging

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// GitSource locates the sources of a module version.
type GitSource struct {
	// RepoURL is an https URL without a login.
	RepoURL string
	// Commit is the hash of HEAD. Ref is its branch; empty when HEAD is detached.
	Commit string
	Ref    string
}

// DefaultRemote is the remote that ReadGit uses unless the caller names another one.
const DefaultRemote = "origin"

// ErrNoGit means that a directory is in no git repository.
var ErrNoGit = errors.New("is in no git repository")

// scpLike is the short form of an ssh URL, such as git@github.com:kyma-project/notes.git.
var scpLike = regexp.MustCompile(`^(?:[^@/]+@)?([^:/]+):([^/].*)$`)

// ReadGit reads the current commit of a directory, which may be anywhere in a main or linked working tree.
func ReadGit(dir, remote string) (*GitSource, error) {
	remote = cmp.Or(remote, DefaultRemote)
	repository, err := git.PlainOpenWithOptions(dir, &git.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if errors.Is(err, git.ErrRepositoryNotExists) {
		return nil, fmt.Errorf("%s %w", dir, ErrNoGit)
	}
	if err != nil {
		return nil, fmt.Errorf("open the git repository of %s: %w", dir, err)
	}
	head, err := repository.Head()
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, fmt.Errorf("the git repository of %s has no commit yet", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read HEAD of the git repository of %s: %w", dir, err)
	}
	found, err := repository.Remote(remote)
	if err != nil || len(found.Config().URLs) == 0 {
		return nil, fmt.Errorf("the git repository of %s has no remote %q: add it, or name another one", dir, remote)
	}
	address, err := webURL(found.Config().URLs[0])
	if err != nil {
		return nil, fmt.Errorf("the remote %q of the git repository of %s: %w", remote, dir, err)
	}
	source := &GitSource{RepoURL: address, Commit: head.Hash().String()}
	if head.Name() != plumbing.HEAD {
		source.Ref = head.Name().String()
	}
	return source, nil
}

// webURL turns the URL of a remote into one that can be opened: with https, and without a login.
func webURL(remote string) (string, error) {
	if !strings.Contains(remote, "://") {
		parts := scpLike.FindStringSubmatch(remote)
		if parts == nil {
			return "", errors.New("it is a path of this machine, which means nothing on other machines")
		}
		return "https://" + parts[1] + "/" + parts[2], nil
	}
	address, err := url.Parse(remote)
	if err != nil {
		return "", errors.New("its URL cannot be read") // not quoted, since it may contain a password
	}
	switch address.Scheme {
	case "https", "http", "ssh", "git", "git+ssh":
	default:
		return "", fmt.Errorf("a %s:// URL means nothing on other machines", address.Scheme)
	}
	if address.Hostname() == "" {
		return "", errors.New("its URL has no host")
	}
	host := address.Host
	if address.Scheme != "https" {
		host = address.Hostname() // the port belongs to another protocol
	}
	return (&url.URL{Scheme: "https", Host: host, Path: address.Path}).String(), nil
}
