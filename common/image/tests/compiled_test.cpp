// Compares nvcc's output for resources.cu with facts known without our reader: the bytes of the
// uncompressed file, and the output of ptxas.
#include <algorithm>
#include <sstream>

#include "common/image/tests/inputs.hpp"

namespace stepwise::image {
namespace {

std::vector<fat_entry> entries_of(const buffer& container) {
  const auto entries = read_container(container);
  REQUIRE_MESSAGE(entries.ok(), entries.failure().message);
  return *entries;
}

std::string ptx_of(const std::vector<fat_entry>& entries, std::uint32_t sm) {
  const fat_entry* const entry = choose(entries, entry_kind::ptx, sm);
  REQUIRE(entry != nullptr);
  const auto content = content_of(*entry);
  REQUIRE_MESSAGE(content.ok(), content.failure().message);
  return text_of(*content);
}

cubin cubin_of(const buffer& file) {
  const auto read = read_cubin(file);
  REQUIRE_MESSAGE(read.ok(), read.failure().message);
  return *read;
}

// The PTX texts of an uncompressed fat binary, found without reading a header: each starts with
// .version and ends with a NUL.
std::vector<std::string> plain_texts(const buffer& file) {
  const std::string all = text_of(file);
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = all.find("\n.version ", at)) != std::string::npos;) {
    std::size_t first = at;
    while (first > 0 && all[first - 1] != '\0') --first;
    const std::size_t last = all.find('\0', at);
    out.push_back(all.substr(first, last - first));
    at = last;
  }
  return out;
}

// The output of ptxas -v for one kernel.
struct ptxas_usage {
  int registers = -1;
  int barriers = 0;
  std::uint64_t shared = 0;
  std::uint64_t frame = 0;
};

// Sets `out` to the number before `unit`, if the line has one.
template <class T>
void number_before(const std::string& line, const std::string& unit, T& out) {
  const std::size_t end = line.find(" " + unit);
  if (end == std::string::npos) return;
  const std::size_t before = line.find_last_of(' ', end - 1);
  out = static_cast<T>(std::stoull(line.substr(before + 1, end - before - 1)));
}

std::map<std::string, ptxas_usage> parse_ptxas_output(const std::string& text) {
  const std::string entry = "Compiling entry function '", about = "Function properties for ";
  std::map<std::string, ptxas_usage> out;
  std::string kernel, function;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find(entry); at != std::string::npos) {
      const std::size_t first = at + entry.size();
      kernel = line.substr(first, line.find('\'', first) - first);
    } else if (const std::size_t at = line.find(about); at != std::string::npos) {
      function = line.substr(at + about.size());
    } else if (function == kernel) {
      number_before(line, "bytes stack frame", out[kernel].frame);
      number_before(line, "registers", out[kernel].registers);
      number_before(line, "barriers", out[kernel].barriers);
      number_before(line, "bytes smem", out[kernel].shared);
    }
  }
  out.erase("");  // the lines before the first kernel
  return out;
}

const char* const tile = "_Z11shared_tilePf";

TEST_CASE("every compression gives the PTX of the uncompressed file") {
  const buffer none = compiled("none.fatbin");
  const std::vector<std::string> texts = plain_texts(none);
  REQUIRE(texts.size() == 2);
  for (const std::string& text : texts) CHECK(text.find(tile) != std::string::npos);
  const std::string open = text_of(none);
  const std::size_t first_elf = open.find(
      "\x7F"
      "ELF");
  const std::size_t second_elf = open.find(
      "\x7F"
      "ELF",
      open.find("\n.version "));
  for (const std::string mode : {"none", "default", "size", "speed"}) {
    const buffer file = compiled(mode + ".fatbin");
    CHECK(container_bytes(file.data()) == file.size());
    const auto entries = entries_of(file);
    CHECK(entries.size() == 4);
    CHECK_MESSAGE(ptx_of(entries, 80) == texts[0], mode);
    CHECK_MESSAGE(ptx_of(entries, 90) == texts[1], mode);
    CHECK(ptx_of(entries, 100) == texts[1]);
    CHECK(choose(entries, entry_kind::elf, 100) == nullptr);
    for (const fat_entry& e : entries) {
      CHECK(e.source_name.ends_with("resources.cu"));
      CHECK((e.flags & 0x8000) ==
            (mode == "size" || (mode == "default" && e.kind == entry_kind::ptx) ? 0x8000u : 0u));
      CHECK((e.flags & 0x2000) == (mode == "speed" && e.kind == entry_kind::ptx ? 0x2000u : 0u));
    }
    for (const std::uint32_t sm : {80u, 90u}) {
      const auto content = content_of(*choose(entries, entry_kind::elf, sm));
      REQUIRE(content.ok());
      // The first ELF file in the uncompressed container is for sm_80, the next for sm_90.
      CHECK(open.compare(sm == 80 ? first_elf : second_elf, content->size(), text_of(*content)) ==
            0);
    }
  }
}

