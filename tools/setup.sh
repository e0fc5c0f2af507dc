#!/bin/bash
# Installs the Debian packages that a part of the project needs, and nothing where they are all there.
#   tools/setup.sh build          to build, to run the release tests and the demo
#   tools/setup.sh build check    and for lint, sanitizers, fuzz and the model
set -euo pipefail

# One word a package, grouped by who needs it.
build_packages=(
  make git g++ cmake ninja-build ccache python3                                    # tools
  python3-dev python3-venv                                                         # Python
  flatbuffers-compiler libflatbuffers-dev libxxhash-dev libfmt-dev                 # library
  nlohmann-json3-dev libcli11-dev                                                  # command line
  libboost-context-dev                                                             # simulator
  libgtest-dev libgmock-dev librapidcheck-dev openssl                              # tests
  libcurl4-openssl-dev                                                             # bench
  libpng-dev libsentencepiece-dev sentencepiece                                    # demo
)
check_packages=(
  clang-19 lld-19 llvm-19 libclang-rt-19-dev                                       # sanitizers, fuzz
  clang-format-19 shellcheck                                                       # lint
  spin                                                                             # the model of the protocol
  strace                                                                           # bench-loader
)
# The cloud stores, where there is no cargo that is new enough: Debian's own is 1.63.
rust_min=1.95
rust_packages=(cargo-web rustc-web)
apt_tries_max=4 # a mirror that is busy for a moment should not fail a build

die() {
  echo "setup: $*" >&2
  exit 1
}

# Is VERSION, as printed by a command in the middle of other words, at least MINIMUM?
is_at_least() { [[ "$1" =~ [0-9]+\.[0-9]+ ]] && printf '%s\n%s\n' "$2" "${BASH_REMATCH[0]}" | sort --check=quiet --version-sort; }
has_rust() { is_at_least "$(rustc --version 2>/dev/null)" "$rust_min" && is_at_least "$(cargo --version 2>/dev/null)" "$rust_min"; }

wanted_packages() {
  local group
  for group in "$@"; do
    case "$group" in
      build)
        printf '%s\n' "${build_packages[@]}"
        has_rust || printf '%s\n' "${rust_packages[@]}"
        ;;
      check) printf '%s\n' "${check_packages[@]}" ;;
      *) die "no such group: $group (known: build, check)" ;;
    esac
  done
}

installed_packages() {
  # dpkg-query fails where it knows one of the names not at all: that one is missing, and that is the answer.
  dpkg-query --show --showformat '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | awk '$2 == "installed" { print $1 }' || true
}

require_debian_12() {
  local name="an unknown system" id="" version=""
  if [[ -r /etc/os-release ]]; then
    # shellcheck source=/dev/null
    read -r id version name < <(. /etc/os-release && echo "${ID:-?} ${VERSION_ID:-?} ${PRETTY_NAME:-?}")
  fi
  [[ "$id" == debian && "$version" == 12 ]] || die "this is $name; the project sets itself up on Debian 12 only. Missing: $*"
}

# Runs apt-get as root; without a terminal, and waiting for another apt rather than failing.
apt_get() {
  local as_root=()
  if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null || die "not root and no sudo: ask an administrator to install: ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
    -o APT::Update::Error-Mode=any -o Dpkg::Use-Pty=0 "$@" </dev/null
}

install_packages() {
  local try
  for ((try = 1; try <= apt_tries_max; try++)); do
    if apt_get update && apt_get install --yes --no-install-recommends "$@" >/dev/null; then return 0; fi
    ((try == apt_tries_max)) || sleep $((try * 5))
  done
  die "apt-get failed $apt_tries_max times; its messages are above. Wanted: $*"
}

(($# > 0)) || die "which part? build, check"
command -v dpkg-query >/dev/null || require_debian_12 "everything"
mapfile -t wanted < <(wanted_packages "$@")
((${#wanted[@]} > 0)) || exit 1
mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}" | LC_ALL=C sort -u) <(installed_packages "${wanted[@]}" | LC_ALL=C sort -u))
((${#missing[@]} > 0)) || exit 0

require_debian_12 "${missing[*]}"
echo "setup: installing ${#missing[@]} Debian packages: ${missing[*]}"
install_packages "${missing[@]}"
