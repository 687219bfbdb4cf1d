// Links modules, as a program built with -rdc=true needs: a name that a module only declares refers
// to another module's definition.
//
// idea    A name belongs first to the module that uses it (two files may each have a static
//         function of that name), then to whichever module makes it visible.
//         Tested by ../run/tests/call_test.cpp.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/device/error.hpp"
#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

// Functions have addresses in their own range: code_window + code_step * number, with numbers from
// 1.
inline constexpr std::uint64_t code_window = 0x0000'0103'0000'0000;
inline constexpr std::uint64_t code_step = 16;
// Kernels, which other kernels launch by their addresses, come after all functions.
inline constexpr std::uint64_t kernel_window = code_window + 0x8000'0000;

// The place of a variable of global or constant memory.
struct symbol_place {
  ptx::state_space space;
  std::uint64_t address;
};

struct linked_function {
  std::size_t part = 0;
  const ptx::module* module = nullptr;
  const ptx::function* function = nullptr;  // its definition
};

class link_unit {
 public:
  struct part {
    std::unique_ptr<ptx::module> module;
    bool fuses = true;  // whether ptxas was free to fuse products into sums
    std::unordered_map<std::string_view, symbol_place> symbols;  // the symbols that it defines
  };

  // Fails with invalid_ptx if two parts define the same visible function.
  status add(std::unique_ptr<ptx::module> module, bool fuses = true);
  // Sets a variable's place, which is known once memory for it has been allocated.
  void place(std::size_t part, const ptx::variable& v, const symbol_place& where);

  const std::vector<part>& parts() const { return parts_; }
  // The definition that `name` refers to in a part; null if no part has one.
  const linked_function* find_function(std::size_t part, std::string_view name) const;
  const symbol_place* find_variable(std::size_t part, std::string_view name) const;
  // The kernel of this name; null if there is none.
  const linked_function* find_kernel(std::string_view name) const;

  // All defined functions except kernels, in the order of their addresses.
  const std::vector<linked_function>& functions() const { return functions_; }
  std::uint64_t address_of(const linked_function& f) const {
    return code_window + code_step * static_cast<std::uint64_t>(&f - functions_.data() + 1);
  }
  // The kernel at an address; null if there is none.
  const linked_function* kernel_at(std::uint64_t address) const;
  // The address in a part of the function, variable or kernel `name`; 0 if there is none.
  std::uint64_t address_of(std::size_t part, std::string_view name) const;

 private:
  std::vector<part> parts_;
  std::vector<linked_function> functions_, kernels_;
  std::vector<std::unordered_map<std::string_view, std::size_t>> own_;  // by part
  std::unordered_map<std::string_view, std::size_t> visible_;           // in all parts
  std::unordered_map<std::string_view, symbol_place> visible_variables_;
};

}  // namespace stepwise::emulator
