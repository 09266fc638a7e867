// Writes the C++ of an elementwise kernel: one item for each element, everything that a call knows
// before it runs compiled in.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "expression/elementwise_plan.hpp"
#include "kernel/source/user_text.hpp"

namespace usmx::detail {
namespace {

/// Everything that the parts of one text need to know.
struct writer {
  std::span<const expression_parameter> parameters;
  std::size_t input_count;
  const expression_types& types;
  std::span<const dtype> own;
  std::span<const int> raw_ranks;
  const elementwise_plan& plan;
  int elements;

  bool is_output(std::size_t k) const { return k >= input_count; }
  const dtype& as(std::size_t k) const {
    return is_output(k) ? types.outputs[k - input_count] : types.inputs[k];
  }
  /// Distances and lengths are as wide as they have to be: narrow ones are divided faster.
  const char* distance() const { return plan.is_small ? "int32_t" : "int64_t"; }
  const char* count() const { return plan.is_small ? "uint32_t" : "uint64_t"; }

  std::string pointer_type(std::size_t k) const {
    return (is_output(k) ? "" : "const ") + std::string(device_name(own[k])) + "*";
  }

  std::string declarations() const {
    std::string text = "uint64_t _n";
    for (std::size_t a = 1; a < plan.visited.rank(); ++a) {
      text += ", " + std::string(count()) + " _l" + std::to_string(a);
    }
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const std::string& name = parameters[k].name;
      if (plan.ways[k] == access::number) {
        text += number_declaration(types.inputs[k], "_p_" + name);
        continue;
      }
      text += ", " + pointer_type(k) + " _p_" + name;
      if (plan.ways[k] == access::strided) {
        for (std::size_t a = 0; a < plan.visited.rank(); ++a) {
          text += ", " + std::string(distance()) + " _s" + std::to_string(a) + "_" + name;
        }
      } else if (parameters[k].raw) {
        text += ", int64_t _size_" + name;
        for (int a = 0; plan.ways[k] == access::raw_strided && a < raw_ranks[k]; ++a) {
          const std::string axis = std::to_string(a);
          text += ", int64_t _n" + axis + "_" + name + ", int64_t _s" + axis + "_" + name;
        }
      }
    }
    return text;
  }

  /// The index of each loop, from the number of the turn.
  std::string unravelled() const {
    const std::size_t rank = plan.visited.rank();
    if (std::ranges::find(plan.ways, access::strided) == plan.ways.end() || rank < 2) return {};
    std::string text = std::string(count()) + " _rest = " + count() + "(_at);\n";
    for (std::size_t a = rank - 1; a > 0; --a) {
      const std::string axis = std::to_string(a);
      text += "const " + std::string(count()) + " _k" + axis + " = _rest % _l" + axis +
              ";\n_rest /= _l" + axis + ";\n";
    }
    return text + "const " + count() + " _k0 = _rest;\n";
  }

  std::string index(std::size_t k) const {
    if (plan.ways[k] == access::one) return "0";
    if (plan.ways[k] == access::run) return elements > 1 && !is_output(k) ? "_in" : "_at";
    const std::size_t rank = plan.visited.rank();
    if (rank < 2) return "int64_t(_at) * _s0_" + parameters[k].name;
    std::string text;
    for (std::size_t a = 0; a < rank; ++a) {
      const std::string axis = std::to_string(a);
      text += (text.empty() ? "" : " + ") + std::string(distance()) + "(_k" + axis + ") * _s" +
              axis + "_" + parameters[k].name;
    }
    return text;
  }

  std::string raw_view(std::size_t k) const {
    const std::string& name = parameters[k].name;
    std::string kind = "row", rank, lengths, steps;
    if (plan.ways[k] == access::raw_strided) {
      kind = "strided";
      rank = ", " + std::to_string(raw_ranks[k]);
      for (int a = 0; a < raw_ranks[k]; ++a) {
        const std::string axis = (a == 0 ? "_n" : ", _n") + std::to_string(a) + "_" + name;
        lengths += axis;
        steps += (a == 0 ? "_s" : ", _s") + std::to_string(a) + "_" + name;
      }
      lengths = ", {" + lengths + "}, {" + steps + "}";
    }
    return "const expression::raw_" + kind + "<" + std::string(device_name(as(k))) + ", " +
           (is_output(k) ? "" : "const ") + std::string(device_name(own[k])) + rank + "> " + name +
           "{_p_" + name + ", _size_" + name + lengths + "};\n";
  }

  /// An output whose elements the expression can name is one; others are copied in and out.
  bool is_reference(std::size_t k) const { return own[k] == as(k); }

