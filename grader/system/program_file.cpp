// Maps the file, reads its dynamic section, and walks the containers of its device code.
#include "grader/system/program_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/image/elf.hpp"
#include "common/image/image.hpp"

namespace stepwise {
namespace {

class mapped_file {
 public:
  explicit mapped_file(const fs::path& file) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat about {};
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
      size_ = static_cast<std::size_t>(about.st_size);
      data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    close(descriptor);
  }
  ~mapped_file() {
    if (data_ != MAP_FAILED) munmap(data_, size_);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  image::bytes content() const {
    if (data_ == MAP_FAILED) return {};
    return {static_cast<const std::byte*>(data_), size_};
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
};

void add_once(std::vector<std::string>& to, const std::string& text) {
  if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
}

std::string architecture(const image::fat_entry& entry) {
  constexpr std::uint64_t this_very_one = 0x100000, its_family = 0x200000;  // image/FORMATS.md
  const char* suffix = entry.flags & this_very_one ? "a" : entry.flags & its_family ? "f" : "";
  return std::to_string(entry.arch) + suffix;
}

// A PTX directive, not a part of an instruction such as ld.global.
bool has_directive(std::string_view text, std::string_view word) {
  const auto is_blank = [&](std::size_t at) { return at >= text.size() || text[at] <= ' '; };
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if ((at == 0 || is_blank(at - 1)) && is_blank(at + word.size())) return true;
  }
  return false;
}

// Whether the entry has neither a kernel nor a variable, because functions alone are never called.
// An unreadable entry counts as not empty.
bool is_empty(const image::fat_entry& entry) {
  const auto content = image::content_of(entry);
  if (!content.ok()) return false;
  if (entry.kind == image::entry_kind::ptx) {
    const std::string_view text(reinterpret_cast<const char*>(content->data()), content->size());
    return !has_directive(text, ".entry") && !has_directive(text, ".global") &&
           !has_directive(text, ".const");
  }
  if (entry.kind != image::entry_kind::elf) return false;
  try {
    const image::elf_file elf(*content);
    // Every kernel has constants, because its parameters are constants.
    return std::none_of(elf.sections().begin(), elf.sections().end(), [](const auto& section) {
      return section.header.sh_size != 0 &&
             (section.name.starts_with(".nv.constant") || section.name.starts_with(".nv.global"));
    });
  } catch (const image::corrupt&) {
    return false;
  }
}

void add_container(device_code& code, std::vector<image::fat_entry> entries, std::uint32_t sm) {
  code.has_fat_binary = true;
  std::erase_if(entries, is_empty);
  std::string source;
  bool machine_code = false;
  for (const auto& entry : entries) {
    if (entry.kind == image::entry_kind::ptx) add_once(code.ptx, architecture(entry));
    if (entry.kind == image::entry_kind::elf) {
      machine_code = true;
      add_once(code.machine_code, architecture(entry));
    }
    if (source.empty()) source = entry.source_name;
  }
  if (image::choose(entries, image::entry_kind::ptx, sm) != nullptr) {
    code.for_gpu = true;
  } else if (machine_code && !source.empty() && !source.ends_with(' ')) {
    // A name that ends with a space is a list of objects. With -lineinfo or -G, nvcc's device link
    // adds a container with such a name, which holds none of the objects' code.
    add_once(code.without_ptx, source);
  }
}

// Containers follow each other, with zeros between them where the linker aligned.
template <class Visit>
void for_each_container(image::bytes section, Visit visit) {
  constexpr std::size_t header = 16;
  for (std::size_t at = 0; at + header <= section.size();) {
    const auto size = image::container_bytes(section.data() + at);
    if (!size || *size < header || *size > section.size() - at) {
      at += 8;
      continue;
    }
    const auto entries = image::read_container(section.subspan(at, *size));
    if (entries.ok()) visit(*entries);
    at += (*size + 7) / 8 * 8;
  }
}

void add_section(device_code& code, image::bytes section, std::uint32_t sm) {
  for_each_container(section, [&](const std::vector<image::fat_entry>& entries) {
    add_container(code, entries, sm);
  });
}

void add_part(std::vector<device_part>& parts, const std::vector<image::fat_entry>& entries,
              std::uint32_t sm) {
  const auto* ptx = image::choose(entries, image::entry_kind::ptx, sm);
  if (ptx == nullptr) return;
  const auto text = image::content_of(*ptx);
  if (!text.ok()) return;
  device_part part;
  part.source = ptx->source_name;
  part.ptx.assign(reinterpret_cast<const char*>((*text).data()), (*text).size());
  // Line tables describe the PTX of one architecture.
  const auto* elf = image::choose(entries, image::entry_kind::elf, sm);
  if (elf != nullptr && elf->arch == ptx->arch) {
    auto code = image::content_of(*elf);
    if (code.ok()) part.cubin = std::move(*code);
  }
  parts.push_back(std::move(part));
}

device_code read_device_code(image::elf_file& elf, std::uint32_t sm) {
  device_code code;
  if (const auto* plain = elf.find(".nv_fatbin")) add_section(code, elf.content(*plain), sm);
  // Relocatable device code: the parts, with their PTX, are next to the linked result.
  if (const auto* parts = elf.find("__nv_relfatbin")) {
    add_section(code, elf.content(*parts), sm);
    code.without_ptx.clear();
  }
  return code;
}

std::vector<std::string> read_needed(image::elf_file& elf, bool& position_independent) {
  std::vector<std::string> needed;
  for (const auto& section : elf.sections()) {
    if (section.header.sh_type != SHT_DYNAMIC) continue;
    if (section.header.sh_link >= elf.sections().size()) return {};
    const image::bytes table = elf.content(section);
    const image::bytes strings = elf.content(elf.sections()[section.header.sh_link]);
    for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= table.size(); at += sizeof(Elf64_Dyn)) {
      const auto entry = image::read_at<Elf64_Dyn>(table, at, "a dynamic entry");
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_FLAGS_1) position_independent = (entry.d_un.d_val & DF_1_PIE) != 0;
      if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= strings.size()) continue;
      const char* name = reinterpret_cast<const char*>(strings.data()) + entry.d_un.d_val;
      needed.emplace_back(name, strnlen(name, strings.size() - entry.d_un.d_val));
    }
  }
  return needed;
}

