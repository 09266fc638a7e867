"""Variables of a text of CUDA, ``__constant__ float weights[9];``, which the host sees too.

SYCL has no such variables on all devices. So they become the members of one struct in memory of the
device, and each kernel and function that reads one, or calls a function that does, gets a pointer
to it as one parameter more.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from dataclasses import dataclass

#: The struct, the parameter, and the kernel that says where its members are.
STRUCT = "usmx_variables"
PARAMETER = "usmx_given"
PLACES = "usmx_places"

_DECLARED = re.compile(
    r"(?:\b(?:static|extern)\s+)?(?:__(?:constant|device|managed)__\s+)+"
    r"(?P<type>(?:(?:const|unsigned|signed|long|volatile)\s+)*[A-Za-z_][\w:]*(?:<[^;(){}]*>)?)\s+"
    r"(?=[A-Za-z_]\w*\s*[\[=;,])"
)
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)")
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*(?=\()")
#: What stands before a parenthesis and is not a function.
_WORDS = frozenset({
    "if", "for", "while", "switch", "return", "sizeof", "alignof", "decltype", "__launch_bounds__",
    "static_assert", "defined", "__align__", "alignas", "__attribute__",
})  # fmt: skip


@dataclass
class Variables:
    """What the variables of a text are.

    Attributes
    ----------
    text : str
        The text without their declarations, and with the parameter; lines stay.
    names : list of str
        Of the variables.
    head : str
        The struct, after what the text declares before the first variable.
    readers : set of str
        The functions and kernels that have the parameter.
    """

    text: str
    names: list[str]
    head: str
    readers: set[str]


def _depths(plain: str) -> list[int]:
    """How many braces are open at each character."""
    found, depth = [], 0
    for c in plain:
        depth -= c == "}"
        found.append(depth)
        depth += c == "{"
    return found


def _without_linkage(plain: str) -> str:
    """Without ``extern "C" {``, which changes no depth; the quotes are blank."""
    return re.sub(r"extern\s*\{", lambda m: " " * len(m[0]), plain)


def _closing(plain: str, at: int) -> int:
    """Where the bracket at a place is closed."""
    opening = plain[at]
    closing = {"(": ")", "{": "}"}[opening]
    depth = 0
    for k in range(at, len(plain)):
        depth += (plain[k] == opening) - (plain[k] == closing)
        if depth == 0:
            return k
    raise ValueError(f"a '{opening}' of the text is not closed")


def _split(names: str) -> list[str]:
    """``a[2], b = {1, 2}`` at the commas between names."""
    parts, depth = [""], 0
    for c in names:
        depth += (c in "{[(") - (c in "}])")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def found_in(text: str, plain: str, kernels: set[str]) -> Variables | None:
    """The variables of a text; None if it has none.

    Parameters
    ----------
    text : str
        Of CUDA.
    plain : str
        The same with blanks for comments and quotes.
    kernels : set of str
        Names of its kernels.
    """
    depths = _depths(_without_linkage(plain))
    members: list[str] = []
    names: list[str] = []
    first = -1
    cut = list(text)
    for m in _DECLARED.finditer(plain):
        if depths[m.start()] != 0:
            continue
        end = m.end()
        while plain[end] != ";" or depths[end] != 0:
            end += 1
        kind = re.sub(r"\b(const|volatile)\b\s*", "", m["type"])
        for one in _split(text[m.end() : end]):
            name = _NAME.match(one)
            assert name is not None
            names.append(name[1])
            members.append(f"alignas(16) {kind} {one.strip()};".replace("\n", " "))
        first = m.start() if first < 0 else first
        for k in range(m.start(), end + 1):
            if cut[k] != "\n":
                cut[k] = " "
    if not names:
        return None
    bodies = _functions(plain, depths)
    readers: set[str] = set()
    any_of = re.compile(rf"(?<![\w.>])({'|'.join(names)})\b")
    grown = True
    while grown:
        grown = False
        for function, (_, begin, end) in bodies:
            if function in readers:
                continue
            body = plain[begin:end]
            calls = set(re.findall(r"[A-Za-z_]\w*", body)) & readers
            if any_of.search(body) or calls:
                readers.add(function)
                grown = True
    whole = _threaded("".join(cut), plain, bodies, readers, any_of, kernels)
    head = f"struct {STRUCT} {{ {' '.join(members)} }}; "
    # Where the first one stood, so that its types are declared; no line is added.
    lines_before = text.count("\n", 0, first)
    rows = whole.split("\n")
    rows[lines_before] = head + rows[lines_before]
    return Variables("\n".join(rows), names, head, readers)


def _functions(plain: str, depths: list[int]) -> list[tuple[str, tuple[int, int, int]]]:
    """Definitions: the name, where the parameters begin, and where the body begins and ends."""
    made = []
    for m in _FUNCTION.finditer(plain):
        if depths[m.start()] != 0 or m[1] in _WORDS:
            continue
        opening = plain.index("(", m.end(1))
        end = _closing(plain, opening)
        behind = re.match(r"\s*(?:const\s*)?(?:noexcept\s*)?\{", plain[end + 1 :])
        if behind is not None:
            begin = end + behind.end()
            made.append((m[1], (opening, begin, _closing(plain, begin))))
    return made


def _threaded(
    text: str,
    plain: str,
    bodies: list[tuple[str, tuple[int, int, int]]],
    readers: set[str],
    variables: re.Pattern[str],
    kernels: set[str],
) -> str:
    """The text with the parameter in definitions and calls, and the variables read by it."""
    inserted: dict[int, str] = {}
    replaced: dict[int, tuple[int, str]] = {}

    def insert(opening: int, what: str) -> None:
        empty = not plain[opening + 1 : _closing(plain, opening)].strip().removeprefix("void")
        inserted[opening + 1] = what if empty else f"{what}, "

    for function, (opening, begin, end) in bodies:
        if function not in readers:
            continue
        insert(opening, f"{STRUCT}* {PARAMETER}")
        for m in variables.finditer(plain, begin, end):
            replaced[m.start()] = m.end(), f"({PARAMETER}->{m[1]})"
        for m in re.finditer(r"([A-Za-z_]\w*)\s*(?:<[^;(){}]*>\s*)?(?=\()", plain[begin:end]):
            if m[1] in readers and m[1] not in kernels:
                insert(plain.index("(", begin + m.end()), PARAMETER)
    parts, k = [], 0
    while k < len(text):
        if k in inserted:
            parts.append(inserted[k])
        if k in replaced:
            k_next, new = replaced[k]
            parts.append(new)
            k = k_next
            continue
        parts.append(text[k])
        k += 1
    return "".join(parts)


def places(names: list[str]) -> str:
    """A kernel that sets the variables to their first values, and says where they are."""
    lines = [f"USMX_KERNEL(1) {PLACES}({STRUCT}* to, int64_t* places, int sets) {{"]
    lines += [f"if (sets) *to = {STRUCT}{{}};", f"places[0] = sizeof({STRUCT});"]
    for k, name in enumerate(names):
        at = f"(const char*)&to->{name} - (const char*)to"
        lines.append(f"places[{2 * k + 1}] = {at}; places[{2 * k + 2}] = sizeof(to->{name});")
    return "\n" + " ".join(lines) + " }\n"


def by_pointer(text: str, plain: str, kernel: str, numbers: tuple[int, ...]) -> str:
    """The text with structs that a kernel takes by value behind pointers: lines stay.

    Parameters
    ----------
    text : str
        Of CUDA.
    plain : str
        The same with blanks for comments and quotes.
    kernel : str
        Name of the kernel.
    numbers : tuple of int
        Of its parameters.
    """
    for name, (opening, begin, _) in _functions(plain, _depths(_without_linkage(plain))):
        if name != kernel:
            continue
        closing = _closing(plain, opening)
        parameters = _split(text[opening + 1 : closing])
        first = ""
        for k in numbers:
            found = re.match(r"(.*?)(\w+)\s*$", parameters[k], re.DOTALL)
            if found is None:
                continue
            parameters[k] = f"{found[1]}*{found[2]}_at"
            first += f" {found[1].strip()} {found[2]} = *{found[2]}_at;"
        head = text[: opening + 1] + ",".join(parameters)
        return head + text[closing : begin + 1] + first + text[begin + 1 :]
    return text