  std::string variables() const {
    std::string text;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const auto& p = parameters[k];
      const std::string pointer = "_p_" + p.name;
      const std::string type(device_name(as(k)));
      if (p.raw) {
        text += raw_view(k);
      } else if (plan.ways[k] == access::number) {
        text += "const " + type + " " + p.name + " = " + number_value(as(k), pointer) + ";\n";
      } else if (is_output(k) && is_reference(k)) {
        text += type + "& " + p.name + " = " + pointer + "[" + index(k) + "];\n";
      } else {
        text += std::string(is_output(k) ? "" : "const ") + type + " " + p.name + " = " +
                load_text(as(k), own[k], pointer, index(k)) + ";\n";
      }
    }
    return text;
  }

  /// Inputs, of which an item loads several elements at once.
  std::vector<std::size_t> loaded() const {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < input_count; ++k) {
      if (plan.ways[k] == access::run) all.push_back(k);
    }
    return all;
  }
  /// Before what is done with one element: inputs are read at `_in`, outputs written at `_at`.
  std::string several_begin() const {
    std::string text = "constexpr int _elements = " + std::to_string(elements) +
                       ";\nconst uint64_t _first = global_id() * _elements;\n"
                       "if (_first >= _n) return;\n";
    for (std::size_t k = input_count; k < parameters.size(); ++k) {
      const std::string pointer = "_p_" + parameters[k].name;
      text += pointer + " = static_cast<" + pointer_type(k) + ">(__builtin_assume_aligned(" +
              pointer + ", _elements * sizeof *" + pointer + "));\n";
    }
    text += "const auto _one = [&](const uint64_t _at, const int64_t _in";
    for (const std::size_t k : loaded()) {
      text += ", " + pointer_type(k) + " _p_" + parameters[k].name;
    }
    return text + ") {\n(void)_in;\n";
  }
  /// All loads come before the first store, so that they and the stores become one each.
  std::string several_end() const {
    std::string loads, here, there;
    for (const std::size_t k : loaded()) {
      const std::string& name = parameters[k].name;
      loads += "const auto _v_" + name + " = expression::load_several<_elements>(_p_" + name +
               " + _first);\n";
      here += ", _p_" + name;
      there += ", _v_" + name + ".at";
    }
    return "};\nif (_n - _first < _elements) {\n"
           "for (uint64_t _at = _first; _at < _n; ++_at) _one(_at, int64_t(_at)" +
           here + ");\nreturn;\n}\n" + loads +
           "_Pragma(\"unroll\")\nfor (int _k = 0; _k < _elements; ++_k) _one(_first + _k, _k" +
           there + ");\n";
  }

  std::string stores() const {
    std::string text;
    for (std::size_t k = input_count; k < parameters.size(); ++k) {
      if (parameters[k].raw || is_reference(k)) continue;
      text += store_text(own[k], "_p_" + parameters[k].name, index(k), parameters[k].name) + "\n";
    }
    return text;
  }
};

/// The text ends a statement even if its author did not.
std::string statements(std::string_view argument, const std::string& text) {
  return text.empty() ? text : marked(argument, text) + "\n;\n";
}

}  // namespace

int elements_of_an_item(std::span<const dtype> own, const elementwise_plan& plan) {
  std::size_t widest = 1;
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (plan.ways[k] != access::number) widest = std::max(widest, own[k].itemsize());
  }
  return std::max(1, static_cast<int>(plan.vector_bytes / widest));
}

std::string elementwise_kernel_name(const std::string& name) { return name + "_elementwise"; }

std::string elementwise_source(std::span<const expression_parameter> parameters,
                               std::size_t input_count, const expression_types& types,
                               std::span<const dtype> own, std::span<const int> raw_ranks,
                               const elementwise_plan& plan, int elements, const std::string& name,
                               const std::string& operation, const elementwise_text& text) {
  const writer w{parameters, input_count, types, own, raw_ranks, plan, elements};
  std::string out(expression_include);
  if (!text.preamble.empty()) out += marked("preamble", text.preamble) + "\n";
  out += "USMX_KERNEL(1) " + elementwise_kernel_name(name) + "(" + w.declarations() + ") {\n";
  out += placeholder_text(types);
  // As wide as the device counts: of a narrower number no compiler sees that it goes on by one from
  // item to item, and single loads take four times as long.
  out += elements > 1
             ? w.several_begin()
             : "const uint64_t _at = global_id();\nif (_at >= _n) return;\n" + w.unravelled();
  out += "const int64_t i = int64_t(_at), n = int64_t(_n);\n(void)i;\n(void)n;\n";
  // A scope of its own: a parameter may be called `n`, and `return` ends only the expression.
  out += "{\n" + w.variables() + statements("loop_prep", text.loop_prep);
  out += "[&] {\n" + statements("operation", operation) + "}();\n" +
         statements("after_loop", text.after_loop);
  out += w.stores() + "}\n";
  return out + (elements > 1 ? w.several_end() : "") + "}\n";
}

}  // namespace usmx::detail
