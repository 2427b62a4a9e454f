# shellcheck shell=bash
# Packages of Debian built from their sources, for another C++ library or another system, for scripts that
# source this after common.sh as root.

# install_for_sources PACKAGE...: installs packages and has apt read sources.
install_for_sources() {
  local list=/etc/apt/sources.list.d/debian.sources
  export DEBIAN_FRONTEND=noninteractive
  if [ -e "$list" ]; then
    sed 's/^Types: deb$/Types: deb-src/' "$list" >"${list%/*}/sources_too.sources"
  else
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/sources_too.list
  fi
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends cmake ninja-build dpkg-dev "$@" >/dev/null
}

# build_packages FOLDER CMAKE_ARGUMENT... -- PACKAGE...: builds them as shared libraries and installs them
# in FOLDER, once; each can use those before it.
build_packages() {
  local folder=$1 source package
  local -a arguments=()
  shift
  while [ "$1" != -- ]; do
    arguments+=("$1")
    shift
  done
  mkdir -p "$folder/source"
  for package in "${@:2}"; do
    [ ! -e "$folder/build/$package/install_manifest.txt" ] || continue
    say "building $package"
    (cd "$folder/source" && apt-get -qq source "$package" >/dev/null 2>&1)
    source=$(echo "$folder/source/$package"-*/)
    [ ! -d "$source/build/cmake" ] || source+=build/cmake
    {
      cmake -S "$source" -B "$folder/build/$package" -G Ninja --no-warn-unused-cli -Wno-dev \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$folder" -DCMAKE_INSTALL_PREFIX="$folder" \
        -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
        -DFMT_TEST=OFF -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF \
        -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF -DJSON_BuildTests=OFF \
        -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DGIT_VERSION=0.0.0 \
        -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_ENABLE_WERROR=OFF \
        -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_STATIC=OFF "${arguments[@]}" &&
        cmake --build "$folder/build/$package" --target install
    } >"$folder/$package.log" 2>&1 || fail "see $folder/$package.log"
  done
}
