#!/usr/bin/env bash
# scripts/make_wheel.py packs a program so that pip can install it, and twice into the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir "$folder/a" "$folder/b"
for copy in a b; do
  file=$(scripts/make_wheel.py /bin/true "$folder/$copy" 1.0.0-rc1 manylinux_2_28_x86_64)
done
cmp "$folder"/{a,b}/*.whl
case "${file##*/}" in
  trainer_cli-1.0.0rc1-py3-none-manylinux_2_28_x86_64.whl) ;;
  *)
    echo "FAILED: another name: $file"
    exit 1
    ;;
esac
python3 - "$file" <<'PYTHON'
import base64
import hashlib
import sys
import zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[record] = [name for name in wheel.namelist() if name.endswith("/RECORD")]
for line in wheel.read(record).decode().splitlines():
    name, digest, size = line.rsplit(",", 2)
    if name == record:
        continue
    content = wheel.read(name)
    found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    assert (digest, size) == (f"sha256={found}", str(len(content))), name
[program] = [entry for entry in wheel.infolist() if entry.filename.endswith("/scripts/trainer")]
assert program.external_attr >> 16 & 0o777 == 0o755
PYTHON
echo "make_wheel: good"
