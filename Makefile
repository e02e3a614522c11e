# Two commands do everything on a fresh machine: `make demo` and `make test`.
SHELL := /bin/bash
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GO := CGO_ENABLED=0 go
FLAGS := -trimpath -buildvcs=false
LDFLAGS := -s -w -X main.version=$(VERSION)
PREFIX ?= $(HOME)/.local

.PHONY: build demo test race e2e engine bench fuzz check install clean helper

build: helper ## one static binary, and `i` as its second name
	@mkdir -p bin
	$(GO) build $(FLAGS) -ldflags "$(LDFLAGS)" -o bin/interpreter ./cmd/interpreter
	@ln -sf interpreter bin/i

helper: ## the small program that confines one command; embedded by build
	@$(GO) build $(FLAGS) -ldflags "-s -w" -o sandbox/helper/embed/helper-$$(go env GOOS)-$$(go env GOARCH) ./sandbox/helper/cmd

demo: build ## the main job, offline: a model fixes a failing test (PROVIDER=ollama MODEL=qwen3-coder:30b for a real one)
	@benchmarks/demo

test: helper ## everything hermetic, under three minutes
	go vet ./...
	go test ./...

race:
	go test -race ./agent/... ./sandbox/... ./local/... ./cmd/...

e2e: build ## real engine, real clients; caches outside the tree
	@.ci/e2e

engine: ## prints the path of an ollama binary, building one if none is installed
	@.ci/engine

bench: build ## prints figures; judges one, the first token after a warm-up
	@benchmarks/bench

fuzz: ## every fuzz target, FUZZTIME each
	@.ci/fuzz $(FUZZTIME)

check: ## what a reviewer would run first
	@test -z "$$(gofmt -l $$(git ls-files '*.go' ':!*testdata*'))" || { gofmt -l $$(git ls-files '*.go' ':!*testdata*'); exit 1; }
	go vet ./...
	@for at in darwin/arm64 darwin/amd64 windows/amd64 linux/arm64; do \
	  export GOOS=$${at%/*} GOARCH=$${at#*/} CGO_ENABLED=0; \
	  echo "build and vet for $$at"; go build -o /dev/null ./cmd/interpreter && go vet ./... || exit 1; \
	done

install: build ## PREFIX=~/.local
	install -d $(PREFIX)/bin
	install -m 755 bin/interpreter $(PREFIX)/bin/interpreter
	ln -sf interpreter $(PREFIX)/bin/i

clean:
	rm -rf bin sandbox/helper/embed/helper-*
