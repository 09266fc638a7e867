// Writes the C++ of a reduction: the same few loops for every layout, with what is known when the
// program is compiled written out.
//
// No item starts with the identity: each starts with an element, so that none is needed and none
// counts.
// SPDX-License-Identifier: Apache-2.0
#include "expression/reduction_plan.hpp"
#include "kernel/source/user_text.hpp"

namespace usmx::detail {
namespace {

std::string number(std::size_t n) { return std::to_string(n); }

class writer {
 public:
  writer(const reduction_source_parts& parts, const reduction_program& program)
      : parts_(parts), program_(program) {}

  std::string text() {
    head();
    declare();
    body_ += "\n";
    switch (program_.form) {
      case reduction_form::along:
        along();
        break;
      case reduction_form::empty:
        empty();
        break;
      default:
        across();
    }
    return head_ + parameters_ + ") {\n" + body_ + "}\n";
  }

 private:
  void line(const std::string& text) { body_ += text + "\n"; }
  void parameter(const std::string& text) {
    parameters_ += (parameters_.back() == '(' ? "" : ", ") + text;
  }
  void integer(const std::string& name) { parameter("int64_t usmx_" + name); }

  bool is_across() const {
    return program_.form == reduction_form::across || program_.form == reduction_form::scattered;
  }
  /// Loops over results whose steps every operand has as parameters.
  void steps(const std::string& name, bool reads) {
    for (std::size_t k = 0; k < program_.kept_rank; ++k) integer(name + "_kept" + number(k));
    for (std::size_t k = 0; reads && k < program_.row_rank; ++k) integer(name + "_row" + number(k));
  }

  void head() {
    head_ += prologue(*parts_.types, parts_.text->preamble, parts_.value, "reduce_expr",
                      parts_.text->reduce);
    head_ += "struct usmx_index { int64_t count; int64_t size() const { return count; } };\n";
    for (std::size_t k = 0; k < program_.inputs.size(); ++k) {
      if (program_.inputs[k].what != reduction_operand::kind::raw) continue;
      head_ += raw_type(k, parts_.types->inputs[k], parts_.own_inputs[k]);
    }
    head_ += "USMX_KERNEL(1) " + parts_.kernel_name;
  }

  /// The parameters, in the order in which reduction.cpp passes them.
  void declare() {
    integer("results");
    integer("count");
    if (program_.form != reduction_form::empty) {
      for (const char* name : {"rows", "length", "rows_a_part", "parts_a_row", "chunk", "parts"})
        integer(name);
    }
    if (program_.form == reduction_form::across) {
      integer("columns");
      integer("tiles");
    }
    for (std::size_t k = 1; k < program_.kept_rank; ++k) integer("kept" + number(k));
    for (std::size_t k = 1; k < program_.row_rank; ++k) integer("row" + number(k));
    if (program_.folds) {
      parameter("const usmx_value* usmx_from");
    } else if (program_.form != reduction_form::empty) {
      for (std::size_t k = 0; k < parts_.inputs.size(); ++k) declare_input(k);
      if (program_.numbers_elements) {
        integer("element_start");
        integer("element_inner");
        for (std::size_t k = 0; k < program_.row_rank; ++k) integer("element_row" + number(k));
      }
    }
    if (program_.is_partial) {
      parameter("usmx_value* usmx_to");
      return;
    }
    for (std::size_t k = 0; k < parts_.outputs.size(); ++k) {
      const std::string name = "out" + number(k);
      parameter(std::string(device_name(parts_.own_outputs[k])) + "* usmx_" + name);
      if (program_.form == reduction_form::across) integer(name + "_column");
      steps(name, false);
    }
    if (program_.numbers_results) {
      integer("result_start");
      if (program_.form == reduction_form::across) integer("result_column");
      steps("result", false);
    }
  }

  void declare_input(std::size_t k) {
    const auto& in = program_.inputs[k];
    const std::string name = "in" + number(k);
    if (in.what == reduction_operand::kind::number) {
      parameters_ += number_declaration(parts_.types->inputs[k], "usmx_" + name);
      return;
    }
    parameter("const " + std::string(device_name(parts_.own_inputs[k])) + "* usmx_" + name);
    if (in.what == reduction_operand::kind::raw) {
      integer(name + "_size");
      return;
    }
    if (in.inner == step_class::any) integer(name + "_inner");
    if (program_.form == reduction_form::across && in.column == step_class::any) {
      integer(name + "_column");
    }
    steps(name, true);
  }

