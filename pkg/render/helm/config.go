package helm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Keys of clientConfig that have an effect, written exactly so. Helm's other flags speak of what Helm does in a cluster (Wait, Timeout,
// Atomic), which it does not do here: they are refused and not ignored.
const (
	// ClientConfigNamespace: the namespace of the installation.
	ClientConfigNamespace = "Namespace"
	// ClientConfigCreateNamespace ("true", "false"): whether the namespace is made where it is missing.
	ClientConfigCreateNamespace = "CreateNamespace"
	// ClientConfigReleaseName: the release name that templates see, in place of the name of the installation.
	ClientConfigReleaseName = "ReleaseName"
)

// maxConfigs is how many installations one config layer may speak of.
const maxConfigs = 1000

// Config is what a config layer says, by installation:
//
//	configs:
//	- name: my-chart
//	  values: {replicas: 1, ratio: 0.5}
//	  overrides: "replicas=2,image.tag=1.2"
//	  clientConfig: "Namespace=my-system,CreateNamespace=true"
type Config struct {
	entries map[string]configEntry
}

type configEntry struct {
	values       map[string]any
	overrides    string
	clientConfig map[string]string
}

// Installs returns the names of the installations that the layer speaks of, sorted.
func (c Config) Installs() []string { return slices.Sorted(maps.Keys(c.entries)) }

// InstallConfig is what a config layer says about one installation.
type InstallConfig struct {
	// Values are those of the entry, with its overrides over them, whose numbers are as `helm --set` has them; nil for none.
	Values map[string]any
	// Namespace of the installation; empty when the config does not say.
	Namespace string
	// CreateNamespace asks for the namespace of the installation to be made.
	CreateNamespace bool
	// ReleaseName for the templates; empty when the config does not say.
	ReleaseName string
}

// ParseConfig reads a config layer. An empty one says nothing about any installation.
func ParseConfig(data []byte) (Config, error) {
	fields, err := onlyObject(data, "the contents of the config layer")
	if err != nil {
		return Config{}, err
	}
	if err := onlyKeys(fields, "the config layer", "configs"); err != nil {
		return Config{}, err
	}
	list, ok := fields["configs"].([]any)
	if !ok && fields["configs"] != nil {
		return Config{}, invalidValues("configs of the config layer is %s and not a list", render.TypeName(fields["configs"]))
	}
	if len(list) > maxConfigs {
		return Config{}, invalidValues("the config layer has more than %d configs", maxConfigs)
	}
	config := Config{entries: make(map[string]configEntry, len(list))}
	for i, item := range list {
		if err := config.add(item, fmt.Sprintf("configs[%d] of the config layer", i)); err != nil {
			return Config{}, err
		}
	}
	return config, nil
}

// For returns what the config says about one installation, and nothing when it does not name it.
func (c Config) For(install string) (InstallConfig, error) {
	entry, ok := c.entries[install]
	if !ok {
		return InstallConfig{}, nil
	}
	values, err := parseOverrides(entry.overrides)
	if err != nil {
		return InstallConfig{}, invalidValues("overrides for %s in the config layer: %w", install, err)
	}
	if len(entry.values) > 0 {
		values = MergeValues(entry.values, values)
	}
	config := InstallConfig{Values: values}
	for _, key := range slices.Sorted(maps.Keys(entry.clientConfig)) {
		if err := config.set(key, entry.clientConfig[key]); err != nil {
			return InstallConfig{}, invalidValues("clientConfig for %s in the config layer: %w", install, err)
		}
	}
	return config, nil
}

func (c Config) add(item any, at string) error {
	fields, ok := item.(map[string]any)
	if !ok {
		return invalidValues("%s is %s and not an object", at, render.TypeName(item))
	}
	if err := onlyKeys(fields, at, "name", "values", "overrides", "clientConfig"); err != nil {
		return err
	}
	name, ok := fields["name"].(string)
	if !ok || name == "" {
		return invalidValues("%s has no name: give it that of the installation it is for", at)
	}
	if _, taken := c.entries[name]; taken {
		return invalidValues("%s is the second for %s: keep one of them", at, shorten(name))
	}
	values, ok := fields["values"].(map[string]any)
	if !ok && fields["values"] != nil {
		return invalidValues("values in %s is %s: write a mapping, as in the values file of a chart", at, render.TypeName(fields["values"]))
	}
	overrides, ok := fields["overrides"].(string)
	if !ok && fields["overrides"] != nil {
		return invalidValues("overrides in %s is %s: write it as for `helm --set`, such as \"a=1,b.c=2\"", at,
			render.TypeName(fields["overrides"]))
	}
	clientConfig, err := parseClientConfig(fields["clientConfig"])
	if err != nil {
		return invalidValues("clientConfig in %s %w", at, err)
	}
	withFloats(values)
	c.entries[name] = configEntry{values, overrides, clientConfig}
	return nil
}

// parseClientConfig reads "Key=value,Key=value" or a map.
func parseClientConfig(value any) (map[string]string, error) {
	keys := map[string]string{}
	switch value := value.(type) {
	case nil:
	case string:
		for pair := range strings.SplitSeq(value, ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			key, text, ok := strings.Cut(pair, "=")
			key = strings.TrimSpace(key)
			if _, twice := keys[key]; twice || !ok {
				return nil, fmt.Errorf("is not of the form Key=value,Key=value with each key once: look at %q", shorten(key))
			}
			keys[key] = strings.TrimSpace(text)
		}
	case map[string]any:
		for key, field := range value {
			switch field := field.(type) {
			case string:
				keys[key] = field
			case bool:
				keys[key] = strconv.FormatBool(field)
			default:
				return nil, fmt.Errorf("has %s as its %s: use text, or true and false", render.TypeName(field), shorten(key))
			}
		}
	default:
		return nil, fmt.Errorf("is %s: write it as \"Key=value,Key=value\" or as a map", render.TypeName(value))
	}
	return keys, nil
}

// set takes over one key of clientConfig.
func (c *InstallConfig) set(key, value string) error {
	switch key {
	case ClientConfigNamespace:
		if problems := validation.IsDNS1123Label(value); len(problems) > 0 {
			return fmt.Errorf("%s %q is no name of a namespace: %s", key, shorten(value), problems[0])
		}
		c.Namespace = value
	case ClientConfigCreateNamespace:
		create, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%s is neither true nor false", key)
		}
		c.CreateNamespace = create
	case ClientConfigReleaseName:
		if err := util.ValidateReleaseName(value); err != nil {
			return fmt.Errorf("%s %q is not accepted: use at most 53 lower-case letters, digits, '-' and '.'", key, shorten(value))
		}
		c.ReleaseName = value
	default:
		return fmt.Errorf("%q is not supported: only %s, %s and %s have an effect",
			shorten(key), ClientConfigNamespace, ClientConfigCreateNamespace, ClientConfigReleaseName)
	}
	return nil
}

func onlyKeys(fields map[string]any, at string, known ...string) error {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, key) {
			return invalidValues("%s has an unknown key %q: known are %s", at, shorten(key), strings.Join(known, ", "))
		}
	}
	return nil
}
