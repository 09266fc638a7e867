# Programs in numba.cuda's kernel language: its names, what they give, and what is refused.
# SPDX-License-Identifier: Apache-2.0
import asyncio
import math
import pickle
import sys

import numpy as np
import pytest

import usmx
from usmx.compat import cuda
from usmx.compat.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)
from usmx.compat.numba_types import from_dtype, read

WEIGHTS = np.array([1, 2, 3], "f4")


@cuda.jit
def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@pytest.mark.parametrize(
    "make",
    [
        np.asarray, cuda.to_device, usmx.asarray, cuda.InOut,
        lambda x: cuda.to_device(x, stream=cuda.stream()),
    ],
)  # fmt: skip
def test_a_kernel_takes_arrays_of_the_host_and_of_the_device(make):
    given = np.arange(100, dtype="f4")
    x = make(given)
    doubled[4, 32](x)
    if isinstance(x, cuda.DeviceNDArray):
        given = x.copy_to_host()
    elif isinstance(x, usmx.ndarray):
        given = x.to_numpy()
    np.testing.assert_array_equal(given, 2 * np.arange(100))


def test_an_argument_that_is_only_read_keeps_its_values():
    x = np.arange(4.0)
    doubled[1, 4](cuda.In(x))
    np.testing.assert_array_equal(x, np.arange(4))


@cuda.jit
def places(out):
    x, y, z = cuda.grid(3)
    out[z, y, x, 0] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
    out[z, y, x, 1] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
    out[z, y, x, 2] = cuda.blockDim.x + 10 * cuda.blockDim.y + 100 * cuda.blockDim.z
    out[z, y, x, 3] = cuda.gridDim.x + 10 * cuda.gridDim.y + 100 * cuda.gridDim.z
    sx, sy, sz = cuda.gridsize(3)
    out[z, y, x, 4] = sx + 100 * sy + 10000 * sz


@pytest.mark.parametrize(
    ("blocks", "threads"), [((3, 2, 2), (4, 3, 2)), ((3, 2), (4, 3)), (3, 4), ((1, 2), (1, 1, 2))]
)
@pytest.mark.parametrize("simulate", [False, True])
def test_x_is_the_dimension_that_varies_fastest(blocks, threads, simulate):
    b = [*np.atleast_1d(blocks), 1, 1][:3]
    t = [*np.atleast_1d(threads), 1, 1][:3]
    size = [m * n for m, n in zip(b, t, strict=True)]
    out = np.full((*size[::-1], 5), -1)
    with usmx.simulate(simulate):
        places[blocks, threads](out)
    z, y, x = np.indices(size[::-1])
    wanted = [
        x % t[0] + 10 * (y % t[1]) + 100 * (z % t[2]),
        x // t[0] + 10 * (y // t[1]) + 100 * (z // t[2]),
        np.full(x.shape, t[0] + 10 * t[1] + 100 * t[2]),
        np.full(x.shape, b[0] + 10 * b[1] + 100 * b[2]),
        np.full(x.shape, size[0] + 100 * size[1] + 10000 * size[2]),
    ]
    np.testing.assert_array_equal(out, np.stack(wanted, axis=-1))


