#!/usr/bin/env bash
# Makes .venv and installs the project into it, editable, with the `dev` dependency group. Run by `make env`.
# A .venv that works is kept and brought up to date. LOCKED=true installs exactly the versions of constraints.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
  local name
  for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if new_enough "$name"; then echo "$name"; return; fi
  done
  return 1
}

make_venv() {
  local python
  rm -rf .venv
  if command -v uv >/dev/null; then
    step "making .venv with uv" uv venv --python '>=3.11' .venv && return
    say "uv found no Python 3.11 or later: run \`uv python install 3.13\`, then \`make env\` again."
  elif ! python=$(find_python); then
    say "No Python 3.11 or later on PATH: install one (or uv, which brings its own), then run \`make env\` again."
  else
    step "making .venv with $(command -v "$python")" "$python" -m venv .venv && return
    rm -rf .venv
    say "If it was the venv module that is missing: run \`apt install python3-venv\` (or install uv), then \`make env\` again."
  fi
  exit 1
}

install() {
  if ! command -v uv >/dev/null; then
    step "bringing pip up to date" pip_install 'pip>=25.1' || return # the first that knows dependency groups
  fi
  step "installing lsp-mcp and its development tools" pip_install --editable . --group dev ${LOCKED:+--constraint constraints.txt}
}

new_enough .venv/bin/python || make_venv
if ! install; then
  say "Run \`make env\` again once the cause above is gone; \`rm -rf .venv\` first starts from scratch."
  exit 1
fi
