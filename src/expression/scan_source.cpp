// Writes the C++ of one stage of a scan.
//
// Nothing starts with the identity, only an exclusive scan stores it. Elements are joined in their
// order, so that the expression need not be commutative.
// SPDX-License-Identifier: Apache-2.0
#include "expression/scan_plan.hpp"
#include "kernel/source/user_text.hpp"

namespace usmx::detail {
namespace {

class scan_writer {
 public:
  scan_writer(const scan_source_parts& parts, const scan_program& program)
      : parts_(parts), program_(program) {}

  std::string text() {
    declare();
    if (program_.once)
      once();
    else if (program_.across)
      across();
    else
      along();
    std::string head = prologue(*parts_.types, parts_.text->preamble, parts_.value, "scan_expr",
                                parts_.text->scan);
    for (std::size_t k = 0; k < parts_.inputs.size() && !program_.folds; ++k) {
      if (parts_.inputs[k].raw) head += raw_type(k, parts_.types->inputs[k], parts_.own_inputs[k]);
    }
    if (program_.once) head = "#include \"usmx/scan.hpp\"\n" + head;
    return head + "USMX_KERNEL(1) " + parts_.kernel_name + "(int64_t usmx_lines" + parameters_ +
           ") {\n" + body_ + "}\n";
  }

 private:
  void line(const std::string& text) { body_ += text + "\n"; }
  void parameter(const std::string& text) { parameters_ += ", " + text; }
  void integer(const std::string& name) { parameter("int64_t usmx_" + name); }
  bool exclusive() const { return parts_.text->exclusive && !program_.folds; }
  bool stores() const { return !program_.totals && !program_.folds; }

  void steps(const std::string& name) {
    integer(name + "_step");
    for (std::size_t k = 0; k < program_.kept_rank; ++k)
      integer(name + "_kept" + std::to_string(k));
  }

  /// The parameters, in the order in which scan.cpp passes them.
  void declare() {
    for (const char* name : {"length", "chunk", "chunks"}) integer(name);
    for (std::size_t k = 1; k < program_.kept_rank; ++k) integer("kept" + std::to_string(k));
    if (program_.folds) parameter("usmx_value* usmx_values");
    for (std::size_t k = 0; !program_.folds && k < parts_.inputs.size(); ++k) {
      const std::string name = "in" + std::to_string(k);
      if (parts_.is_number[k]) {
        parameters_ += number_declaration(parts_.types->inputs[k], "usmx_" + name);
        continue;
      }
      parameter("const " + std::string(device_name(parts_.own_inputs[k])) + "* usmx_" + name);
      if (parts_.inputs[k].raw) {
        integer(name + "_size");
      } else {
        steps(name);
        read_.push_back(name);
      }
    }
    if (program_.once) parameter("uint32_t* usmx_flags");
    if (program_.totals || program_.once) parameter("usmx_value* usmx_totals");
    if (program_.carries) parameter("const usmx_value* usmx_carried");
    for (std::size_t k = 0; stores() && k < parts_.outputs.size(); ++k) {
      const std::string name = "out" + std::to_string(k);
      parameter(std::string(device_name(parts_.own_outputs[k])) + "* usmx_" + name);
      steps(name);
      written_.push_back(name);
    }
  }

  /// Where the line begins in each operand, and where the chunk begins and ends.
  void define_place() {
    for (const auto* names : {&read_, &written_}) {
      for (const auto& name : *names) line("int64_t usmx_" + name + "_at = 0;");
      body_ += taken_apart("usmx_line", program_.kept_rank, "kept", *names, "_at");
    }
    line("const int64_t usmx_begin = usmx_part * usmx_chunk;");
    line(
        "const int64_t usmx_end = usmx_begin + usmx_chunk < usmx_length ? usmx_begin + usmx_chunk "
        ": usmx_length;");
    line("const int64_t n = usmx_length; (void)n;");
  }
  /// Totals of a line are neighbours where the items share them, otherwise those of a chunk are.
  std::string value_at(const std::string& part, const std::string& length) const {
    return program_.across ? part + " * usmx_lines + usmx_line"
                           : "usmx_line * " + length + " + " + part;
  }

