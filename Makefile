# The front door. Everything below is CMake with presets; see CMakePresets.json.
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS_PER_TARGET ?= 120
PENTA = build/release/bin/penta
DOOM = ../shared/data/pvm/blobs/doom.polkavm
WAD = /usr/share/games/doom/freedoom1.wad

.PHONY: all demo check test test-long vectors bench doom web fuzz mutate coverage format docs vscode install uninstall clean help
all: ## build the release preset: build/release/bin/penta
	@scripts/packages build
	@mkdir -p build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build/release

demo: all ## install what is missing, build, and show what penta does on bundled programs
	@scripts/packages guest
	@scripts/demo $(PENTA)

check: ## the tests for every day: under two minutes
	@scripts/packages build check
	@scripts/test daily

test: ## every test but the campaigns, through CTest
	@scripts/packages build guest check test
	@scripts/test

test-long: ## campaigns of an hour and more
	@scripts/packages build guest check test long cluster cross web
	@scripts/test long

vectors: ## the test vectors of other projects in DATA=DIR (docs/vectors.md)
	@scripts/packages build guest test
	@scripts/vectors '$(DATA)'

bench: all ## measure, print ratios; PEERS=FILE adds other implementations (NAME=CMD a line), BLOB=FILE a program to compile
	@PEERS='$(PEERS)' BLOB='$(BLOB)' scripts/bench

doom: all ## play Doom in the terminal: DOOM=the PolkaVM program, WAD=FILE (Debian: freedoom)
	@test -e $(DOOM) || { echo "no program $(DOOM): make doom DOOM=FILE"; exit 1; }
	@test -e $(WAD) || scripts/packages doom
	@test -e $(WAD) || { echo "no $(WAD): make doom WAD=FILE"; exit 1; }
	@build/release/bin/doom $(DOOM) $(WAD)

test-programs: all ## programs that others wrote, built by penta-cc and run on both engines; sources from Debian, or in SOURCES=DIR
	@scripts/packages build guest programs
	@SOURCES=$(SOURCES) scripts/test-programs

web: ## the library as WebAssembly and the explorer's page: build/web
	@scripts/packages build web
	@scripts/web crypto

fuzz: ## fuzz every target for SECONDS_PER_TARGET (120)
	@scripts/packages build check test
	@scripts/fuzz $(SECONDS_PER_TARGET)

mutate: ## change the code in SAMPLE (20) places by SEED (1), or of FILES, and see which tests notice
	@scripts/packages build guest check test
	@scripts/mutate $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(if $(FILES),--files '$(FILES)')

coverage: ## which lines and branches the tests of make test reach, by folder: a table, and build/coverage/index.html
	@scripts/packages build guest test
	@scripts/coverage

format: ## clang-format over the sources
	@scripts/packages format
	@scripts/sources | xargs scripts/clang-format -i

docs: all ## write the tables of docs/ and the colours of editors/ that come from the sources
	@scripts/docs $(PENTA)
	@scripts/grammars $(PENTA)

vscode: ## pack the extension for VS Code: build/penta.vsix (vsce, or npm fetches it)
	@scripts/vscode build/penta.vsix

install: all ## install to DESTDIR and PREFIX (/usr/local)
	@DESTDIR=$(DESTDIR) scripts/install build/release $(PREFIX) build/release/installed.txt

uninstall: ## remove what install wrote, and the folders it made
	@scripts/uninstall build/release/installed.txt

clean: ## remove build/
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 14
