package registryauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// maxSecret is far above the length of a registry's password or token.
const maxSecret = 64 << 10

// Options are the flags about registries. The zero value means https and docker's logins.
type Options struct {
	// Username and Password are a login for the registries that the command names.
	Username, Password string
	// PasswordStdin reads the password, or the token if there is no user, from standard input.
	PasswordStdin bool
	// Token is an identity token; with a Username it is that user's password.
	Token string
	// CAFile has PEM certificates of authorities that are trusted in addition to the system's.
	CAFile string
	// PlainHTTP uses http for the registries that the command names.
	PlainHTTP bool
	// DockerConfig is the folder with docker's config.json; empty means $DOCKER_CONFIG, else ~/.docker.
	DockerConfig string
	// RegistriesFile has the certificates, plain http setting and mirrors of each registry, in the format of the operator's flag of that name.
	RegistriesFile string
	// ReadRegistries reads a RegistriesFile, as policy.Registries(file, logr.Discard()) of internal/policy does, of whose result it is the
	// method Host. Without it there is no such flag.
	ReadRegistries func(file string) (func(host string) content.HostPolicy, error)
	// Mapping is how component names become repositories: urlPath or sha256-digest; empty means urlPath.
	Mapping string

	known *credentialResolver
}

// AddFlags adds the flags of all options, among them --insecure, --name-mapping, --credentials and --registry-credentials of the earlier
// tools.
func (o *Options) AddFlags(flags *pflag.FlagSet) { o.AddFlagsFor(flags, "") }

// AddFlagsFor adds the flags with a prefix, such as "to-", for commands that use two registries. With a prefix, there are no old names.
func (o *Options) AddFlagsFor(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&o.Username, prefix+"username", o.Username, "user at the registry; default: docker's config and credential helpers")
	flags.StringVar(&o.Password, prefix+"password", o.Password,
		"password at the registry (others can see it: prefer --"+prefix+"password-stdin)")
	flags.BoolVar(&o.PasswordStdin, prefix+"password-stdin", o.PasswordStdin, "read the password or token from standard input")
	flags.StringVar(&o.Token, prefix+"token", o.Token, "identity token for the registry, or the password of --"+prefix+"username")
	flags.StringVar(&o.CAFile, prefix+"ca-file", o.CAFile, "PEM file with certificates that registries may be signed by")
	flags.BoolVar(&o.PlainHTTP, prefix+"plain-http", o.PlainHTTP, "speak http to the registry")
	flags.StringVar(&o.DockerConfig, prefix+"docker-config", o.DockerConfig,
		"folder of docker's config.json (default $DOCKER_CONFIG, else ~/.docker)")
	if o.ReadRegistries != nil {
		flags.StringVar(&o.RegistriesFile, prefix+"registries-file", o.RegistriesFile,
			"YAML file with certificates, plain http and mirrors of each registry")
	}
	flags.StringVar(&o.Mapping, prefix+"component-name-mapping", o.Mapping,
		"how component names become repositories: urlPath or sha256-digest")
	if prefix == "" {
		o.addOldFlags(flags)
	}
}

// addOldFlags adds the earlier names of the flags.
func (o *Options) addOldFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.PlainHTTP, "insecure", o.PlainHTTP, "the same as --plain-http")
	flags.StringVar(&o.Mapping, "name-mapping", o.Mapping, "the same as --component-name-mapping")
	flags.Var(&pair{o}, "credentials", "USER:PASSWORD, the same as --username and --password")
	flags.Var(&pair{o}, "registry-credentials", "USER:PASSWORD, the same as --username and --password")
	for _, old := range []string{"insecure", "name-mapping", "credentials", "registry-credentials"} {
		if err := flags.MarkHidden(old); err != nil {
			panic(err) // it was added above
		}
	}
}

// pair is a flag that combines user and password.
type pair struct{ options *Options }

// String returns nothing, since the value is a secret.
func (p *pair) String() string { return "" }