  /// The pointers of operands as parameters and arguments of `usmx_map_at` and `usmx_store_at`,
  /// which find their element at the place `usmx_k` of them.
  std::string pointers(const std::vector<std::string>& names, bool declared) const {
    std::string text;
    for (const auto& name : names) {
      const auto k = std::stoul(name.substr(name.find_first_of("0123456789")));
      text += ", ";
      if (declared) {
        text += name.starts_with("in")
                    ? "const " + std::string(device_name(parts_.own_inputs[k])) + "* "
                    : std::string(device_name(parts_.own_outputs[k])) + "* ";
      }
      text += "usmx_" + name;
    }
    return text;
  }

  void define_map() {
    if (program_.folds) {
      line("const auto usmx_map = [&](int64_t usmx_i) {");
      line("return usmx_values[" + value_at("usmx_i", "usmx_length") + "];\n};");
      return;
    }
    line(program_.once ? "const auto usmx_map_at = [&](int64_t usmx_i, int64_t usmx_k" +
                             pointers(read_, true) + ") {\n(void)usmx_k;"
                       : "const auto usmx_map = [&](int64_t usmx_i) {");
    for (std::size_t k = 0; k < parts_.inputs.size(); ++k) {
      const dtype& as = parts_.types->inputs[k];
      const std::string name = "usmx_in" + std::to_string(k);
      const std::string declared =
          "const " + std::string(device_name(as)) + " " + parts_.inputs[k].name + " = ";
      if (parts_.is_number[k]) {
        line(declared + number_value(as, name) + ";");
      } else if (parts_.inputs[k].raw) {
        line("const usmx_raw" + std::to_string(k) + " " + parts_.inputs[k].name + "{" + name +
             ", " + name + "_size};");
      } else {
        line(declared + load_text(as, parts_.own_inputs[k], name, place(name)) + ";");
      }
    }
    line("const int64_t i = usmx_i; (void)i;");
    line("return usmx_value(" + marked("map_expr", parts_.text->map) + ");\n};");
  }

  std::string place(const std::string& name) const {
    return program_.once ? "usmx_k * " + (program_.elements > 1 ? "1" : name + "_step")
                         : name + "_at + usmx_i * " + name + "_step";
  }

  void define_store() {
    line(program_.once ? "const auto usmx_store_at = [&](int64_t usmx_i, usmx_value a, "
                         "int64_t usmx_k" +
                             pointers(written_, true) + ") {"
                       : "const auto usmx_store = [&](int64_t usmx_i, usmx_value a) {");
    if (program_.folds) {
      line("usmx_values[" + value_at("usmx_i", "usmx_length") + "] = a;\n};");
      return;
    }
    line("const int64_t i = usmx_i; (void)i;");
    for (std::size_t k = 0; k < parts_.outputs.size(); ++k) {
      line(std::string(device_name(parts_.types->outputs[k])) + " " + parts_.outputs[k].name +
           "{};");
    }
    line(marked("post_map_expr", *parts_.post_map) + ";");
    for (std::size_t k = 0; k < parts_.outputs.size(); ++k) {
      const std::string name = "usmx_out" + std::to_string(k);
      line(store_text(parts_.own_outputs[k], name, place(name), parts_.outputs[k].name));
    }
    line("};");
  }

  /// What the chunks before this one come to; `usmx_has` says whether there are any.
  void define_carry() {
    line("usmx_value usmx_carry{};");
    line("bool usmx_has = false;");
    if (!program_.carries) return;
    line("if (usmx_part > 0) {");
    line("usmx_carry = usmx_carried[" + value_at("(usmx_part - 1)", "usmx_chunks") + "];");
    line("usmx_has = true;\n}");
  }

  void across() {
    line("const int64_t usmx_id = int64_t(usmx::global_id());");
    line("if (usmx_id >= usmx_lines * usmx_chunks) return;");
    line("const int64_t usmx_line = usmx_id % usmx_lines, usmx_part = usmx_id / usmx_lines;");
    define_place();
    define_map();
    if (program_.totals) {
      line("usmx_value usmx_sum = usmx_map(usmx_begin);");
      line("for (int64_t usmx_i = usmx_begin + 1; usmx_i < usmx_end; ++usmx_i)");
      line("  usmx_sum = usmx_join(usmx_sum, usmx_map(usmx_i));");
      line("usmx_totals[" + value_at("usmx_part", "usmx_chunks") + "] = usmx_sum;");
      return;
    }
    define_store();
    define_carry();
    line("for (int64_t usmx_i = usmx_begin; usmx_i < usmx_end; ++usmx_i) {");
    line("const usmx_value usmx_next = usmx_map(usmx_i);");
    if (exclusive()) {
      line("usmx_store(usmx_i, usmx_has ? usmx_carry : usmx_value(" + *parts_.text->identity +
           "));");
    }
    line("usmx_carry = usmx_has ? usmx_join(usmx_carry, usmx_next) : usmx_next;");
    line("usmx_has = true;");
    if (!exclusive()) line("usmx_store(usmx_i, usmx_carry);");
    line("}");
  }

