package simruntime

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// certificate returns the runtime's own authority and its server certificate in one, made when a user asks first.
func (r *Runtime) certificate() (*tls.Certificate, error) {
	r.secretMu.Lock()
	defer r.secretMu.Unlock()
	if r.cert != nil {
		return r.cert, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: r.Name()},
		IsCA: true, BasicConstraintsValid: true, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		IPAddresses: []net.IP{net.ParseIP(address(r.index))},
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	r.cert = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return r.cert, nil
}

// bearer returns the token that counts now.
func (r *Runtime) bearer() string {
	r.secretMu.Lock()
	defer r.secretMu.Unlock()
	return r.token
}

// RenewToken makes another token count; clients with the old one are told 401.
func (r *Runtime) RenewToken() {
	token := newToken(r.index)
	r.secretMu.Lock()
	defer r.secretMu.Unlock()
	r.token = token
}

func newToken(i int) string { return fmt.Sprintf("runtime-%d-%s", i, rand.Text()) }

// Config returns a way in for clients in this program, without a rate limit.
func (r *Runtime) Config() *rest.Config {
	return &rest.Config{
		Host: r.Server(), BearerToken: r.bearer(), QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: r.authority()},
		ContentConfig:   rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
}

// Server returns the URL of the runtime.
func (r *Runtime) Server() string {
	r.net.mu.Lock()
	defer r.net.mu.Unlock()
	return "https://" + net.JoinHostPort(address(r.index), r.net.port)
}

func (r *Runtime) authority() []byte {
	cert, err := r.certificate()
	if err != nil {
		r.fleet.options.Logf("%s has no certificate: %v", r.Name(), err)
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
}

// Kubeconfig returns what a user would be given: address, authority and token.
func (r *Runtime) Kubeconfig() []byte {
	file := clientcmdapi.NewConfig()
	file.Clusters["runtime"] = &clientcmdapi.Cluster{Server: r.Server(), CertificateAuthorityData: r.authority()}
	file.AuthInfos["user"] = &clientcmdapi.AuthInfo{Token: r.bearer()}
	file.Contexts["runtime"] = &clientcmdapi.Context{Cluster: "runtime", AuthInfo: "user"}
	file.CurrentContext = "runtime"
	data, err := clientcmd.Write(*file)
	if err != nil {
		r.fleet.options.Logf("the kubeconfig of %s cannot be written: %v", r.Name(), err)
	}
	return data
}
