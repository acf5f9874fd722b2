package kubeconfig

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// MaxSize is far above the size of a legitimate kubeconfig with inline certificates, and far below a size that would affect performance.
const MaxSize = 256 << 10

// Parse parses a kubeconfig as hostile input: only inline values are used. It opens no file and runs nothing. Its messages name fields and
// never repeat their values.
func Parse(data []byte) (*rest.Config, *Refusal) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, invalid("it is empty")
	}
	if len(data) > MaxSize {
		return nil, invalid("it has %d bytes, at most %d are read", len(data), MaxSize)
	}
	file, err := clientcmd.Load(data)
	if err != nil { // the parser's error repeats its input, which may be a token
		return nil, invalid("it is no valid kubeconfig of version v1")
	}
	if p := refuse(file); p != nil {
		return nil, p
	}
	cluster, user, p := selected(file)
	if p != nil {
		return nil, p
	}
	return configOf(cluster, user)
}

// refuse checks all clusters and users, not only the selected ones, so that the result does not depend on current-context.
func refuse(file *clientcmdapi.Config) *Refusal {
	for _, name := range sortedKeys(file.Clusters) {
		c := file.Clusters[name]
		switch {
		case c == nil:
		case c.CertificateAuthority != "":
			return refused("cluster %.60q reads a file (certificate-authority); write certificate-authority-data instead", name)
		case c.ProxyURL != "":
			return refused("cluster %.60q asks for a proxy (proxy-url)", name)
		}
	}
	for _, name := range sortedKeys(file.AuthInfos) {
		if p := refuseUser(name, file.AuthInfos[name]); p != nil {
			return p
		}
	}
	return nil
}

func refuseUser(name string, u *clientcmdapi.AuthInfo) *Refusal {
	switch {
	case u == nil:
	case u.Exec != nil:
		return refused("user %.60q runs a program (exec); use a token or a client certificate", name)
	case u.AuthProvider != nil:
		return refused("user %.60q uses an auth-provider; use a token or a client certificate", name)
	case u.TokenFile != "":
		return refused("user %.60q reads a file (tokenFile); write token instead", name)
	case u.ClientCertificate != "":
		return refused("user %.60q reads a file (client-certificate); write client-certificate-data instead", name)
	case u.ClientKey != "":
		return refused("user %.60q reads a file (client-key); write client-key-data instead", name)
	case u.Impersonate != "" || u.ImpersonateUID != "" || len(u.ImpersonateGroups) > 0 || len(u.ImpersonateUserExtra) > 0:
		return refused("user %.60q impersonates another user (as, as-uid, as-groups, as-user-extra)", name)
	}
	return nil
}

// selected returns the cluster and user of current-context; guessing a context could connect to a cluster that was not named.
func selected(file *clientcmdapi.Config) (*clientcmdapi.Cluster, *clientcmdapi.AuthInfo, *Refusal) {
	if file.CurrentContext == "" {
		return nil, nil, invalid("current-context is not set")
	}
	current := file.Contexts[file.CurrentContext]
	if current == nil {
		return nil, nil, invalid("current-context names no context of the file")
	}
	cluster := file.Clusters[current.Cluster]
	if cluster == nil {
		return nil, nil, invalid("the current context names no cluster of the file")
	}
	user := file.AuthInfos[current.AuthInfo]
	if user == nil {
		return nil, nil, invalid("the current context names no user of the file")
	}
	return cluster, user, nil
}

func configOf(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) (*rest.Config, *Refusal) {
	if p := checkServer(cluster.Server); p != nil {
		return nil, p
	}
	if p := checkTrust(cluster); p != nil {
		return nil, p
	}
	if p := checkCredentials(user); p != nil {
		return nil, p
	}
	return &rest.Config{
		Host:               cluster.Server,
		DisableCompression: cluster.DisableCompression,
		BearerToken:        user.Token,
		Username:           user.Username,
		Password:           user.Password,
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: cluster.TLSServerName,
			Insecure:   cluster.InsecureSkipTLSVerify,
			CAData:     cluster.CertificateAuthorityData,
			CertData:   user.ClientCertificateData,
			KeyData:    user.ClientKeyData,
		},
	}, nil
}

func checkServer(server string) *Refusal {
	u, err := url.Parse(server)
	switch {
	case server == "":
		return invalid("the cluster has no server")
	case err != nil || u.Host == "" || u.Hostname() == "":
		return invalid("the cluster's server is no URL with a host")
	case u.Scheme != "https":
		return refused("the cluster's server must be reached by https")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return refused("the cluster's server carries a user, a query or a fragment")
	}
	return nil
}

func checkTrust(cluster *clientcmdapi.Cluster) *Refusal {
	ca := cluster.CertificateAuthorityData
	if len(ca) == 0 {
		return nil
	}
	if cluster.InsecureSkipTLSVerify {
		return invalid("the cluster has both a certificate authority and insecure-skip-tls-verify")
	}
	if !x509.NewCertPool().AppendCertsFromPEM(ca) {
		return invalid("certificate-authority-data holds no PEM certificate")
	}
	return nil
}

func checkCredentials(user *clientcmdapi.AuthInfo) *Refusal {
	hasCert, hasKey := len(user.ClientCertificateData) > 0, len(user.ClientKeyData) > 0
	basic := user.Username != "" || user.Password != ""
	switch {
	case hasCert != hasKey:
		return invalid("the user needs both client-certificate-data and client-key-data")
	case user.Token != "" && basic:
		return invalid("the user has both a token and a password")
	case user.Token == "" && !basic && !hasCert:
		return invalid("the user has no credentials (token, client certificate or password)")
	case strings.ContainsFunc(user.Token, unprintable), strings.ContainsFunc(user.Username, unprintable):
		return invalid("token or username of the user hold characters that no request header can carry")
	}
	if hasCert {
		if _, err := tls.X509KeyPair(user.ClientCertificateData, user.ClientKeyData); err != nil {
			return invalid("client-certificate-data and client-key-data are no PEM pair")
		}
	}
	return nil
}

func unprintable(r rune) bool { return r <= ' ' || r >= 0x7f }

func invalid(format string, args ...any) *Refusal {
	return &Refusal{Reason: v1beta2.ReasonKubeconfigInvalid, Message: "the kubeconfig cannot be used: " + fmt.Sprintf(format, args...)}
}

func refused(format string, args ...any) *Refusal {
	return &Refusal{Reason: v1beta2.ReasonKubeconfigRefused, Message: "the kubeconfig is refused: " + fmt.Sprintf(format, args...)}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