@cuda.jit
def warps(x, out):
    i = cuda.grid(1)
    v = x[i]
    total = v
    step = cuda.warpsize // 2
    while step > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        step //= 2
    out[0, i] = cuda.shfl_sync(0xFFFFFFFF, total, 0)
    out[1, i] = cuda.laneid
    out[2, i] = cuda.ballot_sync(0xFFFFFFFF, v % 2 == 0)
    out[3, i] = cuda.match_any_sync(0xFFFFFFFF, v % 3)
    mask, same = cuda.match_all_sync(0xFFFFFFFF, v // 32)
    out[4, i] = mask if same else 0
    out[5, i] = cuda.lanemask_lt()
    out[6, i] = cuda.syncthreads_count(v > 5)
    out[7, i] = cuda.syncthreads_and(v < 128) + 2 * cuda.syncthreads_or(v == 3)
    out[8, i] = cuda.all_sync(0xFFFF, v % 32 < 16)
    out[9, i] = cuda.any_sync(0xFFFF, v % 32 == 20)
    out[10, i] = cuda.eq_sync(0xFFFFFFFF, v < 32)
    out[11, i] = cuda.reduce_max_sync(0xFFFF, v) + cuda.reduce_min_sync(0xFF00, v)
    out[12, i] = cuda.reduce_add_sync(0xF, v)
    out[13, i] = cuda.shfl_xor_sync(-1, v, 3)
    out[14, i] = cuda.shfl_up_sync(-1, v, 2)
    out[15, i] = cuda.popc(cuda.activemask())
    cuda.syncwarp()
    cuda.threadfence()
    out[16, i] = cuda.brev(cuda.uint32(v))
    out[17, i] = cuda.ffs(v)
    out[18, i] = cuda.clz(v)
    out[19, i] = cuda.selp(v > 3, 5, 6)
    out[20, i] = cuda.libdevice.popc(v) + cuda.libdevice.float2int_rd(v * 0.3)


@pytest.mark.parametrize("simulate", [False, True])
def test_warps_vote_shuffle_and_match(simulate):
    x, out = np.arange(128, dtype="i4"), np.zeros((21, 128), "i8")
    with usmx.simulate(simulate):
        warps[2, 64](x, out)
    lane, first = x % 32, x // 32 * 32
    wanted = [
        32 * first + 496, lane, 0x55555555 << (first % 2), [
            sum(1 << k for k in range(32) if (first[i] + k) % 3 == i % 3) for i in x
        ], np.full(128, 0xFFFFFFFF), (1 << lane.astype("i8")) - 1, np.repeat([58, 64], 64),
        np.repeat([3, 1], 64), np.ones(128), np.zeros(128), np.ones(128), 2 * first + 15 + 8,
        4 * first + 6, x ^ 3, np.where(lane < 2, x, x - 2), np.full(128, 32),
        [int(f"{i:032b}"[::-1], 2) for i in x], [(i & -i).bit_length() for i in x.tolist()],
        [32 - i.bit_length() for i in x.tolist()], np.where(x > 3, 5, 6),
        [i.bit_count() + math.floor(np.float32(i * 0.3)) for i in x.tolist()],
    ]  # fmt: skip
    np.testing.assert_array_equal(out, np.stack([np.asarray(w, "i8") for w in wanted]))


@cuda.jit
def of_launch(x):
    whole = cuda.shared.array(0, cuda.float32)
    numbers = cuda.shared.array(shape=0, dtype=np.int32)
    second = numbers[32:]
    i = cuda.threadIdx.x
    whole[i] = x[i]
    second[i] = i
    cuda.syncthreads()
    x[i] = whole[31 - i] + 1000 * second[i] + whole.size


@pytest.mark.parametrize("simulate", [False, True])
def test_shared_memory_of_length_0_has_the_size_of_the_launch(simulate):
    x = np.arange(32, dtype="f4")
    with usmx.simulate(simulate):
        of_launch[1, 32, 0, 256](x)
    np.testing.assert_array_equal(x, 31 + 64 + 999 * np.arange(32))


def test_shared_memory_of_length_0_needs_a_size():
    with pytest.raises(usmx.KernelError, match="give it at the launch"):
        of_launch[1, 32](np.arange(32, dtype="f4"))


@cuda.jit(device=True)
def tile_sum(x, length, dtype):
    tile = cuda.shared.array(length, dtype)
    k = cuda.threadIdx.x
    tile[k] = x[k]
    cuda.syncthreads()
    total = 0
    for value in tile:
        total += value
    return total


@cuda.jit
def with_lengths(x, out):
    out[cuda.threadIdx.x] = tile_sum(x, 8, cuda.float64) + tile_sum(x, x.shape[0], cuda.float32)


@pytest.mark.parametrize("simulate", [False, True])
def test_a_function_makes_shared_memory_of_the_length_that_it_is_given(simulate):
    x, out = np.arange(8.0), np.zeros(8)
    with usmx.simulate(simulate):
        with_lengths[1, 8](x, out)
    np.testing.assert_array_equal(out, np.full(8, 56))


@cuda.jit
def atomics(x, out, words):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i])
    cuda.atomic.sub(out, (1,), x[i])
    cuda.atomic.max(out, 2, x[i])
    cuda.atomic.min(out, 3, x[i])
    cuda.atomic.inc(words, 0, 9)
    cuda.atomic.and_(words, 1, i)
    cuda.atomic.or_(words, 2, i)
    cuda.atomic.xor(words, 3, i)
    if i == 0:
        words[5] = cuda.atomic.exch(words, 4, 7)
        words[6] = cuda.atomic.cas(words, 4, 7, 8)
        words[7] = cuda.atomic.compare_and_swap(words[7:], 5, 6)


