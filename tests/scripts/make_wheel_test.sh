#!/usr/bin/env bash
# scripts/make_wheel.py packs a program so that pip can install it, and twice into the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir -p "$folder"/{a,b,files/bin,files/lib}
cp /bin/true "$folder/files/bin/trainer"
echo library >"$folder/files/lib/libtrainer_core.so"
for copy in a b; do
  engine=$(scripts/make_wheel.py "$folder/files" "$folder/$copy" 1.0.0-rc1 manylinux_2_36_x86_64 --libtorch 2.15.0)
  file=$(scripts/make_wheel.py /bin/true "$folder/$copy" 1.0.0-rc1 manylinux_2_28_x86_64)
done
diff -r "$folder/a" "$folder/b"
case "${file##*/}" in
  trainer_cli-1.0.0rc1-py3-none-manylinux_2_28_x86_64.whl) ;;
  *)
    echo "FAILED: another name: $file"
    exit 1
    ;;
esac
python3 - "$engine" "$file" <<'PYTHON'
import base64
import hashlib
import sys
import zipfile
expected = {
    "trainer_cli_engine": ("trainer_engine/1.0.0-rc1/bin/trainer", ["trainer-cli==1.0.0rc1", "torch==2.15.*"]),
    "trainer_cli": (
        "trainer_cli-1.0.0rc1.data/scripts/trainer",
        ['trainer-cli-engine==1.0.0rc1; extra == "train"'],
    ),
}
for file in sys.argv[1:]:
    wheel = zipfile.ZipFile(file)
    [record] = [name for name in wheel.namelist() if name.endswith("/RECORD")]
    for line in wheel.read(record).decode().splitlines():
        name, digest, size = line.rsplit(",", 2)
        if name == record:
            continue
        content = wheel.read(name)
        found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={found}", str(len(content))), name
    program, needed = expected.pop(record.split("-")[0])
    assert wheel.getinfo(program).external_attr >> 16 & 0o777 == 0o755
    lines = wheel.read(record.replace("RECORD", "METADATA")).decode().split("\n\n")[0].splitlines()
    assert [line[15:] for line in lines if line.startswith("Requires-Dist: ")] == needed, lines
assert not expected
PYTHON
echo "make_wheel: good"
