package view

// Picture is everything that lists show of a cluster.
type Picture struct {
	Kymas   []KymaLine
	Modules []Module
	Offers  []Offer
}

// PictureOf is Kymas, Modules and Catalog in one, for whoever needs all of them of a large fleet: the modules are looked at once.
func PictureOf(in Inputs) Picture {
	r := newReader(in)
	modules := r.modules()
	return Picture{Kymas: kymasWith(in, modules), Modules: modules, Offers: r.catalog(modules)}
}
