package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// overhead is how many bytes a server may send beside the repository itself: its references and the framing of the pack.
const overhead = 16 << 20

const (
	// maxErrorBody is how much is read of a response that is no success.
	maxErrorBody = 8 << 10
	// maxAnswer is how much of a server's text is kept: it ends up in the status of an object.
	maxAnswer = 200
)

// repository is a repository whose references were read.
type repository interface {
	refs() references
	// objects returns the objects of tip and maybe more. done releases their memory.
	objects(ctx context.Context, tip commitRef) (objects storer.EncodedObjectStorer, done func(), err error)
	close()
}

// uploadSession is a session with a git server: one of go-git's transports, or an sshSession.
type uploadSession interface {
	AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error)
	UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
	Close() error
}

// open requests the references.
func (g *Source) open(ctx context.Context, want revision) (repository, error) {
	var session uploadSession
	var err error
	switch want.address.Scheme {
	case "file":
		return openLocal(want.address.Path)
	case "ssh":
		session, err = openSSH(ctx, want, g.Auth, g.Store)
	default:
		session, err = g.openHTTP(want.address)
	}
	if err != nil {
		return nil, err
	}
	advertised, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, errors.Join(serverError(ctx, want.address, err), session.Close())
	}
	return &remoteRepository{store: g.Store, address: want.address, session: session, advertised: advertised}, nil
}

// openHTTP makes no request yet. go-git follows redirects of the first request, none from https to http, and drops the credentials if one
// leads to another host.
func (g *Source) openHTTP(address *url.URL) (uploadSession, error) {
	roundTripper, err := content.NewTransport(g.CA)
	if err != nil {
		return nil, err
	}
	// One response has the references, the next one the pack; the connection is worth keeping between them.
	roundTripper.DisableKeepAlives = false
	bounded := &cappedTransport{Transport: roundTripper, most: g.Store.Limits.OrDefault().Packed + overhead}
	client := githttp.NewClientWithOptions(
		&http.Client{Transport: bounded, Timeout: g.timeout()},
		&githttp.ClientOptions{RedirectPolicy: githttp.FollowInitialRedirects},
	)
	endpoint, err := transport.NewEndpoint(address.String())
	if err != nil {
		return nil, sourceInvalid("%s is no git URL", content.DisplayURL(address))
	}
	var auth transport.AuthMethod
	if g.Auth.Username != "" || g.Auth.Password != "" {
		auth = &githttp.BasicAuth{Username: g.Auth.Username, Password: g.Auth.Password}
	}
	session, err := client.NewUploadPackSession(endpoint, auth)
	if err != nil {
		return nil, fmt.Errorf("prepare a git session: %w", err)
	}
	return httpSession{session, roundTripper}, nil
}

// httpSession closes its connections when it is closed.
type httpSession struct {
	uploadSession

	roundTripper *http.Transport
}

func (s httpSession) Close() error {
	s.roundTripper.CloseIdleConnections()
	return s.uploadSession.Close()
}

// cappedTransport limits every response, including errors: go-git reads those to their end.
type cappedTransport struct {
	*http.Transport

	most int64
}

// RoundTrip sends one request.
func (t *cappedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.Transport.RoundTrip(request)
	if err == nil {
		most := t.most
		if response.StatusCode != http.StatusOK {
			most = maxErrorBody
		}
		response.Body = &cappedBody{ReadCloser: response.Body, left: most}
	}
	return response, err
}

// cappedBody returns an error if there are more bytes than expected.
type cappedBody struct {
	io.ReadCloser

	left int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge("the server sends more than is accepted")
	}
	return n, err
}

// remoteRepository is a repository on a server.
type remoteRepository struct {
	store      *content.Store
	address    *url.URL
	session    uploadSession
	advertised *packp.AdvRefs
}

func (r *remoteRepository) refs() references {
	return references{hashes: r.advertised.References, peeled: r.advertised.Peeled}
}

func (r *remoteRepository) close() { _ = r.session.Close() } // everything that counts was read

