// Package testkit provides the clusters, the registry and the helpers that integration suites use.
//
// One call starts everything, shared by the whole suite: a hub with our CRDs, runtimes, a registry, and a watch that follows every Kyma and
// Manifest from the first to the last spec and fails the suite when one breaks an invariant.
//
//	var env *testkit.Env
//
//	var _ = BeforeSuite(func() { env = testkit.Start(testkit.Options{Runtimes: 2}) })
//
//	It("installs a module", func() {
//		env.FaultFree()
//		module := testkit.Unique("redis")
//		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 20), "regular")
//		kyma := testkit.Kyma(testkit.Unique("alice"), testkit.WithModule(module))
//		env.AccessSecret(kyma.Name, env.Runtimes[0])
//		env.Hub.Create(kyma)
//		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
//	})
//
// Helpers that call a cluster fail the spec through Gomega; functions that Eventually polls return errors instead. Objects of different
// specs exist side by side, so specs take names from Unique.
//
// It does not start the manager (suites do, with the settings that they test), clean up between specs, or replace anything with a fake.
package testkit
