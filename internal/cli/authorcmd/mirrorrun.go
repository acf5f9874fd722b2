package authorcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/dustin/go-humanize/english"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/airgap"
	"github.com/kyma-project/lifecycle-manager/internal/client/bulk"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// The kinds of what is copied.
const (
	kindModule  = "module"
	kindImage   = "image"
	kindRelease = "release"
)

// mirrored is one thing that was copied, for programs.
type mirrored struct {
	Kind    string       `json:"kind"`
	Name    string       `json:"name"`
	Version string       `json:"version,omitempty"`
	Outcome bulk.Outcome `json:"outcome"`
	Message string       `json:"message,omitempty"`
	// Ref is where it is then, and Digest that of its manifest.
	Ref    string                  `json:"ref,omitempty"`
	Digest string                  `json:"digest,omitempty"`
	Images []component.CopiedImage `json:"images,omitempty"`

	copy func(ctx context.Context) (airgap.Copied, error)
}

// mirrorDocument is the output for programs.
type mirrorDocument struct {
	console.Versioned
	To       string               `json:"to"`
	DryRun   bool                 `json:"dryRun,omitempty"`
	Items    []mirrored           `json:"items"`
	Outcomes map[bulk.Outcome]int `json:"outcomes"`
	// Installation is what an installation must name then.
	Installation *mirrorInstallation `json:"installation,omitempty"`
}

// mirrorInstallation is what an installation in the air gap names.
type mirrorInstallation struct {
	Image    string   `json:"image,omitempty"`
	Registry string   `json:"registry,omitempty"`
	SubPath  string   `json:"subPath,omitempty"`
	Files    []string `json:"files,omitempty"`
}

