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

// maxSecret is far above what a password or a token of a registry has.
const maxSecret = 64 << 10

// Options are what flags say about registries. The zero value is https with what docker knows.
type Options struct {
	// Username and Password are a login for the registries that the command names.
	Username, Password string
	// PasswordStdin takes the password, or the token where there is no user, from standard input.
	PasswordStdin bool
	// Token is an identity token; with a Username it is that user's password.
	Token string
	// CAFile has PEM certificates that may sign those of registries, beside the system's.
	CAFile string
	// PlainHTTP speaks http to the registries that the command names.
	PlainHTTP bool
	// DockerConfig is the folder with docker's config.json; empty means $DOCKER_CONFIG, else ~/.docker.
	DockerConfig string
	// RegistriesFile has certificates, plain http and mirrors of each registry, as the operator's flag of that name takes it.
	RegistriesFile string
	// ReadRegistries reads a RegistriesFile, as internal/policy does: policy.Registries(file, logr.Discard()), of which it gives Host.
	// Without it there is no such flag.
	ReadRegistries func(file string) (func(host string) content.HostPolicy, error)
	// Mapping is how component names become repositories: urlPath or sha256-digest; empty means the former.
	Mapping string

	known *credentialResolver
}

// AddFlags adds the flags of all options. --insecure, --name-mapping, --credentials and --registry-credentials are those of the tools
// before this one.
func (o *Options) AddFlags(flags *pflag.FlagSet) { o.AddFlagsFor(flags, "") }

// AddFlagsFor adds the flags with a prefix, such as "to-", for commands that speak with two registries. A prefix has no old names.
func (o *Options) AddFlagsFor(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&o.Username, prefix+"username", o.Username, "user at the registry; without it, docker's config and helpers are asked")
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

// addOldFlags adds what the flags were called before.
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

// pair is the flag that has user and password in one.
type pair struct{ options *Options }

// String shows nothing: it is a secret.
func (p *pair) String() string { return "" }

// Type returns what help calls the value.
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

// FlagError is about flags that make no sense together.
type FlagError struct {
	// Message says what is wrong, Hint what to do.
	Message, Hint string
}

// Error returns the message and what to do.
func (e *FlagError) Error() string { return e.Message + ": " + e.Hint }

// Access returns how to get in. hosts are the registries that the command names, as host[:port], a reference or a URL with one in it: what
// the flags say about login and plain http is for those alone, and http:// in front of one says the same. Docker's logins are not given
// where there is no TLS, but to this machine. Read the standard input once, by one call.
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

// policy returns what is special about a host: what the registries file has for it, and for named hosts what their address and the flags
// say.
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

// Host returns the host[:port] in a host, a reference or a URL, in lower case; empty for a path of this machine.
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