func (r *remoteRepository) objects(ctx context.Context, tip commitRef) (storer.EncodedObjectStorer, func(), error) {
	request, err := r.request(tip)
	if err != nil {
		return nil, nil, err
	}
	answer, err := r.session.UploadPack(ctx, request)
	if err != nil {
		return nil, nil, serverError(ctx, r.address, err)
	}
	pack, err := receivePack(r.store, demuxed(request, answer))
	_ = answer.Close() // everything that counts was read
	if err != nil {
		return nil, nil, serverError(ctx, r.address, err)
	}
	defer pack.Close() // it has no name and is gone
	return loadPack(ctx, pack, r.store.Limits.OrDefault())
}

// request returns a request for as little as the server supports.
//
//  1. A commit that one of its references names is requested by that, without history.
//  2. Any other commit is requested by its hash, without history, if the server allows that.
//  3. Otherwise everything that branches and tags lead to is requested, with history, and the commit must be in it.
func (r *remoteRepository) request(tip commitRef) (*packp.UploadPackRequest, error) {
	able := r.advertised.Capabilities
	request := packp.NewUploadPackRequestFromCapabilities(able)
	direct := able.Supports(capability.AllowReachableSHA1InWant) || able.Supports(capability.AllowTipSHA1InWant)
	shallow := able.Supports(capability.Shallow)
	switch {
	case !tip.ref.IsZero():
		request.Wants = []plumbing.Hash{tip.ref}
	case direct:
		request.Wants = []plumbing.Hash{tip.commit}
	default:
		shallow = false
		for name, hash := range r.advertised.References {
			if strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") {
				request.Wants = append(request.Wants, hash)
			}
		}
	}
	if len(request.Wants) == 0 {
		return nil, notFound("the repository has neither branches nor tags: push the content")
	}
	var err error
	if shallow {
		request.Depth = packp.DepthCommits(1)
		err = request.Capabilities.Set(capability.Shallow)
	}
	if able.Supports(capability.NoProgress) {
		err = errors.Join(err, request.Capabilities.Set(capability.NoProgress))
	}
	if err != nil {
		return nil, fmt.Errorf("prepare a git request: %w", err)
	}
	return request, nil
}

// demuxed returns a reader of the pack alone.
func demuxed(request *packp.UploadPackRequest, answer io.Reader) io.Reader {
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, answer)
	case request.Capabilities.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, answer)
	default:
		return answer
	}
}

// serverError gives an error of a server its reason. It shortens the server's text, which ends up in the status of an object.
func serverError(ctx context.Context, address *url.URL, err error) error {
	// go-git hides the cause in this type, which the errors package cannot unwrap.
	if unexpected, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		err = unexpected.Err
	}
	if typed, ok := errors.AsType[*content.Error](err); ok {
		return typed
	}
	said, status := printable(content.WithoutAddresses(err).Error()), 0
	if answer, ok := errors.AsType[*githttp.Err](err); ok {
		status = answer.StatusCode()
		said = fmt.Sprintf("it answers with %d %s", status, http.StatusText(status))
	}
	reason, text := content.ReasonRegistryUnreachable, "the server cannot be used now: "+said
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("git: %w", context.Canceled)
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed),
		strings.Contains(said, "unable to authenticate"):
		reason = content.ReasonRegistryUnauthorized
		text = "the server refuses the credentials, or requires some, or has no such repository: check both"
	case errors.Is(err, transport.ErrRepositoryNotFound), status == http.StatusGone:
		reason, text = content.ReasonContentNotFound, "the server has no such repository: correct the URL"
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		reason, text = content.ReasonContentNotFound, "the repository is empty: push the content"
	case strings.Contains(said, "not our ref"), strings.Contains(said, "unadvertised object"):
		reason = content.ReasonContentNotFound
		text = "the server does not have that commit, or does not give it out: push it, or name a branch or tag"
	case ctx.Err() != nil:
		text = "the server did not answer in time"
	}
	return &content.Error{Reason: reason, Err: fmt.Errorf("%s: %s", address.Host, text)}
}

// printable shortens a server's text and removes control characters.
func printable(said string) string {
	said = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, said)
	if runes := []rune(said); len(runes) > maxAnswer {
		said = string(runes[:maxAnswer]) + "..."
	}
	return strings.TrimSpace(said)
}
