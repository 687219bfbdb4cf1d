// Inspects a program file without running it: its kind, the libraries that it needs, and the device
// code that it contains.
//
// watch   The file is untrusted, so it is read through image::elf_file, which checks every field.
//         Unreadable parts are left empty. The loader and the runtime make the final decision.
// Tested by tests/program_file_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

// The fat binaries of one file, as a GPU would see them. Entries with neither a kernel nor a
// variable do not count: nvcc links such an entry into every program, even a program that only
// queries the driver.
struct device_code {
  bool has_fat_binary = false;                 // or an empty one with NVIDIA's runtime
  std::vector<std::string> ptx, machine_code;  // distinct architectures: "90", "90a"
  bool for_gpu = false;                        // it has PTX that the GPU would use
  std::vector<std::string> without_ptx;        // source files with machine code but no such PTX

  bool any() const { return !ptx.empty() || !machine_code.empty(); }
};

struct program_file {
  enum class kind { program, static_program, library, object, other } is = kind::other;
  std::uint16_t machine = 0;        // EM_X86_64
  std::string interpreter;          // the loader: "/lib64/ld-linux-x86-64.so.2"
  std::vector<std::string> needed;  // DT_NEEDED, in order
  device_code code;                 // for the given GPU
};

// nullopt if `file` is not a readable ELF file. `sm` is the GPU's compute capability (90).
std::optional<program_file> read_program_file(const fs::path& file, std::uint32_t sm);

// The device code of one source file of a program.
struct device_part {
  std::string source;            // its name, if the file has it
  std::string ptx;               // the PTX that a GPU of this capability would use
  std::vector<std::byte> cubin;  // machine code from exactly this PTX; empty if none
};

// The parts of a program, library, object or fat binary (nvcc -fatbin). Omits parts without PTX for
// the GPU and unreadable parts. nullopt if `file` is not one of these.
std::optional<std::vector<device_part>> read_device_parts(const fs::path& file, std::uint32_t sm);

// "x86-64", "AArch64", "machine 42".
std::string machine_name(std::uint16_t machine);

// The machine that this program was built for.
std::uint16_t own_machine();

}  // namespace stepwise