  void along() {
    line("constexpr int usmx_items = " + std::to_string(program_.items) +
         ", usmx_blocks = " + std::to_string(program_.blocks) + ";");
    line(R"(constexpr int usmx_tile = usmx_items * usmx_blocks;
usmx::local<usmx_value[usmx_tile]> usmx_hand;
usmx::local<usmx_value[2][usmx_items]> usmx_sums;
const int usmx_item = int(usmx::local_id());
const int64_t usmx_group = int64_t(usmx::group_id());
const int64_t usmx_line = usmx_group / usmx_chunks, usmx_part = usmx_group % usmx_chunks;)");
    define_place();
    define_map();
    if (!program_.totals) define_store();
    define_carry();
    line(R"(for (int64_t usmx_at = usmx_begin; usmx_at < usmx_end; usmx_at += usmx_tile) {
const int usmx_here = usmx_end - usmx_at < usmx_tile ? int(usmx_end - usmx_at) : usmx_tile;
for (int usmx_k = usmx_item; usmx_k < usmx_here; usmx_k += usmx_items)
  usmx_hand[usmx_k] = usmx_map(usmx_at + usmx_k);
usmx::group_barrier();
// Each item joins its own elements, which are neighbours; then the items join what they have.
const int usmx_first = usmx_item * usmx_blocks;
const int usmx_last = usmx_first + usmx_blocks < usmx_here ? usmx_first + usmx_blocks : usmx_here;
if (usmx_first < usmx_here) {
  usmx_value usmx_own = usmx_hand[usmx_first];
  for (int usmx_k = usmx_first + 1; usmx_k < usmx_last; ++usmx_k)
    usmx_own = usmx_join(usmx_own, usmx_hand[usmx_k]);
  usmx_sums[0][usmx_item] = usmx_own;
}
usmx::group_barrier();
int usmx_now = 0;
for (int usmx_step = 1; usmx_step < usmx_items; usmx_step *= 2) {
  if (usmx_first < usmx_here) {
    usmx_sums[1 - usmx_now][usmx_item] =
        usmx_item < usmx_step
            ? usmx_sums[usmx_now][usmx_item]
            : usmx_join(usmx_sums[usmx_now][usmx_item - usmx_step], usmx_sums[usmx_now][usmx_item]);
  }
  usmx_now = 1 - usmx_now;
  usmx::group_barrier();
}
const usmx_value usmx_all = usmx_sums[usmx_now][(usmx_here - 1) / usmx_blocks];)");
    if (!program_.totals) {
      line(R"(if (usmx_first < usmx_here) {
usmx_value usmx_own = usmx_carry;
bool usmx_any = usmx_has;
if (usmx_item > 0) {
  const usmx_value usmx_before = usmx_sums[usmx_now][usmx_item - 1];
  usmx_own = usmx_any ? usmx_join(usmx_own, usmx_before) : usmx_before;
  usmx_any = true;
}
for (int usmx_k = usmx_first; usmx_k < usmx_last; ++usmx_k) {
  const usmx_value usmx_next = usmx_hand[usmx_k];)");
      if (exclusive()) {
        line("usmx_hand[usmx_k] = usmx_any ? usmx_own : usmx_value(" + *parts_.text->identity +
             ");");
      }
      line("usmx_own = usmx_any ? usmx_join(usmx_own, usmx_next) : usmx_next;");
      line("usmx_any = true;");
      if (!exclusive()) line("usmx_hand[usmx_k] = usmx_own;");
      line(R"(}
}
usmx::group_barrier();
for (int usmx_k = usmx_item; usmx_k < usmx_here; usmx_k += usmx_items)
  usmx_store(usmx_at + usmx_k, usmx_hand[usmx_k]);)");
    }
    line("usmx_carry = usmx_has ? usmx_join(usmx_carry, usmx_all) : usmx_all;");
    line("usmx_has = true;");
    line("usmx::group_barrier();\n}");
    if (program_.totals) {
      line("if (usmx_item == 0) usmx_totals[" + value_at("usmx_part", "usmx_chunks") +
           "] = usmx_carry;");
    }
  }

