"""Pages of the reference of Python: every public name, with its signature and its docstring.

Imports the package as it is installed, since many of its names are compiled. A docstring, which has
NumPy's sections, becomes Markdown, so that a page is complete for readers of the text as well.
"""
# SPDX-License-Identifier: Apache-2.0

import contextlib
import inspect
import re
import types
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

#: Public modules with pages of their own, after `usmx` itself. Those that give arrays other
#: libraries' attributes when they are imported come last.
MODULES = (
    "memory",
    "random",
    "linalg",
    "fft",
    "special",
    "ipc",
    "interop",
    "tracing",
    "counters",
    "doctor",
    "migrate",
    "paths",
    "testing",
    "typing",
    "dask",
    "ray",
    "zarr",
    "compat.dpctl",
    "compat.numba_dpex",
    "compat.numba_types",
    "compat.cuda",
    "compat.cupy",
)
#: Modules of which the pages list names: what they do is said by the projects that they follow.
NAMES_ONLY = ("compat.", "testing")

#: Sections of docstrings whose entries are names with descriptions. Those of other sections are so
#: if one has a name and a type.
ENTRIES = ("Parameters", "Returns", "Yields", "Raises", "Attributes")


@dataclass
class Page:
    """A page of the reference."""

    title: str
    intro: str
    names: list[str]


#: Names of `usmx` by page, in this order; `of_usmx` finds the pages of functions of arrays.
TOPICS = {
    "ndarray": Page("ndarray", "The array.", ["ndarray", "usm_ndarray"]),
    "creation": Page(
        "Creating arrays",
        "New arrays, and arrays over memory that exists.",
        [
            "empty", "zeros", "ones", "full", "arange", "empty_like", "zeros_like", "ones_like",
            "full_like", "asarray", "from_numpy", "from_dlpack", "from_pointer", "broadcast_to",
            "numpy_memory",
        ],
    ),
    "pieces": Page(
        "Files larger than memory",
        "Arrays in files, computed piece by piece: [files](../../files.md).",
        ["open", "FileArray", "FileTable"],
    ),
    "devices": Page(
        "Devices, queues and events",
        "Where commands run and when they have ended: [devices](../../devices.md).",
        [
            "Device", "Platform", "Context", "Queue", "Event", "devices", "platforms",
            "default_queue", "get_execution_queue", "get_coerced_usm_type",
        ],
    ),
    "transfers": Page(
        "Transfers",
        "Copies and fills: [transfers](../../transfers.md).",
        [
            "copy", "copy_async", "copy_2d", "copy_2d_async", "fill", "fill_async", "memset",
            "memset_async", "prefetch", "prefetch_async", "mem_advise", "mem_advise_async",
        ],
    ),
    "kernels": Page(
        "Kernels",
        "Kernels of every tier: [Python](../../python-kernels.md), [C++](../../kernels.md), "
        "[expressions](../../expressions.md).",
        [
            "kernel", "device_func", "simulate", "RawKernel", "RawModule", "LocalMemory",
            "ElementwiseKernel", "ReductionKernel", "ScanKernel", "fuse", "program_memory",
            "set_program_memory", "use_programs",
        ],
    ),
    "tracing": Page(
        "Tracing",
        "What is copied, which line asked for it, and how long it takes: "
        "[tracing](../../tracing.md).",
        ["trace", "profile", "expect_zero_copy", "bench", "Timing"],
    ),
    "errors": Page(
        "Errors",
        "What usmx raises: [troubleshooting](../../troubleshooting.md) has the messages.",
        [
            "AllocationError", "BuildError", "CopyError", "DeviceError", "ExecutionPlacementError",
            "InteropError", "KernelError",
        ],
    ),
    "types": Page(
        "Element types and constants",
        "Element types are those of NumPy where it is installed.",
        [
            "dtype", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
            "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
        ],
    ),
    "package": Page(
        "The package",
        "Its version, its folders and its modules.",
        ["__version__", "get_include", "get_cmake_dir", "memory"],
    ),
}  # fmt: skip


