// Lines of host code for addresses of this process, as binutils' addr2line knows them.
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

// For each address, the functions inlined there, innermost first. Without addr2line, or without
// line tables in the program, the function that contains the address is all there is, or nothing.
// Nothing is said about the C library and its like.
std::vector<std::vector<host_line>> lines_of(std::span<const std::uintptr_t> addresses);

}  // namespace stepwise::runtime
