// Reads nvcc's output in a program: fat binaries, their PTX, and each kernel's resources from the
// cubin's tables.
//
// idea    Reads containers, ELF attributes and debug tables, but never decodes machine code.
// watch   Every field comes from a student's file, so all bounds are checked.
// source  FORMATS.md in this folder. Tested by tests/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/error.hpp"

namespace stepwise::image {

enum class entry_kind : std::uint16_t { ptx = 1, elf = 2, lto = 8 };

// One entry of a fat binary container. `payload` points into the container's bytes.
struct fat_entry {
  entry_kind kind{};
  std::uint16_t version_major = 0, version_minor = 0;  // PTX ISA, for PTX entries
  std::uint32_t arch = 0;                              // compute capability, such as 90
  std::uint64_t flags = 0;
  std::string source_name;
  std::string options;  // the options that nvcc passed to ptxas: " --fmad false "
  std::span<const std::byte> payload;
  std::uint32_t compressed_bytes = 0;  // 0: raw
  std::uint64_t uncompressed_bytes = 0;
};

// The size in bytes of the container at `data`, from its header. nullopt if the magic number of a
// container is missing. Reads 16 bytes.
std::optional<std::uint64_t> container_bytes(const void* data);

// The entries of a container, in order. invalid_kernel_image, with the reason, if the container is
// corrupt.
result<std::vector<fat_entry>> read_container(std::span<const std::byte> container);

// An entry's content, decompressed (zstd, LZ4 block, raw). PTX is without its final NUL.
// invalid_kernel_image if the content does not decompress to the size in the entry.
result<std::vector<std::byte>> content_of(const fat_entry& entry);

// Whether ptxas, called with these options, fuses multiplications and additions. ptxas does so by
// default, but not with -fmad false, -O0 or -g.
bool fuses(std::string_view options);

// The entry that a GPU of compute capability `sm` (90) would use.
// PTX: the highest arch <= sm. ELF: the same major version, the highest minor <= sm's.
// Arch-specific entries ("a", flag 0x100000) match only that exact sm.
const fat_entry* choose(const std::vector<fat_entry>& entries, entry_kind kind, std::uint32_t sm);

// A kernel's machine code from `offset` to the next code_line comes from `ptx_line`.
struct code_line {
  std::uint32_t offset = 0;
  std::uint32_t ptx_line = 0;
};

// The resources of one kernel in a cubin.
struct kernel_resources {
  int registers = 0;
  std::uint64_t static_shared_bytes = 0;  // without bytes that the system reserves
  std::uint64_t frame_bytes = 0;          // stack per thread, without the functions it calls
  int barriers = 0;
  int max_threads = 0;  // launch bounds; 0: none
  std::uint32_t parameter_bytes = 0;
  // Machine instructions per PTX line, from the line table .nv_debug_line_sass (empty without
  // -lineinfo), including functions that were not inlined. Lines without instructions are absent.
  // The line of a body's '{' includes the code before the function's first instruction. At the end
  // of a function, padding cannot be distinguished from code, so the last line counts as one
  // instruction.
  std::map<std::uint32_t, std::uint32_t> instructions_of_ptx_line;
  // The same table in the order of the code.
  std::vector<code_line> code_lines;
};

struct cubin {
  int sm = 0;
  std::map<std::string, kernel_resources, std::less<>> kernels;
};

// invalid_kernel_image, with the reason, if the input is not a readable cubin.
result<cubin> read_cubin(std::span<const std::byte> elf);

}  // namespace stepwise::image
