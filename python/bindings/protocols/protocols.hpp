// The table of protocols through which memory comes in and goes out, and what its rows share:
// reading foreign Python values with errors that name the place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/bindings.hpp"
#include "usmx/dlpack.hpp"
#include "usmx/suai.hpp"
#include "usmx/trace.hpp"

namespace usmx::detail {
struct backend_row;
}  // namespace usmx::detail

namespace usmx::python {

class live_bytes;  // memory.hpp

// --- foreign_values.cpp: Python values of unknown origin ----------------------------------------

/// "8.7 (float)": what an object is, short enough for a message; never raises.
std::string describe_value(nb::handle value);
/// TypeError: "<where>: <value> (<type>); expected <what>".
[[noreturn]] void wrong_type(const std::string& where, nb::handle value, std::string_view expected);
/// interop_error: the same with a rule that a fault names.
[[noreturn]] void wrong_value(const std::string& where, nb::handle value, fault rule);

/// An int, or anything with `__index__`; a bool is not accepted. TypeError otherwise,
/// interop_error with `too_big` if 64 bits do not hold it; what `__index__` raises passes through.
std::int64_t read_integer(nb::handle value, const char* where, fault too_big);
/// An address: as above, but 0 <= value < 2**64.
std::uintptr_t read_address(nb::handle value, const char* where);
/// A tuple, a list or any other sequence of integers but no str, bytes or mapping; at most
/// `max_rank` of them. Its length is asked once and each item is read once.
extents read_extents(nb::handle value, const char* where, fault too_big);
/// A number of bytes: an integer of 64 bits. ValueError for a negative one.
std::size_t read_size(nb::handle value, const char* where);
/// A str without lone surrogates; TypeError otherwise.
std::string read_text(nb::handle value, const std::string& where, fault malformed);
/// True and False, NumPy's or Python's, and the numbers 0 and 1.
bool read_flag(nb::handle value, const char* where);
/// Lengths or strides as Python has them.
nb::tuple tuple_of(const extents& e);

// --- the fields of a record -------------------------------------------------------

/// The list of `(name, type[, shape])` of the array interface; name may be `(title, name)`, type
/// may be a list again. TypeError, or interop_error that says which entry.
/// `where` is what messages call it.
dtype::fields read_typedescr(nb::handle value, const char* where = "typedescr");
nb::list write_typedescr(const dtype::fields& members);

// --- protocols.cpp: the table

/// What the caller needs of the memory. A protocol that can be asked for it asks; the caller checks
/// what came.
struct import_request {
  bool writable = false;
  /// True: a copy always; false: never; empty: only if it is needed.
  std::optional<bool> copy = {};
  /// Where commands will use it; null for the producer's choice.
  const sycl::queue* queue = nullptr;
  /// Memory of the host is taken too, where the device reads it.
  bool host = false;
  /// Where a protocol that tells more than NumPy's conversion puts memory of the host that is not
  /// taken, for the caller to copy; null if it has no use for that.
  std::optional<array>* to_copy = nullptr;
  /// If not null, set to true for an object that shows memory to the host, USM or not: who reads it
  /// there knows nothing of queues.
  bool* is_host_view = nullptr;
};

/// The array of an object of ours for as long as it is looked at.
using array_access = live_bytes (*)(nb::handle self);

/// A row of the table: one way in which memory comes in, goes out, or both. Null functions for the
/// direction that there is not.
struct protocol {
  /// The attribute by which objects speak it, as messages name it; null if it has none.
  const char* name;
  /// What the object offers, read once: invalid if it does not speak the protocol, and then the
  /// next row is asked. Raises what the object raises.
  nb::object (*offer)(nb::handle obj);
  /// The array that the offer describes, without a copy. Throws as the checks do. Empty if the
  /// offer is none after all.
  std::optional<array> (*take)(nb::handle obj, nb::object offer, const import_request& request);
  /// Binds the attribute to a class of ours: to ndarray and to the three classes of memory.
  void (*bind)(nb::object type, array_access array_of);
  /// Whether objects of the type may speak it, for a protocol without an attribute; null: all may.
  /// Asked once for each state of the type.
  bool (*knows)(PyTypeObject* type) = nullptr;
};

/// What the table's functions do with it: `import_array` of bindings.hpp is the first.
std::optional<array> import_array(nb::handle obj, const import_request& request);
void bind_exports(nb::object type, array_access array_of);
/// Whether memory that a protocol describes as the host's is USM of the queue's context: another
/// library's, or ours behind a view.
bool shows_usm(const any_view& v, const sycl::queue& queue) noexcept;
/// For messages: "an object with A, B or C", with all protocols by which memory comes in.
const std::string& expected_protocols();

/// The value of an attribute, invalid if the object has none of that name: a property that raises
/// AttributeError says so, as for `hasattr`, and the next protocol is asked. Objects that cannot
/// have the attribute cost no failing look-up.
nb::object read_attribute(nb::handle obj, PyObject* interned_name);
/// Whether an object that gave no memory has elements for the host to copy, which `as_array` then
/// does: of a buffer or of any protocol of the host. Not bytes, which are not numbers.
bool offers_host_elements(nb::handle obj);
/// Binds a property with a signature for the stub.
void bind_property(nb::object type, const char* name, const nb::object& getter);

// --- syclobj.cpp
/// A queue as other libraries take it, and the sycl::queue behind it.
struct queue_object {
  nb::object object;
  sycl::queue queue;
};
/// dpctl's object where dpctl is loaded, ours where it is not. For the default queue of a device it
/// is dpctl's own: commands of other libraries go there, and the memory has to know.
queue_object queue_for_others(const sycl::queue& queue);
bool dpctl_is_loaded();
/// `expose` to the queue that other libraries use for the array: `queue_for_others`.
void expose_to_others(const array& a);

// --- foreign_devices.cpp: devices, streams and events as other libraries name them

/// All root devices in SYCL's order, which is how DLPack numbers those of oneAPI.
const std::vector<sycl::device>& root_devices();
/// "(2, 0)": a device in DLPack's terms.
std::string text_of(const dlpack::device& d);
/// The row of the device's backend, or of another one that tests chose.
const detail::backend_row& exchange_row(const sycl::device& device);
/// The device of the memory in DLPack's terms, which are Arrow's too. BufferError if it has none.
dlpack::device device_in_dlpack(const array& a);
/// The SYCL device of that name. BufferError if there is none.
sycl::device device_from_dlpack(const dlpack::device& d);
/// Elements that came with a stream of the library below SYCL are used after it. Of device memory,
/// what is submitted to the device's default queue next comes after an event of the driver, without
/// the host; otherwise, and where there is no such event, the host waits, because it may look next.
/// Without the GIL. DeviceError if the stream cannot be asked.
void come_after_foreign_stream(const sycl::device& device, void* stream, bool is_device_memory);
/// What is submitted to the stream next comes after what is pending on the elements. False where
/// the host has to wait for that instead.
bool put_foreign_stream_behind(void* stream, const array& a);
/// Waits for an event of that library, likewise.
void wait_for_foreign_event(const sycl::device& device, void* event);
/// For tests: treats all devices as those of a backend when memory is exchanged, and calls `waited`
/// instead of waiting; "" ends it.
void exchange_as(nb::handle backend, nb::handle waited);

// --- placement.cpp
void bind_placement(nb::module_& m);

// --- buffer_import.cpp: views of memory that the host sees

/// Whose memory a buffer shows, behind views of Python and NumPy.
struct memory_behind {
  /// The array of ours whose memory it is, and the object that has it.
  const array* lender = nullptr;
  nb::object holder = {};
  /// The queue of `usmx.numpy_memory`, where NumPy's own memory came from us.
  const sycl::queue* home = nullptr;
  /// NumPy got the elements from a capsule, which does not say whose they are.
  bool is_in_capsule = false;
  /// NumPy allocated it, by malloc: no context knows it.
  bool is_numpys = false;