@pytest.mark.parametrize("simulate", [False, True])
def test_atomic_operations(simulate):
    x, out = np.arange(64, dtype="f4"), np.array([0, 0, -1, 99], "f4")
    words = np.array([0, 63, 0, 0, 3, 0, 0, 5], "u4")
    with usmx.simulate(simulate):
        atomics[2, 32](x, out, words)
    assert out.tolist() == [2016, -2016, 63, 0]
    assert words.tolist() == [4, 0, 63, 0, 8, 3, 7, 5]


@cuda.jit("void(float32[:], float32)")
def of_types(x, scale):
    weights = cuda.const.array_like(WEIGHTS)
    own = cuda.local.array(2, cuda.float32)
    i = cuda.grid(1)
    own[1] = weights[i % 3] * scale
    x[i] = own[1] + own[0]


@pytest.mark.parametrize("simulate", [False, True])
def test_arrays_of_the_module_are_constants_and_numbers_get_the_types_of_the_signature(simulate):
    x = np.zeros(6, "f4")
    with usmx.simulate(simulate):
        of_types[1, 6](x, 0.1)
    np.testing.assert_array_equal(x, np.tile(WEIGHTS * np.float32(0.1), 2))


@cuda.jit
def draws(states, out):
    i = cuda.grid(1)
    out[0, i] = xoroshiro128p_uniform_float32(states, i)
    out[1, i] = xoroshiro128p_uniform_float64(states, i)
    out[2, i] = xoroshiro128p_normal_float32(states, i)
    out[3, i] = xoroshiro128p_normal_float64(states, i)


@pytest.mark.parametrize("simulate", [False, True])
def test_random_numbers_are_those_of_numba(simulate):
    # Of Numba 0.68 with seed=1, subsequence_start=3.
    states = create_xoroshiro128p_states(1000, seed=1, subsequence_start=3)
    first = states.copy_to_host()
    assert first[0].tolist() == (4287641842676342503, 12987378992932203451)
    assert first[2].tolist() == (1129611961570501949, 5235472948863713403)
    out = np.zeros((4, 2))
    with usmx.simulate(simulate):
        draws[1, 2](states, out)
    wanted = [
        [0.9364807605743408, 0.6059929132461548], [0.9279626462850302, 0.40711625330812784],
        [0.13793563277307663, 0.9317812499460036], [-0.4247790075782804, 0.1472697445710478],
    ]  # fmt: skip
    np.testing.assert_allclose(out, wanted, rtol=1e-6)
    np.testing.assert_array_equal(out[:2], np.float64(wanted)[:2])
    again = create_xoroshiro128p_states(3, seed=1, subsequence_start=500).copy_to_host()
    np.testing.assert_array_equal(again, first[497:500])


BODY = np.dtype([("mass", "f4"), ("place", "f4", 2)], align=True)
BODY_TYPE = from_dtype(BODY)


@cuda.jit((BODY_TYPE[:], cuda.float32))
def moved(bodies, by):
    i = cuda.grid(1)
    own = cuda.shared.array(4, BODY_TYPE)
    own[i].mass = bodies[i].mass
    cuda.syncthreads()
    bodies[i].place[1] += by * own[3 - i].mass


@pytest.mark.parametrize("simulate", [False, True])
def test_records(simulate):
    bodies = np.zeros(4, BODY)
    bodies["mass"] = np.arange(4)
    with usmx.simulate(simulate):
        moved[1, 4](bodies, 2)
    np.testing.assert_array_equal(bodies["place"][:, 1], [6, 4, 2, 0])


@cuda.jit(debug=True, opt=False)
def beyond(x):
    i = cuda.grid(1)
    x[i + 1] = i


def test_debug_names_the_array_the_index_and_the_line():
    with pytest.raises(IndexError, match=r"index 4 of 'x'.*\n.*test_compat_cuda.*x\[i \+ 1\]"):
        beyond[1, 4](np.zeros(4))


@cuda.jit
def meets(x):
    whole = cuda.cg.this_grid()
    i = cuda.grid(1)
    x[i] = i
    whole.sync()
    x[i] += x[x.size - 1 - i] * 0


def test_a_barrier_of_all_blocks_is_one_of_a_block_or_refused():
    x = np.zeros(8)
    meets[meets.max_cooperative_grid_blocks(8), 8](x)
    np.testing.assert_array_equal(x, np.arange(8))
    with pytest.raises(NotImplementedError, match=r"waits for all blocks.*launched over 2"):
        meets[2, 4](x)


@cuda.reduce
def largest(a, b):
    return max(a, b)


@cuda.reduce
def added(a, b):
    return a + b


