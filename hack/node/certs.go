//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// lifetime of certificates: nothing renews them.
const lifetime = 365 * 24 * time.Hour

// authority issues the certificates of one cluster.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue creates all keys and certificates of a cluster, unless its folder already has them.
func issue(dir, node string) error {
	if _, err := os.Stat(filepath.Join(dir, "ca.crt")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ca := &authority{dir: dir}
	ca.cert = certificate(pkix.Name{CommonName: "node"})
	ca.cert.IsCA, ca.cert.BasicConstraintsValid, ca.cert.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	server := certificate(pkix.Name{CommonName: "kube-apiserver"})
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	server.IPAddresses = []net.IP{net.ParseIP(nodeIP), net.ParseIP(apiServiceIP), net.IPv4(127, 0, 0, 1)}
	serviceAccounts := certificate(pkix.Name{CommonName: "service-accounts"})
	leaves := map[string]*x509.Certificate{
		"apiserver": server, "service-accounts": serviceAccounts,
		"apiserver-kubelet-client": client("apiserver-kubelet-client", "system:masters"),
		"admin":                    client("admin", "system:masters"),
		"kube-controller-manager":  client("system:kube-controller-manager", ""),
		"kube-scheduler":           client("system:kube-scheduler", ""),
		"kube-proxy":               client("system:kube-proxy", ""),
		"kubelet":                  client("system:node:"+node, "system:nodes"),
	}
	for name, leaf := range leaves {
		if err := ca.sign(name, leaf); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(dir, "ca.tmp.crt"), filepath.Join(dir, "ca.crt")) // marks the folder as complete
}

func client(name, group string) *x509.Certificate {
	subject := pkix.Name{CommonName: name}
	if group != "" {
		subject.Organization = []string{group}
	}
	cert := certificate(subject)
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return cert
}

func certificate(subject pkix.Name) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return &x509.Certificate{
		Subject: subject, SerialNumber: serial, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
	}
}

// sign writes <name>.crt and <name>.key. The first call creates the authority's own as well.
func (a *authority) sign(name string, leaf *x509.Certificate) error {
	if a.key == nil {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		a.key = key
		if err := a.write("ca.tmp", a.cert, key); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(a.dir, "ca.tmp.key"), filepath.Join(a.dir, "ca.key")); err != nil {
			return err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return a.write(name, leaf, key)
}

func (a *authority) write(name string, cert *x509.Certificate, key *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		writePEM(filepath.Join(a.dir, name+".crt"), "CERTIFICATE", der),
		writePEM(filepath.Join(a.dir, name+".key"), "EC PRIVATE KEY", private),
	)
}

func writePEM(path, kind string, data []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600)
}

// kubeconfig writes the access of one user, with inline data only.
func kubeconfig(path, pki, user, server string) error {
	var data [3][]byte
	for i, name := range []string{"ca.crt", user + ".crt", user + ".key"} {
		var err error
		if data[i], err = os.ReadFile(filepath.Join(pki, name)); err != nil {
			return err
		}
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["node"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: data[0]}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: data[1], ClientKeyData: data[2]}
	config.Contexts["node"] = &clientcmdapi.Context{Cluster: "node", AuthInfo: user}
	config.CurrentContext = "node"
	return clientcmd.WriteToFile(*config, path)
}
