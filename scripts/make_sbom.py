#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what is in a program of trainer as a software bill of materials: CycloneDX 1.5, JSON. Its
date is SOURCE_DATE_EPOCH, so two runs of it give the same bytes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import urllib.parse


def component(kind: str, text: str) -> dict[str, str]:
    """Of `deb/debian/zlib@1:1.2.13`: where a package is from, its name and its version."""
    place, version = text.rsplit("@", 1)
    purl = f"pkg:{place}@{urllib.parse.quote(version)}"
    name = place.rsplit("/", 1)[1]
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="of trainer")
    parser.add_argument("component", nargs="*", help="as deb/debian/zlib@1:1.2.13")
    given = parser.parse_args()
    parts = [component("library", text) for text in sorted(set(given.component))]
    program = component("application", f"generic/trainer@{given.version}")
    date = datetime.datetime.fromtimestamp(
        int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc
    )
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": date.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": program},
        "components": parts,
        "dependencies": [
            {"ref": program["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}
        ],
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