  bool is_array(std::size_t k) const {
    return program_.inputs[k].what == reduction_operand::kind::array;
  }
  static std::string times(const std::string& index, step_class step, const std::string& name) {
    if (step == step_class::zero) return "";
    return step == step_class::one ? " + " + index : " + " + index + " * usmx_" + name;
  }

  std::vector<std::string> read_operands() const {
    std::vector<std::string> names;
    for (std::size_t k = 0; !program_.folds && k < parts_.inputs.size(); ++k) {
      if (is_array(k)) names.push_back("in" + number(k));
    }
    return names;
  }
  std::vector<std::string> row_operands() const {
    auto names = read_operands();
    if (!program_.folds && program_.numbers_elements) names.emplace_back("element");
    return names;
  }
  std::vector<std::string> written_operands() const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < parts_.outputs.size(); ++k) names.push_back("out" + number(k));
    if (program_.numbers_results) names.emplace_back("result");
    return names;
  }

  void counts_in_scope() {
    line("const int64_t n = usmx_count; (void)n;");
    line("const usmx_index _in_ind{usmx_count * usmx_results}, _out_ind{usmx_results};");
    line("(void)_in_ind; (void)_out_ind;");
  }

  /// `usmx_map(element of the row, number of the result in hand)`.
  void define_map() {
    line("const auto usmx_map = [&](int64_t usmx_i, int64_t usmx_column, int usmx_k) {");
    line("(void)usmx_column; (void)usmx_k;");
    if (program_.folds) {
      line(is_across() ? "return usmx_from[usmx_i * usmx_results + usmx_first + usmx_column];"
                       : "return usmx_from[usmx_result * usmx_length + usmx_i];");
      line("};");
      return;
    }
    for (std::size_t k = 0; k < parts_.inputs.size(); ++k) {
      const auto& in = program_.inputs[k];
      const std::string name = "in" + number(k);
      const std::string type(device_name(parts_.types->inputs[k]));
      if (in.what == reduction_operand::kind::number) {
        line("const " + type + " " + parts_.inputs[k].name + " = " +
             number_value(parts_.types->inputs[k], "usmx_" + name) + ";");
        continue;
      }
      if (in.what == reduction_operand::kind::raw) {
        line("const usmx_raw" + number(k) + " " + parts_.inputs[k].name + "{usmx_" + name +
             ", usmx_" + name + "_size};");
        continue;
      }
      std::string at = "usmx_" + name + "_at" + times("usmx_i", in.inner, name + "_inner");
      if (program_.form == reduction_form::across)
        at += times("usmx_column", in.column, name + "_column");
      if (program_.form == reduction_form::scattered) at += " + usmx_" + name + "_own[usmx_k]";
      line("const " + type + " " + parts_.inputs[k].name + " = " +
           load_text(parts_.types->inputs[k], parts_.own_inputs[k], "usmx_" + name, at) + ";");
    }
    if (program_.numbers_elements) {
      line("const int64_t i = usmx_element_at + usmx_i * usmx_element_inner, _J = i; (void)_J;");
    }
    line("return usmx_value(" + marked("map_expr", parts_.text->map) + ");");
    line("};");
  }

  /// Positions of a row: of the results (usmx_x_base) and of the row's elements (usmx_x_at).
  void define_positions() {
    for (const auto& name : row_operands()) {
      line("int64_t usmx_" + name + "_base = " + (name == "element" ? "usmx_element_start" : "0") +
           ", usmx_" + name + "_at = 0;");
    }
  }
  void enter_row() {
    for (const auto& name : row_operands()) line("usmx_" + name + "_at = usmx_" + name + "_base;");
    body_ += taken_apart("usmx_row", program_.row_rank, "row", row_operands(), "_at");
  }

  /// Where part `usmx_part` begins and ends.
  void define_part() {
    line("const int64_t usmx_row_begin = usmx_part / usmx_parts_a_row * usmx_rows_a_part;");
    line(
        "const int64_t usmx_row_end = usmx_row_begin + usmx_rows_a_part < usmx_rows ? "
        "usmx_row_begin + "
        "usmx_rows_a_part : usmx_rows;");
    line("const int64_t usmx_i_begin = usmx_part % usmx_parts_a_row * usmx_chunk;");
    line(
        "const int64_t usmx_i_end = usmx_i_begin + usmx_chunk < usmx_length ? usmx_i_begin + "
        "usmx_chunk : "
        "usmx_length;");
  }

