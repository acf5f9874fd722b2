package modulestatus

// Overview is everything that lists show of a cluster.
type Overview struct {
	Kymas   []KymaLine
	Modules []Module
	Offers  []Offer
}

// PictureOf returns Kymas, Modules and Catalog together, for callers that need all of them for many Kymas: the modules are computed once.
func PictureOf(in Inputs) Overview {
	r := newReader(in)
	modules := r.modules()
	return Overview{Kymas: kymasWith(in, modules), Modules: modules, Offers: r.catalog(modules)}
}
