# make help lists what there is.
FUZZTIME ?= 5s
FUZZTIME_DIALECT ?= 30s
# Integration tests that leave something to chance: not for the gate.
RANDOM_TESTS = ^TestKilledAtRandomMoments$$|^TestHarvest$$/^kills$$

.PHONY: help build test race lint lint-golangci fuzz integration integration-random engines replay bench-graph eval-slice env-example confirm-slice demo bench bench-harvest ci full

help: ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 18

build: ## build everything
	go build ./...

test: ## the tests: needs nothing but Go
	go test ./...

race: ## the tests with the race detector, in random order
	go test -race -shuffle=on ./...

lint: ## formatting, vet, linters
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	$(MAKE) lint-golangci

lint-golangci: ## golangci-lint, from its own module so that its dependencies are not ours
	cd .ci/lint && GOFLAGS=-mod=mod go build -o "$$OLDPWD/.ci/lint/golangci-lint" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	./.ci/lint/golangci-lint run --timeout 10m ./...

fuzz: ## search with every fuzz target for FUZZTIME, with those of the SPARQL dialect and its evaluation for FUZZTIME_DIALECT
	bash .ci/fuzz.sh $(FUZZTIME) $(FUZZTIME_DIALECT)

bench: ## benchmarks
	go test -run '^$$' -bench . ./...

bench-graph: ## the embedded graph compared with other SPARQL engines on the same triples; installs them
	bash tools/engines/install.sh
	go run ./tools/graphbench

integration: ## against real servers; fails when one is missing
	bash .ci/integration.sh -skip '$(RANDOM_TESTS)'

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

bench-harvest: ## ten years of a busy forum harvested from a local wiki: time and memory
	go build -o "$${TMPDIR:-/tmp}/spinachbot-bench" ./cmd/spinachbot
	go run ./tools/benchharvest "$${TMPDIR:-/tmp}/spinachbot-bench"

env-example: ## write .env.example from the list of settings
	go run ./cmd/spinachbot config print --example > .env.example

demo: ## the bot at work on its own small wiki
	go run ./cmd/spinachbot demo

ci: ## the gate: deterministic, needs no arguments
	bash .ci/run

full: ## the gate, random order, kills at random moments, fuzzing: before an issue is called done
	bash .ci/full
