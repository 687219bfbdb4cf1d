// Reads the requests of a 64-bit ELF program to the dynamic linker.
#pragma once

#include <elf.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace stepwise::course {

struct dynamic_needs {
  std::vector<std::string> libraries;  // DT_NEEDED
  bool has_search_path = false;        // DT_RPATH or DT_RUNPATH
};

// Returns nullopt if the bytes are not such a program.
inline std::optional<dynamic_needs> read_needs(const std::string& bytes) {
  const auto at = [&](std::uint64_t offset, auto& value) {
    if (offset > bytes.size() || sizeof value > bytes.size() - offset) return false;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return true;
  };
  Elf64_Ehdr head;
  if (!at(0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  for (int i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr dynamic, names;
    if (!at(head.e_shoff + i * sizeof dynamic, dynamic)) return std::nullopt;
    if (dynamic.sh_type != SHT_DYNAMIC) continue;
    if (!at(head.e_shoff + dynamic.sh_link * sizeof names, names)) return std::nullopt;
    dynamic_needs needs;
    for (std::uint64_t entry = 0; entry < dynamic.sh_size; entry += sizeof(Elf64_Dyn)) {
      Elf64_Dyn found;
      if (!at(dynamic.sh_offset + entry, found)) return std::nullopt;
      if (found.d_tag == DT_RPATH || found.d_tag == DT_RUNPATH) needs.has_search_path = true;
      const std::uint64_t name = names.sh_offset + found.d_un.d_val;
      if (found.d_tag != DT_NEEDED || name >= bytes.size()) continue;
      needs.libraries.emplace_back(bytes.c_str() + name);
    }
    return needs;
  }
  return std::nullopt;
}

}  // namespace stepwise::course
