package getcmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/causereader"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
)

// mostSearched bounds for how many modules the cause is searched in clusters. For the others, the status of Kymas and Manifests tells it.
const mostSearched = 5

// findCauses fills in why modules are not Ready. It searches in this cluster, and for modules that a user names also in runtimes.
func (s *show) findCauses(ctx context.Context, in *modulestatus.Inputs, modules []modulestatus.Module, named bool) {
	evidence := make([]rootcause.Evidence, len(modules))
	searched := 0
	if s.selection.Given() {
		searched = mostSearched // many Kymas are counted, and not looked into
	}
	var all sync.WaitGroup
	for i := range modules {
		m := &modules[i]
		evidence[i] = rootcause.Evidence{Module: m}
		kyma := kymaOf(in, m)
		lost := kyma == nil && m.Kyma != ""
		away := kyma != nil && !modulestatus.Here(kyma)
		if m.State == modulestatus.Ready || lost || away && !named || searched >= mostSearched {
			continue
		}
		searched++
		all.Go(func() {
			found, err := s.search(ctx, in, m)
			if err != nil {
				found = rootcause.Evidence{Module: m, Unread: []rootcause.Unread{{Text: err.Error()}}}
			}
			evidence[i] = found
		})
	}
	all.Wait()
	now := time.Now()
	for i := range modules {
		modules[i].Cause = rootcause.Of(evidence[i], now)
	}
}

// search reads the evidence about a module in the cluster that it is in, as the user.
func (s *show) search(ctx context.Context, in *modulestatus.Inputs, m *modulestatus.Module) (rootcause.Evidence, error) {
	config, err := s.target.Config()
	if err != nil {
		return rootcause.Evidence{}, err
	}
	hub, err := s.target.Client()
	if err != nil {
		return rootcause.Evidence{}, err
	}
	reader := client.Reader(hub)
	if kyma := kymaOf(in, m); kyma != nil && !modulestatus.Here(kyma) {
		if config, err = runtimeaccess.Cluster(ctx, hub, config, kyma); err != nil {
			return rootcause.Evidence{}, err
		}
		if reader, err = readerOf(config); err != nil {
			return rootcause.Evidence{}, err
		}
		in = inRuntime(in, kyma)
	}
	logs, err := causereader.LogsOf(config)
	if err != nil {
		return rootcause.Evidence{}, err
	}
	return causereader.Read(ctx, causereader.Access{Reader: reader, Logs: logs}, in, m), nil
}

// readerOf returns a client for a runtime.
func readerOf(config *rest.Config) (client.Client, error) {
	return client.New(config, client.Options{Scheme: target.Scheme()})
}

// inRuntime returns what the hub knows of a Kyma, without the objects of the hub itself: those of the module are in the runtime.
func inRuntime(in *modulestatus.Inputs, kyma *v1beta2.Kyma) *modulestatus.Inputs {
	local := *kyma
	local.Spec.Remote = new(bool)
	return &modulestatus.Inputs{Kymas: []v1beta2.Kyma{local}, Manifests: in.Manifests, Templates: in.Templates, Releases: in.Releases}
}

// kymaOf returns the Kyma of a module, nil if it has none or was not read.
func kymaOf(in *modulestatus.Inputs, m *modulestatus.Module) *v1beta2.Kyma {
	for i := range in.Kymas {
		if k := &in.Kymas[i]; m.Kyma == (modulestatus.Key{Namespace: k.Namespace, Name: k.Name}).String() {
			return k
		}
	}
	return nil
}

// explainCause writes the cause and the remedy, and on request what shows it. What could not be read is always written.
func explainCause(to io.Writer, indent string, c *modulestatus.Cause, evidence bool) {
	if c == nil {
		return
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(to, "%s%-13s %s\n", indent, name, oneLine(text))
		}
	}
	line("cause", c.Sentence)
	line("remedy", c.Remedy)
	for _, also := range c.Also {
		line("also", also)
	}
	for i := range c.Evidence {
		f := &c.Evidence[i]
		text := strings.TrimPrefix(f.Object+": "+f.Text, ": ")
		switch {
		case f.Source == modulestatus.FactUnread:
			line("not read", text)
		case evidence:
			line(string(f.Source), text)
		}
	}
}