def escaped(text: str) -> str:
    """Prose in which only what is between backticks is marked."""
    parts = re.split(r"(``.*?``|`.*?`)", text, flags=re.DOTALL)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([<*\[])|(?<!\w)(_)", r"\\\1\2", parts[k])
    return "".join(parts)


def of_entries(lines: list[str]) -> list[str]:
    """The entries of a section as a list."""
    made: list[str] = []
    for line in lines:
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            made.append(f"- `{name}`" + (f" ({escaped(kind)})" if kind else ""))
            if not re.match(r"[\w*][\w*., \[\]|]*$", name):
                made[-1] = f"- {escaped(line)}"
        elif line.strip():
            if made and made[-1].startswith("- "):
                made[-1] += ":"
            made.append("  " + escaped(line.strip()))
    return made


def of_prose(lines: list[str]) -> list[str]:
    """Paragraphs, lists and examples."""
    made: list[str] = []
    in_example = False
    for line in lines:
        starts = line.lstrip().startswith(">>>")
        if starts and not in_example:
            made += ["", "```pycon"]
        if in_example and not line.strip():
            made.append("```")
        in_example = (starts or in_example) and bool(line.strip())
        made.append(line if in_example else escaped(line))
    return [*made, "```"] if in_example else made


def markdown(docstring: str) -> str:
    """A docstring with NumPy's sections as Markdown."""
    lines = inspect.cleandoc(docstring).splitlines()
    blocks: list[tuple[str, list[str]]] = [("", [])]
    at = 0
    while at < len(lines):
        title = lines[at].strip()
        if title and at + 1 < len(lines) and re.fullmatch(r"\s*-{3,}", lines[at + 1]):
            blocks.append((title, []))
            at += 2
            continue
        blocks[-1][1].append(lines[at])
        at += 1
    made: list[str] = []
    for title, inside in blocks:
        if title:
            made += ["", f"**{title}**", ""]
        has_names = title and any(re.match(r"\S.* : ", line) for line in inside)
        made += of_entries(inside) if title in ENTRIES or has_names else of_prose(inside)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(made)).strip()


def annotation(kind: Any) -> str:
    """An annotation as it is written."""
    text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    return re.sub(r"\b(?:usmx\._usmx|_usmx|usmx|typing|builtins)\.", "", text)


