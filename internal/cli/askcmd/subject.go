package askcmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// subject is a version of a module, in a Kyma or only in a catalog.
type subject struct {
	client.WithWatch
	kymaedit.KymaContext

	module, version string
	// inKyma reports whether there is a Kyma; without one, the KymaContext has an empty one in the namespace of the catalog.
	inKyma bool
}

// kymaName returns the name of the Kyma, empty when there is none.
func (s *subject) kymaName() string {
	if !s.inKyma {
		return ""
	}
	return s.Key().String()
}

// about returns the subject that an argument names: NAME, NAME:VERSION, NAME:CHANNEL, or with @ as in kyma add.
func (a *asking) about(ctx context.Context, text string) (*subject, error) {
	wish, err := parse(text)
	if err != nil {
		return nil, err
	}
	cluster, err := a.target.Client()
	if err != nil {
		return nil, err
	}
	s, err := a.open(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if err := s.Load(ctx, cluster); err != nil {
		return nil, err
	}
	if !s.inKyma && s.Kyma.Namespace == "" {
		if err := s.within(wish.Name); err != nil {
			return nil, err
		}
	}
	s.module = wish.Name
	s.version, err = s.choose(wish)
	return s, err
}

// parse parses the argument.
func parse(text string) (kymaedit.ModuleRequest, error) {
	name, of, named := strings.Cut(strings.Replace(text, "@", ":", 1), ":")
	wish, err := kymaedit.ParseWish(name)
	if err == nil && named {
		if wish, err = kymaedit.ParseTarget(of); err == nil {
			wish.Name = name
		}
	}
	if err != nil {
		return wish, console.Usage("%w", err)
	}
	return wish, nil
}

// open returns the Kyma that the flags name, or the only one. Without one of them, only the catalog is known.
func (a *asking) open(ctx context.Context, cluster client.WithWatch) (*subject, error) {
	kyma, err := a.target.Kyma(ctx, cluster, a.kyma)
	if err == nil {
		return &subject{WithWatch: cluster, KymaContext: kymaedit.StandOf(kyma), inKyma: true}, nil
	}
	if code := console.Code(err); a.kyma != "" || code != console.CodeNotFound && code != console.CodeUsage {
		return nil, err
	}
	namespace, explicit, err := a.target.Namespace()
	if err != nil {
		return nil, err
	}
	if !explicit {
		namespace = ""
	}
	none := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
	return &subject{WithWatch: cluster, KymaContext: kymaedit.StandOf(none)}, nil
}

// within limits a catalog of all namespaces to the one that has a module.
func (s *subject) within(module string) error {
	var namespaces []string
	for i := range s.Releases {
		if s.Releases[i].Name == module {
			namespaces = append(namespaces, s.Releases[i].Namespace)
		}
	}
	if len(namespaces) > 1 {
		slices.Sort(namespaces)
		return console.Usage("module %s is released in several namespaces: %s", module, strings.Join(namespaces, ", ")).With("use --namespace")
	}
	if len(namespaces) == 0 {
		return nil // choose says so
	}
	s.Kyma.Namespace = namespaces[0]
	s.Releases = slices.DeleteFunc(s.Releases, func(r v1beta2.ModuleReleaseMeta) bool { return r.Namespace != namespaces[0] })
	s.Templates = slices.DeleteFunc(s.Templates, func(t v1beta2.ModuleTemplate) bool { return t.Namespace != namespaces[0] })
	s.Offers = kymaedit.Offers(s.Releases, s.Templates)
	return nil
}

// choose returns the version of a request; the first that applies:
//
//  1. the requested one, or that of the requested channel
//  2. the one that waits for consent
//  3. the one that the Kyma's entry leads to
//  4. that of a mandatory module, of the Kyma's channel, or else the newest
func (s *subject) choose(wish kymaedit.ModuleRequest) (string, error) {
	offer, known := s.Offers[wish.Name]
	status := s.StatusOf(wish.Name)
	if !known && status == nil && !s.Has(wish.Name) {
		names := make([]string, 0, len(s.Offers))
		for name := range s.Offers {
			names = append(names, name)
		}
		return "", console.NotFound("there is no module %s", wish.Name).Known("modules", kymaedit.Similar(wish.Name, names), names)
	}
	if wish.Version != "" {
		return wish.Version, nil
	}
	if wish.Channel != "" {
		version, err := offer.Choose(wish)
		if err != nil {
			return "", console.NotFound("%w", err).With("kyma catalog show %s lists channels and versions", wish.Name)
		}
		return version, nil
	}
	if pending := modulestatus.PendingOf(s.Kyma, wish.Name); pending != nil {
		return pending.Version, nil
	}
	channel := offer.Channels[cmp.Or(s.Asked.Channel, v1beta2.DefaultChannel)]
	version := cmp.Or(s.Version(&s.Asked, wish.Name), s.mandatory(wish.Name), channel, offer.Newest(""), s.InstalledVersion(wish.Name))
	if version == "" {
		return "", console.NotFound("there is no version of module %s here", wish.Name).With("kyma catalog list shows what is available")
	}
	return version, nil
}

// mandatory returns the version of a mandatory module, empty for others.
func (s *subject) mandatory(name string) string {
	for i := range s.Releases {
		if release := &s.Releases[i]; release.Name == name && release.Spec.Mandatory != nil {
			return release.Spec.Mandatory.Version
		}
	}
	return ""
}