TEST_CASE(
    "registers, barriers, shared memory and stack are those that ptxas prints, for five GPUs") {
  for (const std::string arch : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    const cubin c = cubin_of(compiled(arch + ".cubin"));
    CHECK("sm_" + std::to_string(c.sm) == arch);
    const auto words = parse_ptxas_output(text_of(compiled(arch + ".txt")));
    CHECK(words.size() == 9);
    CHECK(c.kernels.size() == words.size());
    for (const auto& [name, expected] : words) {
      INFO(arch, " ", name);
      const auto found = c.kernels.find(name);
      REQUIRE(found != c.kernels.end());
      CHECK(found->second.registers == expected.registers);
      CHECK(found->second.barriers == expected.barriers);
      CHECK(found->second.static_shared_bytes == expected.shared);
      CHECK(found->second.frame_bytes == expected.frame);
    }
  }
}

TEST_CASE("launch bounds and parameters are those of the source") {
  const cubin c = cubin_of(compiled("sm_90.cubin"));
  CHECK(c.kernels.at(tile).max_threads == 128);
  CHECK(c.kernels.at(tile).parameter_bytes == 8);
  CHECK(c.kernels.at(tile).static_shared_bytes == 33 * 32 * 4);
  const auto& many = c.kernels.at("_Z14many_registersILi40EEvPKfPf8particle");
  CHECK(many.max_threads == 1024);
  CHECK(many.parameter_bytes == 8 + 8 + 24);
  CHECK(c.kernels.at("_Z5emptyv").max_threads == 0);
  CHECK(c.kernels.at("_Z5emptyv").parameter_bytes == 0);
  CHECK(c.kernels.at("_Z11local_arrayPii").frame_bytes == 256);
}

TEST_CASE("a relocatable cubin has no reserved shared memory to subtract") {
  const buffer file = compiled("relocatable.fatbin");
  const auto entries = entries_of(file);
  const auto content = content_of(*choose(entries, entry_kind::elf, 90));
  REQUIRE(content.ok());
  CHECK(cubin_of(*content).kernels.at(tile).static_shared_bytes == 33 * 32 * 4);
}

TEST_CASE("everything is compressed with -G, and can be read") {
  const buffer file = compiled("debug.fatbin");
  const auto entries = entries_of(file);
  REQUIRE(entries.size() == 2);
  for (const fat_entry& e : entries) CHECK((e.flags & 0x8002) == 0x8002);
  CHECK(ptx_of(entries, 90).find(", debug") != std::string::npos);
  const auto content = content_of(*choose(entries, entry_kind::elf, 90));
  REQUIRE(content.ok());
  CHECK(cubin_of(*content).kernels.at(tile).static_shared_bytes == 33 * 32 * 4);
}

TEST_CASE("a GPU takes the code for exactly its architecture") {
  const buffer file = compiled("specific.fatbin");
  const auto entries = entries_of(file);
  REQUIRE(entries.size() == 4);
  CHECK(ptx_of(entries, 90).find(".target sm_90a") != std::string::npos);
  CHECK(ptx_of(entries, 100).find(".target sm_90a") == std::string::npos);
  CHECK(choose(entries, entry_kind::elf, 90)->flags == 0x100011);
}

TEST_CASE("a program holds the same container") {
  const buffer program = compiled("program");
  const std::string all = text_of(program);
  const std::string magic("\x50\xED\x55\xBA\x01\x00\x10\x00", 8);
  const std::vector<std::string> texts = plain_texts(compiled("none.fatbin"));
  int found = 0;
  for (std::size_t at = 0; (at = all.find(magic, at)) != std::string::npos; at += 8) {
    const auto size = container_bytes(program.data() + at);
    REQUIRE(size.has_value());
    REQUIRE(at + *size <= program.size());
    const buffer container(program.begin() + static_cast<std::ptrdiff_t>(at),
                           program.begin() + static_cast<std::ptrdiff_t>(at + *size));
    const auto entries = entries_of(container);
    // nvcc's device linker adds its own container, which has no kernel.
    if (choose(entries, entry_kind::ptx, 90) == nullptr) continue;
    CHECK(ptx_of(entries, 80) == texts.at(0));
    CHECK(ptx_of(entries, 90) == texts.at(1));
    ++found;
  }
  CHECK(found == 1);
}

TEST_CASE("the line table names lines of the PTX, and not more instructions than the code has") {
  for (const std::string arch : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    const cubin c = cubin_of(compiled(arch + ".cubin"));
    for (const auto& [name, k] : c.kernels) {
      INFO(arch, " ", name);
      CHECK_FALSE(k.instructions_of_ptx_line.empty());
      for (const auto& [line, count] : k.instructions_of_ptx_line) CHECK(count > 0);
    }
    // Two barriers, one instruction each, and the end of the kernel.
    const auto& barriers = c.kernels.at("_Z14named_barriersv").instructions_of_ptx_line;
    CHECK(barriers.size() == 4);
    for (const auto& [line, count] : barriers) CHECK(count == 1);
  }
}

}  // namespace
}  // namespace stepwise::image