// Type returns the name of the value in the help.
func (p *pair) Type() string { return "user:password" }

// Set splits user and password.
func (p *pair) Set(text string) error {
	if text == "" { // scripts fill it from a variable that may be empty
		return nil
	}
	user, password, ok := strings.Cut(text, ":")
	if !ok || user == "" {
		return errors.New("write it as USER:PASSWORD")
	}
	p.options.Username, p.options.Password = user, password
	return nil
}

// FlagError means that flags contradict each other.
type FlagError struct {
	// Message is the problem, Hint the remedy.
	Message, Hint string
}

// Error returns the message and the hint.
func (e *FlagError) Error() string { return e.Message + ": " + e.Hint }

// Access returns the access to registries. hosts are the registries that the command names, as host[:port], or as a reference or URL that
// includes it. The login and --plain-http of the flags apply only to those, and http:// in front of one has the effect of --plain-http.
// Docker's logins are withheld without TLS, except for this machine. Call Access once, since it may read standard input.
func (o *Options) Access(stdin io.Reader, hosts ...string) (component.Access, error) {
	named := map[string]naming{}
	for _, text := range hosts {
		if host := Host(text); host != "" {
			named[host] = max(named[host], namingOf(text))
		}
	}
	given, err := o.given(stdin, named)
	if err != nil {
		return component.Access{}, err
	}
	mapping := descriptor.Mapping(o.Mapping)
	if mapping != "" && mapping != descriptor.URLPath && mapping != descriptor.SHA256 {
		return component.Access{}, &FlagError{
			"--component-name-mapping " + o.Mapping + " is unknown", fmt.Sprintf("use %s or %s", descriptor.URLPath, descriptor.SHA256),
		}
	}
	of, err := o.policy(named)
	if err != nil {
		return component.Access{}, err
	}
	all := o.PlainHTTP && len(named) == 0
	o.known = &credentialResolver{
		given: given, named: named, docker: docker(o.DockerConfig), used: map[string]string{}, kept: map[string]string{},
		plain: func(host string) bool { return all || of(host).PlainHTTP },
	}
	return component.Access{Credentials: o.known.credential, Policy: of, Mapping: mapping, PlainHTTP: all}, nil
}

// policy returns the settings of a host: those of the registries file, and for named hosts those of their address and the flags.
func (o *Options) policy(named map[string]naming) (func(host string) content.HostPolicy, error) {
	known := func(string) content.HostPolicy { return content.HostPolicy{} }
	if o.RegistriesFile != "" && o.ReadRegistries != nil {
		read, err := o.ReadRegistries(o.RegistriesFile)
		if err != nil {
			return nil, err
		}
		known = read
	}
	var ca []byte
	if o.CAFile != "" {
		var err error
		if ca, err = userfile.Read(context.Background(), o.CAFile); err != nil {
			return nil, fmt.Errorf("read --ca-file: %w", err)
		}
		if err := (content.HostPolicy{CA: ca}).Validate(); err != nil {
			return nil, fmt.Errorf("--ca-file %s holds no certificate in PEM", o.CAFile)
		}
	}
	plain := o.PlainHTTP
	return func(host string) content.HostPolicy {
		found := known(host)
		how := named[strings.ToLower(host)]
		found.PlainHTTP = found.PlainHTTP || how == withoutTLS || plain && how == byName
		if len(ca) > 0 {
			found.CA = append(append(append([]byte{}, found.CA...), '\n'), ca...)
		}
		return found
	}, nil
}

// Host returns the host[:port] of a host, a reference or a URL, in lower case; empty for a local path.
func Host(text string) string {
	_, rest, hasScheme := strings.Cut(text, "://")
	if !hasScheme {
		rest = text
	}
	host, _, hasPath := strings.Cut(rest, "/")
	looksLikeHost := strings.ContainsAny(host, ".:") || host == "localhost"
	if !hasScheme && (strings.HasPrefix(host, ".") || hasPath && !looksLikeHost) {
		return ""
	}
	return strings.ToLower(host)
}
