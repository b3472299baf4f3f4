# make help lists the targets.
FUZZTIME ?= 5s
N ?= 1000000
FUZZTIME_DIALECT ?= 30s
# Integration tests that depend on chance. The gate does not run them.
RANDOM_TESTS = ^TestKilledAtRandomMoments$$|^TestHarvest$$/^kills$$

# Tests that take minutes and rarely find a fault in a change: the full gate runs them.
HEAVY_TESTS = ^TestToldToStopWhileServicesHang$$|^TestSharedPauses$$|^TestRenamedMovedAndMerged$$|^TestCalledWithoutNotifications$$|^TestThroughput$$|^TestAbuseFilter$$|^TestRepliesAndCorrections$$|^TestLateRequest$$|^TestStrangers$$

.PHONY: release licenses help build test race lint lint-golangci fuzz integration integration-heavy integration-random engines replay bench-graph eval-slice env-example confirm-slice demo web-assets bench bench-harvest simulate scale chaos soak ci full

help: ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 18

build: ## build everything
	go build ./...

test: ## the tests; they need nothing but Go
	go test ./...

race: ## the tests with the race detector, in random order
	go test -race -shuffle=on ./...

lint: ## formatting, vet, linters
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	$(MAKE) lint-golangci

lint-golangci: ## golangci-lint, from its own module so that its dependencies are not ours
	cd .ci/lint && GOFLAGS=-mod=mod go build -o "$$OLDPWD/.ci/lint/golangci-lint" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	./.ci/lint/golangci-lint run --allow-parallel-runners --timeout 10m ./...

fuzz: ## search with every fuzz target for FUZZTIME, with those of the SPARQL dialect and its evaluation for FUZZTIME_DIALECT
	bash .ci/fuzz.sh $(FUZZTIME) $(FUZZTIME_DIALECT)

bench: ## benchmarks
	go test -run '^$$' -bench . ./...

bench-graph: ## the embedded graph compared with other SPARQL engines on the same triples; installs them
	bash tools/engines/install.sh
	go run ./tools/graphbench

integration: ## tests against real servers; fails if one is missing
	bash .ci/integration.sh -skip '$(RANDOM_TESTS)|$(HEAVY_TESTS)'

integration-heavy: ## an older MediaWiki, corrections, strangers, the abuse filter, and the throughput of one to three workers
	PARTS=program bash .ci/integration.sh -run '$(HEAVY_TESTS)'

integration-random: ## the program killed at random moments, against real servers
	PARTS=program bash .ci/integration.sh -run '$(RANDOM_TESTS)'

engines: ## the dialect and the embedded graph against Virtuoso, Oxigraph and Blazegraph; installs them
	bash .ci/engines.sh

replay: ## recorded runs of the published system through our loop: make replay LOG=path/to/qald10-log.json
	go run ./tools/replay $(LOG)

eval-slice: ## a benchmark run on a slice of Wikidata, killed ten times: make eval-slice SHARED=folder
	go build -o "$${TMPDIR:-/tmp}/spinachbot-eval" ./cmd/spinachbot
	go run ./tools/evalslice "$${TMPDIR:-/tmp}/spinachbot-eval" $(SHARED)

confirm-slice: ## confirm the built-in slice against reference data: make confirm-slice SHARED=folder
	go run ./tools/confirmslice -quiet $(SHARED)

simulate: ## N random schedules of crashes, lost saves, clock steps and posts against the bot; then the same with planted mistakes
	GOGC=400 SIMULATE=$(N) go test -count 1 -timeout 24h -run '^TestSimulation$$' -v ./bot
	SIMULATE_MUTANTS=20000 go test -count 1 -timeout 24h -run '^TestMutants$$' -v ./bot

chaos: ## REQUESTS requests on a real MediaWiki while everything fails, with WORKERS processes; SEED= of a failing run replays its schedule
	go run ./tools/chaos -requests $(or $(REQUESTS),1000) -workers $(or $(WORKERS),1) -seed $(or $(SEED),0) -duration $(or $(DURATION),24h) $(CHAOS)

soak: ## ROUNDS rounds of the bot, every fourth with a request: memory, files, goroutines and the ledger must not grow
	GOGC=100 SOAK=$(or $(ROUNDS),20000) go test -count 1 -timeout 24h -run '^TestSoak$$' -v ./cmd/spinachbot

scale: ## the bot at 1 to 1,000 times today's requests, on a simulated clock: the tables and plots of docs/scale.md
	SCALE=$(or $(SCALE),1) SCALE_FIGURES=$(CURDIR)/docs/figures go test -count 1 -timeout 2h -run '^(TestOverload|TestTables)$$' -v ./tools/scale

bench-harvest: ## ten years of a busy forum harvested from a local wiki: time and memory
	go build -o "$${TMPDIR:-/tmp}/spinachbot-bench" ./cmd/spinachbot
	go run ./tools/benchharvest "$${TMPDIR:-/tmp}/spinachbot-bench"

env-example: ## write .env.example from the list of settings
	go run ./cmd/spinachbot config print --example > .env.example

release: ## a release in dist/: archives for all platforms, built twice and compared, bills of materials, notes and checksums; RELEASE_KEY=file of an SSH key signs it
	cd tools/release && go run .

licenses: ## write docs/licenses.md and NOTICE from what is compiled in
	cd tools/release && go run ./licenses

demo: ## run the bot on its own small wiki
	go run ./cmd/spinachbot demo

web-assets: ## write the files of npm projects that the web pages use
	cd tools/webassets && npm ci --no-audit --no-fund && node build.mjs ../../internal/web/ask/others

ci: ## the gate: deterministic, needs no arguments
	bash .ci/run

full: ## the gate, tests in random order, kills at random moments, fuzzing: run before an issue is called done
	bash .ci/full
