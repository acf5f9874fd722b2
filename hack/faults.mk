# Faults: what the manager does while something is broken, and what rings then. Included by the Makefile.

FAULTS_TIMEOUT ?= 30m
# Further arguments for make faults and make soak, such as FAULTS_ARGS='-suites=matrix -only=registry'; see tests/faults/run -help.
FAULTS_ARGS ?=
# Which points the sample of test-faults has: CI takes the same every time, so that it says something about the change.
FAULTS_SEED ?= 10
# Further arguments for make record-alerts, such as RECORD_ARGS='-parallel=4 -only=hub'; see tests/faults/alerts/record -help.
RECORD_ARGS ?=
# The version before, from which an operation upgrades the manager: a tag or a commit. By default the newest release, or what
# hack/manager-before.sh names while there is none.
BEFORE ?=
export BEFORE
with-manager-before = before=$$(hack/manager-before.sh) && export FAULTS_MANAGER_BEFORE="$$before";
# How long make soak lasts.
SOAK ?= 2h

##@ Faults and alerts

.PHONY: test-faults
test-faults: build-manager $(BIN)/gotestsum ## Kill, blind and break the manager at a sample of all points; FAULTS_SEED=1 is another one, empty that of the day.
	$(with-assets) $(with-manager-before) FAULTS_SEED=$(FAULTS_SEED) FAULTS_MANAGER=$(BIN)/manager $(gotest) -p=3 -timeout=$(FAULTS_TIMEOUT) $(TESTARGS) ./tests/faults/...

.PHONY: faults
faults: build-manager ## The same at every point there is: hours; it goes on where it was interrupted. FAULTS_ARGS=-slice=1/4 is a part.
	$(with-assets) $(with-manager-before) $(GO) run ./tests/faults/run -manager=$(BIN)/manager -dir=$(DIST)/faults $(FAULTS_ARGS)

.PHONY: soak
soak: build-manager ## Random operations and faults for SOAK=2h, and the slope of the manager's memory.
	$(with-assets) $(GO) run ./tests/faults/run -suites=soak -duration=$(SOAK) -manager=$(BIN)/manager -dir=$(DIST)/faults $(FAULTS_ARGS)

# Promtool evaluates the rules; it comes from Debian's package prometheus where the machine has none.
with-promtool = PROMTOOL=$$(hack/promtool/get.sh) || { echo "$$PROMTOOL"; exit 1; }; export PROMTOOL;

.PHONY: test-alerts
test-alerts: ## Replay what a manager published under each fault, and see that its alert rings (needs promtool, or apt-get).
	$(with-promtool) $(GO) test -vet=off -count=1 $(TESTARGS) ./tests/faults/alerts

.PHONY: test-alerts-live
test-alerts-live: build-manager ## Bring three of the faults about, and see that their alerts ring and clear, which takes six minutes.
	$(with-promtool) $(with-assets) $(GO) run ./tests/faults/alerts/record -manager=$(BIN)/manager -dir=$(DIST)/alerts -again -parallel=3 \
		-check="$$PROMTOOL" -only='^(kill|runtime cannot be reached|registry)$$'

.PHONY: record-alerts
record-alerts: build-manager ## Record what a manager publishes under each fault: hours. It goes on where it was interrupted; RECORD_ARGS='-again -only=hub' chooses.
	$(with-assets) $(GO) run ./tests/faults/alerts/record -manager=$(BIN)/manager $(RECORD_ARGS)
