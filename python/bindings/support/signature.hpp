// A function of the module says its signature once, as a line of Python that the compiler reads:
//
//   def(m, "near(x: ndarray, /, to: Index? = 0, *, queue: QueueLike = None) -> bool"_sig, near,
//       "Help.");
//
// Names, defaults, what goes by place or by name, whether None is taken, help and the stub come
// from it; with nanobind's annotations each is said twice. None is taken where the type has
// `| None`, where it is the default, and where `?` stands behind the type: there the type is a name
// that includes None, or the function says in its own words why it takes none. Python does not see
// the mark. In classes it is `type.def("…"_sig, function)`: a method if the first parameter is
// `self`, otherwise a static method.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

namespace usmx::python {

namespace nb = nanobind;

/// A text as a template argument.
template <std::size_t Size>
struct signature_text {
  char characters[Size]{};

  constexpr signature_text() = default;
  constexpr signature_text(const char (&text)[Size]) {  // NOLINT: implicit, as a literal is one
    std::copy_n(text, Size, characters);
  }
  constexpr std::string_view view() const { return {characters, Size - 1}; }

  template <std::size_t More>
  constexpr auto operator+(const char (&other)[More]) const {
    return *this + signature_text<More>(other);
  }
  template <std::size_t More>
  constexpr signature_text<Size + More - 1> operator+(const signature_text<More>& other) const {
    signature_text<Size + More - 1> sum;
    std::copy_n(characters, Size - 1, sum.characters);
    std::copy_n(other.characters, More, sum.characters + Size - 1);
    return sum;
  }
};

/// What the type of a call depends on. Parameters are counted without `self`.
struct call_shape {
  static constexpr std::size_t most = 32;

  std::size_t count = 0;
  bool is_method = false;
  std::size_t by_place = 0;    // so many parameters may be given by place
  bool has_star = false;       // a `*` without a name stands behind these
  std::size_t args_at = most;  // `*args` and `**keywords`, if there are any
  std::size_t keywords_at = most;
  std::uint32_t with_none = 0;  // a bit for each parameter
  std::uint32_t with_default = 0;

  constexpr bool has(std::uint32_t bits, std::size_t k) const { return ((bits >> k) & 1U) != 0; }
};

/// Where the name and the default of a parameter are; of no size if callers cannot give the name,
/// or if there is no default.
struct parameter_texts {
  std::size_t name = 0;
  std::size_t name_size = 0;
  std::size_t value = 0;
  std::size_t value_size = 0;
};

enum class signature_fault {
  none,
  form,
  brackets,
  name,
  repeated_name,
  marks,
  order,
  literal,
  question,
  count,
};

/// What stands in a signature.
struct signature_parts {
  call_shape shape;
  std::array<parameter_texts, call_shape::most> parameters{};
  signature_fault fault = signature_fault::none;
};

/// Whether a default is one that `literal_value` makes: None, True, False, a number, a text or
/// bytes without escapes, or an empty tuple.
constexpr bool is_literal(std::string_view text) {
  if (text == "None" || text == "True" || text == "False" || text == "()") return true;
  if (text.starts_with('b')) text.remove_prefix(1);
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"')) {
    const std::string_view inner = text.substr(1, text.size() - 2);
    return text.back() == text.front() && inner.find(text.front()) == std::string_view::npos &&
           inner.find('\\') == std::string_view::npos;
  }
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto is_digits = [](std::string_view some) {
    return !some.empty() && std::ranges::all_of(some, [](char c) { return c >= '0' && c <= '9'; });
  };
  return is_digits(text.substr(0, point)) &&
         (point == text.size() || is_digits(text.substr(point + 1)));
}

/// Whether a type is `None`, or a union with it.
constexpr bool has_none(std::string_view type) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t k = 0; k <= type.size(); ++k) {
    const char c = k == type.size() ? '|' : type[k];
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c != '|' || depth != 0) continue;
    std::string_view one = type.substr(begin, k - begin);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one == "None") return true;
    begin = k + 1;
  }
  return false;
}

/// The parameters of a function, a lambda or a member function, the object of which is the first.
template <class... Parameters>
struct function_parameters {
  static constexpr std::size_t count = sizeof...(Parameters);
  /// Which of them has a type; `call_shape::most` if none has.
  template <class Type>
  static constexpr std::size_t at() {
    constexpr bool is_one[] = {std::is_same_v<std::remove_cvref_t<Parameters>, Type>..., true};
    std::size_t k = 0;
    while (!is_one[k]) ++k;
    return k == count ? call_shape::most : k;
  }
};

