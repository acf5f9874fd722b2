package dashcmd

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrlzap "sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/server"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/server/assets"
)

// clusterFlags are the flags that apply only with --in-cluster.
type clusterFlags struct {
	flags *pflag.FlagSet

	addr, cert, key, publicURL, name, namespace string
	plainHTTP                                   bool
	issuer, clientID, clientSecretFile, caFile  string
	scopes                                      []string
}

func (f *clusterFlags) add(flags *pflag.FlagSet) {
	f.flags = pflag.NewFlagSet("in-cluster", pflag.ContinueOnError)
	own := f.flags
	own.StringVar(&f.addr, "addr", ":8443", "address to listen on")
	own.StringVar(&f.cert, "tls-cert", "", "file with the certificate; without it a self-signed one is made")
	own.StringVar(&f.key, "tls-key", "", "file with its key")
	own.StringVar(&f.publicURL, "public-url", "", "address that browsers use, such as https://kyma.example.com; no other name is answered")
	own.StringVar(&f.name, "cluster-name", "", "what pages call the cluster")
	own.StringVar(&f.namespace, "own-namespace", operations.HistoryNamespace,
		"namespace that operations are recorded in; dashboards with another one do not see them")
	own.BoolVar(&f.plainHTTP, "plain-http", false, "listen without TLS, behind something that ends it")
	own.StringVar(&f.issuer, "oidc-issuer", "", "identity provider that the cluster trusts; users can log in there")
	own.StringVar(&f.clientID, "oidc-client-id", "", "what the dashboard is called there")
	own.StringVar(&f.clientSecretFile, "oidc-client-secret-file", "", "file with its secret, if it has one")
	own.StringVar(&f.caFile, "oidc-ca-file", "", "file with the certificates that the provider's is signed by")
	own.StringSliceVar(&f.scopes, "oidc-scopes", []string{"email", "groups"}, "scopes besides openid")
	own.VisitAll(func(flag *pflag.Flag) {
		flag.Usage = "in a cluster: " + flag.Usage
		flags.AddFlag(flag)
	})
}

// unused returns an error if one of them was given without --in-cluster.
func (f *clusterFlags) unused() error {
	var given []string
	f.flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			given = append(given, "--"+flag.Name)
		}
	})
	if len(given) > 0 {
		return console.Usage("%s: only with --in-cluster", strings.Join(given, ", ")).
			With("without it the dashboard is on loopback, for you alone")
	}
	return nil
}

// check returns an error for flags that do not fit together.
func (f *clusterFlags) check() (public *url.URL, err error) {
	switch {
	case (f.cert == "") != (f.key == ""):
		return nil, console.Usage("--tls-cert and --tls-key come together")
	case f.plainHTTP && f.cert != "":
		return nil, console.Usage("--plain-http and --tls-cert exclude each other")
	case f.issuer != "" && (f.clientID == "" || f.publicURL == ""):
		return nil, console.Usage("--oidc-issuer needs --oidc-client-id and --public-url, where the provider sends browsers back to")
	case f.issuer != "" && !strings.HasPrefix(f.issuer, "https://"):
		return nil, console.Usage("--oidc-issuer is %q: it must begin with https://", f.issuer)
	case f.publicURL == "":
		return nil, nil
	}
	public, err = url.Parse(f.publicURL)
	if err != nil || public.Scheme != "https" || public.Host == "" || strings.Trim(public.Path, "/") != "" {
		return nil, console.Usage("--public-url is %q: give https:// and a name, without a path", f.publicURL)
	}
	return public, nil
}

// runInCluster serves users who log in.
func (d *dashboard) runInCluster(ctx context.Context, version string) error {
	public, err := d.cluster.check()
	if err != nil {
		return err
	}
	options, err := d.inClusterOptions(ctx, version, public)
	if err != nil {
		return err
	}
	server, err := server.New(options)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.cluster.addr)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", d.cluster.addr, err)
	}
	options.Log.Info("the dashboard listens", "address", listener.Addr().String(), "tls", !d.cluster.plainHTTP, "oidc", d.cluster.issuer)
	if d.cluster.plainHTTP {
		return server.Run(ctx, listener)
	}
	certificates, err := certificatesOf(d.cluster.cert, d.cluster.key, options.Hosts)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	secured := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificates, NextProtos: []string{"h2", "http/1.1"}}
	return server.Run(ctx, tls.NewListener(listener, secured))
}

func (d *dashboard) inClusterOptions(ctx context.Context, version string, public *url.URL) (server.Options, error) {
	f := &d.cluster
	config, err := d.clusterConfig()
	if err != nil {
		return server.Options{}, err
	}
	options := server.Options{
		Mode: server.ModeCluster, Config: config, Cluster: f.name, Version: cmp.Or(version, "dev"), Assets: assets.Files(),
		Log: ctrlzap.New(ctrlzap.WriteTo(d.console.Err)),
	}
	if options.Cluster == "" {
		options.Cluster = config.Host
	}
	if public != nil {
		options.Hosts = []string{public.Host}
	}
	if f.issuer != "" {
		if options.OIDC, err = f.oidc(ctx, public); err != nil {
			return options, err
		}
	}
	options.Tasks, err = d.tasks(ctx, &options)
	return options, err
}

// clusterConfig returns the connection of the pod's ServiceAccount, or, outside of a pod, that of the kubeconfig, for trying it out.
func (d *dashboard) clusterConfig() (*rest.Config, error) {
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return d.target.Config()
	}
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("this is no pod with a ServiceAccount, and there is no kubeconfig: set KUBECONFIG")
	}
	return config, err
}

func (f *clusterFlags) oidc(ctx context.Context, public *url.URL) (*server.OIDC, error) {
	provider := &server.OIDC{
		Issuer: f.issuer, ClientID: f.clientID, Scopes: f.scopes, Redirect: strings.TrimRight(public.String(), "/") + "/auth/callback",
	}
	if f.clientSecretFile != "" {
		secret, err := userfile.Read(ctx, f.clientSecretFile)
		if err != nil {
			return nil, fmt.Errorf("--oidc-client-secret-file: %w", err)
		}
		provider.ClientSecret = strings.TrimSpace(string(secret))
	}
	if f.caFile != "" {
		data, err := userfile.Read(ctx, f.caFile)
		if err != nil {
			return nil, fmt.Errorf("--oidc-ca-file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("--oidc-ca-file: %s holds no certificate in PEM", f.caFile)
		}
		provider.Client = &http.Client{
			Timeout:   15 * time.Second,
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
		}
	}
	return provider, nil
}
