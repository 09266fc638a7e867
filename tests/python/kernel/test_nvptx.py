# Every kernel compiles for CUDA devices, on a machine that has none: the runtime's own compiler
# makes PTX of it, and what it leaves undefined is what the device library lacks.
# SPDX-License-Identifier: Apache-2.0
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import metadata

import lab
import pytest
from cuda_functions import EXACT, NEAR, SHUFFLES, VOTES, text_of
from depths import of_depth

from usmx.compat.cupy.translation import translated

KERNELS = lab.ROOT / "kernels"

# What the driver of a CUDA device has itself.
OF_THE_DRIVER = {"vprintf"}
# The compiler ends the process in which it is asked for PTX of such a kernel.
ENDS = 'static CONSTANT char c[] = "x"; __spirv_ocl_printf(c);'
DECLARED = (
    "#define CONSTANT const __attribute__((opencl_constant))\n"
    "USMX_DEVICE int __spirv_ocl_printf(CONSTANT char*, ...);\n"
    "USMX_DEVICE float __spirv_AtomicLoad(const float*, int, int) noexcept;\n"
)
INCLUDE = re.compile(r"#include (?:<[^>\n]*>|\"[^\"\n]*\")")
OPTIONAL = re.compile(r"^#ifdef (\w+)\n(.*?)^#endif", re.MULTILINE | re.DOTALL)
KERNEL = re.compile(r"\bUSMX_KERNEL\(\w+\)\s+\w+")
# The texts that are compiled as one. Most of what one takes is the device library of CUDA, which is
# read for each: 390 texts take 290 s of processor one by one.
AT_MOST = 16
EXTERN = re.compile(r"^\.extern \.func\s+(?:\([^)]*\)\s*)?([\w$]+)", re.MULTILINE)


def compiler():
    files = metadata.files("intel-sycl-rt") or []
    return next(p.locate() for p in files if p.name == "libsycl-jit.so")