// NVIDIA's runtime contains its functions' names as text, even if it is linked statically.
bool holds_runtime(image::bytes content) {
  constexpr std::string_view name = "cudaStreamBeginCapture";
  return memmem(content.data(), content.size(), name.data(), name.size()) != nullptr;
}

}  // namespace

std::optional<program_file> read_program_file(const fs::path& file, std::uint32_t sm) {
  const mapped_file mapped(file);
  const image::bytes content = mapped.content();
  if (content.size() < sizeof(Elf64_Ehdr)) return {};
  const auto* ident = reinterpret_cast<const unsigned char*>(content.data());
  if (!std::equal(ident, ident + SELFMAG, ELFMAG)) return {};
  program_file found;
  // In 32-bit files, e_machine is at the same offset. In the other byte order, the number means
  // another machine.
  found.machine =
      image::read_at<std::uint16_t>(content, offsetof(Elf64_Ehdr, e_machine), "machine");
  const auto type = image::read_at<std::uint16_t>(content, offsetof(Elf64_Ehdr, e_type), "type");
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB) return found;
  try {
    image::elf_file elf(content);
    bool position_independent = false;
    found.needed = read_needed(elf, position_independent);
    if (const auto* section = elf.find(".interp")) {
      const image::bytes name = elf.content(*section);
      const auto* text = reinterpret_cast<const char*>(name.data());
      found.interpreter.assign(text, strnlen(text, name.size()));
    }
    if (type == ET_REL) {
      found.is = program_file::kind::object;
    } else if (!found.interpreter.empty()) {
      found.is = program_file::kind::program;
    } else if (type == ET_EXEC || (type == ET_DYN && position_independent)) {
      found.is = program_file::kind::static_program;
    } else if (type == ET_DYN) {
      found.is = program_file::kind::library;
    }
    found.code = read_device_code(elf, sm);
    if (!found.code.any() && !holds_runtime(content)) found.code.has_fat_binary = false;
  } catch (const image::corrupt&) {
    // The program may still run, for example if only its section table was stripped.
    if (type == ET_EXEC || type == ET_DYN) {
      found.is = program_file::kind::program;
    }
  }
  return found;
}

std::optional<std::vector<device_part>> read_device_parts(const fs::path& file, std::uint32_t sm) {
  const mapped_file mapped(file);
  const image::bytes content = mapped.content();
  std::vector<device_part> parts;
  const auto add = [&](const std::vector<image::fat_entry>& entries) {
    add_part(parts, entries, sm);
  };
  if (content.size() >= 16 && image::container_bytes(content.data())) {
    for_each_container(content, add);
    return parts;
  }
  try {
    image::elf_file elf(content);
    // Relocatable device code: the linked result has no PTX.
    const auto* section = elf.find("__nv_relfatbin");
    if (section == nullptr) section = elf.find(".nv_fatbin");
    if (section != nullptr) for_each_container(elf.content(*section), add);
  } catch (const image::corrupt&) {
    return {};
  }
  return parts;
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "AArch64";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit ARM";
    case EM_PPC64:
      return "POWER";
    case EM_RISCV:
      return "RISC-V";
    default:
      return "machine " + std::to_string(machine);
  }
}

std::uint16_t own_machine() {
  static const std::uint16_t machine = [] {
    Elf64_Ehdr header{};
    const int descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return std::uint16_t{EM_NONE};
    const ssize_t n = read(descriptor, &header, sizeof header);
    close(descriptor);
    return n == sizeof header ? std::uint16_t{header.e_machine} : std::uint16_t{EM_NONE};
  }();
  return machine;
}

}  // namespace stepwise