  /// Tiles in one launch. What is written here are the functions that kernels/scan.hpp calls.
  void once() {
    const std::string numbers =
        std::to_string(program_.items) + ", " + std::to_string(program_.blocks);
    const std::string elements = std::to_string(program_.elements);
    line("usmx::local<usmx::expression::scan::workspace<usmx_value, " + numbers + ">> usmx_space;");
    line(
        R"(const usmx::expression::scan::board<usmx_value> usmx_board(usmx_flags, usmx_totals, usmx_lines * usmx_chunks);
const int64_t usmx_number = usmx::expression::scan::take_number(usmx_space.get(), usmx_board.next_number);
const int64_t usmx_line = usmx_number / usmx_chunks, usmx_part = usmx_number % usmx_chunks;)");
    define_place();
    define_map();
    define_store();
    // From the pointers of whole arrays to those of one element.
    const auto moved = [&](const std::vector<std::string>& names, bool assume) {
      std::string text;
      for (const auto& name : names) {
        const std::string own = "usmx_" + name;
        const std::string moved = own + " + " + own + "_at + usmx_i * " + own + "_step";
        text += assume ? ", static_cast<decltype(" + own + ")>(__builtin_assume_aligned(" + moved +
                             ", " + elements + " * sizeof *" + own + "))"
                       : ", " + moved;
      }
      return text;
    };
    line("const auto usmx_load_one = [&](int64_t usmx_i) { return usmx_map_at(usmx_i, 0" +
         moved(read_, false) + "); };");
    line(
        "const auto usmx_store_one = [&](int64_t usmx_i, usmx_value a) { usmx_store_at(usmx_i, a, "
        "0" +
        moved(written_, false) + "); };");
    line("const auto usmx_load = [&](int64_t usmx_i, usmx_value* usmx_to) {");
    std::string arguments;
    for (const auto& name : read_) {
      if (program_.elements > 1) {
        line("const auto usmx_several_" + name + " = expression::load_several<" + elements +
             ">(usmx_" + name + " + usmx_" + name + "_at + usmx_i);");
        arguments += ", usmx_several_" + name + ".at";
      } else {
        arguments = moved(read_, false);
      }
    }
    line("_Pragma(\"unroll\")\nfor (int usmx_k = 0; usmx_k < " + elements +
         "; ++usmx_k) usmx_to[usmx_k] = usmx_map_at(usmx_i + usmx_k, usmx_k" + arguments +
         ");\n};");
    line("const auto usmx_store = [&](int64_t usmx_i, const usmx_value* usmx_from) {");
    line("_Pragma(\"unroll\")\nfor (int usmx_k = 0; usmx_k < " + elements +
         "; ++usmx_k) usmx_store_at(usmx_i + usmx_k, usmx_from[usmx_k], usmx_k" +
         moved(written_, program_.elements > 1) + ");\n};");
    line("const auto usmx_joined = [](usmx_value a, usmx_value b) { return usmx_join(a, b); };");
    line("const auto usmx_first = [&] { return usmx_value(" +
         (exclusive() ? *parts_.text->identity : std::string()) + "); };");
    line("usmx::expression::scan::tile<" + numbers + ", " + std::to_string(scan_window) + ", " +
         elements + (exclusive() ? ", true" : ", false") +
         ">(usmx_space.get(), usmx_board, usmx_line, usmx_part, usmx_chunks, usmx_begin, usmx_end, "
         "usmx_load, usmx_load_one, usmx_joined, usmx_first, usmx_store, usmx_store_one);");
  }

  const scan_source_parts& parts_;
  const scan_program& program_;
  std::vector<std::string> read_;
  std::vector<std::string> written_;
  std::string parameters_;
  std::string body_;
};

}  // namespace

std::string scan_program::key() const {
  std::string key;
  for (const bool flag : {across, folds, totals, carries, once}) key += flag ? '1' : '0';
  for (const int n : {items, blocks, elements, static_cast<int>(kept_rank)})
    key += std::to_string(n) + ",";
  return key;
}

std::string scan_source(const scan_source_parts& parts, const scan_program& program) {
  return scan_writer(parts, program).text();
}

}  // namespace usmx::detail
