# Cases: descriptions of records that are malformed, contradict the type, or never end.
# SPDX-License-Identifier: Apache-2.0
from bad_descriptions import row

# --- typedescr --------------------------------------------------------------------------------

for name, value in {"int": 1, "str": "a", "dict": {"a": "<f4"}, "set": {("a", "<f4")}}.items():
    row(
        f"typedescr-{name}",
        TypeError,
        r"^typedescr: .*; expected a list",
        typedescr=value,
        typestr="|V4",
    )
for name, value in {
    "int": [1],
    "str": ["a"],
    "list": [["a", "<f4"]],
    "none": [None],
}.items():
    row(
        f"typedescr-of-{name}",
        TypeError,
        r"^typedescr\[0\]: .*; expected a tuple",
        typedescr=value,
        typestr="|V4",
    )
for name, value in {
    "name-int": [(1, "<f4")],
    "name-none": [(None, "<f4")],
    "name-title-int": [((1, "a"), "<f4")],
    "name-of-three": [(("a", "b", "c"), "<f4")],
    "type-int": [("a", 4)],
    "type-none": [("a", None)],
    "type-tuple": [("a", ("<f4",))],
}.items():
    row(f"typedescr-{name}", TypeError, r"^typedescr\[0\]: ", typedescr=value, typestr="|V4")
for name, value in {
    "one-item": [("a",)],
    "four-items": [("a", "<f4", 1, 1)],
    "no-items": [()],
}.items():
    row(
        f"typedescr-{name}",
        ValueError,
        r"^typedescr\[0\] is not \(name, type\)",
        typedescr=value,
        typestr="|V4",
    )
for name, value in {
    "empty": [],
    "too-small": [("a", "<i2")],
    "too-large": [("a", "<f8")],
    "twice-the-same-name": [("a", "<i2"), ("a", "<i2")],
    "bad-type": [("a", "f4")],
    "swapped-type": [("a", ">f4")],
    "text-type": [("a", "|S4")],
    "negative-shape": [("a", "<i2", (-2,))],
    "huge-shape": [("a", "<i2", (2**62, 2**62))],
    "shape-beyond-int64": [("a", "<i2", 2**64)],
    "second-bad": [("a", "<i2"), ("b", "<i3")],
    "nested-bad": [("a", [("b", "<i2"), ("c", "<q2")])],
    "nested-empty": [("a", [])],
    "name-lone-surrogate": [("\ud800", "<f4")],
}.items():
    row(f"typedescr-{name}", ValueError, r"^typedescr", typedescr=value, typestr="|V4")
row(
    "typedescr-shape-float",
    TypeError,
    r"^typedescr\[0\]: ",
    typedescr=[("a", "<i2", 2.0)],
    typestr="|V4",
)


def holds_itself():
    fields: list = []
    fields.append(("a", fields))
    return fields


def doubles(levels):
    fields: list = [("a", "|u1"), ("b", "|u1")]
    for _ in range(levels):
        fields = [("a", fields), ("b", fields)]
    return fields


row(
    "typedescr-holds-itself",
    ValueError,
    r"32 levels",
    typedescr=lambda g: holds_itself(),
    typestr="|V4",
)
row(
    "typedescr-doubles-30-times",
    ValueError,
    r"10000 fields",
    slow=True,
    typedescr=lambda g: doubles(30),
    typestr="|V4",
)
row("typedescr-contradicts-a-number", ValueError, r"^typedescr: ", typedescr=[("", "<f8")])
