#!/usr/bin/env bash
# Chromium from Debian's packages, without root and without touching the system: .tools/chromium and
# .tools/bin/chromium.
#
# Debian 12's, on that or any later Debian: it runs with this machine's C library, which is as new or newer, and finds
# the rest of its libraries, its settings of fonts and a font in what is unpacked here.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_package.sh
prefix=$PWD/.tools/chromium

mkdir -p .tools/bin
rm -f .tools/bin/chromium
debian_unpack bookworm "$prefix" chromium fonts-dejavu-core

libraries=$(dirname "$(find "$prefix/usr/lib" -name 'libnss3.so' | head -n 1)")
# This machine's loader takes no other C library than its own.
own="$(dirname "$(find "$prefix" -path '*/lib/*-linux-gnu/libc.so.6' | head -n 1)")"
rm -f "$own"/{ld-linux*,libc,libm,libmvec,libpthread,libdl,librt,libresolv,libutil,libanl,libnsl,libthread_db,libBrokenLocale}.so*
rm -f "$own"/{libnss_*,libc_malloc_debug,libmemusage,libpcprofile}.so*
# Without a screen nothing draws with the graphics card.
rm -rf "${libraries:?}"/{dri,libLLVM*} "${prefix:?}"/{etc,usr/bin,usr/sbin,usr/include}
find "$prefix/usr/share" -mindepth 1 -maxdepth 1 ! -name fonts ! -name fontconfig -exec rm -rf {} +

cat >"$prefix/fonts.conf" <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>$prefix/usr/share/fonts</dir>
  <cachedir>$prefix/fontcache</cachedir>
</fontconfig>
END
cat >"$prefix/chromium" <<END
#!/bin/sh
export LD_LIBRARY_PATH='$libraries:$libraries/pulseaudio:$own' FONTCONFIG_FILE='$prefix/fonts.conf'
exec '$prefix/usr/lib/chromium/chromium' "\$@"
END
chmod +x "$prefix/chromium"

"$prefix/chromium" --version
ln -s "$prefix/chromium" .tools/bin/chromium
