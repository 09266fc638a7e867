"""Gives a wheel the platform tag that is true of it: the oldest manylinux that its symbols allow.

``python tools/tag_wheel.py file.whl`` rewrites the tag, renames the file and prints its new name.
The README that the wheel shows gets links that lead to the site.
libsycl is left where it is: it comes with the wheel ``intel-sycl-rt``, which usmx depends on.
"""
# SPDX-License-Identifier: Apache-2.0

import base64
import csv
import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from site_pages import from_outside

# The oldest glibc of a distribution whose libstdc++ has these versions: manylinux' own pairs.
GLIBCXX = {24: 28, 25: 28, 28: 31, 29: 34, 30: 35, 32: 38, 33: 39}
ALLOWED = {"libsycl.so.9", "libusmx.so.0"}
# What is loaded only where the extra `mkl` is installed: file -> its libraries.
OPTIONAL = {
    "usmx/lib/libusmx_onemkl.so": {
        "libmkl_core.so.3",
        "libmkl_intel_ilp64.so.3",
        "libmkl_sycl_blas.so.6",
        "libmkl_sycl_dft.so.6",
        "libmkl_sycl_lapack.so.6",
        "libmkl_tbb_thread.so.3",
    }
}
SYSTEM = re.compile(
    r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux-x86-64)\.so\.\d+$"
)

Version = tuple[int, ...]


def glibc_needed(symbols: str) -> int:
    """Minor version of the glibc 2 that a library's dynamic symbols ask for (``objdump -T``)."""
    glibc = [int(v) for v in re.findall(r"\bGLIBC_2\.(\d+)", symbols)]
    glibcxx = [int(v) for v in re.findall(r"\bGLIBCXX_3\.4\.(\d+)", symbols)]
    needed = max(glibc, default=0)
    if glibcxx:
        newest = max(glibcxx)
        fits = [g for x, g in GLIBCXX.items() if x >= newest]
        if not fits:
            raise SystemExit(f"GLIBCXX_3.4.{newest} is newer than this table: add it to GLIBCXX")
        needed = max(needed, min(fits))
    return max(needed, 28)  # older than intel-sycl-rt makes no sense


def foreign_libraries(dynamic: str) -> list[str]:
    """What a library needs and neither the system nor a wheel we depend on has (``readelf -d``)."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    return [n for n in needed if n not in ALLOWED and not SYSTEM.match(n)]


def inspect(wheel: Path) -> int:
    """The glibc that all libraries of a wheel need; exits if a needed library is not provided."""
    needed = []
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            if re.search(r"\.so(\.\d+)*$", name):
                if not archive.read(name).startswith(b"\x7fELF"):
                    continue  # a linker script
                file = archive.extract(name, folder)
                output = [
                    subprocess.run([*tool, file], capture_output=True, text=True, check=True).stdout
                    for tool in (("objdump", "-T"), ("readelf", "-d"))
                ]
                foreign = set(foreign_libraries(output[1])) - OPTIONAL.get(name, set())
                if foreign:
                    names = ", ".join(sorted(foreign))
                    raise SystemExit(f"{name} needs {names}, which no wheel has")
                needed.append(glibc_needed(output[0]))
    return max(needed)


def with_links(metadata: str) -> str:
    """The metadata of a wheel, with a description whose links work where the repository is not."""
    head, _, readme = metadata.partition("\n\n")
    site = re.search(r"(?m)^Project-URL: Changes, (\S+/)changes\.html$", head)
    if site is None:
        raise SystemExit("the metadata does not say where the page of changes is")
    return f"{head}\n\n{from_outside(readme, site[1])}"


def retag(wheel: Path, tag: str) -> Path:
    """Write the wheel again under another platform tag, and remove the old one."""
    name, version, python, abi, _ = wheel.stem.split("-")
    target = wheel.with_name(f"{name}-{version}-{python}-{abi}-{tag}.whl")
    record = f"{name}-{version}.dist-info/RECORD"
    rows = []
    # Under another name until it is complete: the names are the same for a tag that already fits.
    unfinished = target.with_suffix(".tmp")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(unfinished, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith(".dist-info/WHEEL"):
                content = re.sub(rb"(?m)^(Tag: [^-]+-[^-]+)-.*$", rb"\1-" + tag.encode(), content)
            if entry.filename.endswith(".dist-info/METADATA"):
                content = with_links(content.decode()).encode()
            if entry.filename == record:
                continue
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            rows.append((entry.filename, f"sha256={digest.decode()}", len(content)))
            new.writestr(entry, content, zipfile.ZIP_DEFLATED)
        text_rows = io.StringIO()
        csv.writer(text_rows, lineterminator="\n").writerows([*rows, (record, "", "")])
        new.writestr(record, text_rows.getvalue(), zipfile.ZIP_DEFLATED)
    wheel.unlink()
    return unfinished.rename(target)


if __name__ == "__main__":
    given = Path(sys.argv[1])
    print(retag(given, f"manylinux_2_{inspect(given)}_x86_64").name)
