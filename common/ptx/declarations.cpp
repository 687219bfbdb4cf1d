// Reads qualifiers in any order, names with their extents, and initial values, within limits.
#include "common/ptx/declarations.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "common/ptx/initialiser.hpp"

namespace stepwise::ptx {
namespace {

struct qualifiers {
  scalar_type type = scalar_type::none;
  unsigned vector_length = 1;
  unsigned alignment = 0;
  bool is_managed = false;
  bool is_pointer = false;
};

std::optional<unsigned> vector_length_of(std::string_view directive) {
  if (directive == ".v2") return 2;
  if (directive == ".v4") return 4;
  if (directive == ".v8") return 8;
  return std::nullopt;
}

unsigned read_alignment(reader& in) {
  const std::uint32_t value = in.expect_small("an alignment", 1u << 20);
  if (!std::has_single_bit(value)) {
    throw parse_error(in.current().line, "an alignment must be a power of two");
  }
  return value;
}

// Reads, for example, ".attribute(.managed, .unified(u1, u2))".
void read_attributes(reader& in, qualifiers& q) {
  in.expect('(', "after .attribute");
  do {
    if (in.accept_directive(".managed")) {
      q.is_managed = true;
    } else if (in.accept_directive(".unified")) {
      in.expect('(', "after .unified");
      in.expect_integer("the upper half of a UUID");
      in.expect(',', "in .unified");
      in.expect_integer("the lower half of a UUID");
      in.expect(')', "after .unified");
    } else {
      in.fail("'.managed' or '.unified'");
    }
  } while (in.accept(','));
  in.expect(')', "after the attributes");
}

// Reads .align N .v4 .f32 .attribute(...) .ptr .global .align N in any order, as ptxas allows.
qualifiers read_qualifiers(reader& in) {
  qualifiers q;
  while (in.current().kind == token_kind::directive) {
    const std::string_view word = in.current().text;
    if (const auto length = vector_length_of(word)) {
      q.vector_length = *length;
      in.advance();
    } else if (in.accept_directive(".align")) {
      const unsigned alignment = read_alignment(in);
      if (!q.is_pointer) q.alignment = alignment;  // after .ptr it is the pointee's
    } else if (in.accept_directive(".attribute")) {
      read_attributes(in, q);
    } else if (in.accept_directive(".ptr")) {
      q.is_pointer = true;
    } else if (q.is_pointer && space_of(word) != state_space::none) {
      in.advance();  // the pointee's space
    } else {
      const scalar_type type = type_of(word.substr(1));
      if (type == scalar_type::none || type == scalar_type::other) in.fail("a type");
      if (q.type != scalar_type::none) in.fail("a name after the type");
      q.type = type;
      in.advance();
    }
  }
  if (q.type == scalar_type::none) in.fail("a type");
  return q;
}

std::uint64_t checked_product(reader& in, std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > variable_limit) {
    throw parse_error(in.current().line, "a variable of more than 2^40 bytes");
  }
  return product;
}

// Reads extents such as "[4][]". 0 stands for an extent that is not given.
std::vector<std::uint64_t> read_extents(reader& in) {
  std::vector<std::uint64_t> extents;
  while (in.accept('[')) {
    std::uint64_t extent = 0;
    if (!in.current().is(']')) {
      const constant c = in.expect_constant("an array's extent");
      if (c.what != constant::kind::integer || c.bits > variable_limit) {
        in.fail("']' after an array's extent of at most 2^40");
      }
      extent = c.bits;
    } else if (!extents.empty()) {
      in.fail("an array's extent");
    }
    extents.push_back(extent);
    in.expect(']', "after an array's extent");
    if (extents.size() > static_cast<std::size_t>(nesting_limit)) in.fail("fewer dimensions");
  }
  return extents;
}

void read_declarator(reader& in, const qualifiers& q, variable& v) {
  v.line = in.current().line;
  v.name = in.expect_word("a name");
  v.type = q.type;
  v.vector_length = q.vector_length;
  v.is_managed = q.is_managed;
  v.is_pointer = q.is_pointer;
  const std::uint64_t element = std::uint64_t{bytes_of(q.type)} * q.vector_length;
  v.alignment = q.alignment ? q.alignment : std::max<unsigned>(1, static_cast<unsigned>(element));

  const std::vector<std::uint64_t> extents = read_extents(in);
  v.is_array = !extents.empty();
  // strides[k] is the size in bytes of one element of dimension k. An element of the last dimension
  // is a scalar of a vector type.
  std::vector<std::uint64_t> strides(extents.size(), element);
  for (std::size_t k = extents.size(); k-- > 1;) {
    strides[k - 1] = checked_product(in, strides[k], extents[k]);
  }
  if (q.vector_length > 1) strides.push_back(bytes_of(q.type));
  v.bytes = v.is_array ? checked_product(in, strides[0], extents[0]) : element;
  if (in.accept('=')) {
    const bool open_ended = v.is_array && v.bytes == 0;
    read_initialiser(in, strides, open_ended, v);
  }
}

}  // namespace

state_space space_of(std::string_view directive) {
  if (directive == ".global") return state_space::global;
  if (directive == ".shared") return state_space::shared;
  if (directive == ".local") return state_space::local;
  if (directive == ".param") return state_space::param;
  if (directive == ".const") return state_space::constant;
  if (directive == ".reg") return state_space::reg;
  if (directive == ".sreg") return state_space::sreg;
  if (directive == ".tex") return state_space::tex;
  return state_space::none;
}

bool linkage::accept(reader& in) {
  if (in.accept_directive(".extern")) return is_extern = true;
  if (in.accept_directive(".visible")) return is_visible = true;
  if (in.accept_directive(".weak")) return is_weak = true;
  if (in.accept_directive(".common")) return is_common = true;
  return false;
}

void read_variables(reader& in, state_space space, const linkage& link,
                    std::vector<variable>& out) {
  if (space == state_space::constant && in.accept('[')) {  // a bank, in PTX before 2.2
    in.expect_integer("a bank's number");
    in.expect(']', "after a bank's number");
  }
  const qualifiers q = read_qualifiers(in);
  do {
    variable& v = out.emplace_back();
    v.space = space;
    v.is_extern = link.is_extern;
    v.is_visible = link.is_visible || link.is_weak || link.is_common;
    read_declarator(in, q, v);
  } while (in.accept(','));
}

void read_parameters(reader& in, std::vector<variable>& out) {
  in.expect('(', "before the parameters");
  if (in.accept(')')) return;
  do {
    const state_space space = in.current().kind == token_kind::directive
                                  ? space_of(in.current().text)
                                  : state_space::none;
    if (space != state_space::param && space != state_space::reg) in.fail("'.param' or '.reg'");
    in.advance();
    const qualifiers q = read_qualifiers(in);
    variable& v = out.emplace_back();
    v.space = space;
    read_declarator(in, q, v);
  } while (in.accept(','));
  in.expect(')', "after the parameters");
}

void read_registers(reader& in, std::vector<register_declaration>& out) {
  const qualifiers q = read_qualifiers(in);
  do {
    register_declaration& r = out.emplace_back();
    r.type = q.type;
    r.vector_length = q.vector_length;
    r.name = in.expect_word("a register's name");
    if (in.accept('<')) {
      r.count = in.expect_small("a number of registers", register_limit);
      in.expect('>', "after the number of registers");
      // A declaration of no registers declares no name.
      if (r.count == 0) out.pop_back();
    }
  } while (in.accept(','));
}

}  // namespace stepwise::ptx
