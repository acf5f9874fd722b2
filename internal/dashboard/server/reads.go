package server

// routeReads registers the routes that only read. Each can be a live query.
func (s *Server) routeReads() {
	s.handle("GET /api/v1/overview", s.overview)
	s.handle("GET /api/v1/kymas", s.kymas)
	s.handle("GET /api/v1/kymas/{ns}/{name}", s.kyma)
	s.handle("GET /api/v1/modules", s.modules)
	s.handle("GET /api/v1/modules/{ns}/{kyma}/{name}", s.module)
	s.handle("GET /api/v1/modules/{ns}/{kyma}/{name}/resource", s.resource)
	s.handle("GET /api/v1/modules/{ns}/{kyma}/{name}/review", s.moduleReview)
	s.handle("GET /api/v1/direct/{name}", s.module)
	s.handle("GET /api/v1/direct/{name}/resource", s.resource)
	s.handle("GET /api/v1/direct/{name}/review", s.moduleReview)
	s.handle("GET /api/v1/catalog", s.catalog)
	s.handle("GET /api/v1/catalog/{name}", s.offer)
	s.handle("GET /api/v1/catalog/{name}/resource", s.offeredResource)
	s.handle("GET /api/v1/catalog/{name}/review", s.offerReview)
	s.handle("GET /api/v1/catalog/{name}/requirements", s.offerNeeds)
	s.handle("GET /api/v1/events", s.eventsOf)
	s.handle("GET /api/v1/releases", s.releases)
	s.handle("GET /api/v1/releases/{ns}/{name}/forecast", s.releaseForecast)
	s.handle("GET /api/v1/rollouts", s.rollouts)
	s.handle("GET /api/v1/rollouts/{ns}/{name}", s.rollout)
	s.handle("GET /api/v1/fleet", s.versionMatrix)
	s.handle("GET /api/v1/fleet/causes", s.fleetCauses)
	s.handle("GET /api/v1/filters", s.filters)
	s.handle("GET /api/v1/settings", s.settings)
}
