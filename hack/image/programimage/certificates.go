package programimage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// bundles are the files in which Linux distributions and macOS keep the CA certificates.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/cert.pem",
}

// Certificates returns the CA certificates of a file; with an empty name, those that this machine trusts, or none if it has no such file.
func Certificates(file string) ([]byte, error) {
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the CA certificates: %w", err)
		}
		return data, nil
	}
	for _, bundle := range bundles {
		data, err := os.ReadFile(bundle)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return data, err
	}
	return nil, nil
}
