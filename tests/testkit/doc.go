// Package testkit answers one question: what does an integration suite stand on?
//
// One call starts it all, shared by the whole suite: a hub with our CRDs, runtimes, a registry, and a user who watches
// every Kyma and Manifest from the first to the last spec and fails the suite when one breaks an invariant.
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
// Helpers that talk to a cluster fail the spec by Gomega; what Eventually polls returns errors instead. Objects of
// different specs live side by side, so specs take names from Unique.
//
// What it refuses to do: start the manager (suites do, with the settings they test), clean up between specs, and stand
// in for anything with a fake.
package testkit