template <class Function>
struct parameters_of;
template <class Result, bool Quiet, class... All>
struct parameters_of<Result (*)(All...) noexcept(Quiet)> : function_parameters<All...> {};
template <class Result, class Class, bool Quiet, class... All>
struct parameters_of<Result (Class::*)(All...) noexcept(Quiet)>
    : function_parameters<Class&, All...> {
  using without_object = function_parameters<All...>;
};
template <class Result, class Class, bool Quiet, class... All>
struct parameters_of<Result (Class::*)(All...) const noexcept(Quiet)>
    : function_parameters<Class&, All...> {
  using without_object = function_parameters<All...>;
};
template <class Function>
  requires requires { &Function::operator(); }
struct parameters_of<Function> : parameters_of<decltype(&Function::operator())>::without_object {};

/// The reader: `name(self, x: int, /, y: str = 'a', *args: int, z: object = None) -> None`.
class signature_reader {
 public:
  constexpr explicit signature_reader(std::string_view text) : text_(text) {}

  constexpr signature_parts read() {
    read_all();
    return parts_;
  }

 private:
  static constexpr std::size_t none = std::string_view::npos;

  static constexpr bool is_name(std::string_view text) {
    for (const char c : text) {
      const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      if (!is_letter && !(c >= '0' && c <= '9')) return false;
    }
    return !text.empty() && !(text.front() >= '0' && text.front() <= '9');
  }

  constexpr std::string_view between(std::size_t begin, std::size_t end) const {
    while (begin < end && text_[begin] == ' ') ++begin;
    while (begin < end && text_[end - 1] == ' ') --end;
    return text_.substr(begin, end - begin);
  }