@pytest.mark.parametrize("n", [1, 2, 513, 12345])
def test_reduce(n):
    x = np.arange(n, dtype="f8")
    assert added(x) == x.sum()
    assert added(cuda.to_device(x), init=5) == x.sum() + 5
    assert largest(x[::-1]) == n - 1
    assert added(x, size=1) == 0
    found = cuda.to_device(np.zeros(1))
    assert added(x, res=found) is None
    assert found[0] == x.sum()


def test_reduce_of_no_numbers_is_init():
    assert added(np.zeros(0), init=3) == 3


@cuda.vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def plus(a, b):
    return a + b


def test_vectorize():
    a, b = np.arange(6, dtype="f4").reshape(2, 3), np.arange(3, dtype="f4")
    found = plus(a, b)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, a + b)
    np.testing.assert_array_equal(plus(cuda.to_device(a), b).copy_to_host(), a + b)
    assert plus(a, 2.5).dtype == np.float64
    out = np.zeros((2, 3), "f4")
    plus(a, b, out=out)
    np.testing.assert_array_equal(out, a + b)
    assert plus.reduce(b) == 3
    with pytest.raises(TypeError, match="No matching version"):
        plus(np.zeros(2, complex), np.zeros(2))


@cuda.guvectorize(
    ["void(float64[:, :], float64[:, :], float64, float64[:, :])"],
    "(m,n),(n,p),()->(m,p)",
    target="cuda",
)
def product(a, b, scale, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += scale * a[i, k] * b[k, j]


def test_guvectorize():
    rng = np.random.default_rng(1)
    a, b = rng.random((5, 2, 3)), rng.random((3, 4))
    np.testing.assert_allclose(product(a, b, 2.0), 2 * (a @ b))
    found = product(cuda.to_device(a), b, np.arange(5.0))
    np.testing.assert_allclose(found.copy_to_host(), np.arange(5)[:, None, None] * (a @ b))
    with pytest.raises(ValueError, match="dimension 'n' is 3 and 4"):
        product(a, b.T, 2.0)


def test_device_arrays():
    values = np.arange(24, dtype="f4").reshape(4, 6)
    x = cuda.to_device(values)
    assert (x.shape, x.dtype, x.ndim, x.size, x.nbytes) == ((4, 6), np.float32, 2, 24, 96)
    assert x.strides == values.strides
    assert x[1:, ::2].strides == values[1:, ::2].strides
    assert x[2, 3] == 15
    np.testing.assert_array_equal(x[1].copy_to_host(), values[1])
    x[0] = 7
    x[1, :2] = cuda.to_device(np.zeros(2, "f4"))
    assert x[0, 5] == 7
    assert x[1, 1] == 0
    np.testing.assert_array_equal(x.T.copy_to_host()[:, 2], values[2])
    np.testing.assert_array_equal(x.reshape(24)[-3:].copy_to_host(), [21, 22, 23])
    into = np.zeros((4, 6), "f4")
    assert x.copy_to_host(into) is into
    with pytest.raises(TypeError, match="float32"):
        x.copy_to_host(np.zeros((4, 6)))
    with pytest.raises(ValueError, match="incompatible shape"):
        x.copy_to_device(np.zeros(3))
    fortran = cuda.to_device(np.asfortranarray(values))
    assert fortran.is_f_contiguous()
    assert fortran.copy_to_host().flags.f_contiguous
    assert cuda.device_array_like(fortran).is_f_contiguous()
    assert [len(part) for part in x.ravel().split(10)] == [10, 10, 4]
    np.testing.assert_array_equal(np.asarray(x), x.copy_to_host())
    assert cuda.is_cuda_array(x)
    assert not cuda.is_cuda_array(values)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)).copy_to_host(), x.copy_to_host())
    shared = usmx.asarray([1, 2], usm_type="shared")
    cuda.as_cuda_array(shared)[0] = 5
    assert shared.to_numpy()[0] == 5
    with pytest.raises(TypeError, match="expected an array"):
        cuda.as_cuda_array("text")


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array, cuda.pinned_array])
def test_arrays_that_host_and_device_use(make):
    x = make(10, dtype=np.float32)
    x[:] = np.arange(10)
    doubled[1, 10](x)
    cuda.synchronize()
    np.testing.assert_array_equal(x, 2 * np.arange(10))
    doubled[1, 5](x[5:])
    cuda.synchronize()
    np.testing.assert_array_equal(x[5:], 4 * np.arange(5, 10))


