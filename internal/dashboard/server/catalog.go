package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// ofThisCluster is the value of filter source that chooses what the cluster itself offers; no source can have that name.
const ofThisCluster = "@cluster"

// orderOfOffers are the ways to sort the catalog.
var orderOfOffers = map[string]func(a, b *modulestatus.Offer) int{
	"name":      func(a, b *modulestatus.Offer) int { return cmp.Compare(a.Name, b.Name) },
	"type":      func(a, b *modulestatus.Offer) int { return cmp.Compare(a.Type, b.Type) },
	"source":    func(a, b *modulestatus.Offer) int { return cmp.Compare(a.Source, b.Source) },
	"installed": func(a, b *modulestatus.Offer) int { return cmp.Compare(len(a.Installed), len(b.Installed)) },
}

// offerRow is a module in the catalog.
type offerRow struct {
	modulestatus.Offer
	// Vouched says who answers for its newest version, as far as its template tells.
	Vouched *modulestatus.Provenance `json:"vouched,omitempty"`
}

// catalogList is the catalog: what the cluster and all sources offer.
type catalogList struct {
	List[offerRow]
	// Sources are those that the user may list, and how reading each went.
	Sources []sourceLine `json:"sources"`
}

// sourceState says how far a source is read.
type sourceState string

// The states of a source.
const (
	sourceReading sourceState = "Reading"
	sourceRead    sourceState = "Read"
	sourceFailed  sourceState = "Failed"
)

// sourceTrust says what vouches for the content of a source.
type sourceTrust string

// The kinds of trust.
const (
	trustKey     sourceTrust = "Key"
	trustDigest  sourceTrust = "Digest"
	trustAddress sourceTrust = "Address"
)

// sourceLine is a source beside the modules of the catalog.
type sourceLine struct {
	Name  string      `json:"name"`
	URL   string      `json:"url,omitempty"`
	Trust sourceTrust `json:"trust"`
	State sourceState `json:"state"`
	// Read is when the content that is shown was read. Without content, it is when a client could read the source last.
	Read *time.Time `json:"read,omitempty"`
	// Shown reports whether the catalog has content of the source. If State is Failed, that is what was read before.
	Shown   bool   `json:"shown"`
	Modules int    `json:"modules"`
	Error   string `json:"error,omitempty"`
}

// line returns a source for the catalog.
func (b *knownSource) line() sourceLine {
	is := sourceLine{
		Name: b.Name, URL: b.URL, Trust: trustAddress, State: sourceRead, Read: b.Read, Shown: b.stock != nil, Modules: b.Modules,
		Error: problemText(b.trouble),
	}
	switch {
	case b.Key != "":
		is.Trust = trustKey
	case b.Pinned():
		is.Trust = trustDigest
	}
	switch {
	case b.trouble != nil:
		is.State = sourceFailed
	case b.reading:
		is.State = sourceReading
	}
	if b.stock != nil {
		is.Read, is.Modules = &b.stock.read, len(b.stock.catalog.Modules())
	}
	return is
}

// catalog lists the available modules: those of the cluster, and those of the sources that the user may list.
func (s *Server) catalog(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "type", "installed", "source"); err != nil {
		return nil, err
	}
	p, err := pageOf(query, keysOf(orderOfOffers)...)
	if err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	made := catalogList{Sources: []sourceLine{}}
	unread := now.unread
	all, err := s.knownSources(ctx, u)
	if err != nil {
		unread = withUnread(unread, "ConfigMap", "", err)
	}
	for i := range all {
		made.Sources = append(made.Sources, all[i].line())
	}
	var found []modulestatus.Offer
	for _, o := range modulestatus.Search(now.offersWith(all), p.words...) {
		if chosen(query, "type", string(o.Type)) && flagged(query, "installed", len(o.Installed) > 0) &&
			chosen(query, "source", cmp.Or(o.Source, ofThisCluster)) {
			found = append(found, o)
		}
	}
	sortOffers(found, p)
	page := listOf(found, p, unread)
	made.List = List[offerRow]{Items: []offerRow{}, Total: page.Total, Unread: page.Unread}
	for i := range page.Items {
		made.Items = append(made.Items, now.rowOf(&page.Items[i], all))
	}
	return made, nil
}

// sortOffers sorts the catalog: by name, then what the cluster offers, then sources by name.
func sortOffers(offers []modulestatus.Offer, p page) {
	first := orderOfOffers[cmp.Or(p.sort, "name")]
	slices.SortStableFunc(offers, func(a, b modulestatus.Offer) int {
		by := first(&a, &b)
		if p.down {
			by = -by
		}
		return cmp.Or(by, cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Namespace, b.Namespace))
	})
}

