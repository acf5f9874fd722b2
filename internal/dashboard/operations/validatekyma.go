package operations

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/kubeconfig"
)

// mostLabels bounds the labels of a new Kyma.
const mostLabels = 64

// reservedLabels say what the dashboard and the lifecycle manager do to a Kyma: a new one has none of them.
var reservedLabels = []string{v1beta2.LabelSkipReconciliation, v1beta2.LabelManagedBy}

// validateCreate checks everything about a new Kyma that needs no cluster. Its entries follow the rules of every other add.
func (d *Request) validateCreate() error {
	namespaceName, name, _ := strings.Cut(d.Kyma, "/")
	switch {
	case d.New == nil:
		return refuse(WhyInvalid, "field new is missing: what kind of Kyma?")
	case len(validation.IsDNS1123Label(namespaceName)) > 0:
		return refuse(WhyInvalid, "%.100q is no namespace", namespaceName)
	case len(validation.IsDNS1123Subdomain(name)) > 0 || len(name) > validation.LabelValueMaxLength:
		return refuse(WhyInvalid, "%.100q is no name of a Kyma: lower-case letters, digits and dashes, at most %d", name,
			validation.LabelValueMaxLength)
	case d.Channel != "" && d.New.Release != "":
		return refuse(WhyInvalid, "channel %s and release %s: which of the two?", d.Channel, d.New.Release)
	case d.New.Release != "" && len(validation.IsDNS1123Subdomain(d.New.Release)) > 0:
		return refuse(WhyInvalid, "%.100q is no name of a KymaRelease", d.New.Release)
	case d.New.Local && d.Kubeconfig != nil:
		return refuse(WhyInvalid, "a Kyma whose modules are in this cluster needs no kubeconfig: omit it")
	}
	for _, err := range []error{target(d.Channel, ""), d.New.validateLabels(), d.Kubeconfig.validate(), d.validateEntries()} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *NewKyma) validateLabels() error {
	if len(n.Labels) > mostLabels {
		return refuse(WhyInvalid, "%d labels are too many: at most %d", len(n.Labels), mostLabels)
	}
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		switch {
		case len(validation.IsQualifiedName(key)) > 0:
			return refuse(WhyInvalid, "%.100q is no name of a label", key)
		case len(validation.IsValidLabelValue(n.Labels[key])) > 0:
			return refuse(WhyInvalid, "label %.100s: %.100q is no value of a label", key, n.Labels[key])
		case slices.Contains(reservedLabels, key):
			return refuse(WhyInvalid, "label %s is set by other means: omit it", key)
		}
	}
	return nil
}

// validateEntries checks the modules of a new Kyma: they are entries of its spec, and nothing else.
func (d *Request) validateEntries() error {
	if len(d.Modules) == 0 {
		return nil
	}
	for i := range d.Modules {
		if d.Modules[i].Resource != nil {
			return refuse(WhyInvalid, "module %s: a new Kyma has no custom resources yet: omit field resource", d.Modules[i].Name)
		}
	}
	return d.validateAdd()
}

func (d *Request) validateConnect() error {
	if d.Kubeconfig == nil {
		return refuse(WhyInvalid, "field kubeconfig is missing: how is the cluster of the Kyma reached?")
	}
	return d.Kubeconfig.validate()
}

// validate bounds a kubeconfig. A record has none, and is valid nevertheless.
func (k *Kubeconfig) validate() error {
	if k != nil && len(k.text) > kubeconfig.MaxSize {
		return refuse(WhyInvalid, "the kubeconfig has %d bytes, at most %d are read", len(k.text), kubeconfig.MaxSize)
	}
	return nil
}
