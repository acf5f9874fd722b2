package getcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// releaseLine is one KymaRelease for programs.
type releaseLine struct {
	Namespace string                   `json:"namespace"`
	Name      string                   `json:"name"`
	Ready     bool                     `json:"ready"`
	Reason    string                   `json:"reason,omitempty"`
	Message   string                   `json:"message,omitempty"`
	Kymas     int32                    `json:"kymas"`
	OnRelease int32                    `json:"kymasOnRelease"`
	Modules   []v1beta2.ReleasedModule `json:"modules"`
	Missing   []string                 `json:"missingTemplates,omitempty"`
	Unmet     []string                 `json:"unmetRequirements,omitempty"`
	created   time.Time
}

type releaseDocument struct {
	console.Versioned
	Items []releaseLine `json:"items"`
}

// releaseList returns the command that shows a line for each KymaRelease.
func releaseList(s *show) *cobra.Command {
	var everywhere bool
	command := &cobra.Command{
		Use:   "releases",
		Short: "List the releases that Kymas can follow",
		Long: "Lists the KymaReleases: sets of module versions that a Kyma follows after kyma kyma set-release. KYMAS counts those that\n" +
			"name one, and ON IT those of them whose modules were all ready with it.",
		Example: "  kyma kyma releases\n  kyma kyma releases -n kcp-system -o yaml",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.printReleases(command.Context(), everywhere)
		},
	}
	command.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "the releases of all namespaces, regardless of --namespace")
	s.outputFlag(command)
	return command
}

func (s *show) printReleases(ctx context.Context, everywhere bool) error {
	cluster, err := s.target.Client()
	if err != nil {
		return err
	}
	namespace, explicit, err := s.target.Namespace()
	if err != nil {
		return err
	}
	if everywhere || !explicit {
		namespace = ""
	}
	var list v1beta2.KymaReleaseList
	switch err := cluster.List(ctx, &list, client.InNamespace(namespace)); {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err): // the cluster has none
	case apierrors.IsForbidden(err):
		return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("you may not list KymaReleases: %w", err)}).
			With("ask for the right to list kymareleases.operator.kyma-project.io, or name a namespace with -n")
	case err != nil:
		return err
	}
	return s.console.Print(s.output.Format, releasesDocument(list.Items, time.Now()))
}

func releasesDocument(releases []v1beta2.KymaRelease, now time.Time) console.Document {
	lines := make([]releaseLine, 0, len(releases))
	for i := range releases {
		lines = append(lines, releaseLineOf(&releases[i]))
	}
	slices.SortFunc(lines, func(a, b releaseLine) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	d := console.Document{
		Data: releaseDocument{console.Kind("KymaReleaseList"), lines},
		Columns: []console.Column{
			{Name: "NAMESPACE"}, {Name: "NAME"}, {Name: "MODULES"}, {Name: "READY"}, {Name: "KYMAS"}, {Name: "ON IT"},
			{Name: "REASON", Wide: true}, {Name: "MESSAGE", Wide: true}, {Name: "AGE"},
		},
		Empty: "There are no KymaReleases. docs/spec/kymarelease.md shows one.",
	}
	for _, r := range lines {
		d.Names = append(d.Names, "kymarelease/"+r.Namespace+"/"+r.Name)
		d.Rows = append(d.Rows, []string{
			r.Namespace, r.Name, strconv.Itoa(len(r.Modules)), strconv.FormatBool(r.Ready), strconv.Itoa(int(r.Kymas)),
			strconv.Itoa(int(r.OnRelease)), r.Reason, r.Message, duration.HumanDuration(now.Sub(r.created)),
		})
	}
	return d
}

func releaseLineOf(release *v1beta2.KymaRelease) releaseLine {
	line := releaseLine{
		Namespace: release.Namespace, Name: release.Name, Modules: release.Spec.Modules,
		Kymas: release.Status.Kymas, OnRelease: release.Status.KymasOnRelease,
		Missing: release.Status.MissingTemplates, Unmet: release.Status.UnmetRequirements, created: release.CreationTimestamp.Time,
	}
	if ready := conditions.Find(release.Status.Conditions, v1beta2.ConditionReady); ready != nil {
		line.Ready, line.Reason, line.Message = ready.Status == "True", ready.Reason, ready.Message
	}
	return line
}