// offersWith returns the modules of the cluster and of sources. Copies that the cluster has of a source's templates are listed once.
func (s *snapshot) offersWith(sources []knownSource) []modulestatus.Offer {
	if len(sources) == 0 {
		return slices.Clone(s.offers)
	}
	origins := map[modulestatus.Key]string{}
	for i := range s.in.Templates {
		if t := &s.in.Templates[i]; modulestatus.OriginOf(t) != nil {
			origins[modulestatus.Key{Namespace: t.Namespace, Name: t.Name}] = modulestatus.OriginOf(t).URL
		}
	}
	there := map[string]map[string]*modulestatus.Offer{}
	var all []modulestatus.Offer
	for i := range sources {
		from := &sources[i]
		offers := modulestatus.OffersOf(from.content(), s.offers, s.cameFrom(from, sources))
		for j := range offers {
			if there[from.URL] == nil {
				there[from.URL] = map[string]*modulestatus.Offer{}
			}
			there[from.URL][offers[j].Name] = &offers[j]
		}
		all = append(all, offers...)
	}
	for i := range s.offers {
		offer := &s.offers[i]
		copied := false
		for url, offers := range there {
			copied = copied || modulestatus.CopiedFrom(offer, func(k modulestatus.Key) string { return origins[k] }, url, offers[offer.Name])
		}
		if !copied {
			all = append(all, *offer)
		}
	}
	return all
}

// cameFrom returns the modules that came from a source.
func (s *snapshot) cameFrom(from *knownSource, sources []knownSource) []modulestatus.Module {
	var all []modulestatus.Module
	for i := range s.in.Direct {
		d := &s.in.Direct[i]
		if chosen := sourceFor(d.Origin, sources); chosen == nil || chosen.Name != from.Name {
			continue
		}
		for j := range s.modules {
			if m := &s.modules[j]; m.Record != nil && *m.Record == d.Record && m.Kyma == "" {
				all = append(all, *m)
			}
		}
	}
	return all
}

// rowOf returns a module of the catalog with who answers for its newest version.
func (s *snapshot) rowOf(offer *modulestatus.Offer, sources []knownSource) offerRow {
	row := offerRow{Offer: *offer}
	if len(offer.Versions) == 0 {
		return row
	}
	if offer.Source == "" {
		row.Vouched = modulestatus.ProvenanceOf(s.templateAt(offer.Versions[0].Template), offer.Component != "")
		return row
	}
	for i := range sources {
		if sources[i].Name != offer.Source {
			continue
		}
		if template := sources[i].template(offer.Name, offer.Versions[0].Version); template != nil {
			row.Vouched = modulestatus.ProvenanceOf(template, offer.Component != "")
		}
	}
	return row
}

// offer returns one module of the catalog.
func (s *Server) offer(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "namespace", "source"); err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	if source := query.Get("source"); source != "" {
		return s.offerOfSource(ctx, u, now, source, name)
	}
	o, err := now.offered(u, name, query.Get("namespace"))
	if err != nil {
		return nil, err
	}
	return modulestatus.Detailed(*o, now.in.Templates), nil
}

// offerOfSource returns one module of a source, with all that its templates tell.
func (s *Server) offerOfSource(ctx context.Context, u *User, now *snapshot, source, name string) (any, error) {
	from, err := s.sourceNamed(ctx, u, source)
	if err != nil {
		return nil, err
	}
	all, err := s.knownSources(ctx, u)
	if err != nil {
		return nil, err
	}
	stock := from.content()
	for _, offer := range modulestatus.OffersOf(stock, now.offers, now.cameFrom(from, all)) {
		if offer.Name == name {
			return modulestatus.Detailed(offer, modulestatus.Unplaced(stock.Templates)), nil
		}
	}
	return nil, fail(http.StatusNotFound, WhyNotFound, "there is no module %s in source %s", clip(name, 100), from.Name)
}

// offered returns a module of the catalog, from the given namespace if it is there. If there is none, the error gives the reason.
func (s *snapshot) offered(u *User, name, namespace string) (*modulestatus.Offer, error) {
	if o := s.offer(namespace, name); o != nil {
		return o, nil
	}
	if s.forbiddenKind("ModuleTemplate") {
		return nil, mayNotRead(u, "the module templates of "+clip(name, 100))
	}
	return nil, fail(http.StatusNotFound, WhyNotFound, "there is no module %s in the catalog", clip(name, 100))
}
