#!/usr/bin/env bash
# Lint shell scripts, workflows, the board's page and the Lua plugin: scripts/lint.sh [--fix]
#
# --fix rewrites what StyLua and ESLint can. Programs that `scripts/tools.sh linters` has not installed are named and
# left out; with CI=true that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh
export PATH="$PWD/.tools/bin:$PWD/.venv/bin:$PATH"
npm=.tools/npm/node_modules
fix=${1:-}
status=0

# over GLOB... -- COMMAND...   run COMMAND with the files of the repository that match
over() {
  local globs=()
  while [ "$1" != -- ]; do
    globs+=("$1")
    shift
  done
  shift
  git ls-files -z "${globs[@]}" | xargs -0 "$@" || status=1
}
lua=('lua/*.lua' 'plugin/*.lua' 'tests/lua/*.lua' 'scripts/*.lua')

not_checked() { # WHAT
  say "Not checked: $1. Run \`scripts/tools.sh linters\` to get what it needs."
  if [ "${CI:-}" = true ]; then status=1; fi
}

over '*.sh' .ci/run -- shellcheck

if command -v actionlint >/dev/null; then
  over '.github/workflows/*.yml' -- actionlint # with shellcheck for the commands
else
  not_checked "the workflows (actionlint)"
fi

if [ -d "$npm" ] && command -v node >/dev/null; then
  node $npm/eslint/bin/eslint.js --config scripts/npm/eslint.config.mjs ${fix:+--fix} web || status=1
  node $npm/typescript/bin/tsc --project scripts/npm/tsconfig.json || status=1
  over "${lua[@]}" -- node scripts/npm/stylua.mjs "${fix:---check}"
else
  not_checked "the board's page (ESLint, TypeScript) and the format of Lua (StyLua)"
fi

if [ -d .tools/luacheck ] && command -v nvim >/dev/null; then
  over "${lua[@]}" -- nvim -l scripts/luacheck.lua
else
  not_checked "Lua (Luacheck)"
fi
# Both have to be compiled (minutes): CI gets them with cargo, `make check` takes them from PATH.
if command -v selene >/dev/null; then (cd scripts/selene && selene --quiet ../../lua ../../plugin) || status=1; fi
if command -v emmylua_check >/dev/null; then emmylua_check -c scripts/emmylua/emmyrc.json lua || status=1; fi
exit $status
