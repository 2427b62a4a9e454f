#!/usr/bin/env bash
# Runs the tests of exported C files once more, with these files compiled to WebAssembly by Zig and run by Node.
# Usage: scripts/test_with_wasm.sh    (builds what is not built yet; needs node and python3-pip)
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=scripts/source_packages.sh
source "$(dirname "$0")/source_packages.sh"

install_zig
[ -f build/release/build.ninja ] || cmake --preset release >/dev/null
cmake --build --preset release --target trainer end_to_end_tests
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cat >"$room/run.js" <<'JS'
const { WASI } = require('node:wasi');
const wasi = new WASI({ version: 'preview1', args: [process.argv[2]] });
const code = require('node:fs').readFileSync(process.argv[2]);
WebAssembly.instantiate(code, wasi.getImportObject()).then(({ instance }) => {
  process.exitCode = wasi.start(instance);
});
JS
# The tests call cc with -o PROGRAM and then ./PROGRAM.
cat >"$room/cc" <<SH
#!/usr/bin/env bash
set -euo pipefail
arguments=("\$@")
for i in "\${!arguments[@]}"; do
  if [ "\${arguments[i]}" = -o ]; then program=\${arguments[i + 1]} && arguments[i + 1]+=.wasm; fi
done
"$PWD/build/zig/ziglang/zig" cc -target wasm32-wasi "\${arguments[@]}"
printf '#!/bin/sh\nexec node --no-warnings "$room/run.js" "\$0.wasm"\n' >"\$program"
chmod +x "\$program"
SH
chmod +x "$room/cc"
PATH=$room:$PATH build/release/bin/end_to_end_tests --gtest_brief=1 --gtest_filter='ExportCTest.*'
