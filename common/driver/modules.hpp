// Loading a module from what a program names by its address, and the options that go with it.
//
// tests   tests/
#pragma once

#include <cuda.h>

#include <map>
#include <string>

#include "common/driver/driver.hpp"

namespace stepwise::driver {

// What the options of a load or a link ask to be told. How machine code is made changes nothing
// here, so the others are taken and forgotten.
class jit_options {
 public:
  // The values are the program's to the end of the link, for the answers; their kinds are copied.
  jit_options(unsigned count, const CUjit_option* options, void** values);
  // invalid_value for options without their values.
  status check() const;
  // Writes what went wrong, or nothing, into the program's buffers, and the lengths of that.
  void tell(const std::string& error) const;

 private:
  // A value and what the program wrote there.
  struct option {
    void** place;
    std::uintptr_t asked;
  };
  void fill(int buffer, int size, const std::string& text) const;

  bool incomplete_ = false;
  std::map<int, option> options_;  // by CUjit_option
};

// The parts of an image: a fat binary, with or without its wrapper, PTX text up to its zero, or
// what a link made. no_kernel_image_for_device for machine code alone, which cannot run here.
result<std::vector<std::span<const std::byte>>> image_parts(const void* image);

// What cuLinkComplete hands out: the parts, which are linked when they are loaded.
std::vector<std::byte> linked_image(std::span<const std::vector<std::byte>> parts);

// Loads the parts of a module of the current context's. Its failure is said on stderr.
cudaError_t load_parts(CUmodule* module, const result<std::vector<std::span<const std::byte>>>& of,
                       const jit_options& options);

}  // namespace stepwise::driver