func (a *author) runMirroring(ctx context.Context, m *mirroring, refs []string) (err error) {
	if err := m.check(refs); err != nil {
		return err
	}
	if err := a.sourcesOf(ctx, m, refs); err != nil {
		return err
	}
	closing, err := a.openTarget(ctx, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	items := m.items()
	a.copyAll(ctx, m, items)
	installation, err := a.finish(m, items)
	if err != nil {
		return err
	}
	if err := a.printMirrored(m, items, installation); err != nil {
		return err
	}
	return outcomeOf(ctx, items)
}

// items lists what is copied.
func (m *mirroring) items() (all []mirrored) {
	if m.folder != nil && m.target.Layout != nil {
		all = append(all, mirrored{Kind: kindRelease, Name: filepath.Base(m.folder.Dir), copy: m.storeRelease})
	}
	if m.folder != nil && m.target.Registry != nil {
		for _, image := range m.folder.Images {
			all = append(all, mirrored{Kind: kindImage, Name: image.Name, Version: image.Version,
				copy: func(ctx context.Context) (airgap.Copied, error) { return m.target.Image(ctx, m.folder, image) }})
		}
	}
	for _, ref := range m.modules {
		all = append(all, mirrored{Kind: kindModule, Name: ref.Name, Version: ref.Version,
			copy: func(ctx context.Context) (airgap.Copied, error) { return m.target.Module(ctx, ref) }})
	}
	for _, offer := range m.unnamed {
		all = append(all, mirrored{Kind: kindModule, Name: offer.Module, Version: offer.Version, Outcome: bulk.Refused,
			Message: "neither a ModuleReleaseMeta nor an annotation of the ModuleTemplate names its component"})
	}
	return all
}

// storeRelease copies the folder of a release, which keeps the signature of its sums valid.
func (m *mirroring) storeRelease(ctx context.Context) (airgap.Copied, error) {
	to := filepath.Join(m.directory, carriedRelease)
	if m.how.DryRun {
		_, err := os.Stat(to)
		return airgap.Copied{Ref: to, Changed: err != nil}, nil
	}
	changed, err := m.folder.StoreIn(ctx, to)
	return airgap.Copied{Ref: to, Changed: changed}, err
}

// copyAll copies a few at a time. A failure stops no other one.
func (a *author) copyAll(ctx context.Context, m *mirroring, items []mirrored) {
	progress := a.console.Progress()
	defer progress.End()
	var jobs []bulk.Job
	var which []int
	var mutex sync.Mutex
	for i := range items {
		item := &items[i]
		if item.copy == nil {
			continue
		}
		key := types.NamespacedName{Name: item.title()}
		which = append(which, i)
		jobs = append(jobs, bulk.Job{Key: key, Do: func(ctx context.Context) (bulk.Outcome, string) {
			progress.Set(item.title(), "Copying", "")
			done, err := item.copy(ctx)
			mutex.Lock()
			defer mutex.Unlock()
			item.Ref, item.Digest, item.Images = done.Ref, done.Digest, done.Images
			return m.judge(done, err)
		}})
	}
	report := func(result bulk.Result) { progress.Set(result.Key.Name, string(result.Outcome), result.Message) }
	for i, result := range bulk.Run(ctx, jobs, bulk.Options{Concurrency: m.concurrency, Report: report}) {
		items[which[i]].Outcome, items[which[i]].Message = result.Outcome, result.Message
	}
}

// judge says in a word what became of a copy.
func (m *mirroring) judge(done airgap.Copied, err error) (bulk.Outcome, string) {
	var conflict *component.ConflictError
	host := ""
	if m.target.Registry != nil {
		host = m.target.Registry.Host
	}
	switch {
	case errors.As(err, &conflict):
		return bulk.Refused, m.to.Explain(err, host).Error()
	case err != nil:
		return bulk.Failed, m.from.Explain(m.explain(err, host), "").Error()
	case !done.Changed:
		return bulk.Unchanged, ""
	case m.how.DryRun:
		return bulk.Planned, ""
	}
	return bulk.Done, ""
}

// explain explains an error of the target's registry, if there is one.
func (m *mirroring) explain(err error, host string) error {
	if host == "" {
		return err
	}
	return m.to.Explain(err, host)
}

func (m *mirrored) title() string {
	if m.Version == "" {
		return m.Kind + " " + m.Name
	}
	return m.Kind + " " + m.Name + ":" + m.Version
}

// printMirrored writes a row for each thing, or everything for programs, and a summary by outcome.
func (a *author) printMirrored(m *mirroring, items []mirrored, installation *mirrorInstallation) error {
	document := mirrorDocument{
		Versioned: console.Kind("Mirror"), To: m.destination, DryRun: m.how.DryRun, Items: items, Outcomes: map[bulk.Outcome]int{},
		Installation: installation,
	}
	printed := console.Document{Columns: []console.Column{
		{Name: "KIND"}, {Name: "NAME"}, {Name: "VERSION"}, {Name: "OUTCOME", State: true}, {Name: "IMAGES"}, {Name: "DIGEST"},
	}}
	for i := range items {
		item := &items[i]
		document.Outcomes[item.Outcome]++
		images := ""
		if item.Kind == kindModule {
			images = strconv.Itoa(len(item.Images))
		}
		printed.Rows = append(printed.Rows, []string{item.Kind, item.Name, item.Version, string(item.Outcome), images, item.Digest})
		printed.Names = append(printed.Names, cmp.Or(item.Ref, item.title()))
	}
	printed.Data = document
	if document.Items == nil {
		document.Items = []mirrored{}
		printed.Data, printed.Empty = document, "There is nothing to copy."
	}
	if err := a.console.Print(m.output.Format, printed); err != nil {
		return err
	}
	for _, outcome := range bulk.Order {
		if count := document.Outcomes[outcome]; count > 0 {
			a.console.Sayf("%s: %d of %s", outcome, count, english.Plural(len(items), "item", ""))
		}
	}
	return nil
}

// outcomeOf returns the error that ends the command, by what became of everything.
func outcomeOf(ctx context.Context, items []mirrored) error {
	if ctx.Err() != nil {
		return (&console.Failure{Code: console.CodeInterrupted, Err: errors.New("interrupted")}).
			With("the same command continues: what is there is not copied again")
	}
	failed := notCopied(items)
	if failed == 0 {
		return nil
	}
	err := fmt.Errorf("%d of %s not copied", failed, english.Plural(len(items), "item is", "items are"))
	return (&console.Failure{Code: console.CodeError, Err: err}).
		With("the same command continues: what is there is not copied again")
}

// notCopied counts what is not where it should be.
func notCopied(items []mirrored) (count int) {
	for i := range items {
		switch items[i].Outcome {
		case bulk.Refused, bulk.Failed, bulk.NotTried:
			count++
		case bulk.Done, bulk.Planned, bulk.Unchanged, bulk.Warned, bulk.Open:
		}
	}
	return count
}
