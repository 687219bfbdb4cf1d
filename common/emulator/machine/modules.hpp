// The modules of a program: PTX and the tables of its machine code, with memory for its variables.
//
//         Tested by common/device/tests (conformance) and ../run/tests/call_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/device/device.hpp"
#include "common/emulator/machine/link.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/image/image.hpp"
#include "common/ptx/version.hpp"

namespace stepwise::emulator {

// The local memory of a thread on every GPU since compute capability 2.0 (CUDA C++ Programming
// Guide, table of technical specifications).
inline constexpr std::uint64_t most_local_bytes = 512 << 10;

struct loaded_module;

struct loaded_kernel {
  loaded_module* module = nullptr;
  const linked_function* function = nullptr;
  kernel_attributes attributes;
  std::unique_ptr<program> code;  // made at the first launch
};

struct loaded_module {
  link_unit unit;
  std::vector<image::cubin> machine_code;  // for the parts that have some
  std::map<std::string, module_symbol, std::less<>> variables;
  std::vector<device_address> allocations;
  std::map<std::string, std::unique_ptr<loaded_kernel>, std::less<>> kernels;

  // The tables of a kernel's machine code, if there is any.
  const image::kernel_resources* resources(std::string_view kernel) const;
};

// Adds advice to an error in a program's PTX. PTX newer than the newest version known here fails
// with unsupported_ptx_version.
status with_advice(status s, ptx::version version);

// Reads and links the parts, and places their variables. Fails as device::load_linked does; then
// nothing stays allocated.
result<std::unique_ptr<loaded_module>> load_parts(std::span<const std::span<const std::byte>> parts,
                                                  const gpu& model, global_memory& memory);

// The attributes of a kernel, from its PTX directives and its machine code's tables.
kernel_attributes attributes_of(const loaded_module& m, const linked_function& f, const gpu& model);

// The kernel for a function, with its attributes. It is created at the first request.
loaded_kernel& kernel_of(loaded_module& m, const linked_function& f, const gpu& model);

}  // namespace stepwise::emulator
