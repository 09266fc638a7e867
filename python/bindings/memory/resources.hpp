// What a memory resource is in Python, and what binding one takes: a line in resources.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <typeindex>
#include <utility>

#include "support/bindings.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "usmx/pool.hpp"
#include "usmx/queue_ordered.hpp"
#include "usmx/resources.hpp"

namespace usmx::python {

/// Holds a resource. All classes are faces of this one; they differ in what can be called.
struct resource_object {
  explicit resource_object(std::shared_ptr<memory_resource> r) noexcept : resource(std::move(r)) {}
  resource_object(const resource_object&) = delete;
  resource_object& operator=(const resource_object&) = delete;
  ~resource_object();

  std::shared_ptr<memory_resource> resource;
};

template <class Resource>
struct resource_face final : resource_object {
  using resource_object::resource_object;
  Resource& operator*() const noexcept { return static_cast<Resource&>(*resource); }
};

/// The Python object for a resource, of the class that is bound for its type.
nb::object wrap_resource(std::shared_ptr<memory_resource> resource);
/// From now on `type` is the class of resources of that C++ type.
void register_resource(std::type_index resource, nb::handle type);
/// The resource that Python passed; TypeError names the argument.
const std::shared_ptr<memory_resource>& to_resource(nb::handle obj, const char* where = "upstream");

/// What every class has in common. `make` takes the arguments of the constructor, `call`, and
/// returns the resource; it captures nothing.
template <class Resource, call_shape Shape, class Make>
nb::class_<resource_face<Resource>, resource_object> bind_resource(nb::module_& m, const char* name,
                                                                   const char* doc,
                                                                   const signature<Shape>& call,
                                                                   Make make) {
  using face = resource_face<Resource>;
  nb::class_<face, resource_object> type(m, name, doc);
  type.attr("__module__") = "usmx.memory";
  register_resource(typeid(Resource), type);
  const auto construct = []<class... Values>(std::shared_ptr<Resource> (*function)(Values...)) {
    return [function](nb::pointer_and_handle<face> self, Values... values) {
      initialise(self, function(values...));
    };
  };
  def(type, call, construct(+make));
  return type;
}

// --- default_resources.cpp

/// `get_resource`, `set_resource` and `using`; `stats()` and `trim()`.
void bind_default_resources(nb::module_& m);

}  // namespace usmx::python
