// Writes values and strings into the variable's bytes, and notes addresses as relocations.
#include "common/ptx/initialiser.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/ptx/declarations.hpp"

namespace stepwise::ptx {
namespace {

class initialiser {
 public:
  initialiser(reader& in, const std::vector<std::uint64_t>& strides, bool open_ended, variable& v)
      : in_(in),
        first_(in.current().text.data()),
        strides_(strides),
        open_ended_(open_ended),
        v_(v) {}

  void read() {
    if (v_.type == scalar_type::texref || v_.type == scalar_type::samplerref ||
        v_.type == scalar_type::surfref) {
      std::uint32_t line = 0;  // {addr_mode_0 = wrap, ...}: sampling, which is ignored
      in_.expect_block(line, "before a texture's or sampler's properties");
      return;
    }
    const std::uint64_t end = open_ended_ ? variable_limit : v_.bytes;
    if (in_.current().is('{')) {
      std::uint64_t at = 0;
      braces(0, at, end);
    } else {
      std::uint64_t at = 0;
      entry(at, end);
    }
    if (open_ended_) {
      const std::uint64_t stride = std::max<std::uint64_t>(1, strides_[0]);
      v_.bytes = (filled_ + stride - 1) / stride * stride;
    }
  }

 private:
  // Reads a braced list at nesting depth `level`. The list fills the bytes from `at` up to `end`.
  void braces(std::size_t level, std::uint64_t& at, std::uint64_t end) {
    const deeper guard(in_);
    in_.expect('{', "before an initialiser's list");
    const std::uint64_t first = at;
    const std::uint64_t stride = level < strides_.size() ? strides_[level] : end - at;
    while (!in_.current().is('}')) {
      if (in_.current().is('{')) {
        if (stride == 0) in_.fail("a value");
        at = first + (at - first + stride - 1) / stride * stride;
        if (at >= end || stride > end - at) in_.fail("'}' after the last element");
        std::uint64_t inner = at;
        braces(level + 1, inner, at + stride);
        at += stride;
      } else {
        entry(at, end);
      }
      if (!in_.accept(',')) break;
    }
    in_.expect('}', "or ',' in an initialiser");
    filled_ = std::max(filled_, at);
  }

  // Reads one value, address or string.
  void entry(std::uint64_t& at, std::uint64_t end) {
    if (in_.current().kind == token_kind::string) return text(at, end);
    const unsigned bytes = bytes_of(v_.type);
    if (bytes == 0) in_.fail("no initialiser for a variable of this type");
    if (at > end || bytes > end - at) in_.fail("'}' after the last element");
    const token start = in_.current();
    if (start.kind == token_kind::word && start.text != "WARP_SZ") {
      address(at, 0);
    } else {
      const constant c = in_.expect_constant("a value");
      if (c.what == constant::kind::integer && in_.accept('(')) {
        if (c.bits == 0) throw parse_error(start.line, "a mask of no bits");
        address(at, c.bits);
        in_.expect(')', "after a masked address");
      } else {
        store(at, bytes, converted(c, start.line));
      }
    }
    at += bytes;
    filled_ = std::max(filled_, at);
  }

  // Parses sym, sym+4, generic(sym), generic(sym)+4 or generic(sym+4).
  void address(std::uint64_t at, std::uint64_t mask) {
    relocation r;
    r.at = at;
    r.bytes = bytes_of(v_.type);
    r.mask = mask;
    r.symbol = in_.expect_word("a variable's or function's name");
    if (r.symbol == "generic" && in_.accept('(')) {
      r.generic = true;
      r.symbol = in_.expect_word("a variable's name in generic()");
      r.addend = in_.optional_offset();
      in_.expect(')', "after generic(");
    }
    r.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(r.addend) +
                                         static_cast<std::uint64_t>(in_.optional_offset()));
    v_.relocations.push_back(r);
  }

  void text(std::uint64_t& at, std::uint64_t end) {
    if (bytes_of(v_.type) != 1) in_.fail("a value, as only bytes take a string");
    for (const char c : in_.expect_string("a string")) {
      if (at >= end) in_.fail("a shorter string");
      store(at++, 1, static_cast<unsigned char>(c));
    }
    if (open_ended_) ++at;  // the final NUL, as in C
    filled_ = std::max(filled_, at);
  }

  // The bits that a variable of this type holds for `c`.
  std::uint64_t converted(const constant& c, std::uint32_t line) const {
    const bool is_float = c.what != constant::kind::integer;
    if (v_.type == scalar_type::f32) {
      if (c.what == constant::kind::float32) return c.bits;
      return std::bit_cast<std::uint32_t>(static_cast<float>(c.as_double()));
    }
    if (v_.type == scalar_type::f64) {
      if (c.what == constant::kind::float64) return c.bits;
      return std::bit_cast<std::uint64_t>(c.as_double());
    }
    if (is_float && bytes_of(v_.type) != (c.what == constant::kind::float32 ? 4u : 8u)) {
      throw parse_error(
          line, "a floating point value for a variable of type " + std::string(name_of(v_.type)));
    }
    return c.bits;
  }

  void store(std::uint64_t at, unsigned bytes, std::uint64_t bits) {
    // Trailing zeros need no room, so a large array of zeros takes no memory. Gaps left by nested
    // braces are bounded by the text's length, so that a short text cannot take gigabytes.
    if (bits == 0) return;
    const auto written = static_cast<std::uint64_t>(in_.current().text.data() - first_);
    if (at + bytes > 1024 + 64 * written) {
      throw parse_error(in_.current().line, "an initialiser that is mostly gaps");
    }
    if (v_.initial.size() < at + bytes) v_.initial.resize(at + bytes);
    std::memcpy(v_.initial.data() + at, &bits, std::min<std::size_t>(bytes, sizeof bits));
  }

  reader& in_;
  const char* const first_;  // the beginning of the initialiser's text
  const std::vector<std::uint64_t>& strides_;
  const bool open_ended_;
  variable& v_;
  std::uint64_t filled_ = 0;
};

}  // namespace

void read_initialiser(reader& in, const std::vector<std::uint64_t>& strides, bool open_ended,
                      variable& v) {
  initialiser(in, strides, open_ended, v).read();
}

}  // namespace stepwise::ptx
