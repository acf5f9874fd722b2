package authorcmd

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// signing holds the flags for the signer and the signature.
type signing struct {
	key, chain, name, algorithm, normalisation, hash string
}

func (s *signing) addFlags(flags *pflag.FlagSet, keyFlag, old string) {
	flags.StringVar(&s.key, keyFlag, "", "PEM file with the RSA private key to sign with")
	flags.StringVar(&s.chain, "cert-chain", "", "PEM file with the certificate of the key, and of those who issued it")
	flags.StringVar(&s.name, "signature", descriptor.SignatureName, "name of the signature")
	flags.StringVar(&s.algorithm, "algorithm", "", "pkcs1v15 (the default) or pss")
	flags.StringVar(&s.normalisation, "normalisation", "", "v2 (the default), or v1 for readers that know no better")
	flags.StringVar(&s.hash, "hash", "", "sha256 (the default) or sha512")
	if old != "" {
		flags.StringVar(&s.key, old, "", "the same as --"+keyFlag)
		hide(flags, old)
	}
}

// The values that the flags accept, and their meaning.
var (
	algorithms     = map[string]string{"": "", "pkcs1v15": descriptor.AlgorithmPKCS1v15, "pss": descriptor.AlgorithmPSS}
	normalisations = map[string]string{"": "", "v1": descriptor.NormalisationV1, "v2": descriptor.NormalisationV2}
	hashes         = map[string]crypto.Hash{"": 0, "sha256": crypto.SHA256, "sha512": crypto.SHA512}
)

// signer returns the signer, nil if nothing is to be signed.
func (s *signing) signer(ctx context.Context) (*component.Signer, error) {
	if s.key == "" {
		return nil, nil //nolint:nilnil // signing is requested by a key
	}
	algorithm, okA := algorithms[strings.ToLower(s.algorithm)]
	normalisation, okN := normalisations[strings.TrimPrefix(strings.ToLower(s.normalisation), "jsonnormalisation/")]
	hash, okH := hashes[strings.ReplaceAll(strings.ToLower(s.hash), "-", "")]
	switch {
	case !okA:
		return nil, console.Usage("--algorithm %s is unknown", s.algorithm).With("use pkcs1v15 or pss")
	case !okN:
		return nil, console.Usage("--normalisation %s is unknown", s.normalisation).With("use v2 or v1")
	case !okH:
		return nil, console.Usage("--hash %s is unknown", s.hash).With("use sha256 or sha512")
	}
	key, err := userfile.Read(ctx, s.key)
	if err != nil {
		return nil, fmt.Errorf("read the private key: %w", err)
	}
	var chain []byte
	if s.chain != "" {
		if chain, err = userfile.Read(ctx, s.chain); err != nil {
			return nil, fmt.Errorf("read the certificates: %w", err)
		}
	}
	signer, err := component.ReadSigner(key, chain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.key, err)
	}
	signer.Name, signer.Algorithm, signer.Normalisation, signer.Hash = s.name, algorithm, normalisation, hash
	return signer, nil
}

// trusting holds the flags that name the trusted signers.
type trusting struct {
	keys, certificates []string
	name               string
}

func (t *trusting) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&t.keys, "key", nil, "PEM file with a public key that is trusted (can be repeated)")
	flags.StringArrayVar(&t.certificates, "cert", nil, "PEM file with certificates that are trusted (can be repeated)")
	flags.StringVar(&t.name, "signature", descriptor.SignatureName, "name of the signature")
}

// trust returns the trusted signers, nil if no flag names one.
func (t *trusting) trust(ctx context.Context) (*descriptor.Trust, error) {
	var texts [][]byte
	for _, file := range append(append([]string{}, t.keys...), t.certificates...) {
		text, err := userfile.Read(ctx, file)
		if err != nil {
			return nil, fmt.Errorf("read what is trusted: %w", err)
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, nil //nolint:nilnil // no signer is trusted
	}
	return component.ReadTrust([]string{t.name}, texts...)
}

// place is the destination of a component version: a registry.
type place struct {
	registry string
	login    registryauth.Options
	// access is determined once: a password may come from standard input.
	access *component.Access
}

func (p *place) addFlags(flags *pflag.FlagSet) {
	p.login.ReadRegistries = readRegistries
	flags.StringVarP(&p.registry, "registry", "r", "", "registry to publish to: oci://HOST[:PORT][/PATH], http:// for one without TLS")
	p.login.AddFlags(flags)
}

// ref returns a component version at that registry.
func (p *place) ref(a *author, name, version string) (component.Ref, error) {
	if p.registry == "" {
		return component.Ref{}, console.Usage("--registry is missing").With("set --registry oci://HOST[:PORT][/PATH]")
	}
	ref, err := p.at(a, p.registry, name, version)
	var failure *console.Failure
	if err != nil && !errors.As(err, &failure) {
		return ref, console.Usage("--registry: %w", err)
	}
	return ref, err
}

// at returns a component version at a registry, whether or not a flag names the registry.
func (p *place) at(a *author, registry, name, version string) (component.Ref, error) {
	if p.access == nil {
		access, err := p.login.Access(a.console.In, registry)
		if err != nil {
			return component.Ref{}, withExitCode(err)
		}
		p.access = &access
	}
	return component.ParseRef(withScheme(registry)+"//"+name+":"+version, *p.access)
}

// withScheme returns a registry's address in the form that ParseRef requires.
func withScheme(registry string) string {
	if !strings.Contains(registry, "://") {
		registry = "oci://" + registry
	}
	return strings.TrimRight(registry, "/")
}

// reference parses a user's reference, with the logins of the flags.
func (a *author) reference(text string, options *registryauth.Options) (component.Ref, error) {
	access, err := options.Access(a.console.In, hosts(text)...)
	if err != nil {
		return component.Ref{}, withExitCode(err)
	}
	ref, err := component.ParseRef(text, access)
	if err != nil {
		return ref, console.Usage("%w", err)
	}
	if ref.Registry != nil && ref.Version == "" {
		return ref, console.Usage("%s has no version", text).With("write it as %s:VERSION", text)
	}
	return ref, nil
}

// hosts returns the registries that a reference names: an archive names none.
func hosts(text string) []string {
	if strings.Contains(text, "://") {
		return []string{text}
	}
	return nil
}

// opened calls do with a component version.
func opened(ctx context.Context, ref component.Ref, do func(*component.Opened) error) error {
	found, err := component.Open(ctx, ref)
	if err != nil {
		return err
	}
	err = do(found)
	if closing := found.Close(); err == nil {
		err = closing
	}
	return err
}

// hide hides flags that only old scripts use.
func hide(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := flags.MarkHidden(name); err != nil {
			panic(err) // it was added before
		}
	}
}

// short returns the module's name and version, for names of files and messages.
func short(name, version string) string {
	return cmp.Or(name[strings.LastIndex(name, "/")+1:], "module") + "-" + version
}
