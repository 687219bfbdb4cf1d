// Loads a module from an image at an address, with options.
//
// tests   tests/
#pragma once

#include <cuda.h>

#include <map>
#include <string>

#include "common/driver/driver.hpp"

namespace stepwise::driver {

// The options of a load or a link that request logs. Options for code generation are ignored,
// because they have no effect here.
class jit_options {
 public:
  // Copies the options, but keeps pointers to the program's values until the link ends, to store
  // results there.
  jit_options(unsigned count, const CUjit_option* options, void** values);
  // invalid_value for options without their values.
  status check() const;
  // Writes the error (empty on success) into the program's log buffers, and stores the log sizes.
  void report(const std::string& error) const;

 private:
  // A pointer to a value, and the value that the program passed.
  struct option {
    void** place;
    std::uintptr_t asked;
  };
  void fill(int buffer, int size, const std::string& text) const;

  bool incomplete_ = false;
  std::map<int, option> options_;  // by CUjit_option
};

// The parts of an image: a fat binary, with or without its wrapper, zero-terminated PTX text, or a
// linked image. no_kernel_image_for_device for machine code without PTX, which cannot run here.
result<std::vector<std::span<const std::byte>>> image_parts(const void* image);

// The image that cuLinkComplete returns. It holds the parts, which are linked when it is loaded.
std::vector<std::byte> linked_image(std::span<const std::vector<std::byte>> parts);

// Loads the parts of a module in the current context. Prints an error on stderr.
cudaError_t load_parts(CUmodule* module, const result<std::vector<std::span<const std::byte>>>& of,
                       const jit_options& options);

}  // namespace stepwise::driver
