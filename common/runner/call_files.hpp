// The files of a call whose contract is a program's main.
//
// idea    A program reads its inputs from files and writes its results to files. The runner writes
//         the inputs before it starts the clock, and reads the results after it has stopped it.
//         There is no result file when the program starts, so an old result cannot pass.
// tested  common/runner/tests/call_files_test.cpp
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/lab/call_file.hpp"

namespace stepwise::runner {

class call_files {
 public:
  call_files() = default;
  ~call_files();  // removes the folder with all its files
  call_files(const call_files&) = delete;
  call_files& operator=(const call_files&) = delete;

  // Adds a file for an array, which must outlive this object. Returns the file's name, which stays
  // valid. The first call makes a folder below TMPDIR or /tmp that only this user can read.
  char* add(buffer_role role, std::span<std::byte> array);

  // Writes the inputs, and removes the results of the previous call.
  void write_inputs() const;

  // Reads the results into their arrays. If a file is missing or has another size than its array,
  // calls `is_wrong` with the array's number and throws call_failure.
  void read_results(const std::function<void(std::size_t)>& is_wrong) const;

 private:
  struct one_file {
    buffer_role role;
    std::span<std::byte> array;
    std::vector<char> name;  // ends with 0
  };

  std::string folder_;
  std::vector<one_file> files_;
};

}  // namespace stepwise::runner
