# shellcheck shell=bash
# Debian's packages without root and without touching the system. Sourced, from the top of the checkout.

# debian_state WORK SUITE KIND   an apt of our own in the folder WORK, which knows the packages of a suite of Debian
#
# KIND is deb, or deb-src for source packages. apt works with a state of its own and asks the mirrors that this machine
# is configured for. Sets APT_CONFIG.
debian_state() {
  local work=$1 suite=$2 kind=$3 options keyring mirror=""
  rm -rf "$work"
  mkdir -p "$work"/{lists/partial,cache/archives/partial,dpkg}
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

  # From here on the only source is the suite, on the first of these mirrors that has it.
  cat >>"$work/apt.conf" <<END
Dir::Etc::sourcelist "$work/suite.list";
Dir::Etc::sourceparts "/dev/null";
END
  options=""
  if [ "$kind" = deb ]; then options="arch=$(dpkg --print-architecture) target=Packages"; fi
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  if [ -e "$keyring" ]; then options+=" signed-by=$keyring"; fi
  while read -r mirror; do
    echo "$kind ${options:+[$options]} $mirror $suite main" >"$work/suite.list"
    if apt-get -qq --error-on=any update; then break; fi
    mirror=""
  done <"$work/mirrors"
  if [ -z "$mirror" ]; then
    echo "No source in this machine's apt configuration has Debian's suite $suite. It names:"
    cat "$work/mirrors"
    return 1
  fi
}

# debian_unpack SUITE FOLDER PACKAGE...   unpack packages of a suite of Debian into FOLDER, replacing what is there
#
# Each package comes with everything that it depends on, down to the C library; one that is spelled =PACKAGE comes alone.
debian_unpack() {
  local suite=$1 folder=$2 work=$PWD/.tools/apt package
  local whole=() alone=()
  local -x APT_CONFIG=${APT_CONFIG:-}
  shift 2
  for package; do
    case $package in
      =*) alone+=("${package#=}") ;;
      *) whole+=("$package") ;;
    esac
  done

  rm -rf "$folder"
  mkdir -p "$folder"
  debian_state "$work" "$suite" deb
  if [ ${#whole[@]} != 0 ]; then
    apt-get -qq --yes --download-only --no-install-recommends install "${whole[@]}"
  fi
  if [ ${#alone[@]} != 0 ]; then (cd "$work/cache/archives" && apt-get -qq download "${alone[@]}"); fi
  for package in "$work"/cache/archives/*.deb; do dpkg-deb -x "$package" "$folder"; done
  rm -rf "$work"
}

# debian_source SUITE FOLDER PACKAGE   unpack the source that a package was made from into FOLDER, without Debian's patches
debian_source() {
  local suite=$1 folder=$2 package=$3 work
  local -x APT_CONFIG=${APT_CONFIG:-}
  work=$(mktemp -d)
  debian_state "$work/apt" "$suite" deb-src
  (cd "$work" && apt-get -qq --download-only --only-source source "$package")
  rm -rf "$folder"
  mkdir -p "$folder"
  tar -xf "$work"/"$package"_*.orig.tar.* --directory "$folder" --strip-components=1
  rm -rf "$work"
}
