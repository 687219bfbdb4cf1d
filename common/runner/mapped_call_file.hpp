// A call file in memory, with every number in it checked before it is used.
//
// watch   The file may hold anything, because a run by hand may name the wrong file. A record is
//         copied before it is checked, so it cannot change after the check.
// tested  common/runner/tests/runner_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "common/lab/call_file.hpp"
#include "common/runner/contract.hpp"

namespace stepwise::runner {

// what() describes the problem with the file.
class file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class mapped_call_file {
 public:
  // Maps the file for reading and writing. Throws file_error if that fails, or if the file is not a
  // call file of this version.
  explicit mapped_call_file(const std::string& path);
  ~mapped_call_file();
  mapped_call_file(const mapped_call_file&) = delete;
  mapped_call_file& operator=(const mapped_call_file&) = delete;

  std::uint32_t call_count() const { return call_count_; }
  call_file_header& header() { return *reinterpret_cast<call_file_header*>(bytes_.data()); }

  // The record in the file, for storing results. Requires number < call_count().
  call_record& record(std::uint32_t number);

  // A checked copy of a record. Its counts match the contract, and every area is within the file
  // after the records. Otherwise, throws file_error with a message that names the problem.
  call_record checked_record(std::uint32_t number, const contract& function);

  // The bytes of an area that checked_record() accepted.
  std::span<std::byte> area(std::uint64_t offset, std::uint64_t bytes) {
    return bytes_.subspan(offset, bytes);
  }

 private:
  void require_area(std::uint64_t offset, std::uint64_t bytes, std::uint64_t alignment,
                    const std::string& what) const;
  void unmap();

  std::span<std::byte> bytes_;
  std::uint32_t call_count_ = 0;
};

}  // namespace stepwise::runner