  constexpr std::size_t place_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - text_.data());
  }

  constexpr bool fails(signature_fault fault) {
    parts_.fault = fault;
    return false;
  }

  /// The next such character that stands outside of brackets and quotes.
  constexpr std::size_t next(std::size_t from, std::size_t end, char wanted) const {
    int depth = 0;
    char quote = 0;
    for (std::size_t k = from; k < end; ++k) {
      const char c = text_[k];
      if (quote != 0) {
        if (c == quote) quote = 0;
        continue;
      }
      if (c == wanted && depth == 0) return k;
      if (c == '\'' || c == '"') quote = c;
      if (c == '(' || c == '[') ++depth;
      if ((c == ')' || c == ']') && --depth < 0) return none;
    }
    return none;
  }

  constexpr bool read_all() {
    const std::size_t open = text_.find('(');
    if (open == none || !is_name(text_.substr(0, open))) return fails(signature_fault::form);
    const std::size_t close = next(open + 1, text_.size(), ')');
    if (close == none) return fails(signature_fault::brackets);
    constexpr std::string_view arrow = " -> ";
    const std::string_view result = text_.substr(close + 1);
    if (!result.starts_with(arrow) || result.size() == arrow.size())
      return fails(signature_fault::form);
    for (std::size_t begin = open + 1; begin < close;) {
      const std::size_t comma = next(begin, close, ',');
      const std::size_t end = comma == none ? close : comma;
      if (!read_parameter(begin, end)) return false;
      begin = end + 1;
      if (comma != none && between(begin, close).empty()) return fails(signature_fault::form);
    }
    if (std::count(text_.begin(), text_.end(), '?') != questions_)
      return fails(signature_fault::question);
    call_shape& shape = parts_.shape;
    if (shape.has_star && shape.by_place == shape.count) return fails(signature_fault::marks);
    if (shape.args_at == call_shape::most && !shape.has_star)
      shape.by_place = std::min(shape.count, shape.keywords_at);
    return true;
  }

  constexpr bool read_parameter(std::size_t begin, std::size_t end) {
    call_shape& shape = parts_.shape;
    const std::string_view whole = between(begin, end);
    if (whole == "/") {
      if (was_slash_ || is_by_name() || (shape.count == 0 && !shape.is_method))
        return fails(signature_fault::marks);
      was_slash_ = true;
      for (std::size_t k = 0; k < shape.count; ++k) parts_.parameters[k].name_size = 0;
      return true;
    }
    if (whole == "*") {
      if (is_by_name()) return fails(signature_fault::marks);
      shape.has_star = true;
      shape.by_place = shape.count;
      return true;
    }
    if (shape.keywords_at != call_shape::most) return fails(signature_fault::marks);
    const bool is_keywords = whole.starts_with("**");
    const bool is_args = !is_keywords && whole.starts_with("*");
    const std::size_t from = place_of(whole) + (is_keywords ? 2 : is_args ? 1 : 0);
    const std::size_t equals = next(from, end, '=');
    const std::size_t colon = next(from, equals == none ? end : equals, ':');
    const std::size_t name_end = colon != none ? colon : equals != none ? equals : end;
    const std::string_view name = between(from, name_end);
    if (!is_name(name)) return fails(signature_fault::name);
    if (name == "self" && shape.count == 0 && !shape.is_method && colon == none) {
      shape.is_method = true;
      return true;
    }
    if (shape.count == call_shape::most) return fails(signature_fault::count);
    for (std::size_t k = 0; k < shape.count; ++k) {
      if (names_[k] == name) return fails(signature_fault::repeated_name);
    }
    names_[shape.count] = name;
    const std::uint32_t bit = std::uint32_t{1} << shape.count;
    parameter_texts& parameter = parts_.parameters[shape.count];
    parameter.name = place_of(name);
    parameter.name_size = name.size();
    if (colon != none) {
      std::string_view type = between(colon + 1, equals == none ? end : equals);
      const bool is_marked = type.ends_with('?');
      if (is_marked) type.remove_suffix(1);
      if (type.empty()) return fails(signature_fault::form);
      questions_ += is_marked ? 1 : 0;
      if (is_marked && (has_none(type) || is_args || is_keywords))
        return fails(signature_fault::question);
      if ((is_marked || has_none(type)) && !is_args && !is_keywords) shape.with_none |= bit;
    }
    if (is_args) {
      if (is_by_name()) return fails(signature_fault::marks);
      shape.by_place = shape.args_at = shape.count;
    }
    if (is_keywords) shape.keywords_at = shape.count;
    if (equals != none) {
      const std::string_view value = between(equals + 1, end);
      if (!is_literal(value) || is_args || is_keywords) return fails(signature_fault::literal);
      parameter.value = place_of(value);
      parameter.value_size = value.size();
      shape.with_default |= bit;
      if (value == "None") shape.with_none |= bit;
    } else if (shape.with_default != 0 && !is_by_name() && !is_keywords) {
      return fails(signature_fault::order);
    }
    ++shape.count;
    return true;
  }

  constexpr bool is_by_name() const {
    return parts_.shape.has_star || parts_.shape.args_at != call_shape::most;
  }

  std::string_view text_;
  signature_parts parts_;
  bool was_slash_ = false;
  std::ptrdiff_t questions_ = 0;
  std::array<std::string_view, call_shape::most> names_{};
};

/// What is kept of a signature for the process.
template <std::size_t Size, std::size_t Count>
struct kept_signature {
  char shown[Size + 4]{'d', 'e', 'f', ' '};  // what Python sees: without the marks `?`
  char names[Size]{};                        // the text with a null behind each name
  std::array<parameter_texts, Count> parameters{};

  constexpr kept_signature(const char* text, const signature_parts& parts) {
    char* end = shown + 4;
    for (std::size_t k = 0; k < Size; ++k) {
      names[k] = text[k];
      if (text[k] != '?') *end++ = text[k];
    }
    for (std::size_t k = 0; k < Count; ++k) {
      const parameter_texts& one = parameters[k] = parts.parameters[k];
      if (one.name_size != 0) names[one.name + one.name_size] = '\0';
    }
  }
};

template <signature_text Text>
struct read_signature {
  static constexpr signature_parts parts = signature_reader(Text.view()).read();
  static constexpr kept_signature<sizeof(Text.characters), parts.shape.count> kept{Text.characters,
                                                                                   parts};
};

/// A default, made of its text.
nb::object literal_value(std::string_view text);

/// A signature that was read. Its type has what nanobind has to know of a call in its templates,
/// and not the text: functions that are called alike share their code.
template <call_shape Shape>
class signature : public nb::def_visitor<signature<Shape>> {
 public:
  static constexpr call_shape shape = Shape;

  template <signature_text Text>
  explicit signature(read_signature<Text> read)
      : shown_(read.kept.shown),
        names_(read.kept.names),
        parameters_(read.kept.parameters.data()) {}

