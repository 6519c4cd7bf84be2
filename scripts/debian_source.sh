#!/usr/bin/env bash
# scripts/debian_source.sh PACKAGE FOLDER: the code of one of Debian 12's source packages, as its authors published it.
#
# Without root and without touching the system; Debian's patches are left out. Debian 12's on whatever Debian this is.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_package.sh
debian_source bookworm "$2" "$1"
