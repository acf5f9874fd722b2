package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"sync"
	"time"
)

const (
	// goodFor is longer than every run.
	goodFor = 30 * 24 * time.Hour
	// early is how long before now a certificate becomes valid, so that clocks that were set back still accept it.
	early = 48 * time.Hour
)

// identity is the certificate that a proxy shows, and the authority that issued it.
type identity struct {
	host  string
	mutex sync.RWMutex
	ca    []byte
	shown *tls.Certificate
}

func newIdentity(host string) (*identity, error) {
	i := &identity{host: host}
	return i, i.renew(goodFor)
}

func (i *identity) authority() []byte {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.ca
}

func (i *identity) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.shown, nil
}

// renew creates an authority and a certificate that it signed.
func (i *identity) renew(good time.Duration) error {
	now := time.Now()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "proxy authority"},
		NotBefore: now.Add(-early), NotAfter: now.Add(goodFor),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano() + 1), Subject: pkix.Name{CommonName: i.host},
		NotBefore: now.Add(-early), NotAfter: now.Add(good),
		IPAddresses: []net.IP{net.ParseIP(i.host)}, DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey)
	if err != nil {
		return err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, &leafKey.PublicKey, rootKey)
	if err != nil {
		return err
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})
	i.shown = &tls.Certificate{Certificate: [][]byte{leafDER, rootDER}, PrivateKey: leafKey}
	return nil
}
