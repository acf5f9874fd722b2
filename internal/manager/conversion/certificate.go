package conversion

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	// backdate is how long before its creation a certificate becomes valid: clocks of API servers differ.
	backdate = time.Hour
	// caName is the beginning of the common name of every CA, which ends in its serial number.
	caName = "lifecycle-manager webhook CA "

	blockCertificate, blockKey = "CERTIFICATE", "PRIVATE KEY"
)

// pair is a serving certificate with its key and the CA that signed it. The CA's key signs nothing else and is discarded at once, so it
// cannot be stolen.
type pair struct {
	chain, key []byte // PEM: leaf and CA; PKCS #8
	leaf, ca   *x509.Certificate
	serving    *tls.Certificate
}

// issued returns when the pair was created.
func (p *pair) issued() time.Time { return p.leaf.NotBefore.Add(backdate) }

// lifetime returns how long the pair is valid from its creation.
func (p *pair) lifetime() time.Duration { return p.leaf.NotAfter.Sub(p.issued()) }

// newPair creates a CA and a certificate for hosts. now is truncated to seconds, the resolution of certificates.
func newPair(hosts []string, now time.Time, lifetime time.Duration) (*pair, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca, err := template(now, lifetime)
	if err != nil {
		return nil, err
	}
	ca.Subject = pkix.Name{CommonName: fmt.Sprintf("%s%x", caName, ca.SerialNumber)}
	ca.IsCA, ca.BasicConstraintsValid, ca.MaxPathLenZero, ca.KeyUsage = true, true, true, x509.KeyUsageCertSign
	leaf, err := template(now, lifetime)
	if err != nil {
		return nil, err
	}
	leaf.Subject = pkix.Name{CommonName: hosts[0]}
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	caDER, caErr := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	leafDER, leafErr := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	keyDER, keyErr := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(caErr, leafErr, keyErr); err != nil {
		return nil, err
	}
	return parsePair(encode(leafDER, caDER), pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: keyDER}))
}

func template(now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now = now.UTC().Truncate(time.Second)
	return &x509.Certificate{SerialNumber: serial, NotBefore: now.Add(-backdate), NotAfter: now.Add(lifetime)}, nil
}

// parsePair parses a pair that newPair created.
func parsePair(chain, key []byte) (*pair, error) {
	serving, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, err
	}
	certificates := decode(chain)
	if len(certificates) != 2 {
		return nil, fmt.Errorf("a certificate and its CA are needed, not %d certificates", len(certificates))
	}
	return &pair{chain: chain, key: key, leaf: certificates[0], ca: certificates[1], serving: &serving}, nil
}

// usable returns nil when the pair can serve hosts now.
func (p *pair) usable(hosts []string, now time.Time) error {
	roots := x509.NewCertPool()
	roots.AddCert(p.ca)
	for _, host := range hosts {
		if _, err := p.leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now}); err != nil {
			return err
		}
	}
	return nil
}

// decode returns the certificates of a PEM file, and skips everything else.
func decode(data []byte) []*x509.Certificate {
	var found []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != blockCertificate {
			continue
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			found = append(found, certificate)
		}
	}
	return found
}

func encode(certificates ...[]byte) []byte {
	var out bytes.Buffer
	for _, der := range certificates {
		_ = pem.Encode(&out, &pem.Block{Type: blockCertificate, Bytes: der}) // writes to memory do not fail
	}
	return out.Bytes()
}
