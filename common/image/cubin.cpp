// Reads the resources of the kernels in a cubin from its tables. FORMATS.md lists the fields.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "common/image/elf.hpp"
#include "common/image/image.hpp"
#include "common/image/line_program.hpp"

namespace stepwise::image {
namespace {

constexpr std::uint16_t machine_cuda = 190;
constexpr std::uint8_t osabi_cuda = 0x41;
constexpr std::uint8_t abi_version = 8;
constexpr std::uint8_t entry_flag = 0x10;  // in a symbol's st_other: a kernel

// On sm_90 and later, the system reserves the first 1024 bytes of a block's shared memory. The
// linker adds these bytes, so relocatable files (nvcc -rdc=true) do not include them yet.
constexpr std::uint64_t reserved_shared = 1024;
constexpr int first_sm_with_reserved = 90;

// Machine instructions of every GPU that CUDA 13 compiles for are 16 bytes long.
constexpr std::uint64_t instruction_bytes = 16;

constexpr std::uint64_t shared_limit = std::uint64_t{1} << 30;

enum attribute : std::uint8_t {
  max_threads = 0x05,
  required_threads = 0x10,
  frame_size = 0x11,
  parameter_bank = 0x19,
  register_count = 0x2f,
  barrier_count = 0x4c,
};

struct attribute_record {
  std::uint8_t format = 0;
  std::uint8_t name = 0;
  std::uint16_t value = 0;  // formats 1 to 3
  bytes content;            // format 4
};

enum : std::uint8_t { no_value = 1, byte_value = 2, half_value = 3, sized_value = 4 };

template <class Visit>
void for_each_attribute(bytes section, Visit visit) {
  for (std::uint64_t at = 0; at < section.size();) {
    attribute_record r;
    r.format = read_at<std::uint8_t>(section, at, "an attribute");
    r.name = read_at<std::uint8_t>(section, at + 1, "an attribute");
    r.value = read_at<std::uint16_t>(section, at + 2, "an attribute");
    at += 4;
    if (r.format == sized_value) {
      r.content = part_of(section, at, r.value, "an attribute's value");
      at += r.value;
    } else if (r.format == byte_value) {
      r.value &= 0xFF;
    } else if (r.format != no_value && r.format != half_value) {
      throw corrupt("an attribute of unknown format " + std::to_string(r.format));
    }
    visit(r);
  }
}

int as_int(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, std::numeric_limits<int>::max()));
}

class cubin_reader {
 public:
  explicit cubin_reader(bytes file) : elf_(file) {}

  cubin read() {
    const Elf64_Ehdr& h = elf_.header();
    if (h.e_machine != machine_cuda || h.e_ident[EI_OSABI] != osabi_cuda) {
      throw corrupt("an ELF file for a machine that is not a GPU");
    }
    if (h.e_ident[EI_ABIVERSION] != abi_version) {
      throw corrupt("ABI version " + std::to_string(h.e_ident[EI_ABIVERSION]) +
                    ", expected 8 (CUDA 13)");
    }
    out_.sm = static_cast<int>(h.e_flags >> 8 & 0xFF);
    find_kernels();
    for (const auto& s : elf_.sections()) {
      if (s.name == ".nv.info") {
        module_attributes(elf_.content(s));
      } else if (s.name.starts_with(".nv.info.")) {
        kernel_attributes(s.name.substr(9), elf_.content(s));
      } else if (s.name.starts_with(".nv.shared.")) {
        shared_memory(s.name.substr(11), s.header.sh_size);
      }
    }
    lines();
    return std::move(out_);
  }

 private:
  void find_kernels() {
    const auto& symbols = elf_.symbols();
    for (std::uint32_t i = 0; i < symbols.size(); ++i) {
      const auto& s = symbols[i];
      const bool is_kernel =
          ELF64_ST_TYPE(s.entry.st_info) == STT_FUNC && (s.entry.st_other & entry_flag) != 0;
      if (!is_kernel || s.section == 0) continue;
      kernel_resources& k = out_.kernels[std::string(s.name)];
      of_symbol_[i] = &k;
      of_section_[s.section] = &k;
    }
  }

  kernel_resources* kernel(std::string_view name) {
    const auto found = out_.kernels.find(name);
    return found == out_.kernels.end() ? nullptr : &found->second;
  }

