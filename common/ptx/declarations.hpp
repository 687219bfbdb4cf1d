// Declarations of variables, registers and parameters, with their types and initialisers.
#pragma once

#include <string_view>
#include <vector>

#include "common/ptx/reader.hpp"

namespace stepwise::ptx {

// The most registers that one declaration may make. No compiler's output comes close to this limit,
// and this number of registers does not exhaust memory.
inline constexpr std::uint32_t register_limit = 1u << 20;

// The most bytes of one variable.
inline constexpr std::uint64_t variable_limit = std::uint64_t{1} << 40;

// The state space of a directive such as ".global"; none if `directive` is not a state space.
state_space space_of(std::string_view directive);

// The words that may precede a declaration: .extern .visible .weak .common
struct linkage {
  bool is_extern = false, is_visible = false, is_weak = false, is_common = false;

  // Takes the current token if it is one of the four words.
  bool accept(reader& in);
};

// Reads the variables of one declaration, from after the state space's directive up to but not
// including the ';'. Appends to `out`.
void read_variables(reader& in, state_space space, const linkage& link, std::vector<variable>& out);

// Reads "(.param .u32 a, .reg .f64 b)", including the parentheses. Appends to `out`.
void read_parameters(reader& in, std::vector<variable>& out);

// Reads the registers of one declaration, from after ".reg" up to the ';'. Appends to `out`.
void read_registers(reader& in, std::vector<register_declaration>& out);

}  // namespace stepwise::ptx
