package setup

import (
	"strings"
	"testing"
	"time"
)

// sound returns a Config that Validate accepts.
func sound() Config {
	c := Defaults()
	c.RegistryHost = "registry.example.com"
	return c
}

func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Config)
		want   []string // parts of the message; none means accepted
	}{
		"the defaults with a registry":           {func(*Config) {}, nil},
		"a registry with a port":                 {func(c *Config) { c.RegistryHost = "localhost:5000" }, nil},
		"a registry without TLS":                 {func(c *Config) { c.RegistryHost = "http://127.0.0.1:5000" }, nil},
		"a Secret that names the registry":       {func(c *Config) { c.RegistryHost, c.RegistrySecret = "", "login" }, nil},
		"a path below the registry":              {func(c *Config) { c.RegistrySubPath = "prod/eu" }, nil},
		"every namespace":                        {func(c *Config) { c.Namespace = "" }, nil},
		"leader election with its own times":     {func(c *Config) { c.LeaderElection = true }, nil},
		"no registry at all":                     {func(c *Config) { c.RegistryHost = "" }, []string{"--oci-registry-host", "--oci-registry-cred-secret"}},
		"two sources of the registry":            {func(c *Config) { c.RegistrySecret = "login" }, []string{"exclusive"}},
		"a path in the registry's host":          {func(c *Config) { c.RegistryHost = "registry.example.com/prod" }, []string{`"registry.example.com/prod"`, "host[:port]"}},
		"another scheme":                         {func(c *Config) { c.RegistryHost = "ftp://registry.example.com" }, []string{"host[:port]"}},
		"credentials in the registry's host":     {func(c *Config) { c.RegistryHost = "user:secret@registry.example.com" }, []string{"host[:port]"}},
		"an unknown mapping":                     {func(c *Config) { c.NameMapping = "md5" }, []string{"--component-name-mapping", "sha256-digest"}},
		"a sub path with a slash in front":       {func(c *Config) { c.RegistrySubPath = "/prod" }, []string{"--modules-repository-subpath"}},
		"a sub path that climbs out":             {func(c *Config) { c.RegistrySubPath = "../prod" }, []string{"--modules-repository-subpath"}},
		"no workers for Kymas":                   {func(c *Config) { c.KymaWorkers = 0 }, []string{"--max-concurrent-"}},
		"no workers for Manifests":               {func(c *Config) { c.ManifestWorkers = 0 }, []string{"--max-concurrent-"}},
		"a lease that ends before it is renewed": {func(c *Config) { c.LeaderElection, c.LeaseDuration = true, time.Second }, []string{"lease duration > renew deadline"}},
		"the same without leader election":       {func(c *Config) { c.LeaseDuration = time.Second }, nil},
		"a back-off that shrinks":                {func(c *Config) { c.FailureMaxDelay = time.Millisecond }, []string{"--failure-base-delay"}},
		"a back-off of zero":                     {func(c *Config) { c.FailureBaseDelay = 0 }, []string{"--failure-base-delay"}},
		"a rate limit that lets nothing through": {func(c *Config) { c.RateBurst = 0 }, []string{"--rate-limiter-burst"}},
		"a rate of zero":                         {func(c *Config) { c.RateFrequency = 0 }, []string{"--rate-limiter-frequency"}},
		"no calls to runtimes":                   {func(c *Config) { c.RuntimeQPS = 0 }, []string{"--k8s-skr-client-qps"}},
		"no call at once to runtimes":            {func(c *Config) { c.RuntimeBurst = 0 }, []string{"--k8s-skr-client-burst"}},
		"an audit without pause":                 {func(c *Config) { c.AuditInterval = -time.Second }, []string{"--audit-interval"}},
		"no time for the first list":             {func(c *Config) { c.CacheSyncTimeout = 0 }, []string{"--cache-sync-timeout"}},
		"no streams":                             {func(c *Config) { c.StreamsPerRuntime = 0 }, []string{"--max-streams-per-runtime"}},
		"an account without namespace":           {func(c *Config) { c.LocalAccount = "installer" }, []string{"--local-service-account", "namespace/name"}},
		"an account with too many parts":         {func(c *Config) { c.LocalAccount = "a/b/c" }, []string{"--local-service-account"}},
		"an account with an empty part":          {func(c *Config) { c.LocalAccount = "a/" }, []string{"--local-service-account"}},
		"every namespace for the hub itself":     {func(c *Config) { c.LocalNamespaces = []string{"*"} }, nil},
		"an invalid namespace for the hub":       {func(c *Config) { c.LocalNamespaces = []string{"a", "b/c"} }, []string{"--local-namespaces", `"b/c"`}},
		"a collector of traces":                  {func(c *Config) { c.OTLPEndpoint = "https://collector:4318" }, nil},
		"a collector by another protocol":        {func(c *Config) { c.OTLPEndpoint = "collector:4317" }, []string{"--otlp-endpoint", "http(s)://"}},
		"all problems are reported at once": {
			func(c *Config) { c.RegistryHost, c.KymaWorkers, c.StreamsPerRuntime = "", 0, 0 },
			[]string{"no registry", "--max-concurrent-", "--max-streams-per-runtime"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := sound()
			test.change(&c)
			err := c.Validate()
			if (err != nil) != (len(test.want) > 0) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the message does not say %q:\n%v", part, err)
				}
			}
		})
	}
}

// Who may write a Manifest in the namespace of the account that may do everything must not get its rights by its name.
func TestInstallsLocallyAs_IsNoWayToTheOperatorsAccount(t *testing.T) {
	for name, test := range map[string]struct {
		namespace, account string
		want               bool
	}{
		"a namespace that the flag names":                        {"ours", "", true},
		"another one":                                            {"kcp-system", "", false},
		"another one, by an account of its own":                  {"kcp-system", "installer", true},
		"another one, by the account that may do everything":     {"kcp-system", "klm-local-installer", false},
		"one that the flag names, by that":                       {"ours", "klm-local-installer", true},
		"another one, by an account that only has the same name": {"tenant", "klm-local-installer", true},
	} {
		c := sound()
		c.LocalNamespaces = []string{"ours"}
		if got := c.installsLocallyAs(test.namespace, test.account); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestRegistry(t *testing.T) {
	for name, test := range map[string]struct {
		flag, host string
		plainHTTP  bool
	}{
		"a bare host uses TLS":                          {"registry.example.com", "registry.example.com", false},
		"https is the default":                          {"https://registry.example.com:5000", "registry.example.com:5000", false},
		"http is honoured":                              {"http://127.0.0.1:5000", "127.0.0.1:5000", true},
		"a name is compared with lower-case references": {"Registry.Example.com", "registry.example.com", false},
		"the scheme is not part of the name":            {"HTTP://Localhost:5000", "localhost:5000", true},
	} {
		t.Run(name, func(t *testing.T) {
			c := Config{RegistryHost: test.flag}
			if host, plainHTTP := c.registry(); host != test.host || plainHTTP != test.plainHTTP {
				t.Errorf("got %q, %v, want %q, %v", host, plainHTTP, test.host, test.plainHTTP)
			}
		})
	}
}
