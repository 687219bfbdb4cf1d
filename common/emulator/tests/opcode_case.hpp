// Opcode tests: reads a file of tests, completes its kernels, and checks a device against it.
//
// idea    A test is a few PTX instructions below comments that list their inputs and the outputs
//         that they must produce. The reader adds the rest of the kernel, so the same text runs on
//         the emulator and on a GPU. opcodes/README.md describes the format. Tested by
//         opcode_case_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise::opcodes {

enum class element_kind : std::uint8_t { integer_unsigned, integer_signed, floating };

struct element_type {
  std::string name;  // "u32"
  element_kind kind = element_kind::integer_unsigned;
  unsigned bytes = 0;  // 1, 2, 4 or 8
};

enum class match : std::uint8_t {
  bits,      // exactly these bits, or within the array's tolerance
  nan,       // any NaN
  anything,  // written "_": not compared
};

struct value {
  match how = match::bits;
  std::uint64_t bits = 0;  // in the low bytes of the element's type
};

enum class array_role : std::uint8_t {
  in,     // buffer of device memory, filled
  out,    // buffer, poisoned before the launch, compared after it
  inout,  // buffer, filled and compared
  plain,  // the parameter itself, by value: a number or a structure
};

// The content of the register that a generated kernel names after a buffer.
enum class buffer_access : std::uint8_t {
  value,        // the thread's value; several values become registers NAME0, NAME1, ...
  own_address,  // the address of the thread's first value
  address,      // the address of the buffer
};

// Outputs are filled with this byte, so that a missing write is detected.
constexpr std::byte poison{0xcd};

struct parameter {
  array_role role = array_role::in;
  buffer_access access = buffer_access::value;
  std::string name;
  element_type type;                   // of the buffer's elements
  std::vector<value> initial;          // in, inout
  std::vector<value> expected;         // out, inout
  std::vector<std::byte> plain_bytes;  // plain: the structure, laid out as in C
  unsigned alignment = 8;
  double ulps = 0;      // accepted distance in units in the last place
  double absolute = 0;  // or the accepted difference, whichever is larger
  unsigned line = 0;    // in the file

  std::size_t count() const { return std::max(initial.size(), expected.size()); }
};

// One launch and its required outcome.
struct test_case {
  std::string kernel;
  unsigned line = 0;
  extent blocks;
  extent threads;
  std::uint64_t shared_bytes = 0;
  bool cooperative = false;
  error fails = error::success;   // the error that the launch or the wait after it must return
  bool not_yet_emulated = false;  // the emulator must refuse it: not_supported
  std::vector<parameter> parameters;
};

struct test_file {
  std::string name;  // "shl"
  std::string ptx;   // the whole module, with all kernels complete
  std::vector<test_case> cases;
};

// Describes an error in a test's comments; what() begins with "NAME.ptx:LINE: ".
struct format_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The PTX around the instructions of a test that does not write its kernel in full.
struct kernel_frame {
  std::string before;  // parameters, registers, loads of the inputs
  std::string after;   // stores of the outputs
};
kernel_frame frame_of(const test_case& test);

// Reads a file of tests. Its PTX keeps the line numbers of `text`. Throws format_error.
test_file read_test(std::string name, const std::string& text);

// The .ptx files of a folder with these names, or all of them if there are no names, sorted. Throws
// format_error, or std::runtime_error if there is no file to read.
std::vector<test_file> read_folder(const std::string& folder,
                                   const std::vector<std::string>& names);

// Runs one case and returns its differences, one sentence each; empty if everything is as the file
// says. `module` was loaded from the file on that device. After a failed launch the device is lost.
// An emulated device must refuse the instructions that it does not implement yet, and nothing else.
std::vector<std::string> run_case(device& on, bool emulated, module_handle module,
                                  const test_file& file, const test_case& what);

// A value as the tests write it: "-5", "0x1f", "1.5", "nan".
std::string text_of(const element_type& type, std::uint64_t bits);

}  // namespace stepwise::opcodes
