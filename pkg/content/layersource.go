package content

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// LayerSource is one layer in a registry, named by its digest: a single file, or an archive.
type LayerSource struct {
	OCI *OCI
	Ref Reference
	// Archive unpacks the layer; otherwise it is a single file, whose path in the tree is empty.
	Archive bool
}

// Reference returns "registry/repository@digest".
func (s *LayerSource) Reference() string { return s.Ref.String() }

// Resolve makes no request: the digest is known.
func (s *LayerSource) Resolve(context.Context) (Resolved, error) {
	if err := s.Ref.validate(); err != nil {
		return Resolved{}, err
	}
	return Resolved{Digest: s.Ref.Digest}, nil
}

// Fetch returns the layer's files.
func (s *LayerSource) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	ref := Reference{Registry: s.Ref.Registry, Repository: s.Ref.Repository, Digest: resolved.Digest}
	path, err := s.OCI.Layer(ctx, ref)
	if err != nil {
		return nil, err
	}
	limits := s.OCI.Store.Limits
	if err := takeRoomFor(ctx, limits, path); err != nil {
		return nil, err
	}
	if s.Archive {
		return Unpack(path, limits)
	}
	reader, err := Plain(path, limits)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(reader)
	if err := errors.Join(err, reader.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", ref, err)
	}
	return &Tree{Files: []File{{Data: data}}}, nil
}