  /// `usmx_finish(value, result, part, column)` stores what was reduced.
  void define_finish() {
    line(
        "const auto usmx_finish = [&](usmx_value a, int64_t usmx_result, int64_t usmx_part, "
        "int64_t usmx_batch, int64_t usmx_column) {");
    line("(void)usmx_part; (void)usmx_batch; (void)usmx_column;");
    if (program_.is_partial) {
      line(is_across() ? "usmx_to[usmx_part * usmx_results + usmx_result] = a;"
                       : "usmx_to[usmx_result * usmx_parts + usmx_part] = a;");
      line("};");
      return;
    }
    const bool tiled = program_.form == reduction_form::across;
    for (const auto& name : written_operands()) {
      line("int64_t usmx_" + name + "_at = " + (name == "result" ? "usmx_result_start" : "0") +
           (tiled ? " + usmx_column * usmx_" + name + "_column;" : ";"));
    }
    body_ += taken_apart(tiled ? "usmx_batch" : "usmx_result", program_.kept_rank, "kept",
                         written_operands(), "_at");
    if (program_.numbers_results)
      line("const int64_t i = usmx_result_at, _i = i; (void)i; (void)_i;");
    for (std::size_t k = 0; k < parts_.outputs.size(); ++k) {
      line(std::string(device_name(parts_.types->outputs[k])) + " " + parts_.outputs[k].name +
           "{};");
    }
    line(marked("post_map_expr", parts_.text->post_map) + ";");
    for (std::size_t k = 0; k < parts_.outputs.size(); ++k) {
      const std::string name = "usmx_out" + number(k);
      line(store_text(parts_.own_outputs[k], name, name + "_at", parts_.outputs[k].name));
    }
    line("};");
  }

