// The fat binaries, kernels and variables that the program's static constructors register, and
// their loading onto the device.
//
// idea    Registration runs before main, so it only stores pointers. It cannot fail and takes
//         almost no time. A module is loaded at the first use of one of its kernels or variables.
//         Kernels are keyed by the address of their host stub, because several translation units
//         may register the same name.
// source  fatbinary_section.h and crt/host_runtime.h of the CUDA toolkit (the wrapper, the calls)
// tests   tests/launch_test.cpp
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise::runtime {

// The structure that nvcc puts into the section .nvFatBinSegment.
struct fat_binary_wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* container;
  // Not used in version 1. In version 2 (-rdc=true), a null-terminated array of the containers that
  // were linked into `container`. Only these containers hold the PTX.
  const void* const* linked;
};
constexpr std::uint32_t fat_binary_magic = 0x466243B1;

// The parts of the module in a wrapper, or the reason why they cannot be read.
result<std::vector<std::span<const std::byte>>> wrapped_parts(const fat_binary_wrapper& wrapper);
// The parts of the module at an address that the program passed: a wrapper, a bare fat binary, or
// zero-terminated PTX text.
result<std::vector<std::span<const std::byte>>> module_parts(const void* code);

class registered_module {
 public:
  explicit registered_module(const fat_binary_wrapper* wrapper) : wrapper_(wrapper) {}

  result<kernel_handle> find_kernel(device& on, const std::string& name);
  result<module_symbol> find_symbol(device& on, const std::string& name);
  // Unloads the module if it is loaded.
  void unload(device& from);
  // Called after the device is destroyed. The next use loads the module again.
  void forget();

  // Adds a __managed__ variable. `*place` is set to its address at the first use of the module's
  // kernels or variables, or by place_managed().
  void add_managed(void** place, const char* name) { managed_.push_back({place, name, 0}); }
  status place_managed(device& on);
  // The name of the managed variable at an address, or null.
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

// A module that the program loaded explicitly, and the kernels that it has looked up.
struct loaded_library {
  result<module_handle> module;  // or why it could not be loaded
  std::map<std::string, std::unique_ptr<registered_kernel>, std::less<>> kernels;
};

class registry {
 public:
  registered_module* add_module(const fat_binary_wrapper* wrapper);
  void add_kernel(registered_module* module, const void* host_function, const char* name);
  void add_variable(registered_module* module, const void* host_variable, const char* name);
  // `on` is null if there is no device.
  void remove_module(registered_module* module, device* on);

  // The kernel with this host stub or this record's address (a cudaKernel_t), or null.
  registered_kernel* find_kernel(const void* function);
  // Finds the same kernel and loads it. invalid_device_function if the kernel is unknown, or an
  // error from loading.
  result<registered_kernel*> use_kernel(device& on, const void* function);
  // A managed variable is identified by its own address. invalid_symbol if the variable is unknown,
  // or an error from loading.
  result<module_symbol> use_variable(device& on, const void* host_variable);

  // The name of the device variable whose host shadow is at this address, or null.
  const std::string* variable_at(const void* host_variable) const;

  loaded_library* add_library(result<module_handle> module);
  // Null if the library does not exist or was removed.
  loaded_library* find_library(const void* handle);
  void remove_library(loaded_library& library);
  // The kernel of a library with this name in its module, or symbol_not_found.
  result<registered_kernel*> library_kernel(device& on, loaded_library& library,
                                            std::string_view name);

  // Null if the kernel is not from a library.
  loaded_library* library_of(const registered_kernel& kernel);

  // Called after the device is destroyed. Drops all libraries, because nothing could reload them.
  void forget_device();

 private:
  std::vector<std::unique_ptr<registered_module>> modules_;
  std::map<const void*, std::unique_ptr<registered_kernel>> kernels_;  // by host stub
  std::map<const void*, registered_kernel*> handles_;                  // by own address
  std::map<const void*, std::unique_ptr<loaded_library>> libraries_;   // by own address
  std::map<const void*, registered_variable> variables_;               // by host shadow
};

}  // namespace stepwise::runtime
