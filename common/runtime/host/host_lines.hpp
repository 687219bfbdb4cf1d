// Source lines of host code for addresses of this process, from binutils' addr2line.
//
// tests   tests/checks_test.py
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stepwise::runtime {

struct host_line {
  std::string function;  // readable; empty if unknown
  std::string file;      // empty if unknown
  int line = 0;
};

// For each address, the functions inlined there, innermost first. Without addr2line or line tables,
// this is at most the function that contains the address. Empty for system libraries.
std::vector<std::vector<host_line>> lines_of(std::span<const std::uintptr_t> addresses);

}  // namespace stepwise::runtime
