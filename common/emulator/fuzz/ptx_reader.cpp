// The text of PTX as tokens, and as one constant expression.
#include "common/emulator/fuzz/target.hpp"
#include "common/ptx/reader.hpp"

namespace stepwise::fuzz {
namespace {

void read_tokens(std::string_view text) {
  ptx::lexer in(text, 1);
  std::size_t tokens = 0;
  std::uint32_t line = 1;
  for (ptx::token t = in.next(); t.kind != ptx::token_kind::end; t = in.next()) {
    require(++tokens <= text.size(), "more tokens than characters");
    require(t.line >= line, "lines that go backwards");
    require(
        t.text.data() >= text.data() && t.text.data() + t.text.size() <= text.data() + text.size(),
        "a token outside the text");
    require(!ptx::quoted(t).empty(), "a token that cannot be quoted");
    line = t.line;
  }
}

void read_constant(std::string_view text) {
  ptx::reader in(text, 1);
  const ptx::constant c = in.expect_constant("a constant");
  c.as_double();
  in.optional_offset();
}

}  // namespace

outcome try_input(std::span<const std::byte> input) {
  // A reader looks one character ahead. A std::string has a character after its text, as do bodies.
  std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  outcome o;
  for (const auto read : {&read_tokens, &read_constant}) {
    try {
      read(text);
    } catch (const ptx::parse_error& e) {
      o = {false, e.what()};
    }
  }
  return o;
}

}  // namespace stepwise::fuzz
