package authorcmd

import (
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

func (a *author) sign() *cobra.Command {
	var signs signing
	logins := logins()
	command := &cobra.Command{
		Use:   "sign REF",
		Short: "Sign a component version in place",
		Long: "sign signs the descriptor of a component version, which covers its content and its images by " +
			"their digests. Digests that the\n" +
			"descriptor lacks are found out first. A signature of the same name is replaced, others stay.",
		Example: "  kyma module sign notes.tgz --key private.pem\n" +
			"  kyma module sign oci://ghcr.io/example//example.com/module/notes:0.1.0 --key private.pem --cert-chain chain.pem --algorithm pss",
		Args: cobra.ExactArgs(1),
	}
	output := outputs(command)
	signs.addFlags(command.Flags(), "key", "private-key")
	logins.AddFlags(command.Flags())
	command.RunE = func(command *cobra.Command, args []string) error {
		signer, err := signs.signer(command.Context())
		if err != nil {
			return err
		}
		if signer == nil {
			return console.Usage("--key is missing: it names the key that signs").With("openssl genrsa -out private.pem 3072 makes one")
		}
		ref, err := a.reference(args[0], &logins)
		if err != nil {
			return err
		}
		var done published
		err = opened(command.Context(), ref, func(found *component.Opened) error {
			digest, err := component.SignRef(command.Context(), found.Ref, signer)
			done = published{
				Name: found.Component.Name, Version: found.Component.Version, Ref: found.Ref.String(),
				Digest: digest, Changed: digest != found.Component.Digest, signed: true,
			}
			return err
		})
		if err != nil {
			return withExitCode(logins.Explain(err, ""))
		}
		return a.printPublished(output.Format, done)
	}
	return command
}

// verification is the output of verify for programs.
type verification struct {
	console.Versioned
	component.VerifyReport
	Verified bool `json:"verified"`
}

func (a *author) verify() *cobra.Command {
	var trusts trusting
	logins := logins()
	var offline bool
	output := console.OutputFlag(console.Table, console.Wide, console.JSON, console.YAML)
	command := &cobra.Command{
		Use:   "verify REF",
		Short: "Check that a component version is what was signed",
		Long: "verify checks the signature of the descriptor, then reads every blob and compares it with its " +
			"digest, then asks the registries of the\n" +
			"images for theirs. Each kind of tampering has its own reason. Exit code 1 means that something differs from what was signed.",
		Example: "  kyma module verify notes.tgz --key public.pem\n" +
			"  kyma module verify oci://ghcr.io/example//example.com/module/notes:0.1.0 --cert ca.pem -o json",
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			trust, err := trusts.trust(command.Context())
			if err != nil {
				return err
			}
			if trust == nil {
				return console.Usage("--key and --cert are missing: one of them names what is trusted").
					With("--key takes a public key, --cert a certificate")
			}
			ref, err := a.reference(args[0], &logins)
			if err != nil {
				return err
			}
			report, err := component.VerifyRef(command.Context(), ref, trust, component.VerifyOptions{
				Offline: offline, SignedLabels: []string{v1beta2.LabelRenderer},
			})
			if len(report.Checks) > 0 {
				if printing := a.printVerification(output.Format, report, err == nil); printing != nil {
					return printing
				}
			}
			return withExitCode(logins.Explain(err, ""))
		},
	}
	trusts.addFlags(command.Flags())
	logins.AddFlags(command.Flags())
	command.Flags().BoolVar(&offline, "offline", false, "leave out images: read the registry of the component only")
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

func (a *author) printVerification(format console.Format, report component.VerifyReport, ok bool) error {
	document := console.Document{
		Data: verification{Versioned: console.Kind("Verification"), VerifyReport: report, Verified: ok},
		Columns: []console.Column{
			{Name: "KIND"}, {Name: "NAME"}, {Name: "STATE", State: true}, {Name: "REASON"},
			{Name: "DIGEST", Wide: true}, {Name: "MESSAGE", Wide: true},
		},
	}
	for _, check := range report.Checks {
		document.Rows = append(document.Rows, []string{check.Kind, check.Name, check.State, check.Reason, check.Digest, check.Message})
	}
	if err := a.console.Print(format, document); err != nil || !ok {
		return err
	}
	by := ""
	if report.Signature != nil {
		by = " by " + report.Signature.By
	}
	a.console.Sayf("%s %s is what was signed%s.", report.Component, report.Version, by)
	return nil
}
