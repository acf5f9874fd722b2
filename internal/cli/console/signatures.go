package console

import (
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/policy"
)

// SignaturesVariable is the environment variable that is the default of --signatures-file.
const SignaturesVariable = "KYMA_SIGNATURES_FILE"

// AddSignaturesFile adds the flag for the signature policy of modules that are installed without the manager.
func AddSignaturesFile(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "signatures-file", os.Getenv(SignaturesVariable),
		"signature policy file, as the manager uses it: which components must be signed by which keys (default: $"+SignaturesVariable+")")
}

// ReadSignatures reads that file. Without a path no signatures are required.
func ReadSignatures(path string, log logr.Logger) (*policy.SignatureFile, error) {
	file, err := policy.Signatures(path, log)
	if err != nil {
		return nil, Usage("--signatures-file: %w", err).With("docs/spec/signatures.md tells what such a file holds")
	}
	return file, nil
}
