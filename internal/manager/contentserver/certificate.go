package contentserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	certutil "k8s.io/client-go/util/cert"
)

const (
	// selfSigned is longer than any process lives: no client can verify that certificate, so it need not expire.
	selfSigned = 10 * 365 * 24 * time.Hour
	// rereadEvery is the interval at which the files of a certificate are read. They are not watched: a machine has few inotify instances, and
	// a server that needs one fails when there is none.
	rereadEvery = 10 * time.Second
)

type getCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// certificates returns the function for the current certificate, and the one that must run to keep it up to date with its files.
func (s *Server) certificates() (get getCertificate, follow func(context.Context) error, err error) {
	if s.CertDir == "" {
		get, err = ownCertificate()
		return get, func(context.Context) error { return nil }, err
	}
	held := &pair{
		cert: filepath.Join(s.CertDir, "tls.crt"), key: filepath.Join(s.CertDir, "tls.key"),
		every: cmp.Or(s.reread, rereadEvery), log: s.Log,
	}
	if err := held.read(); err != nil {
		return nil, nil, fmt.Errorf("read tls.crt and tls.key in %s: %w", s.CertDir, err)
	}
	return held.get, held.follow, nil
}

func ownCertificate() (getCertificate, error) {
	cert, key, err := certutil.GenerateSelfSignedCertKeyWithOptions(certutil.SelfSignedCertKeyOptions{
		Host: "localhost", AlternateIPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, MaxAge: selfSigned,
	})
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	made, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &made, nil }, nil
}

// pair is a certificate and its key in two files, which may be replaced at any time.
type pair struct {
	cert, key string
	every     time.Duration
	log       logr.Logger
	held      atomic.Pointer[tls.Certificate]
}

func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.held.Load(), nil }

func (p *pair) read() error {
	found, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err == nil {
		p.held.Store(&found)
	}
	return err
}

// follow reads the files at intervals until the context ends. When the two files are replaced one after the other, they do not match for a
// moment: only the second failure in a row is logged, once.
func (p *pair) follow(ctx context.Context) error {
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := p.read()
		if err == nil {
			failed = 0
			continue
		}
		if failed++; failed == 2 {
			p.log.Error(err, "The certificate cannot be read, and the one before is served", "file", p.cert)
		}
	}
}
