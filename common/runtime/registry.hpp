// What the program's static constructors register: fat binaries, kernels and variables; and how
// they reach the device.
//
// idea    Registration only notes pointers: it cannot fail and costs next to nothing, because it
//         runs before main. A module is loaded at the first use of one of its kernels or variables.
//         Kernels are keyed by the address of their host stub, since one name may be registered
//         by several translation units.
// source  fatbinary_section.h and crt/host_runtime.h of the CUDA toolkit (the wrapper, the calls)
// tests   tests/launch_test.cpp
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise::runtime {

// What nvcc puts into the section .nvFatBinSegment.
struct fat_binary_wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* container;
  // Version 1: not used. Version 2 (-rdc=true): the containers that were linked into `container`,
  // up to a null pointer; only they hold the PTX.
  const void* const* linked;
};
constexpr std::uint32_t fat_binary_magic = 0x466243B1;

// The parts of the module that a wrapper names; or why they cannot be read.
result<std::vector<std::span<const std::byte>>> wrapped_parts(const fat_binary_wrapper& wrapper);
// The same of what a program names by its address: a wrapper, a fat binary without one, or PTX
// text, up to its zero.
result<std::vector<std::span<const std::byte>>> module_parts(const void* code);

class registered_module {
 public:
  explicit registered_module(const fat_binary_wrapper* wrapper) : wrapper_(wrapper) {}

  result<kernel_handle> find_kernel(device& on, const std::string& name);
  result<module_symbol> find_symbol(device& on, const std::string& name);
  // Unloads what is loaded.
  void unload(device& from);
  // After the device is gone: the next use loads again.
  void forget();

  // A __managed__ variable: `*place` becomes its address when the module's kernels or variables are
  // first used, or place_managed() is called.
  void add_managed(void** place, const char* name) { managed_.push_back({place, name, 0}); }
  status place_managed(device& on);
  // The name of the managed variable at an address; null if there is none.
  const std::string* managed_at(const void* address) const;

 private:
  void load(device& on);

  const fat_binary_wrapper* wrapper_;
  bool tried_ = false;
  std::optional<module_handle> handle_;
  struct managed_variable {
    void** place;
    std::string name;
    device_address address;  // 0 until it is placed
  };
  std::vector<managed_variable> managed_;
  status failure_;  // why it could not be loaded
};

struct registered_kernel {
  registered_module* module = nullptr;
  std::string name;
  // Set at the first use.
  std::optional<kernel_handle> handle;
  kernel_attributes attributes;
};

struct registered_variable {
  registered_module* module = nullptr;
  std::string name;
};

// A module that the program loaded by itself, with the kernels that it asked for.
struct loaded_library {
  result<module_handle> module;  // or why it could not be loaded
  std::map<std::string, std::unique_ptr<registered_kernel>, std::less<>> kernels;
};

class registry {
 public:
  registered_module* add_module(const fat_binary_wrapper* wrapper);
  void add_kernel(registered_module* module, const void* host_function, const char* name);
  void add_variable(registered_module* module, const void* host_variable, const char* name);
  // `on` may be null, if there is no device (any more).
  void remove_module(registered_module* module, device* on);

  // A kernel by its host stub or by its own address (a cudaKernel_t); null if there is none.
  registered_kernel* find_kernel(const void* function);
  // The same, ready for use: invalid_device_function if it is unknown, else what loading says.
  result<registered_kernel*> use_kernel(device& on, const void* function);
  // invalid_symbol if it is unknown, else what loading says.
  // A managed variable is known by its own address.
  result<module_symbol> use_variable(device& on, const void* host_variable);

  // The name of the device variable whose host shadow is at this address; null if there is none.
  const std::string* variable_at(const void* host_variable) const;

  loaded_library* add_library(result<module_handle> module);
  // Null if there is none (any more).
  loaded_library* find_library(const void* handle);
  void remove_library(loaded_library& library);
  // A kernel of a library by its name in the module; symbol_not_found.
  result<registered_kernel*> library_kernel(device& on, loaded_library& library,
                                            std::string_view name);

  // Null for a kernel of none.
  loaded_library* library_of(const registered_kernel& kernel);

  // Libraries are gone then, since nothing could load them again.
  void forget_device();

 private:
  std::vector<std::unique_ptr<registered_module>> modules_;
  std::map<const void*, std::unique_ptr<registered_kernel>> kernels_;  // by host stub
  std::map<const void*, registered_kernel*> handles_;                  // by own address
  std::map<const void*, std::unique_ptr<loaded_library>> libraries_;   // by own address
  std::map<const void*, registered_variable> variables_;               // by host shadow
};

}  // namespace stepwise::runtime
