#!/usr/bin/env bash
# Luacheck from Debian's packages, without root and without touching the system: .tools/luacheck. It is pure Lua;
# scripts/luacheck.lua runs it in Neovim.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_package.sh
debian_unpack bookworm "$PWD/.tools/luacheck" =lua-check
