// Addresses and the memory behind them, apart: ranges of addresses are reserved, pieces of memory
// are made, and pieces are mapped at addresses. Of a device that can do it (device::mappings).
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

// Each call answers invalid_value for sizes and addresses that are not multiples of granularity(),
// or that are not as it says.
class virtual_memory {
 public:
  virtual ~virtual_memory() = default;

  virtual std::uint64_t granularity() const = 0;

  // A range of addresses at a multiple of `alignment` (0: any): at `wanted`, if that is free.
  // memory_allocation where there is none.
  virtual result<std::uint64_t> reserve(std::uint64_t bytes, std::uint64_t alignment,
                                        std::uint64_t wanted) = 0;
  // A whole range, in which nothing is mapped.
  virtual status unreserve(std::uint64_t address, std::uint64_t bytes) = 0;

  // A piece of the device's memory, which exists as long as there are references to it or mappings
  // of it; memory_allocation. The caller has a reference.
  virtual result<memory_piece> create(std::uint64_t bytes) = 0;
  virtual status release(memory_piece piece) = 0;
  // Whether there is a reference to it.
  virtual bool has(memory_piece piece) const = 0;
  // One more reference to the piece that is mapped around an address.
  virtual result<memory_piece> retain(std::uint64_t address) = 0;

  // Maps the first bytes of a piece into a reserved range where nothing is mapped. Nobody may use
  // the addresses until set_access().
  virtual status map(std::uint64_t address, std::uint64_t bytes, memory_piece piece) = 0;
  // Changes one or more whole mappings that follow each other. What only may be read is not
  // enforced.
  virtual status unmap(std::uint64_t address, std::uint64_t bytes) = 0;
  virtual status set_access(std::uint64_t address, std::uint64_t bytes, memory_access access) = 0;
  // The access rights of the mapping around an address.
  virtual result<memory_access> access_at(std::uint64_t address) const = 0;
};

}  // namespace stepwise