def test_streams_events_and_devices():
    x = cuda.to_device(np.ones(1000))
    stream = cuda.stream()
    start, end = cuda.event(), cuda.event()
    start.record(stream)
    with stream.auto_synchronize():
        for _ in range(3):
            doubled[10, 100, stream](x)
    end.record(stream)
    end.synchronize()
    assert end.query()
    assert cuda.event_elapsed_time(start, end) > 0
    np.testing.assert_array_equal(x.copy_to_host(stream=stream), np.full(1000, 8))

    async def waits():
        return await stream.async_done()

    assert asyncio.run(waits()) is stream
    called = []
    stream.add_callback(lambda *given: called.append(given), "argument")
    assert called == [(stream, 0, "argument")]
    with pytest.raises(RuntimeError, match="recorded"):
        start.elapsed_time(cuda.event())
    assert cuda.is_available()
    assert cuda.detect()
    with cuda.gpus[0] as context, cuda.defer_cleanup():
        assert context == cuda.current_context()
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    cuda.select_device(0)
    with pytest.raises(IndexError, match=r"cuda\.gpus"):
        cuda.select_device(99)
    assert cuda.get_current_device().WARP_SIZE == 32
    with pytest.raises(TypeError, match="stream"):
        doubled[1, 1, "stream"]


@pytest.mark.parametrize(
    ("config", "error", "text"),
    [
        (1, ValueError, "griddim and blockdim"),
        ((1.5, 1), TypeError, "griddim"),
        ((1, (1, 1, 1, 1)), ValueError, "blockdim"),
        ((0, 1), ValueError, "positive"),
    ],
)
def test_a_launch_without_blocks_and_threads_is_refused(config, error, text):
    with pytest.raises(error, match=text):
        doubled[config]


def test_what_is_not_there_is_refused_by_name():
    with pytest.raises(ValueError, match="launch configuration"):
        doubled(np.zeros(1))
    with pytest.raises(TypeError, match="no parameter 'wrong'"):
        cuda.jit(wrong=1)
    with pytest.raises(NotImplementedError, match="link="):
        cuda.jit(link=["x.ptx"])
    with pytest.raises(NotImplementedError, match="inspect_source"):
        doubled.inspect_asm()
    assert "USMX_KERNEL(1) doubled" in doubled.inspect_source(np.zeros(3))
    with pytest.raises(RuntimeError, match="inside kernels only"):
        cuda.grid(1)
    assert read("complex64(f4)").return_type.underlying_float is cuda.float32
    with pytest.raises(ValueError, match="wrong_type"):
        read("void(wrong_type[:])")


def test_forall_and_functions_that_are_called_in_python():
    x = np.ones(1000)
    doubled.forall(1000)(x)
    np.testing.assert_array_equal(x, np.full(1000, 2))
    assert doubled.py_func.__name__ == "doubled"
    assert cuda.jit(lambda a: a + 1, device=True)(2) == 3


PROGRAM = """
from numba import cuda, float32, vectorize
from numba.cuda import random
from numba.core.errors import TypingError
import numpy as np


@cuda.jit(device=True)
def more(a):
    return a + float32(1)


@cuda.jit
def add(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = more(x[i])


x = cuda.to_device(np.zeros(5, np.float32))
add[1, 8](x)
found = x.copy_to_host()


@vectorize(["float32(float32)"], target="cuda")
def twice(a):
    return a * 2


also = twice(found)
"""


def test_an_unchanged_program_finds_usmx_where_it_is_installed(tmp_path, monkeypatch):
    before = sys.modules.get("numba.cuda")
    (tmp_path / "program_for_numba.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    with cuda.install():
        import numba
        import program_for_numba

        assert numba.cuda is cuda
        assert program_for_numba.found.tolist() == [1] * 5
        assert program_for_numba.also.tolist() == [2] * 5
    assert sys.modules.get("numba.cuda") is before
    assert getattr(sys.modules.get("numba"), "cuda", None) is not cuda
    del sys.modules["program_for_numba"]


def test_an_unchanged_program_finds_usmx_where_numba_is_not_installed(run_python, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM + "\nprint(found, also)\n")
    hide = "import sys; sys.modules.pop('numba', None); import importlib.util as u; f = u.find_spec"
    code = f"""
        {hide}
        u.find_spec = lambda name, *a: None if name.startswith("numba") else f(name, *a)
        sys.argv = ["cuda", {str(tmp_path / "program.py")!r}]
        from usmx.compat.cuda.__main__ import main
        main()
    """
    assert run_python(code).stdout == "[1. 1. 1. 1. 1.] [2. 2. 2. 2. 2.]\n"