  // .nv.info: {symbol, value} pairs for every function
  void module_attributes(bytes section) {
    for_each_attribute(section, [&](const attribute_record& r) {
      if (r.format != sized_value) return;
      if (r.name != register_count && r.name != frame_size) return;
      const auto symbol = read_at<std::uint32_t>(r.content, 0, "an attribute's symbol");
      const auto value = read_at<std::uint32_t>(r.content, 4, "an attribute's value");
      const auto found = of_symbol_.find(symbol);
      if (found == of_symbol_.end()) return;
      if (r.name == register_count) found->second->registers = as_int(value);
      if (r.name == frame_size) found->second->frame_bytes = value;
    });
  }

  void kernel_attributes(std::string_view name, bytes section) {
    kernel_resources* const k = kernel(name);
    for_each_attribute(section, [&](const attribute_record& r) {
      if (k == nullptr) return;
      if (r.name == parameter_bank && r.format == half_value) k->parameter_bytes = r.value;
      if (r.name == barrier_count && r.format == byte_value) k->barriers = r.value;
      if ((r.name == max_threads || r.name == required_threads) && r.format == sized_value) {
        std::uint64_t product = 1;
        for (int d = 0; d < 3; ++d) {
          product *= read_at<std::uint32_t>(r.content, 4u * d, "launch bounds");
          product = std::min<std::uint64_t>(product, std::numeric_limits<int>::max());
        }
        k->max_threads = static_cast<int>(product);
      }
    });
  }

  void shared_memory(std::string_view name, std::uint64_t size) {
    kernel_resources* const k = kernel(name);
    if (k == nullptr) return;  // .nv.shared.reserved.0
    if (size > shared_limit) throw corrupt("a kernel with more than 1 GiB of shared memory");
    const bool reserves = out_.sm >= first_sm_with_reserved && elf_.header().e_type == ET_EXEC;
    k->static_shared_bytes = size - std::min(size, reserves ? reserved_shared : 0);
  }

  // The relocation of a line table sequence's address identifies the kernel. Relocations have an
  // addend on sm_90 and later (RELA), but not on older GPUs (REL).
  std::unordered_map<std::uint64_t, const elf_file::symbol*> relocations_of(
      const elf_file::section& section) {
    std::unordered_map<std::uint64_t, const elf_file::symbol*> out;
    const auto number = static_cast<std::uint32_t>(&section - elf_.sections().data());
    for (const auto& s : elf_.sections()) {
      if (s.header.sh_type != SHT_RELA && s.header.sh_type != SHT_REL) continue;
      if (s.header.sh_info != number) continue;
      const std::size_t stride =
          s.header.sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
      const bytes table = elf_.content(s);
      for (std::uint64_t at = 0; at + stride <= table.size(); at += stride) {
        const auto r = read_at<Elf64_Rel>(table, at, "a relocation");
        const std::uint64_t symbol = ELF64_R_SYM(r.r_info);
        if (symbol >= elf_.symbols().size()) throw corrupt("a relocation without its symbol");
        out[r.r_offset] = &elf_.symbols()[symbol];
      }
    }
    return out;
  }

  void lines() {
    const elf_file::section* const section = elf_.find(".nv_debug_line_sass");
    if (section == nullptr) return;
    const auto relocations = relocations_of(*section);
    run_line_programs(elf_.content(*section), [&](const line_span& span) {
      const auto at = relocations.find(span.set_address_at);
      if (at == relocations.end()) return;
      const auto found = of_section_.find(at->second->section);
      if (found == of_section_.end()) return;
      const std::uint64_t code_bytes = elf_.sections()[at->second->section].header.sh_size;
      if (span.last > code_bytes) throw corrupt("a line table that extends past the code");
      // The last span of a function includes the padding up to the end of its section.
      const std::uint64_t count =
          span.ends_sequence ? 1 : (span.last - span.first) / instruction_bytes;
      if (count == 0) return;
      found->second->code_lines.push_back({static_cast<std::uint32_t>(span.first), span.line});
      std::uint32_t& sum = found->second->instructions_of_ptx_line[span.line];
      const std::uint64_t room = std::numeric_limits<std::uint32_t>::max() - sum;
      sum += static_cast<std::uint32_t>(std::min(count, room));
    });
    for (auto& [name, kernel] : out_.kernels) {
      std::stable_sort(kernel.code_lines.begin(), kernel.code_lines.end(),
                       [](const code_line& a, const code_line& b) { return a.offset < b.offset; });
    }
  }

  elf_file elf_;
  cubin out_;
  std::unordered_map<std::uint32_t, kernel_resources*> of_symbol_, of_section_;
};

}  // namespace

result<cubin> read_cubin(std::span<const std::byte> elf) {
  try {
    return cubin_reader(elf).read();
  } catch (const corrupt& why) {
    return {error::invalid_kernel_image, std::string("cubin: ") + why.what()};
  }
}

}  // namespace stepwise::image
