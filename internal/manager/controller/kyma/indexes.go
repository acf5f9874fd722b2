package kyma

// The indexes of the cache that Setup adds, for those that look at Kymas and Manifests beside this controller.
const (
	// IndexKyma finds the Manifests of a Kyma, by its name.
	IndexKyma = indexKyma
	// IndexModule finds the Kymas that have or had a module, by its name.
	IndexModule = indexModule
	// IndexRelease finds the Kymas that name a KymaRelease, by its name.
	IndexRelease = indexRelease
)
