// Texts that are too deep for the compiler are known before it sees them, and nothing else is.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/large_stack.hpp"

#include <stdexcept>
#include <string>
#include <thread>

#include "check.hpp"
#include "usmx/runtime.hpp"

namespace usmx {
namespace {

using detail::most_in_statement;
using detail::too_deep;

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t k = 0; k < times; ++k) text += part;
  return text;
}

TEST(TooDeep, IsAStatementOfTooManySigns) {
  for (const char* part : {"- ", "!", "x+", "x?y:", "*", "(int)", "sizeof ", "if(x)", "f(",
                           "x=", "a: ", "x[", "\"text\"", "'c'+"}) {
    CHECK_EQUAL(too_deep("void f() {\n" + repeated(part, 50) + "x;\n}"), 0u);
    CHECK_EQUAL(too_deep("void f() {\n" + repeated(part, most_in_statement) + "x;\n}"), 2u);
  }
  CHECK_EQUAL(too_deep(repeated("if (x) { y; } else\n", most_in_statement + 2)),
              most_in_statement + 2);
}

TEST(TooDeep, AreNeitherManyStatementsNorLongTablesNorComments) {
  const std::size_t many = 2 * most_in_statement;
  for (const char* part : {"x = y + 1;\n", "{ x; }\n", "int f() { return 1; }\n", "// - - -\n",
                           "/* - - \n - */", "    \n"}) {
    CHECK_EQUAL(too_deep(repeated(part, many)), 0u);
  }
  CHECK_EQUAL(too_deep("const int table[] = {" + repeated("-1, {2, 3}, ", many) + "};"), 0u);
  CHECK_EQUAL(too_deep(""), 0u);
  CHECK_EQUAL(too_deep("/*"), 0u);
  CHECK_EQUAL(too_deep("//"), 0u);
  CHECK_EQUAL(too_deep("\"\\"), 0u);
  CHECK_EQUAL(too_deep(")))}}}]]"), 0u);
}

/// Touches a page of stack for each level.
std::size_t descend(std::size_t levels) {
  volatile char page[4096];
  page[0] = static_cast<char>(levels);
  return levels == 0 ? 0 : descend(levels - 1) + static_cast<std::size_t>(page[0] != 1) + 1;
}

TEST(LargeStack, IsLargerThanThatOfTheCaller) {
  std::size_t levels = 0;
  std::thread::id where;
  detail::on_large_stack([&] {
    levels = descend(20'000);  // 80 MiB
    where = std::this_thread::get_id();
  });
  CHECK(levels >= 20'000);
  CHECK(where != std::this_thread::get_id());
}

TEST(LargeStack, PassesOnWhatIsThrown) {
  CHECK_THROWS(std::out_of_range,
               (detail::on_large_stack([] { throw std::out_of_range("thrown"); }), 0));
}

}  // namespace
}  // namespace usmx
