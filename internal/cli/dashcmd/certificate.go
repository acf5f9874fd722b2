package dashcmd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"sync"
	"time"
)

// certificatesOf returns the certificate of two files, read again when they change, or a self-signed one for this run that no client
// trusts: enough for kubectl port-forward, and for a proxy that does not verify it.
func certificatesOf(cert, key string, hosts []string) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	if cert == "" {
		made, err := selfSigned(hosts, time.Now())
		return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return made, err }, err
	}
	files := &pair{cert: cert, key: key}
	if _, err := files.get(nil); err != nil {
		return nil, err
	}
	return files.get, nil
}

// pair is a certificate in files, which are written again when it is renewed.
type pair struct {
	cert, key string

	mutex    sync.Mutex
	loaded   *tls.Certificate
	modified time.Time
}

func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	info, err := os.Stat(p.cert)
	if err == nil && p.loaded != nil && info.ModTime().Equal(p.modified) {
		return p.loaded, nil
	}
	read, err := tls.LoadX509KeyPair(p.cert, p.key)
	switch {
	case err != nil && p.loaded != nil:
		return p.loaded, nil // the files are just being written
	case err != nil:
		return nil, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	p.loaded = &read
	if info != nil {
		p.modified = info.ModTime()
	}
	return p.loaded, nil
}

func selfSigned(hosts []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "kyma-dashboard"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, BasicConstraintsValid: true,
	}
	for _, host := range hosts {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		template.DNSNames = append(template.DNSNames, host)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