def signature(function: Any, without_first: bool = False) -> str:
    """The parameters and the type of the result."""
    found = inspect.signature(function)
    shown: list[str] = []
    marked = False
    parameters = list(found.parameters.values())[without_first:]
    for k, parameter in enumerate(parameters):
        before = parameters[k - 1] if k else None
        if before and before.kind is before.POSITIONAL_ONLY and parameter.kind is not before.kind:
            shown.append("/")
        if parameter.kind is parameter.VAR_POSITIONAL:
            marked = True
        if parameter.kind is parameter.KEYWORD_ONLY and not marked:
            shown.append("*")
            marked = True
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        text = star + parameter.name
        typed = parameter.annotation is not parameter.empty
        if typed:
            text += f": {annotation(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            value = repr(parameter.default)
            value = "..." if value.startswith("<") else value
            text += f" = {value}" if typed else f"={value}"
        shown.append(text)
    if parameters and parameters[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        shown.append("/")
    result = ""
    if found.return_annotation is not found.empty:
        result = f" -> {annotation(found.return_annotation)}"
    return f"({', '.join(shown)}){result}"


def described(
    directive: str, head: str, doc: str, options: Iterable[str] = (), level: int = 3
) -> str:
    """A description of one name, for Sphinx's index and for its links."""
    fence = ":" * level
    return "\n".join([f"{fence}{{py:{directive}}} {head}", *options, "", doc, fence])


def bound(member: Any, owner: type, name: str) -> Any:
    """A member of a class as it is found there."""
    return (
        member.__func__ if isinstance(member, classmethod | staticmethod) else getattr(owner, name)
    )


def of_member(owner: type, name: str, member: Any) -> str:
    """The description of a method or an attribute."""
    if isinstance(member, property) or not callable(bound(member, owner, name)):
        doc = inspect.getdoc(member) or "" if isinstance(member, property) else ""
        kind = re.match(r"\(self\) -> ([^\n]+)$", doc)
        return described("attribute", name, f"{kind[1]}." if kind else markdown(doc))
    function = bound(member, owner, name)
    options = [":staticmethod:"] if isinstance(member, staticmethod) else []
    if isinstance(member, classmethod):
        options = [":classmethod:"]
    is_static = bool(options) and options[0] == ":staticmethod:"
    try:
        head = name + signature(function, without_first=not is_static)
    except (TypeError, ValueError):
        head = f"{name}(...)"
    return described("method", head, of_function(function), options)


def of_function(function: Any) -> str:
    """The docstring of a function without the signatures that a compiled one begins with."""
    lines = (inspect.getdoc(function) or "").splitlines()
    name = getattr(function, "__name__", "")
    while (
        lines
        and name
        and re.match(rf"(?:\d+\. )?``?{re.escape(name)}\(|{re.escape(name)}\(", lines[0])
    ):
        lines.pop(0)
    return markdown("\n".join(lines))


def own_members(owner: type) -> dict[str, Any]:
    """Public members of a class and of those of its bases that are of usmx.

    Not what a module for other libraries gave the class, for that depends on what is imported.
    """
    found: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        if base.__module__.split(".")[0] == "usmx" and not base.__name__.startswith("_"):
            found.update(vars(base))
    return {
        name: found[name]
        for name in sorted(found)
        if not name.startswith("_") and not is_of_compat(found[name])
    }


def is_of_compat(member: Any) -> bool:
    """Whether a member of a class comes from a module of `usmx.compat`."""
    function = member.fget if isinstance(member, property) else member
    return str(getattr(function, "__module__", "")).startswith("usmx.compat.")


def of_class(name: str, owner: type) -> str:
    """The description of a class with its members."""
    if issubclass(owner, BaseException):
        bases = ", ".join(base.__name__ for base in owner.__bases__)
        doc = markdown(owner.__doc__ or "") + f"\n\nDerives from `{bases}`."
        return described("exception", name, doc, level=4)
    parts = [markdown(owner.__doc__ or "")]
    enumerated = list(getattr(owner, "__members__", ()))
    for attribute, member in own_members(owner).items():
        if attribute not in enumerated:
            parts.append(of_member(owner, attribute, member))
    head = name
    with contextlib.suppress(TypeError, ValueError):
        head += signature(owner).split(" -> ")[0]
    return described("class", head, "\n\n".join(p for p in parts if p), level=4)


def of_name(module: str, name: str, others: dict[int, str]) -> str:
    """The description of a public name. Another name for the same thing refers to the first."""
    value = getattr(import_module(module), name)
    path = f"{module}.{name}"
    if not isinstance(value, str | int | float | type(None)):
        first = others.setdefault(id(value), path)
        if first != path:
            return described("data", name, f"Another name of {{py:obj}}`{first}`.")
    if isinstance(value, types.ModuleType):
        said = f"The module {{py:mod}}`{value.__name__}`."
        return described("data", name, said, [":no-index:"])
    if isinstance(value, type):
        return of_class(name, value)
    if callable(value):
        try:
            head = name + signature(value)
        except (TypeError, ValueError):
            head = f"{name}(...)"
        return described("function", head, of_function(value))
    is_plain = type(value).__module__ in ("builtins", "types", "typing", "usmx", "numpy.dtypes")
    doc = f"`{annotation(repr(value))}`" if is_plain else markdown(type(value).__doc__ or "")
    return described("data", name, doc)


def in_rows(names: Iterable[str]) -> str:
    """Names as one paragraph."""
    return ", ".join(f"`{name}`" for name in names) + "."


def of_module(name: str) -> str:
    """The page of a module."""
    module = import_module(f"usmx.{name}")
    path = f"usmx.{name}"
    parts = [f"# {path}", described("module", path, "").split("\n")[0] + "\n:::"]
    parts.append(markdown(module.__doc__ or ""))
    names = sorted(getattr(module, "__all__", None) or getattr(module, "NAMES", ()))
    if name.startswith(NAMES_ONLY):
        parts += ["## Names", in_rows(names)] if names else []
    else:
        others: dict[int, str] = {}
        parts += [of_name(path, n, others) for n in names]
    return "\n\n".join(parts) + "\n"


def first_sentence(doc: str) -> str:
    """A title out of a docstring."""
    return re.split(r"[.:](?:\s|$)", inspect.cleandoc(doc), maxsplit=1)[0].replace("\n", " ")


def of_usmx() -> dict[str, str]:
    """The pages of the names of `usmx` itself, each on one page."""
    usmx = import_module("usmx")
    namespace = import_module("usmx._namespace")
    topics = {key: Page(p.title, p.intro, list(p.names)) for key, p in TOPICS.items()}
    placed = {name for page in topics.values() for name in page.names}
    by_module: dict[str, list[str]] = {}
    language = {
        name
        for module, names in usmx._LATER.items()
        if module.startswith("_kernel.language")
        for name in names
    } - placed
    for name in usmx.__all__:
        if name in namespace.WHERE:
            by_module.setdefault(namespace.WHERE[name], []).append(name)
        elif name not in placed | language:
            raise ValueError(f"usmx.{name}: is in no topic of tools/python_reference.py")
    topics["language"] = Page(
        "The language of kernels",
        "Names for functions with `@usmx.kernel` and `@usmx.device_func`: "
        "[Python kernels](../../python-kernels.md).",
        sorted(language),
    )
    for module, names in by_module.items():
        if module in topics:
            topics[module].names += sorted(names)
            continue
        doc = import_module(f"usmx._namespace.{module}").__doc__ or ""
        title = module.replace("_", " ").capitalize()
        topics[module] = Page(title, first_sentence(doc) + ".", sorted(names))
    others: dict[int, str] = {}
    made = {}
    for key, page in topics.items():
        # One page is that of the module; the names of the others belong to it.
        place = "module" if key == "package" else "currentmodule"
        shown = [of_name("usmx", name, others) for name in page.names]
        parts = [f"# {page.title}", f":::{{py:{place}}} usmx\n:::", page.intro, *shown]
        made[key] = "\n\n".join(parts) + "\n"
    return made


def pages() -> dict[str, str]:
    """All pages and their list, by their names without suffix."""
    found = of_usmx()
    topics = list(found)
    for name in MODULES:
        found[f"usmx.{name}"] = of_module(name)
    index = [
        "# Python",
        "",
        "Every public name, by topic; `help(name)` shows the same in Python.",
        "",
    ]
    for caption, names in (
        ("usmx", topics),
        ("Modules", [name for name in found if name not in topics]),
    ):
        index += ["```{toctree}", f":caption: {caption}", "", *names, "```", ""]
    found["index"] = "\n".join(index)
    return found
