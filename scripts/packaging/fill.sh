#!/usr/bin/env bash
# Makes in build/packages the archive of the sources of the last commit, and from it the formula of Homebrew
# and the recipe of conda-forge for a release that will be at URL.
# Usage: scripts/packaging/fill.sh URL
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/../common.sh"

url=${1:?"usage: scripts/packaging/fill.sh URL"}
version=$(project_version)
archive=trainer-$version.tar.gz
mkdir -p build/packages
git archive --prefix="trainer-$version/" HEAD | gzip -9n >"build/packages/$archive"
sum=$(sha256sum "build/packages/$archive" | cut -d ' ' -f 1)
for file in trainer.rb recipe.yaml; do
  sed -e "s|@URL@|${url%/}|; s|@VERSION@|$version|; s|@SHA256@|$sum|" "scripts/packaging/$file" >"build/packages/$file"
done
say "made build/packages/$archive, trainer.rb and recipe.yaml for ${url%/}"
