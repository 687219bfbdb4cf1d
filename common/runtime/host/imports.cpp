#include "common/runtime/host/imports.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace stepwise::runtime {
namespace {

// Prefixes of function names, which may have versions. The last three look up other functions.
constexpr std::array<std::string_view, 6> creating{
    "cudaStreamCreateWith",    "cuStreamCreate",   "cuGreenCtxStreamCreate",
    "cudaGetDriverEntryPoint", "cuGetProcAddress", "dlsym"};

// A library's tables for the dynamic linker.
struct dynamic_tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
};

dynamic_tables tables_of(const dl_phdr_info& info) {
  dynamic_tables found;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    // glibc has relocated these addresses, except in the vDSO.
    const auto at = [&](const ElfW(Dyn) & d) {
      return d.d_un.d_ptr < info.dlpi_addr ? info.dlpi_addr + d.d_un.d_ptr : d.d_un.d_ptr;
    };
    for (const auto* d =
             reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
         d->d_tag != DT_NULL; ++d) {
      if (d->d_tag == DT_SYMTAB) found.symbols = reinterpret_cast<const ElfW(Sym)*>(at(*d));
      if (d->d_tag == DT_STRTAB) found.names = reinterpret_cast<const char*>(at(*d));
      if (d->d_tag == DT_GNU_HASH) found.gnu_hash = reinterpret_cast<const std::uint32_t*>(at(*d));
      if (d->d_tag == DT_HASH) found.hash = reinterpret_cast<const std::uint32_t*>(at(*d));
    }
  }
  return found;
}

// The GNU hash table contains no undefined symbols, and the linker puts undefined symbols before
// the others.
std::uint32_t possible_imports(const dynamic_tables& t) {
  if (t.hash != nullptr) return t.hash[1];
  return t.gnu_hash != nullptr ? t.gnu_hash[1] : 0;
}

bool is_part_of_ours(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(
      std::array<std::string_view, 4>{"libcudart.so", "libcuda.so", "libc.so", "libstdc++.so"},
      [&](std::string_view known) { return file.starts_with(known); });
}

int search_imports(dl_phdr_info* info, std::size_t, void*) {
  if (is_part_of_ours(info->dlpi_name)) return 0;
  const dynamic_tables t = tables_of(*info);
  if (t.symbols == nullptr || t.names == nullptr) return 0;
  for (std::uint32_t n = 1; n < possible_imports(t); ++n) {
    if (t.symbols[n].st_shndx != SHN_UNDEF) continue;
    const std::string_view name = t.names + t.symbols[n].st_name;
    if (std::ranges::any_of(creating, [&](auto begin) { return name.starts_with(begin); }))
      return 1;
  }
  return 0;
}

int take_loaded_count(dl_phdr_info* info, std::size_t, void* count) {
  *static_cast<unsigned long long*>(count) = info->dlpi_adds;
  return 1;
}

}  // namespace

bool may_create_non_blocking_streams() {
  // The number of loaded libraries at the last search.
  static std::atomic<unsigned long long> searched{0};
  static std::atomic<bool> found{false};
  unsigned long long loaded = 0;
  dl_iterate_phdr(take_loaded_count, &loaded);
  if (loaded != searched.load()) {
    found = dl_iterate_phdr(search_imports, nullptr) != 0;
    searched = loaded;
  }
  return found;
}

}  // namespace stepwise::runtime
