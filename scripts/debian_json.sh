#!/usr/bin/env bash
# A C++ project of some size, from Debian's packages, without root and without touching the system:
# .tools/nlohmann-json, the headers of nlohmann's JSON library and a few of the programs that its manual shows.
#
# Debian 12's, on whatever Debian this is, so that everybody measures the same code.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_package.sh
suite=bookworm tree=$PWD/.tools/nlohmann-json unpacked=$PWD/.tools/nlohmann-json.unpacked
sysroot=$PWD/.tools/sysroot # the C and C++ libraries, where the system has none to compile with
programs=(
  README at__json_pointer basic_json__CompatibleType contains__json_pointer dump exception
  from_json__non_default_constructible get_to merge_patch nlohmann_define_type_non_intrusive_explicit
  nlohmann_json_serialize_enum parse__istream__parser_callback_t patch sax_parse sax_parse__binary to_cbor type_error
)

make_tree() {
  local program
  debian_unpack "$suite" "$unpacked" =nlohmann-json3-dev
  rm -rf "$tree"
  mkdir -p "$tree"/{include,src}
  mv "$unpacked/usr/include/nlohmann" "$tree/include"
  for program in "${programs[@]}"; do
    mv "$unpacked/usr/share/doc/nlohmann-json3-dev/examples/$program.cpp" "$tree/src"
  done
  rm -rf "$unpacked"
}

make_sysroot() {
  debian_unpack "$suite" "$unpacked" =libstdc++-12-dev =libgcc-12-dev =libc6-dev =linux-libc-dev
  find "$unpacked" -name '*.a' -delete # 40 MB, for linkers
  rm -rf "$sysroot"
  mv "$unpacked" "$sysroot"
}

# Whether clangd finds the standard libraries by itself: it looks where compilers have them.
finds_libraries() {
  local folder found=0
  folder=$(mktemp -d)
  printf '#include <cstdlib>\n#include <vector>\nstd::vector<int> probe;\n' >"$folder/probe.cpp"
  .venv/bin/python scripts/compile_commands.py "$folder" "$@"
  clangd --check="$folder/probe.cpp" --log=error || found=1
  rm -rf "$folder"
  return "$found"
}

# Made again after this list of programs has changed.
if [ ! "$tree/include" -nt scripts/debian_json.sh ]; then make_tree; fi
flags=()
if ! finds_libraries; then
  flags=("--sysroot=$sysroot")
  if ! finds_libraries "${flags[@]}"; then make_sysroot; fi
  finds_libraries "${flags[@]}"
fi
.venv/bin/python scripts/compile_commands.py "$tree" "${flags[@]}"
