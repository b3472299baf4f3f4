.PHONY: all build test race lint fuzz integration replay env-example confirm-slice demo

all: build test lint

build:
	go build ./...

test:
	go test ./...

race:
	go test -race -shuffle=on ./...

lint:
	gofmt -l . | tee /dev/stderr | (! read -r _)
	go vet ./...

env-example:
	go run ./cmd/spinachbot config print --example > .env.example

demo:
	go run ./cmd/spinachbot demo