  void along() {
    const std::string items = number(static_cast<std::size_t>(program_.shape.items));
    const std::string blocks = number(static_cast<std::size_t>(program_.shape.blocks));
    const std::string segments = number(static_cast<std::size_t>(program_.shape.segments));
    line("constexpr int usmx_items = " + items + ", usmx_blocks = " + blocks +
         ", usmx_segments = " + segments + ";");
    line("usmx::local<usmx_value[usmx_segments][usmx_items]> usmx_tile;");
    line("const int usmx_item = int(usmx::local_id());");
    line("const int64_t usmx_first = int64_t(usmx::group_id()) * usmx_segments;");
    counts_in_scope();
    define_finish();
    line("for (int usmx_s = 0; usmx_s < usmx_segments; ++usmx_s) {");
    line("const int64_t usmx_segment = usmx_first + usmx_s;");
    line("if (usmx_segment < usmx_results * usmx_parts) {");
    line("const int64_t usmx_result = usmx_segment / usmx_parts;");
    line("const int64_t usmx_part = usmx_segment % usmx_parts;");
    define_part();
    define_positions();
    body_ += taken_apart("usmx_result", program_.kept_rank, "kept", read_operands(), "_base");
    define_map();
    line("usmx_value usmx_sum;");
    // All items have an element: no condition keeps the compiler from making vectors of them.
    line("if (usmx_i_end - usmx_i_begin >= usmx_items) {");
    line("for (int64_t usmx_row = usmx_row_begin; usmx_row < usmx_row_end; ++usmx_row) {");
    enter_row();
    line(R"(usmx_value usmx_now;
int64_t usmx_at = usmx_i_begin + usmx_item;
const int64_t usmx_end = usmx_i_end + usmx_item;
if (usmx_end - usmx_at >= usmx_items * usmx_blocks) {
  usmx_value usmx_hand[usmx_blocks];
  #pragma clang loop unroll(full)
  for (int usmx_b = 0; usmx_b < usmx_blocks; ++usmx_b)
    usmx_hand[usmx_b] = usmx_map(usmx_at + usmx_b * usmx_items, 0, 0);
  usmx_at += usmx_items * usmx_blocks;
  for (; usmx_end - usmx_at >= usmx_items * usmx_blocks; usmx_at += usmx_items * usmx_blocks) {
    #pragma clang loop unroll(full)
    for (int usmx_b = 0; usmx_b < usmx_blocks; ++usmx_b)
      usmx_hand[usmx_b] = usmx_join(usmx_hand[usmx_b], usmx_map(usmx_at + usmx_b * usmx_items, 0, 0));
  }
  #pragma clang loop unroll(full)
  for (int usmx_w = usmx_blocks / 2; usmx_w > 0; usmx_w /= 2) {
    #pragma clang loop unroll(full)
    for (int usmx_b = 0; usmx_b < usmx_w; ++usmx_b)
      usmx_hand[usmx_b] = usmx_join(usmx_hand[usmx_b], usmx_hand[usmx_b + usmx_w]);
  }
  usmx_now = usmx_hand[0];
} else {
  usmx_now = usmx_map(usmx_at, 0, 0);
  usmx_at += usmx_items;
}
for (; usmx_end - usmx_at >= usmx_items; usmx_at += usmx_items)
  usmx_now = usmx_join(usmx_now, usmx_map(usmx_at, 0, 0));
if (usmx_at < usmx_i_end) usmx_now = usmx_join(usmx_now, usmx_map(usmx_at, 0, 0));
usmx_sum = usmx_row == usmx_row_begin ? usmx_now : usmx_join(usmx_sum, usmx_now);
}
usmx_tile[usmx_s][usmx_item] = usmx_sum;
} else if (usmx_item < usmx_i_end - usmx_i_begin) {
for (int64_t usmx_row = usmx_row_begin; usmx_row < usmx_row_end; ++usmx_row) {)");
    enter_row();
    line(R"(const usmx_value usmx_now = usmx_map(usmx_i_begin + usmx_item, 0, 0);
usmx_sum = usmx_row == usmx_row_begin ? usmx_now : usmx_join(usmx_sum, usmx_now);
}
usmx_tile[usmx_s][usmx_item] = usmx_sum;
}
}
}
usmx::group_barrier();
// How many items had an element of that part.
const auto usmx_width = [&](int64_t usmx_part) {
  const int64_t usmx_left = usmx_length - usmx_part % usmx_parts_a_row * usmx_chunk;
  const int64_t usmx_here = usmx_left < usmx_chunk ? usmx_left : usmx_chunk;
  return usmx_here < usmx_items ? int(usmx_here) : usmx_items;
};)");
    if (program_.shape.segments > 1) {
      line(R"(for (int usmx_s = usmx_item; usmx_s < usmx_segments; usmx_s += usmx_items) {
  const int64_t usmx_segment = usmx_first + usmx_s;
  if (usmx_segment < usmx_results * usmx_parts) {
    const int usmx_wide = usmx_width(usmx_segment % usmx_parts);
    usmx_value usmx_sum = usmx_tile[usmx_s][0];
    for (int usmx_k = 1; usmx_k < usmx_wide; ++usmx_k)
      usmx_sum = usmx_join(usmx_sum, usmx_tile[usmx_s][usmx_k]);
    usmx_finish(usmx_sum, usmx_segment / usmx_parts, usmx_segment % usmx_parts, 0, 0);
  }
})");
      return;
    }
    line(R"(const int usmx_wide = usmx_width(usmx_first % usmx_parts);
for (int usmx_w = usmx_items / 2; usmx_w > 0; usmx_w /= 2) {
  if (usmx_item < usmx_w && usmx_item + usmx_w < usmx_wide)
    usmx_tile[0][usmx_item] = usmx_join(usmx_tile[0][usmx_item], usmx_tile[0][usmx_item + usmx_w]);
  usmx::group_barrier();
}
if (usmx_item == 0)
  usmx_finish(usmx_tile[0][0], usmx_first / usmx_parts, usmx_first % usmx_parts, 0, 0);)");
  }

  void across() {
    const bool tiled = program_.form == reduction_form::across;
    line("constexpr int usmx_items = " + number(static_cast<std::size_t>(program_.shape.items)) +
         ", usmx_blocks = " + number(static_cast<std::size_t>(program_.shape.blocks)) + ";");
    line("int64_t usmx_group = int64_t(usmx::group_id());");
    if (tiled) {
      line("const int64_t usmx_column0 = usmx_group % usmx_tiles * (usmx_items * usmx_blocks);");
      line("usmx_group /= usmx_tiles;");
      line("const int64_t usmx_batch = usmx_group % (usmx_results / usmx_columns);");
      line("const int64_t usmx_part = usmx_group / (usmx_results / usmx_columns);");
      line("const int64_t usmx_first = usmx_batch * usmx_columns;");
    } else {
      line("const int64_t usmx_columns = usmx_results;");
      line(
          "const int64_t usmx_tiles = (usmx_results + usmx_items * usmx_blocks - 1) / (usmx_items "
          "* "
          "usmx_blocks);");
      line("const int64_t usmx_column0 = usmx_group % usmx_tiles * (usmx_items * usmx_blocks);");
      line("const int64_t usmx_part = usmx_group / usmx_tiles;");
      line("const int64_t usmx_batch = 0, usmx_first = 0;");
    }
    counts_in_scope();
    define_finish();
    define_part();
    define_positions();
    if (tiled) {
      body_ += taken_apart("usmx_batch", program_.kept_rank, "kept", read_operands(), "_base");
    } else {
      for (const auto& name : read_operands()) {
        line("int64_t usmx_" + name + "_own[usmx_blocks];");
      }
      line("for (int usmx_b = 0; usmx_b < usmx_blocks; ++usmx_b) {");
      for (const auto& name : read_operands()) line("int64_t usmx_" + name + "_here = 0;");
      body_ += taken_apart("usmx_column0 + usmx_b * usmx_items + int64_t(usmx::local_id())",
                           program_.kept_rank, "kept", read_operands(), "_here");
      for (const auto& name : read_operands()) {
        line("usmx_" + name + "_own[usmx_b] = usmx_" + name + "_here;");
      }
      line("}");
    }
    define_map();
    line("const int64_t usmx_column1 = usmx_column0 + int64_t(usmx::local_id());");
    line("if (usmx_column0 + usmx_items * usmx_blocks <= usmx_columns) {");
    line("usmx_value usmx_hand[usmx_blocks];");
    line("for (int64_t usmx_row = usmx_row_begin; usmx_row < usmx_row_end; ++usmx_row) {");
    enter_row();
    line(R"(int64_t usmx_i = usmx_i_begin;
if (usmx_row == usmx_row_begin) {
  #pragma clang loop unroll(full)
  for (int usmx_b = 0; usmx_b < usmx_blocks; ++usmx_b)
    usmx_hand[usmx_b] = usmx_map(usmx_i, usmx_column1 + usmx_b * usmx_items, usmx_b);
  ++usmx_i;
}
for (; usmx_i < usmx_i_end; ++usmx_i) {
  #pragma clang loop unroll(full)
  for (int usmx_b = 0; usmx_b < usmx_blocks; ++usmx_b)
    usmx_hand[usmx_b] = usmx_join(usmx_hand[usmx_b], usmx_map(usmx_i, usmx_column1 + usmx_b * usmx_items, usmx_b));
}
}
for (int usmx_b = 0; usmx_b < usmx_blocks; ++usmx_b)
  usmx_finish(usmx_hand[usmx_b], usmx_first + usmx_column1 + usmx_b * usmx_items, usmx_part, usmx_batch, usmx_column1 + usmx_b * usmx_items);
} else {
for (int usmx_b = 0; usmx_b < usmx_blocks; ++usmx_b) {
const int64_t usmx_column = usmx_column1 + usmx_b * usmx_items;
if (usmx_column < usmx_columns) {
usmx_value usmx_sum;
for (int64_t usmx_row = usmx_row_begin; usmx_row < usmx_row_end; ++usmx_row) {)");
    enter_row();
    line(R"(int64_t usmx_i = usmx_i_begin;
if (usmx_row == usmx_row_begin) usmx_sum = usmx_map(usmx_i++, usmx_column, usmx_b);
for (; usmx_i < usmx_i_end; ++usmx_i)
  usmx_sum = usmx_join(usmx_sum, usmx_map(usmx_i, usmx_column, usmx_b));
}
usmx_finish(usmx_sum, usmx_first + usmx_column, usmx_part, usmx_batch, usmx_column);
}
}
})");
  }

  void empty() {
    counts_in_scope();
    define_finish();
    line("const int64_t usmx_result = int64_t(usmx::global_id());");
    line("if (usmx_result < usmx_results)");
    line("  usmx_finish(usmx_value(" + *parts_.text->identity + "), usmx_result, 0, 0, 0);");
  }

  const reduction_source_parts& parts_;
  const reduction_program& program_;
  std::string head_;
  std::string parameters_ = "(";
  std::string body_;
};

}  // namespace

step_class class_of(std::int64_t step) noexcept {
  return step == 0 ? step_class::zero : step == 1 ? step_class::one : step_class::any;
}

std::string reduction_program::key() const {
  std::string key;
  key += static_cast<char>(form);
  key += folds ? 'f' : '-';
  key += is_partial ? 'p' : '-';
  for (const int n : {shape.items, shape.blocks, shape.segments}) key += std::to_string(n) + ",";
  key += std::to_string(kept_rank) + "," + std::to_string(row_rank);
  for (const auto& in : inputs) {
    key += static_cast<char>(in.what);
    key += static_cast<char>(in.inner);
    key += static_cast<char>(in.column);
  }
  return key;
}

std::string reduction_source(const reduction_source_parts& parts,
                             const reduction_program& program) {
  return writer(parts, program).text();
}

}  // namespace usmx::detail
