// What a program file says of itself, without running it: its kind, the libraries that it asks for,
// the device code that it carries.
//
// watch   The file is a stranger's: it is read through image::elf_file, which checks every field.
//         What cannot be read is left empty; the loader and the runtime have the last word.
// Tested by tests/program_file_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

// The fat binaries of one file, as a GPU would see them. Entries that hold neither a kernel nor a
// variable do not count: nvcc links such a one into every program, also into one that only asks the
// driver.
struct device_code {
  bool has_fat_binary = false;                 // or an empty one beside NVIDIA's runtime
  std::vector<std::string> ptx, machine_code;  // architectures without doubles: "90", "90a"
  bool for_gpu = false;                        // PTX that the GPU would use is there
  std::vector<std::string> without_ptx;        // source files with machine code and no such PTX

  bool any() const { return !ptx.empty() || !machine_code.empty(); }
};

struct program_file {
  enum class kind { program, static_program, library, object, other } is = kind::other;
  std::uint16_t machine = 0;        // EM_X86_64
  std::string interpreter;          // the loader: "/lib64/ld-linux-x86-64.so.2"
  std::vector<std::string> needed;  // DT_NEEDED, in order
  device_code code;                 // for the GPU that was asked about
};

// nullopt if `file` is no ELF file, or cannot be read. `sm`: the GPU's compute capability (90).
std::optional<program_file> read_program_file(const fs::path& file, std::uint32_t sm);

// The device code of one source file of a program.
struct device_part {
  std::string source;            // its name, where the file has it
  std::string ptx;               // what a GPU of the capability asked for would use
  std::vector<std::byte> cubin;  // the machine code made of this very PTX; empty if there is none
};

// Of a program, a library, an object or a fat binary (nvcc -fatbin). Parts without PTX for the GPU
// are left out, and so is what cannot be read. nullopt if `file` is none of these.
std::optional<std::vector<device_part>> read_device_parts(const fs::path& file, std::uint32_t sm);

// "x86-64", "AArch64", "machine 42".
std::string machine_name(std::uint16_t machine);

// The machine that this program itself was built for.
std::uint16_t own_machine();

}  // namespace stepwise
