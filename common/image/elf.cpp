// Reads the section table, names, contents and symbols, within a budget.
#include "common/image/elf.hpp"

#include <algorithm>

namespace stepwise::image {

elf_file::elf_file(bytes file) : file_(file), budget_(16 * file.size() + (1u << 20)) {
  header_ = read_at<Elf64_Ehdr>(file_, 0, "the ELF header");
  if (!std::equal(header_.e_ident, header_.e_ident + SELFMAG, ELFMAG)) {
    throw corrupt("no ELF file: its magic number is missing");
  }
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB) {
    throw corrupt("expected a 64-bit little-endian ELF file");
  }
  if (header_.e_shoff == 0) throw corrupt("no sections");
  if (header_.e_shentsize != sizeof(Elf64_Shdr)) throw corrupt("section headers of the wrong size");
  const auto first = read_at<Elf64_Shdr>(file_, header_.e_shoff, "section header 0");
  // If there are more than 65279 sections, section header 0 holds these numbers.
  const std::uint64_t count = header_.e_shnum ? header_.e_shnum : first.sh_size;
  const std::uint64_t names = header_.e_shstrndx == SHN_XINDEX ? first.sh_link : header_.e_shstrndx;
  if (count > file_.size() / sizeof(Elf64_Shdr)) throw corrupt("more sections than bytes");
  if (names >= count) throw corrupt("no section of names");
  const bytes table =
      part_of(file_, header_.e_shoff, count * sizeof(Elf64_Shdr), "the section headers");
  sections_.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    sections_[i].header = read_at<Elf64_Shdr>(table, i * sizeof(Elf64_Shdr), "a section header");
  }
  // The segment headers are not needed, but they come last, so this detects a truncated file.
  part_of(file_, header_.e_phoff, std::uint64_t{header_.e_phnum} * header_.e_phentsize,
          "the segment headers");
  const bytes strings = content(sections_[names]);
  for (section& s : sections_) s.name = string_at(strings, s.header.sh_name);
  read_symbols();
}

void elf_file::spend(std::uint64_t count) {
  if (count > budget_) throw corrupt("tables that overlap too often");
  budget_ -= count;
}

std::string_view elf_file::string_at(bytes table, std::uint64_t offset) {
  if (offset >= table.size()) {
    if (offset == 0) return {};
    throw corrupt("a name past the end of its table");
  }
  const char* const first = reinterpret_cast<const char*>(table.data()) + offset;
  const void* const end = std::memchr(first, '\0', table.size() - offset);
  if (end == nullptr) throw corrupt("a name without a final NUL");
  const auto size = static_cast<std::size_t>(static_cast<const char*>(end) - first);
  spend(size + 1);
  return {first, size};
}

bytes elf_file::content(const section& s) {
  if (s.header.sh_type == SHT_NOBITS) return {};
  const bytes found = part_of(file_, s.header.sh_offset, s.header.sh_size, "a section");
  spend(found.size());
  return found;
}

const elf_file::section* elf_file::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const section& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

void elf_file::read_symbols() {
  const auto table = std::find_if(sections_.begin(), sections_.end(),
                                  [](const section& s) { return s.header.sh_type == SHT_SYMTAB; });
  if (table == sections_.end()) return;
  if (table->header.sh_entsize != sizeof(Elf64_Sym)) throw corrupt("symbols of the wrong size");
  if (table->header.sh_link >= sections_.size()) throw corrupt("no section of symbol names");
  const bytes entries = content(*table);
  const bytes strings = content(sections_[table->header.sh_link]);
  const std::uint32_t table_number = static_cast<std::uint32_t>(table - sections_.begin());
  const auto extended = std::find_if(sections_.begin(), sections_.end(), [&](const section& s) {
    return s.header.sh_type == SHT_SYMTAB_SHNDX && s.header.sh_link == table_number;
  });
  const bytes numbers = extended == sections_.end() ? bytes{} : content(*extended);
  symbols_.resize(entries.size() / sizeof(Elf64_Sym));
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    symbol& s = symbols_[i];
    s.entry = read_at<Elf64_Sym>(entries, i * sizeof(Elf64_Sym), "a symbol");
    s.name = string_at(strings, s.entry.st_name);
    if (s.entry.st_shndx == SHN_XINDEX) {
      s.section = read_at<std::uint32_t>(numbers, i * sizeof(std::uint32_t), "a section number");
    } else if (s.entry.st_shndx < SHN_LORESERVE) {
      s.section = s.entry.st_shndx;
    }
    if (s.section >= sections_.size()) throw corrupt("a symbol of a section that does not exist");
  }
}

}  // namespace stepwise::image
