#!/usr/bin/env bash
# Puts the four files of Fashion-MNIST (Zalando Research, MIT license; 30 MB) into a folder: from
# Debian's package dataset-fashion-mnist where it is installed, else from upstream. Files that are
# there and right stay; each file appears whole and verified, or not at all.
# Usage: scripts/fetch_fashion_mnist.sh [FOLDER]    (default: configs/data/fashion-mnist)
# shellcheck source=scripts/common.sh
caller=$PWD
source "$(dirname "$0")/common.sh"

case "${1:-}" in
  -*) sed -n '2,5s/^# //p' "$0"; exit 0 ;;
  "") folder=configs/data/fashion-mnist ;;
  /*) folder=$1 ;;
  *) folder=$caller/$1 ;;
esac
debian=/usr/share/datasets/fashion-mnist
sources="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com
         https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"

# SHA-256 of the data, unpacked: Debian's files have other gzip headers than upstream's (no name and
# time), the data is the same.
sums="c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888 train-images-idx3-ubyte
      bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9 train-labels-idx1-ubyte
      5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b t10k-images-idx3-ubyte
      0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34 t10k-labels-idx1-ubyte"

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi
}

right() {  # right FILE SUM: whether it is a gzip file with this data and nothing else
  local sum
  [ -f "$1" ] && sum=$(gzip -dc "$1" 2>/dev/null | sha256 | cut -d' ' -f1) && [ "$sum" = "$2" ]
}

download() {  # download URL FILE
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --connect-timeout 20 --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --tries=1 --timeout=20 --output-document="$2" "$1"
  else
    python3 -c 'import shutil, sys, urllib.request as web
with web.urlopen(sys.argv[1], timeout=20) as source, open(sys.argv[2], "wb") as target:
    shutil.copyfileobj(source, target)' "$1" "$2"
  fi
}

get() {  # get NAME SUM PART: brings one file from the first source that has it right
  local source
  if right "$debian/$1.gz" "$2"; then
    cp "$debian/$1.gz" "$3"
    return
  fi
  for source in $sources; do
    say "downloading $source/$1.gz"
    if ! download "$source/$1.gz" "$3"; then
      say "not available there"
    elif right "$3" "$2"; then
      return
    else
      say "the downloaded file is wrong: its SHA-256 (unpacked) is not $2"
    fi
  done
  return 1
}

mkdir -p "$folder"
part=
trap 'rm -f "$part"' EXIT
num_new=0
while read -r sum name; do
  right "$folder/$name.gz" "$sum" && continue
  part="$folder/.$name.gz.$$"
  get "$name" "$sum" "$part" || fail "$name.gz could not be downloaded; no partial file is left." \
    "On Debian: apt-get install dataset-fashion-mnist; or put the file into $folder by hand"
  chmod 644 "$part"
  mv "$part" "$folder/$name.gz"
  num_new=$((num_new + 1))
done <<<"$sums"
say "four files in $folder, $num_new of them new"