def ptx_of(folder, name, text, options=(), kernels=KERNELS):
    """The PTX of a text, or what the compiler says."""
    source = folder / f"{name}.cpp"
    source.write_text(text)
    done = subprocess.run(
        [lab.built("to_ptx"), compiler(), kernels, source, *options],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def compile_all(folder, texts, at_most=AT_MOST):
    """Compile texts, several as one; return what is wrong, with the name of the text.

    Where several are not one, because a text is wrong or ends the compiler, each half of them is
    compiled again: so the one to blame is found, and the others are compiled all the same.
    """
    batches = [batch for texts_alike in alike(texts) for batch in parts(texts_alike, at_most)]
    said = []
    while batches:
        wrong = failures_of(folder, batches)
        said += [f"{batch[0][0]}: {text}" for batch, text in wrong if len(batch) == 1]
        batches = [
            half for batch, _ in wrong if len(batch) > 1 for half in parts(batch, len(batch) // 2)
        ]
    return said


def parts(texts, at_most):
    return [texts[k : k + at_most] for k in range(0, len(texts), at_most)]


def alike(texts):
    """The texts in lists of those that have the same options and include the same headers.

    So no text gets a header from another one.
    """
    lists = {}
    for name, text, given in texts:
        options = tuple(o for o in given if "early-opt" not in o)
        alone = name if "#define" in text else ""
        found = (options, tuple(sorted(INCLUDE.findall(text))), alone)
        lists.setdefault(found, []).append((name, text, options))
    return lists.values()


def as_one(batch):
    """One text of several: each in a namespace, its kernels with names of their own."""
    if len(batch) == 1:
        return batch[0][1]
    first = dict.fromkeys(found[0] for found in INCLUDE.finditer(batch[0][1]))
    bodies = []
    for k, (_, text, _) in enumerate(batch):
        renamed = KERNEL.sub(lambda kernel, k=k: f"{kernel[0]}_{k}", INCLUDE.sub("", text))
        bodies.append(f"namespace text_{k} {{\n{renamed}\n}}\n")
    return "\n".join([*first, *bodies])


def chosen(text, options):
    """The text without the kernels that no option chooses, of a file for one at a time."""
    return OPTIONAL.sub(lambda part: part[2] if f"-D{part[1]}" in options else "", text)


def failures_of(folder, batches):
    """Compile each batch as one text; return those that did not become PTX, and why."""
    lines = []
    for k, batch in enumerate(batches):
        (folder / f"{k}.cpp").write_text(as_one(batch))
        (folder / f"{k}.ptx").unlink(missing_ok=True)
        lines.append("\t".join([f"{k}.cpp", *batch[0][2]]))
    with ThreadPoolExecutor(2) as pool:
        halves = list(pool.map(partial(ended, folder), (lines[0::2], lines[1::2])))
    wrong = {name: text for half in halves for name, text in half.items()}
    for k, batch in enumerate(batches):
        if f"{k}.cpp" in wrong:
            continue
        ptx = (folder / f"{k}.ptx").read_text()
        entries = len(re.findall(r"\.entry\b", ptx))
        kernels = sum(len(KERNEL.findall(chosen(text, options))) for _, text, options in batch)
        if ".target sm_" not in ptx:
            wrong[f"{k}.cpp"] = ptx[-500:]
        elif missing := undefined(ptx):
            wrong[f"{k}.cpp"] = f"the device library has no {sorted(missing)}"
        elif entries < kernels:
            wrong[f"{k}.cpp"] = f"{entries} of {kernels} kernels became PTX"
    return [(batches[int(name.removesuffix(".cpp"))], text) for name, text in wrong.items()]


def ended(folder, lines):
    """Compile files of a folder by one process; return those at which it ended."""
    left, fatal = list(lines), {}
    while left:
        done = subprocess.run(
            [lab.built("to_ptx"), compiler(), KERNELS],
            cwd=folder,
            input="\n".join(left) + "\n",
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        compiled = done.stdout.splitlines()
        assert compiled == [line.split("\t")[0] for line in left[: len(compiled)]]
        left = left[len(compiled) :]
        if left:
            name = left.pop(0).split("\t")[0]
            fatal[name] = f"exit {done.returncode}: {done.stderr[-500:]}"
    return fatal


def undefined(ptx):
    return set(EXTERN.findall(ptx)) - OF_THE_DRIVER


def test_every_kernel_compiles_for_cuda(tmp_path):
    made = subprocess.run(
        [sys.executable, lab.HERE / "kernel_texts.py", "cuda"],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    texts = json.loads(made.stdout)
    kinds = {name.split("-")[0] for name, _, _ in texts}
    assert {
        "elementwise",
        "reductions",
        "scans",
        "sorts",
        "matrices",
        "transforms",
        "copies",
        "prelude",
        "python_kernels",
        "random_numbers",
    } <= kinds

    # With pairs a third of each kind, from all of its texts.
    said = compile_all(tmp_path, texts[:: of_depth(quick=3, pairs=3, full=1)])
    assert not said, "\n".join(said)


def test_texts_that_are_wrong_are_named_and_the_others_go_on(tmp_path):
    good = "USMX_KERNEL(1) k(char* p) { p[usmx::global_id()] = 1; }"
    constant = "const __attribute__((opencl_constant))"
    ends = re.sub("#define.*\n", "", DECLARED) + f"USMX_KERNEL(1) k(float* p) {{ {ENDS} }}"
    ends = ends.replace("CONSTANT", constant)
    lacks = "USMX_DEVICE int nowhere(int); USMX_KERNEL(1) k(int* p) { *p = nowhere(*p); }"
    texts = [("a", good, []), ("b", ends, []), ("c", good, []), ("d", "no C++", [])]
    texts += [("e", lacks, []), ("f", good, [])]
    said = {text[0]: text for text in compile_all(tmp_path, texts)}
    assert sorted(said) == ["b", "d", "e"]
    assert said["b"].startswith("b: exit -")
    assert "error:" in said["d"]
    assert "nowhere" in said["e"]


def test_every_function_of_the_prelude_is_compiled():
    """A function that no text calls would be missing without anyone seeing it."""
    declared = set()
    for header in (KERNELS / "prelude").glob("*.hpp"):
        text = header.read_text()
        begin = r"^(?:  )?(?:USMX_TOGETHER )?(?:inline|constexpr)"
        declared |= set(re.findall(begin + r" [\w<> :]*?(\w+)\(", text, re.M))
        declared |= set(re.findall(r"^USMX_(?:GROUP|MATH_\d|WHOLE)\((\w+)", text, re.M))
    called = (lab.HERE / "every_prelude_function.cpp").read_text()
    called += (lab.ROOT / "python/usmx/_operations.py").read_text()  # functions of numbers
    for path in (lab.ROOT / "python/usmx/_kernel").rglob("*.py"):
        called += path.read_text()
    for path in (KERNELS / "prelude").glob("*.hpp"):
        # What the prelude's functions call themselves, in addition to the declaration.
        called += re.sub(
            r"^(?:  )?(?:inline|constexpr) .*|^USMX_.*", "", path.read_text(), flags=re.M
        )
    missing = {name for name in declared if not re.search(rf"\b{name}\b", called)}
    assert not missing


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (ENDS, "exit"),
        ("*p = __spirv_SubgroupShuffleINTEL(*p, 3u);", "SubgroupShuffleINTEL"),
        ("*p = __spirv_AtomicLoad(p, 1, 0);", "AtomicLoad"),
    ],
    ids=["constant address space", "shuffle", "atomic load"],
)
def test_what_a_cuda_device_lacks_is_seen(tmp_path, statement, expected):
    """The check fails where a program on a CUDA device did."""
    ptx = ptx_of(tmp_path, "lacking", f"{DECLARED}USMX_KERNEL(1) k(float* p) {{ {statement} }}")
    assert expected in (ptx if ptx.startswith("exit") else " ".join(undefined(ptx)))


def test_items_count_beyond_32_bits(tmp_path):
    """Ids are computed from registers of 32 bits in 64, and become no calls."""
    text = "USMX_KERNEL(1) k(char* p) { p[usmx::global_id()] = 1; }"
    ptx = ptx_of(tmp_path, "ids", text)
    assert "mul.wide.u32" in ptx or "mad.wide.u32" in ptx
    assert "call" not in ptx


def test_adding_floats_is_one_instruction(tmp_path):
    adds = "usmx::atomic_add(p, 1.0f); usmx::atomic_add(q, 1.0);"
    ptx = ptx_of(tmp_path, "adds", f"USMX_KERNEL(1) k(float* p, double* q) {{ {adds} }}")
    assert "atom.relaxed.gpu.add.f32" in ptx
    assert re.search(r"atom\.relaxed\.gpu\.(global\.)?add\.f64", ptx)
    assert "cas" not in ptx


def texts_for_cuda(program):
    """The texts that a program of usmx compiles."""
    text = (
        "import json, usmx; from usmx import _usmx; _usmx._Testing.use_forms_of('cuda');"
        f"_usmx._Testing.keep_compiled_texts(True);{program}"
        "; print(json.dumps([text for text, _ in _usmx._Testing.kept_compiled_texts()]))"
    )
    made = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=True
    )
    return json.loads(made.stdout)


@pytest.mark.parametrize("block", [(), (2, 3, 5)])
def test_texts_of_cuda_compile_for_cuda(tmp_path, block):
    """Their functions, and warps whose masks go to the instructions as they are."""
    text = text_of([*EXACT, *NEAR]) + SHUFFLES.replace("TYPE", "double") + VOTES
    ptx = ptx_of(tmp_path, "texts", translated(text, 0, 32, block))
    assert ".target sm_" in ptx, ptx[-3000:]
    assert not undefined(ptx)
    assert ptx.count(".entry") == 3
    votes = re.search(r"\.entry \S*votes.*?^\}", ptx, re.MULTILINE | re.DOTALL)[0]
    assert "activemask.b32" in votes
    assert "vote.sync.ballot" in votes
    assert not re.findall(r"\.sync\.(?:ballot|idx)[^;]*, -1;", votes)
    assert re.search(r"bar\.warp\.sync\s+%r\d+", votes)


def text_for_cuda(program):
    """The last of them."""
    return texts_for_cuda(program)[-1]


def test_elementwise_kernels_load_and_store_vectors(tmp_path):
    text = text_for_cuda(
        "k = usmx.ElementwiseKernel('T x, T y', 'T z', 'z = x + 2 * y', 'triad');"
        "a = usmx.ones(8, 'float32'); k(a, a)"
    )
    ptx = ptx_of(tmp_path, "triad", text)
    assert ptx.count("ld.global.v4") == 2
    assert ptx.count("st.global.v4") == 1


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_long_expressions_of_several_elements_are_no_calls(tmp_path, dtype):
    """What an expression branches in is stored at once all the same, and not read before."""
    text = text_for_cuda(f"usmx.sin(usmx.ones(4099, '{dtype}')).to_numpy()")
    ptx = ptx_of(tmp_path, "sine", text)
    assert "call" not in ptx
    assert len(re.findall(r"ld\.global\.v[48]", ptx)) == 1
    assert len(re.findall(r"st\.global\.v[48]", ptx)) == 1


@pytest.mark.parametrize(
    "program",
    [
        "usmx.sin(usmx.ones((999, 999), 'float32') + usmx.ones(999, 'float32')).to_numpy()",
        "x = usmx.ones(99_999, 'float32'); x[x > 0.5].to_numpy()",
        "usmx.histogram(usmx.ones(99_999, 'float32'), range=(0, 2))",
    ],
    ids=["row", "mask", "histogram"],
)
def test_what_items_share_with_functions_stays_in_registers(tmp_path, program):
    """Such functions are parts of the kernel. The reduction of large angles has an array alone."""
    begin = f"usmx.default_usm_type('device');{program}"
    texts = texts_for_cuda(begin)
    kinds = r"usmx_elementwise|mask_co\w+|count_between"
    texts = [text for text in texts if re.search(rf"USMX_KERNEL\(1\) (?:{kinds})\(", text)]
    assert texts
    for number, text in enumerate(texts):
        ptx = ptx_of(tmp_path, f"shared{number}", text)
        assert re.findall(r"\.local \.align \d+ \.b8\s+\w+\[(?!28\])\d+\]", ptx) == []
        called = set(re.findall(r"call(?:\.uni)?[^;]*?\b(_Z\w+)", ptx))
        assert not {name for name in called if "operator" in name or "ENK" in name}, called


@pytest.mark.parametrize(
    ("shape", "elements", "barriers"),
    [
        ((2048, 128), 4, 0),
        ((2048, 512), 16, 0),
        ((2048, 1000), 8, 4),
        ((2048, 1024), 32, 0),
        ((64, 1000), 4, 4),
        ((64, 4096), 16, 4),
        ((300, 10_240), 20, 6),
        ((300, 32_768), 32, 6),
    ],
)
def test_items_keep_the_elements_of_rows(tmp_path, shape, elements, barriers):
    """Each is loaded once, each exponential computed once, and few items wait for others."""
    text = text_for_cuda(
        f"x = usmx.ones({shape}, 'float32'); softmax = lambda x: (e := usmx.exp(x - usmx.max(x, "
        "axis=1, keepdims=True))) / usmx.sum(e, axis=1, keepdims=True); softmax(x).to_numpy()"
    )
    ptx = ptx_of(tmp_path, "softmax", text)
    assert len(re.findall(r"ld\.global", ptx)) == elements
    assert ptx.count("ex2.approx") == elements
    assert len(re.findall(r"st\.global", ptx)) == elements
    assert len(re.findall(r"\bbar\.sync|barrier\.sync", ptx)) == barriers
    assert ".local .align" not in ptx


@pytest.mark.parametrize("length", [4096, 20_000])
def test_what_items_of_a_row_join_is_in_the_local_memory_that_all_devices_have(tmp_path, length):
    """A product joins more than a number; the groups of long rows have four times the items."""
    text = text_for_cuda(
        f"x = usmx.ones((300, {length})); y = x / usmx.prod(x, axis=1, keepdims=True);"
        "(y - usmx.prod(y, axis=1, keepdims=True)).to_numpy()"
    )
    ptx = ptx_of(tmp_path, "products", text)
    tiles = [int(size) for size in re.findall(r"\.shared[^;\[]*\[(\d+)\]", ptx)]
    assert len(tiles) >= 2
    assert sum(tiles) <= 48 << 10


@pytest.mark.parametrize(
    "program",
    [
        "usmx.histogram(usmx.ones(99_999, 'float32'), range=(0, 2))",
        "usmx.bincount(usmx.ones(99_999, 'int32'), minlength=9)",
    ],
    ids=["histogram", "bincount"],
)
def test_groups_count_in_local_memory_after_all_loads(tmp_path, program):
    """An address that may be any memory's would ask which it is for each element."""
    texts = texts_for_cuda(f"usmx.default_usm_type('device');{program}")
    (text,) = (text for text in texts if re.search(r"USMX_KERNEL\(1\) count_", text))
    ptx = ptx_of(tmp_path, "counts", text)
    assert len(re.findall(r"atom\.\S*shared\S*add\.u32", ptx)) == 8
    assert len(re.findall(r"atom\.", ptx)) == 9  # and the sums of the group
    first = ptx.index("shared.add.u32")
    # The first element is the load before the first one is counted, and so are the others.
    assert len(re.findall(r"ld\.global\.[bufs]\d+", ptx[:first])) >= 8


def test_rows_are_divided_once_for_a_group(tmp_path):
    text = text_for_cuda(
        "k = usmx.ElementwiseKernel('T x, T y', 'T z', 'z = x + 2 * y', 'rows');"
        "k(usmx.ones((4, 5, 200), 'float32')[:, ::2], usmx.ones(200, 'float32'))"
    )
    ptx = ptx_of(tmp_path, "rows", text)
    assert not undefined(ptx)
    # The number of the group is taken apart, and the length of a row divides the size: once each.
    assert len(re.findall(r"\b(?:div|rem)\.u64", ptx)) <= 4
    assert "each_row(" in text


def test_long_scans_load_vectors_and_order_what_groups_tell_each_other(tmp_path):
    program = (
        "k = usmx.ScanKernel('T x', 'T y', 'x', 'a + b', name='sums');k(usmx.ones(40_000, '{}'))"
    )
    ptx = ptx_of(tmp_path, "sums", text_for_cuda(program.format("float64")))
    # 8 elements an item
    assert ptx.count("ld.global.v2") == ptx.count("st.global.v2") == 4
    # A fence stands right before each flag that is set, and after each that was seen: of this tile,
    # of those before it in a window that ends, and of the window; of windows, or of tiles; of what
    # comes before them all.
    found = re.findall(r"membar\.gl|(?:st|ld)\.relaxed\.gpu\.global\.b32", ptx)
    kinds = "".join("F" if x[0] == "m" else "S" if x[0] == "s" else "L" for x in found)
    assert kinds == "FS" + "LFFS" + "LLF" + "LFFS"

    ptx = ptx_of(tmp_path, "words", text_for_cuda(program.format("float32")))
    assert ptx.count("ld.global.v4") == ptx.count("st.global.v4") == 4  # 16 elements an item
    # A word holds the flag and the value, which nothing has to order.
    assert "membar" not in ptx
    assert re.findall(r"(?:st|ld)\.relaxed\.gpu\.global\.b64", ptx)


#: A call of each: SYCL's device library would stay one, of a function that calls CUDA's.
OF_THE_LIBRARY = """
USMX_KERNEL(1) k(const float* x, float* y, const double* z) {
  usmx::local<float[64]> shared;
  const auto i = usmx::global_id();
  const float a = usmx::exp(x[i]) + usmx::sqrt(x[i]) + usmx::fabs(x[i]) + usmx::sin(x[i]);
  shared[usmx::local_id()] = usmx::fma(a, usmx::log(x[i]), usmx::floor(float(usmx::exp(z[i]))));
  usmx::group_barrier();
  y[i] = usmx::pow(shared[usmx::local_id() ^ 1], a) + usmx::rsqrt(float(z[i]));
  usmx::sub_group_barrier();
  usmx::fence();
  y[i + 1] = float(usmx::sub_group_local_id() + usmx::sub_group_max_size());
}
"""


def test_functions_of_the_device_library_are_no_calls(tmp_path):
    ptx = ptx_of(tmp_path, "library", OF_THE_LIBRARY, ["-fsycl-fp32-prec-sqrt"])
    assert not re.findall(r"call[^;]*spirv\w*", ptx)
    assert not re.findall(r"call[^;]*_ZN4usmx\w*", ptx)
    for instruction in ("ex2.approx", "sqrt.rn.f32", "fma.rn.f32", "bar.sync", "membar.gl"):
        assert instruction in ptx


def test_kernels_of_any_length_know_that_their_arrays_are_in_global_memory(tmp_path):
    lines = " ".join(f"y[i] += usmx::tan(x[i + {k}]) / x[i];" for k in range(40))
    text = f"USMX_KERNEL(1) k(const float* x, float* y) {{ auto i = usmx::global_id(); {lines} }}"
    ptx = ptx_of(tmp_path, "long", text)
    assert "ld.global" in ptx
    assert not re.findall(r"\b(?:ld|st)\.[bf]32", ptx)


def test_two_normal_numbers_take_one_logarithm_and_one_root(tmp_path):
    text = text_for_cuda(
        "usmx.random.default_rng(1).standard_normal(8, dtype='float32').to_numpy()"
    )
    options = ["-DRANDOM_FILL", "-DFUNCTION=normal", "-DTYPE=float", "-fsycl-fp32-prec-sqrt"]
    ptx = ptx_of(tmp_path, "normal", text, options)
    assert "call" not in ptx
    assert ptx.count("sqrt.rn.f32") == ptx.count("div.rn.f32") == 2
    assert ptx.count("st.global.v4") == 1


def bytes_of_floats(ptx):
    """Stores of 8 bits whose register a floating-point instruction wrote: NVIDIA's assembler takes
    them for conversions of the number."""
    wrote, found = {}, []
    for line in ptx.splitlines():
        if made := re.match(r"\s*(?:@%p\d+ )?([a-z][\w.]*)\s+(%\w+)\s*,", line):
            wrote[made[2]] = made[1]
        if stored := re.match(r"\s*st\.[\w.]*b8\s+\[[^\]]*\],\s*(%\w+);", line):
            by = wrote.get(stored[1], "")
            if re.search(r"\.(b?f16|f32|f64)", by) and not by.startswith(("mov", "ld", "selp")):
                found.append(f"{by}: {line.strip()}")
    return found


RECORDS = '''
import numpy as np, usmx
P = np.dtype([("mass", "f4"), ("tag", "i2"), ("z", "c8"), ("d", "f8"), ("h", "f2"), ("v", "f4", (3,))])
k = usmx.kernel("""def k(item, x):
    i = item.get_id(0)
    x[i].mass = i * 2.5
    x[i].mass += 1.25
    x[i].mass *= 3.0
    x[i].d = i / 3
    x[i].h = i * 0.5
    x[i].z = i * 1.5 + 2j
    x[i].v[1] = i * 0.25
    x[i].v[2] -= i * 0.25
""")
print(k.source(usmx.zeros(2, P)))
'''  # noqa: E501


def test_floating_fields_of_records_are_not_stored_from_registers_of_floats(tmp_path):
    packed = (
        "#pragma pack(push, 1)\nstruct pair { float mass; short tag; };\n#pragma pack(pop)\n"
        "USMX_KERNEL(1) k(pair* x) {"
        " auto i = usmx::global_id(); x[i].mass = float(i) * 2.5f; }"
    )
    assert bytes_of_floats(ptx_of(tmp_path, "packed", packed))  # the check sees what goes wrong
    made = subprocess.run(
        [sys.executable, "-c", RECORDS], capture_output=True, text=True, timeout=120, check=True
    )
    ptx = ptx_of(tmp_path, "records", made.stdout)
    assert re.search(r"st\.(global\.)?b8", ptx)
    assert bytes_of_floats(ptx) == []


def test_complex_products_are_rounded_one_by_one(tmp_path):
    text = "".join(
        f"USMX_KERNEL(1) k{n}(const usmx::complex<{t}>* a, usmx::complex<{t}>* c) {{"
        " auto i = usmx::global_id(); c[i] = a[i] * c[i] + a[i] / c[i]; }\n"
        for n, t in enumerate(("float", "double"))
    )
    ptx = ptx_of(tmp_path, "products", text, ["-ffp-contract=off"])
    assert len(re.findall(r"mul\.rn\.f32", ptx)) >= 4
    assert len(re.findall(r"mul\.rn\.f64", ptx)) >= 4
    assert not re.findall(r"\bfma\.rn\.f|\bmul\.f(?:32|64)", ptx)
