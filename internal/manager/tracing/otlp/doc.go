// Package otlp sends spans to a collector by OTLP over HTTP, with the SDK of OpenTelemetry.
//
// It never blocks what it records: at most 2,048 spans wait, and what is beyond that is dropped and counted, as is what the collector does
// not take. A collector that is dead, silent or lying costs one line in the log for each outage.
//
// Non-goals: it reads no configuration but the endpoint and the environment variables that OpenTelemetry defines, and sets no global
// provider: what libraries would record by themselves is not sent.
package otlp
