// What declares a name: variables, registers, parameters, with their types and initialisers.
#pragma once

#include <string_view>
#include <vector>

#include "common/ptx/reader.hpp"

namespace stepwise::ptx {

// Most registers that one declaration may make: far beyond any compiler's output, and little
// enough that a file register allocated for them is no weapon.
inline constexpr std::uint32_t register_limit = 1u << 20;

// Most bytes of one variable.
inline constexpr std::uint64_t variable_limit = std::uint64_t{1} << 40;

// The state space that ".global" and its like mean; none if `directive` is none of them.
state_space space_of(std::string_view directive);

// What stands before a declaration: .extern .visible .weak .common
struct linkage {
  bool is_extern = false, is_visible = false, is_weak = false, is_common = false;

  // Takes one of the four words, if it is the current token.
  bool accept(reader& in);
};

// Variables of one declaration, from after the state space's directive up to and without the
// ';'. Appends to `out`.
void read_variables(reader& in, state_space space, const linkage& link, std::vector<variable>& out);

// "(.param .u32 a, .reg .f64 b)": with both parentheses. Appends to `out`.
void read_parameters(reader& in, std::vector<variable>& out);

// Registers of one declaration, from after ".reg" up to and without the ';'. Appends to `out`.
void read_registers(reader& in, std::vector<register_declaration>& out);

}  // namespace stepwise::ptx
