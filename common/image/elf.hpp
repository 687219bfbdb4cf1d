// Sections and symbols of a 64-bit ELF file, each field checked against the file's size.
//
// watch   A malicious table may refer to the same bytes a million times; `spend` bounds the work.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/image/bytes.hpp"

namespace stepwise::image {

class elf_file {
 public:
  struct section {
    std::string_view name;
    Elf64_Shdr header;
  };
  struct symbol {
    std::string_view name;
    Elf64_Sym entry;
    std::uint32_t section = 0;  // 0 if it belongs to none
  };

  // Throws corrupt if the file is malformed.
  explicit elf_file(bytes file);

  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<section>& sections() const { return sections_; }
  const std::vector<symbol>& symbols() const { return symbols_; }
  // The bytes of a section; empty for SHT_NOBITS.
  bytes content(const section& s);
  // The first section with this name, or nullptr.
  const section* find(std::string_view name) const;

 private:
  void read_symbols();
  std::string_view string_at(bytes table, std::uint64_t offset);
  void spend(std::uint64_t count);

  bytes file_;
  std::uint64_t budget_;
  Elf64_Ehdr header_;
  std::vector<section> sections_;
  std::vector<symbol> symbols_;
};

}  // namespace stepwise::image
