"""Writes what is said of the software of others in usmx, from licenses/components.toml.

``python tools/components.py notices`` writes THIRD-PARTY-NOTICES.txt. ``python tools/components.py
sbom FILE FOLDER ...`` writes a list of components in CycloneDX's format, which goes into the wheel
(PEP 770); versions are read from the headers below the folders, which are those that were compiled.
"""
# SPDX-License-Identifier: Apache-2.0

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LICENSES = ROOT / "licenses"
BAR = "=" * 80


def components() -> list[dict[str, Any]]:
    """The rows of the list."""
    text = (LICENSES / "components.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["component"]
    return found


def notices() -> str:
    """The licences, one after the other."""
    parts = [
        "Software of others that is compiled into usmx. The libraries that a wheel depends on, "
        "such as the SYCL\nruntime, are packages of their own with licences of their own.\n"
    ]
    for row in components():
        note = f", {row['note']}" if "note" in row else ""
        text = (LICENSES / f"{row['name']}.txt").read_text(encoding="utf-8")
        parts.append(f"{BAR}\n{row.get('shown', row['name'])}: {row['url']}{note}\n{BAR}\n\n{text}")
    return "\n".join(parts)


def version(row: dict[str, Any], folders: list[Path]) -> str:
    """The version of the headers that are compiled; the first folder that has them counts."""
    for folder in folders:
        header = folder / row["header"]
        if header.is_file():
            found = re.search(row["version"], header.read_text(encoding="utf-8"))
            if found is None:
                raise SystemExit(f"{header}: says no version as licenses/components.toml has it")
            return ".".join(str(int(number)) for number in found.groups())
    listed = ", ".join(map(str, folders))
    raise SystemExit(f"{row['name']}: {row['header']} is in none of {listed}")


def sbom(folders: list[Path]) -> dict[str, Any]:
    """The list in CycloneDX's format, version 1.6."""
    own = (ROOT / "include/usmx/version.hpp").read_text(encoding="utf-8")
    (release,) = re.findall(r'version = "([0-9.]+)"', own)
    purl = f"pkg:pypi/usmx@{release}"
    parts = []
    for row in components():
        number = version(row, folders)
        parts.append(
            {
                "type": "library",
                "bom-ref": f"{row['purl']}@{number}",
                "name": row["name"],
                "version": number,
                "licenses": [{"expression": row["license"]}],
                "purl": f"{row['purl']}@{number}",
                "externalReferences": [{"type": "vcs", "url": row["url"]}],
            }
        )
    references = [part["bom-ref"] for part in parts]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": purl,
                "name": "usmx",
                "version": release,
                "licenses": [{"expression": "Apache-2.0"}],
                "purl": purl,
            }
        },
        "components": parts,
        "dependencies": [
            {"ref": purl, "dependsOn": references},
            *({"ref": reference} for reference in references),
        ],
    }


def main(what: str, *arguments: str) -> None:
    """Run the command that the module's first lines describe."""
    if what == "notices":
        (ROOT / "THIRD-PARTY-NOTICES.txt").write_text(notices(), encoding="utf-8")
        return
    file, *folders = (Path(argument) for argument in arguments)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(sbom(folders), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
