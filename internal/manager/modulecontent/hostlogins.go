package modulecontent

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Login is the login of a place at one host.
type Login struct {
	// Username and Password for HTTP, Helm repositories and git.
	Username, Password string
	// SSHKey and KnownHosts for git.
	SSHKey, KnownHosts string
}

// hostLogin is the login of one Secret, and its hosts.
type hostLogin struct {
	Login
	secret string   // namespace/name, for messages
	hosts  []string // host[:port]; none when the Secret names none
}

// loginHost matches one entry of AnnotationLoginHosts: a name or an address, and optionally a port. There are no wildcards: a login for
// every host would be open to every author of a Manifest.
var loginHost = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$`)

// hostLoginOf reads a Secret of type kubernetes.io/basic-auth or kubernetes.io/ssh-auth.
func hostLoginOf(secret *corev1.Secret) (hostLogin, error) {
	found := hostLogin{secret: secret.Namespace + "/" + secret.Name}
	if secret.Type == corev1.SecretTypeSSHAuth {
		found.SSHKey, found.KnownHosts = string(secret.Data[corev1.SSHAuthPrivateKey]), string(secret.Data[knownHosts])
	} else {
		found.Username, found.Password = string(secret.Data[corev1.BasicAuthUsernameKey]), string(secret.Data[corev1.BasicAuthPasswordKey])
	}
	said := strings.FieldsFunc(strings.ToLower(secret.Annotations[v1beta2.AnnotationLoginHosts]), func(r rune) bool {
		return strings.ContainsRune(", \t\r\n", r)
	})
	for _, host := range said {
		if !loginHost.MatchString(host) {
			return found, loginRefused("the annotation %s of Secret %s has %q, which is no host: write host[:port], with commas between several",
				v1beta2.AnnotationLoginHosts, found.secret, host)
		}
		found.hosts = append(found.hosts, host)
	}
	return found, nil
}

// For returns the login for the host of an address; empty where the Secrets name others. The author of a Manifest chooses both the Secrets,
// by labels that do not describe their content, and the host. So the Secret defines the hosts of its login:
//
//  1. A password is sent only to the hosts that its annotation names. Without the annotation it is refused.
//  2. An SSH key is used for the hosts in the known_hosts of the same Secret, and with the annotation only for those that it names.
//
// Of several Secrets for one host, the last by name counts.
func (l *Logins) For(address *url.URL) (Login, error) {
	var chosen Login
	var unsaid string
	for i := range l.hosts {
		one := &l.hosts[i]
		switch {
		case one.isFor(address):
			chosen.take(one)
		case len(one.hosts) == 0 && one.SSHKey != "":
			chosen.SSHKey, chosen.KnownHosts = one.SSHKey, one.KnownHosts
		case len(one.hosts) == 0 && unsaid == "":
			unsaid = one.secret
		}
	}
	has := chosen.Username != "" || chosen.Password != "" || address.Scheme == "ssh" && chosen.SSHKey != ""
	if unsaid != "" && !has {
		return Login{}, loginRefused("Secret %s does not name the hosts of its login, so it is not sent to %s: annotate it with %s, "+
			"with %q in it if the login is for that one", unsaid, address.Host, v1beta2.AnnotationLoginHosts, strings.ToLower(address.Host))
	}
	return chosen, nil
}

func (l *Login) take(from *hostLogin) {
	if from.SSHKey != "" || from.KnownHosts != "" {
		l.SSHKey, l.KnownHosts = from.SSHKey, from.KnownHosts
		return
	}
	l.Username, l.Password = from.Username, from.Password
}

// isFor reports whether the annotation names a host. A host without a port means the default port of the address's scheme.
func (l *hostLogin) isFor(address *url.URL) bool {
	usual := map[string]string{"http": "80", "https": "443", "ssh": "22"}[address.Scheme]
	wanted := withPort(strings.ToLower(address.Host), usual)
	for _, host := range l.hosts {
		if withPort(host, usual) == wanted {
			return true
		}
	}
	return false
}

func withPort(host, usual string) string {
	if name, port, err := net.SplitHostPort(host); err == nil && port != "" {
		return net.JoinHostPort(name, port)
	}
	return net.JoinHostPort(strings.Trim(strings.TrimSuffix(host, ":"), "[]"), usual)
}

func loginRefused(format string, args ...any) error {
	return &content.Error{Reason: content.ReasonRegistryUnauthorized, Err: fmt.Errorf(format, args...), RetryAfter: retrySecret}
}