  bool is_found() const noexcept { return lender != nullptr || home != nullptr || is_in_capsule; }
};
/// Elements of ours are computed if they were not: throws what that throws.
memory_behind find_memory_behind(PyObject* exporter);

/// The array of such a view: the same USM again if it is ours, otherwise USM or memory of the host
/// as `request` and the device allow it. `own(first, bytes)` gives the owner.
template <class Own>
std::optional<array> import_host_view(any_view v, const memory_behind& behind, PyTypeObject* type,
                                      const import_request& request, Own own) {
  if (request.is_host_view != nullptr) *request.is_host_view = true;
  if (const array* const lender = behind.lender) {
    const any_view& whole = lender->elements();
    const owner* const keeps = lender->keep_alive().get();
    const std::byte* const first = keeps != nullptr ? keeps->base() : whole.first_byte();
    const std::byte* const last = keeps != nullptr ? first + keeps->bytes() : whole.last_byte();
    if (v.size() == 0 || (v.first_byte() >= first && v.last_byte() <= last)) {
      return lender->with_view(std::move(v).with_kind(lender->kind()));
    }
    if (!request.host) return {};
  }
  traced record(trace_action::imported,
                [&] { return trace_subject{.label = trace_text(type->tp_name)}; });
  const bool at_home =
      behind.home != nullptr &&
      (request.queue == nullptr || request.queue->get_context() != behind.home->get_context());
  const sycl::queue& queue = at_home                    ? *behind.home
                             : request.queue != nullptr ? *request.queue
                                                        : default_queue();
  std::byte* const first = v.first_byte();
  const bool is_usm = !behind.is_numpys && shows_usm(v, queue);
  if (!is_usm && !(request.host && reads_host_memory(queue.get_device()))) return {};
  record.at(first);
  shared_owner keep = own(first, static_cast<std::size_t>(v.last_byte() - first));
  keep->exposed_to_host();  // who has the object reads and writes it as before
  // Of kind `unknown`, on a device that was asked above.
  return is_usm ? array::bind(std::move(v), queue, std::move(keep))
                : array::over(std::move(v), queue, std::move(keep));
}

// --- dlpack.cpp
void bind_from_dlpack(nb::module_& m);
/// The array in a capsule of ours that NumPy took the elements from; null for other capsules.
const array* array_in_capsule(PyObject* capsule) noexcept;

// --- suai.cpp: what protocols that describe elements as the dictionary does have in common

/// The view of the fields; throws interop_error that names the wrong one.
any_view checked(const suai::fields& f);
/// The array of a checked view of `f`, after what only the driver knows was checked: the elements
/// and what `offset` counts from are in one allocation of the context. `keep` is kept alive.
array bind_described(any_view v, const suai::fields& f, const sycl::queue& queue, nb::object keep,
                     traced& record);
/// The same where the producer may have named no queue: then it is that of the memory's device.
array bind_described(any_view v, const suai::fields& f, const sycl_origin& origin, nb::object keep,
                     traced& record);
/// The fields of a record as the list that `read_typedescr` reads; None for other types.
nb::object typedescr_of(const dtype& type);

/// Whether the attribute of objects of this type is answered by dpctl.memory, of which they are.
/// Then `data[1]` says "writable" where the protocol says "read-only".
bool speaks_as_dpctl(PyTypeObject* type) noexcept;
/// Lets go of the Queue objects that dictionaries shared; none is kept after it.
void forget_queues() noexcept;

}  // namespace usmx::python