  /// For `nb::class_::def`.
  template <class Class, class Function, class... Extra>
  void execute(Class& type, Function function, const Extra&... extra) const {
    using target =
        std::conditional_t<std::is_member_function_pointer_v<Function>, typename Class::Type, void>;
    bind<target>(type, std::move(function), extra...);
  }

  /// The function, as an attribute of `scope` and as an object.
  template <class Target = void, class Function, class... Extra>
  nb::object bind(nb::handle scope, Function function, const Extra&... extra) const {
    using call = parameters_of<Function>;
    static_assert(call::count == in_function(Shape.count),
                  "the signature has another number of parameters than the function");
    static_assert(call::template at<nb::args>() == in_function(Shape.args_at),
                  "the signature has `*args` where the function has no nb::args, or the other way");
    static_assert(
        call::template at<nb::kwargs>() == in_function(Shape.keywords_at),
        "the signature has `**keywords` where the function has no nb::kwargs, or the other way");
    constexpr std::size_t first = Shape.has_star ? Shape.by_place : Shape.count;
    return bind_parameters<Target>(std::make_index_sequence<first>(),
                                   std::make_index_sequence<Shape.count - first>(), scope,
                                   std::move(function), extra...);
  }

  /// The name of the function.
  std::string name() const {
    const std::string_view text(shown_);
    return std::string(text.substr(4, text.find('(') - 4));
  }

  /// Of a parameter; null if it is given by place alone.
  const char* name_of(std::size_t parameter) const {
    const parameter_texts& texts = parameters_[parameter];
    return texts.name_size == 0 ? nullptr : names_ + texts.name;
  }

  nb::object default_of(std::size_t parameter) const {
    const parameter_texts& texts = parameters_[parameter];
    return literal_value({names_ + texts.value, texts.value_size});
  }

 private:
  using self_mark = std::conditional_t<Shape.is_method, nb::is_method, std::nullptr_t>;
  using star_mark = std::conditional_t<Shape.has_star, nb::kw_only, std::nullptr_t>;

  template <class Target, std::size_t... First, std::size_t... Named, class Function,
            class... Extra>
  nb::object bind_parameters(std::index_sequence<First...>, std::index_sequence<Named...>,
                             nb::handle scope, Function function, const Extra&... extra) const {
    return nb::cpp_function<Target>(
        std::move(function), nb::scope(scope), nb::name(shown_), self_mark(), argument<First>()...,
        star_mark(), argument<sizeof...(First) + Named>()..., nb::sig(shown_), extra...);
  }

  static constexpr std::size_t in_function(std::size_t parameter) {
    return parameter == call_shape::most || !Shape.is_method ? parameter : parameter + 1;
  }

  template <std::size_t K>
  auto argument() const {
    const auto named = [this] {
      const nb::arg plain(name_of(K));
      if constexpr (Shape.has(Shape.with_none, K)) {
        return plain.none();
      } else {
        return plain;
      }
    }();
    if constexpr (Shape.has(Shape.with_default, K)) {
      return named = default_of(K);
    } else {
      return named;
    }
  }

  const char* shown_;
  const char* names_;
  const parameter_texts* parameters_;
};

/// The signature of a text, or the reason why it is none.
template <signature_text Text>
auto made_signature() {
  using read = read_signature<Text>;
  constexpr signature_fault fault = read::parts.fault;
  using enum signature_fault;
  static_assert(fault != form, "signature: not of the form `name(parameters) -> type`");
  static_assert(fault != brackets, "signature: a bracket or a quote has no end");
  static_assert(fault != name, "signature: a parameter has no name, or not one of Python");
  static_assert(fault != repeated_name, "signature: two parameters have one name");
  static_assert(fault != marks,
                "signature: `/`, `*`, `*args` or `**keywords` at a place where Python has none");
  static_assert(fault != order,
                "signature: a parameter without a default follows one that has a default");
  static_assert(fault != literal,
                "signature: a default has to be None, True, False, a number, a text, bytes or ()");
  static_assert(fault != question,
                "signature: `?` stands elsewhere than behind a type without None");
  static_assert(fault != count, "signature: too many parameters");
  return signature<read::parts.shape>(read());
}

template <signature_text Text>
auto operator""_sig() {
  return made_signature<Text>();
}

/// A function of a module, or of a class of which no more than the object is at hand.
template <call_shape Shape, class Function, class... Extra>
void def(nb::handle scope, const signature<Shape>& call, Function function, const Extra&... extra) {
  call.bind(scope, std::move(function), extra...);
}

}  // namespace usmx::python
