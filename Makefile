# The project's commands; `make` alone lists them.
# ARGS goes to the program that a target runs:  make test ARGS="-k anchor -x"
# BACKEND chooses the language server:          make demo BACKEND=clangd

.DEFAULT_GOAL := help
.PHONY: help env tools check linters test test-fast coverage fix lock golden demo bench truth truth-index faults docs reference recording package

export PATH := $(CURDIR)/.tools/bin:$(CURDIR)/.venv/bin:$(PATH)
# Tests and measurements start this program hundreds of times: without bytecode each start compiles 400 files.
unexport PYTHONDONTWRITEBYTECODE
STAMP := .venv/.installed
BACKEND ?= gopls
# What the demo and the benchmark need of each; `scripts/tools.sh` gets it.
gopls_needs := gopls
clangd_needs := clangd json_tree
tasks_needs := gopls clangd
edits_needs := gopls clangd
questions_needs := gopls clangd
nvim_needs := gopls nvim dlv
truth_typescript_needs := languages linters
truth_basedpyright_needs := languages
truth_rust-analyzer_needs := languages
bench_board_needs := chromium
needs = $($(BACKEND)_needs) $($@_$(BACKEND)_needs)
get_needs = @$(if $(strip $(needs)),scripts/tools.sh $(needs))

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

env: $(STAMP) ## make .venv and install the project into it, editable

$(STAMP): pyproject.toml
	@scripts/env.sh
	@touch $@

tools: env ## get the programs that the tests drive: gopls, clangd, Neovim, debuggers, Chromium
	@scripts/tools.sh

check: env linters ## lint, formatting, types, spelling and wording; changes nothing
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/typos
	.venv/bin/python scripts/words.py --check
	scripts/lint.sh

linters: env
	@scripts/tools.sh linters

fix: env linters ## repair lint and formatting where that can be done by itself
	.venv/bin/ruff check --fix
	.venv/bin/ruff format
	scripts/lint.sh --fix

# Three at a time, a file of tests on one of them: a third of the time they wait for a language server. ARGS="-n 0 --pdb" to look into one.
test: tools ## run the tests
	.venv/bin/pytest -n 3 --dist loadfile $(ARGS)

FAST := tests/objects tests/features tests/words tests/syntax $(addprefix tests/test_,text.py uris.py visible.py \
	anchors.py waiting.py tcp_table.py constraints.py layers.py one_place_counts.py servers_are_named_in_one_place.py \
	parts_are_joined_by_the_table.py)

test-fast: env ## run the tests of the pure parts, which need no other program: about a minute
	.venv/bin/pytest -n 2 $(FAST) $(ARGS)

# The floor is for the modules that need no other program; branches count.
coverage: env ## measure what the tests of the pure parts cover: fails below the floor
	.venv/bin/pytest -n 2 $(FAST) tests/edits --cov --cov-report=term-missing:skip-covered $(ARGS)

lock: env ## rewrite constraints.txt: the newest versions that pyproject.toml allows, which `make env LOCKED=true` installs
	.venv/bin/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --upgrade --strip-extras \
	  --no-header --no-annotate --no-emit-index-url --quiet --output-file constraints.txt

# The tests that have expected answers; they need not run one after the other.
GOLDEN := tests/archives tests/test_mcp_server.py tests/test_docs.py tests/board/test_board_tools.py

golden: tools ## rewrite the expected answers, of some tests with ARGS="-k name": read the diff
	.venv/bin/pytest -n 3 --dist loadfile --update $(GOLDEN) $(ARGS)

demo: env ## show what the program does, with gopls (or BACKEND) on a small project and a large one
	$(get_needs)
	.venv/bin/python scripts/demo.py --backend $(BACKEND) $(ARGS)

bench: env ## measure the program against its language server, gopls or BACKEND
	$(get_needs)
	.venv/bin/python bench/bench.py --backend $(BACKEND) $(ARGS)

faults: env ## kill, stop and fill what sessions share, at random moments: ARGS="--rounds 20 --seed 2"
	@scripts/tools.sh gopls
	.venv/bin/python tests/faults.py $(ARGS)

truth: env ## examine the answers on real code against compilers: BACKEND=typescript ARGS="--seed 2 --quick"
	@scripts/tools.sh gopls clangd $(truth_$(BACKEND)_needs)
	.venv/bin/python truth/truth.py --backend $(BACKEND) $(ARGS)

truth-index: env ## compare indexes with live servers, 300 random symbols each: x/tools and cobra by scip-go, more with ARGS="FOLDER --backend typescript"
	@scripts/tools.sh gopls scip_go
	@test -n "$(ARGS)" || .venv/bin/python truth/fetch.py gopls cobra tools
	@if test -n "$(ARGS)"; then .venv/bin/python truth/index_truth.py $(ARGS); \
	else for tree in cobra tools; do .venv/bin/python truth/index_truth.py $$tree || status=1; done; exit $${status:-0}; fi

docs: env ## build the documentation into .site; a broken link or anchor fails
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet

reference: env ## write docs/reference from the program: tools, flags, adapter fields
	.venv/bin/python scripts/reference.py

recording: env ## record a session with gopls as docs/assets/recording.svg
	@scripts/tools.sh gopls
	.venv/bin/python scripts/recording.py

package: env ## build wheel and sdist, and try each in an empty environment
	scripts/package.sh
