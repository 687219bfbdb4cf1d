// Virtual memory management: reserves ranges of addresses, creates pieces of memory, and maps the
// pieces at addresses. This is an optional interface (device_extras::mappings).
//
// source  "Virtual Memory Management" of NVIDIA's CUDA Programming Guide and of the manual of the
//         driver API.
// tests   common/emulator/machine/tests/mapped_memory_test.cpp,
//         common/runtime/conformance/driver/driver_mappings.cu
#pragma once

#include <cstdint>

#include "common/device/error.hpp"

namespace stepwise {

enum class memory_piece : std::uint64_t {};
enum class memory_access { none, read, read_write };

// Each call returns invalid_value for sizes and addresses that are not multiples of granularity()
// or that violate its comment.
class virtual_memory {
 public:
  virtual ~virtual_memory() = default;

  virtual std::uint64_t granularity() const = 0;

  // Reserves a range of addresses at a multiple of `alignment` (0: any), and at `wanted` if that
  // address is free. Returns memory_allocation if there is no such range.
  virtual result<std::uint64_t> reserve(std::uint64_t bytes, std::uint64_t alignment,
                                        std::uint64_t wanted) = 0;
  // Releases a range, which must be whole and have nothing mapped in it.
  virtual status unreserve(std::uint64_t address, std::uint64_t bytes) = 0;

  // Creates a piece of device memory, which exists while there are references to it or mappings of
  // it. The caller gets a reference. memory_allocation if there is too little memory.
  virtual result<memory_piece> create(std::uint64_t bytes) = 0;
  virtual status release(memory_piece piece) = 0;
  // Whether there is a reference to the piece.
  virtual bool has(memory_piece piece) const = 0;
  // Adds a reference to the piece that is mapped at an address.
  virtual result<memory_piece> retain(std::uint64_t address) = 0;

  // Maps the first bytes of a piece into a reserved range where nothing is mapped. The addresses
  // must not be used before set_access().
  virtual status map(std::uint64_t address, std::uint64_t bytes, memory_piece piece) = 0;
  // These take one or more whole, adjacent mappings. Read-only access is not enforced.
  virtual status unmap(std::uint64_t address, std::uint64_t bytes) = 0;
  virtual status set_access(std::uint64_t address, std::uint64_t bytes, memory_access access) = 0;
  // The access rights of the mapping at an address.
  virtual result<memory_access> access_at(std::uint64_t address) const = 0;
};

}  // namespace stepwise
