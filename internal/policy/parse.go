package policy

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	// everyHost is the name of the entry for hosts without an entry of their own.
	everyHost = "*"
	// maxFile bounds the policy file and each file of certificates beside it.
	maxFile = 1 << 20
	// maxRegistries and maxMirrors keep a mistake (a generated file) from becoming a slow lookup or a queue of dead mirrors.
	maxRegistries = 1000
	maxMirrors    = 16
)

// policies are the policies of a file by host.
type policies map[string]content.HostPolicy

// registriesFile is the file as users write it.
type registriesFile struct {
	Registries []registryEntry `json:"registries"`
}

type registryEntry struct {
	// Host is host[:port], or "*" for all hosts without an entry. Docker Hub is docker.io.
	Host      string `json:"host"`
	PlainHTTP bool   `json:"plainHTTP"`
	// CA holds certificates in PEM; CAFile is the name of a file with certificates beside this one.
	CA     string `json:"ca"`
	CAFile string `json:"caFile"`
	// Mirrors have the form host[:port][/path], and are tried in this order before the host itself.
	Mirrors []string `json:"mirrors"`
}

// parse parses a registries file. beside returns the files that its entries name. The error lists all problems at once.
func parse(data []byte, beside func(name string) ([]byte, error)) (policies, error) {
	file, err := decode(data)
	if err != nil {
		return nil, err
	}
	if len(file.Registries) > maxRegistries {
		return nil, fmt.Errorf("it has %d registries and %d are accepted", len(file.Registries), maxRegistries)
	}
	found := make(policies, len(file.Registries))
	var problems []error
	for i := range file.Registries {
		entry := &file.Registries[i]
		host, policy, err := entry.policy(beside)
		if err == nil {
			if _, twice := found[host]; twice {
				err = errors.New("this host has an entry already: join the two")
			}
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("registries[%d] (host %q): %w", i, entry.Host, err))
			continue
		}
		found[host] = policy
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return found, nil
}

// decode accepts one document with known fields only, each given once and spelled as documented.
func decode(data []byte) (*registriesFile, error) {
	document, err := onlyDocument(data)
	if err != nil {
		return nil, err
	}
	var file registriesFile
	strict, err := kjson.UnmarshalStrict(document, &file)
	if err := errors.Join(append(strict, err)...); err != nil {
		return nil, fmt.Errorf("it does not have the form \"registries: [{host, plainHTTP, ca, caFile, mirrors}]\": %w", err)
	}
	if file.Registries == nil {
		// An editor that truncates before it writes must not switch every rule off for a moment.
		return nil, errors.New("it is empty: write \"registries: []\" if no registry needs anything special")
	}
	return &file, nil
}

// onlyDocument returns the only document with content, as JSON. YAML decoders read the first document and ignore the others silently.
func onlyDocument(data []byte) ([]byte, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	nothing := []byte("null")
	only := nothing
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return only, nil
		}
		if err != nil {
			return nil, fmt.Errorf("it cannot be read: %w", err)
		}
		converted, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, fmt.Errorf("it is no YAML: %w", err)
		}
		if bytes.Equal(converted, nothing) {
			continue
		}
		if !bytes.Equal(only, nothing) {
			return nil, errors.New("it has several YAML documents (separated by ---): write one")
		}
		only = converted
	}
}

func (e *registryEntry) policy(beside func(string) ([]byte, error)) (host string, policy content.HostPolicy, err error) {
	if host, err = checkHost(e.Host); err != nil {
		return "", policy, err
	}
	policy.PlainHTTP = e.PlainHTTP
	if policy.CA, err = e.certificates(beside); err != nil {
		return "", policy, err
	}
	if e.PlainHTTP && len(policy.CA) > 0 {
		return "", policy, errors.New("plainHTTP and certificates exclude each other: without TLS nothing is checked against them")
	}
	if policy.Mirrors, err = checkMirrors(host, e.Mirrors); err != nil {
		return "", policy, err
	}
	return host, policy, policy.Validate()
}

// checkHost returns the host in the form that is used for lookups.
func checkHost(host string) (string, error) {
	if host == everyHost {
		return host, nil
	}
	if strings.ContainsAny(host, "/*@") {
		return "", errors.New("this is no host: write host[:port] without scheme and path, or \"*\" for all that have no entry")
	}
	normal, err := place(host)
	if err != nil {
		return "", errors.New("this is no host: write host[:port], or \"*\" for all that have no entry")
	}
	return normal, nil
}

func checkMirrors(host string, written []string) ([]string, error) {
	if len(written) > maxMirrors {
		return nil, fmt.Errorf("it has %d mirrors and %d are accepted", len(written), maxMirrors)
	}
	var mirrors []string
	seen := map[string]bool{host: true}
	for _, mirror := range written {
		normal, err := place(mirror)
		if err != nil || strings.Contains(mirror, "://") {
			return nil, fmt.Errorf("mirror %q is not valid: write host[:port] or host[:port]/path, without scheme; "+
				"an entry of its own says that it speaks plain HTTP", mirror)
		}
		if seen[normal] {
			return nil, fmt.Errorf("mirror %q is the host itself or written twice", mirror)
		}
		seen[normal] = true
		mirrors = append(mirrors, normal)
	}
	return mirrors, nil
}

// place checks host[:port][/path] by the same rules as a reference to content, and returns its normal form.
func place(name string) (string, error) {
	const anything = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	reference, _, err := content.ParseReference(name+"/x", "", anything)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(reference.Registry+"/"+reference.Repository, "/x"), nil
}

// certificates returns PEM that holds certificates and nothing else.
func (e *registryEntry) certificates(beside func(string) ([]byte, error)) ([]byte, error) {
	switch {
	case e.CA != "" && e.CAFile != "":
		return nil, errors.New("ca and caFile exclude each other: write one")
	case e.CA != "":
		return []byte(e.CA), checkCertificates("ca", []byte(e.CA))
	case e.CAFile == "":
		return nil, nil
	case e.CAFile != filepath.Base(e.CAFile) || !filepath.IsLocal(e.CAFile):
		return nil, fmt.Errorf("caFile %q is not accepted: name a file in the folder of this one, which is the one that is watched", e.CAFile)
	}
	data, err := beside(e.CAFile)
	if err != nil {
		return nil, fmt.Errorf("caFile %q cannot be read: %w", e.CAFile, err)
	}
	return data, checkCertificates("caFile "+e.CAFile, data)
}

func checkCertificates(where string, data []byte) error {
	if strings.TrimSpace(string(data)) == "" {
		return fmt.Errorf("%s holds no certificate", where)
	}
	for rest := data; len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			return fmt.Errorf("%s contains text that is not PEM", where)
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("%s holds a %q: only certificates belong there", where, block.Type)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("%s holds a certificate that cannot be read: %w", where, err)
		}
	}
	return nil
}
