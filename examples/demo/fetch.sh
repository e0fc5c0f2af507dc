#!/bin/bash
# Usage: fetch.sh DIR
#
# Puts the demo's raw data into DIR/raw: pictures with captions, a dictionary and the Python manual, from three Debian
# packages that are downloaded and unpacked, not installed. Needs no root. Does nothing where DIR/raw is complete
# already; DIR/raw appears whole or not at all, so a run that was cut short is simply started again.
#
# The data is under licences of its own (GPL-2 and others, see DIR/raw/usr/share/doc/*/copyright).
# Nothing is altered here: the dictionary holds three bytes that are not UTF-8, and data/utf8.h says what a reader
# of the text does about them.
set -euo pipefail

PACKAGES=(tuxpaint-stamps-default dict-gcide python3.11-doc)

if [[ $# -ne 1 ]]; then
  echo "usage: $0 DIR" >&2
  exit 2
fi
mkdir -p "$1"
directory=$(cd "$1" && pwd)
raw=$directory/raw
if [[ -d $raw ]]; then
  echo "demo data: there already, in $raw"
  exit 0
fi

work=$(mktemp -d "$directory/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT

# apt's sandbox user could not write into $work; the packages are verified either way.
as_self=(-o APT::Sandbox::User="$(id -un)")

download() {
  (cd "$work" && apt-get -q=2 "${as_self[@]}" "$@" download "${PACKAGES[@]}")
}

echo "demo data: downloading ${PACKAGES[*]} (about 190 MB) into $directory; nothing is installed"
if ! download; then
  echo "demo data: the system's package lists are missing or old; fetching lists of our own"
  mkdir -p "$work"/lists/partial "$work"/cache/archives/partial
  own_lists=(-o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache")
  apt-get -q=2 "${as_self[@]}" "${own_lists[@]}" update
  download "${own_lists[@]}"
fi

mkdir "$work/raw"
for package in "${PACKAGES[@]}"; do
  echo "demo data: unpacking $package"
  dpkg-deb -x "$work/$package"_*.deb "$work/raw"
done
# Sounds and drawings (half of it) are not used.
find "$work/raw" -type f \( -name '*.ogg' -o -name '*.wav' -o -name '*.svg' \) -delete
dictionary=$work/raw/usr/share/dictd/gcide
gzip -dc "$dictionary.dict.dz" > "$dictionary.txt"
rm "$dictionary.dict.dz"
chmod -R u+w "$work/raw"
mv -T "$work/raw" "$raw"
echo "demo data: ready in $raw ($(du -sh "$raw" | cut -f1))"
