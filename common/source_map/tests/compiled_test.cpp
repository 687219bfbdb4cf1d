// Compares nvcc's output for accesses.cu and frames.cu with the promises in their comments.
#include <algorithm>
#include <filesystem>
#include <set>

#include "common/image/tests/inputs.hpp"
#include "common/ptx/control_flow.hpp"
#include "common/source_map/source_map.hpp"

namespace stepwise::emulator {
namespace {

struct compiled_file {
  explicit compiled_file(const std::string& name) {
    const image::buffer file = image::compiled(name);
    const auto entries = image::read_container(file);
    REQUIRE(entries.ok());
    const auto text = image::content_of(*image::choose(*entries, image::entry_kind::ptx, 90));
    const auto elf = image::content_of(*image::choose(*entries, image::entry_kind::elf, 90));
    REQUIRE(text.ok());
    REQUIRE(elf.ok());
    auto read = image::read_cubin(*elf);
    REQUIRE(read.ok());
    machine_code = std::move(*read);
    module = std::make_unique<ptx::module>(image::text_of(*text));
  }

  const ptx::function& function(const std::string& name) const {
    const auto found = std::find_if(
        module->functions.begin(), module->functions.end(), [&](const ptx::function& f) {
          return f.name.find(std::to_string(name.size()) + name) != std::string_view::npos;
        });
    REQUIRE_MESSAGE(found != module->functions.end(), "no kernel ", name);
    return *found;
  }
  const image::kernel_resources& resources(const ptx::function& f) const {
    return machine_code.kernels.find(f.name)->second;
  }

  std::unique_ptr<ptx::module> module;
  image::cubin machine_code;
};

struct mapped {
  mapped(const compiled_file& file, const std::string& kernel)
      : body(file.module->body_of(file.function(kernel))),
        map(*file.module, file.function(kernel), &file.resources(file.function(kernel))) {}

  // The roles of the accesses whose text begins with `opcode`, in order. Examples are "alone",
  // "16@-12 of 3" (a leader's bytes, offset and members), "member" and "dropped: unused".
  std::vector<std::string> roles(std::string_view opcode) const {
    std::vector<std::string> out;
    for (std::size_t n = 0; n < body.instructions.size(); ++n) {
      if (!body.instructions[n].text.starts_with(opcode)) continue;
      const instruction_source& i = map.instructions[n];
      if (i.role == access_role::none) out.push_back("none");
      if (i.role == access_role::alone) out.push_back(i.group == no_index ? "alone" : "split");
      if (i.role == access_role::member) out.push_back("member");
      if (i.role == access_role::leader) {
        const access_group& g = map.groups[i.group];
        CHECK(g.leader == n);
        out.push_back(std::to_string(g.bytes) + "@" + std::to_string(g.offset) + " of " +
                      std::to_string(g.members.size()) + (g.ambiguous ? "?" : ""));
      }
      if (i.role == access_role::dropped) {
        const dropped_access& d = map.dropped[i.group];
        CHECK(d.instruction == n);
        out.push_back("dropped: " + std::string(name_of(d.reason)) + (d.ambiguous ? "?" : ""));
      }
    }
    return out;
  }

  const ptx::body& body;
  source_map map;
};

const compiled_file& accesses() {
  static const compiled_file file("accesses.fatbin");
  return file;
}

using texts = std::vector<std::string>;

TEST_CASE("scalar loads of a register-blocked matmul become 16-byte loads") {
  const mapped k(accesses(), "blocked_matmul");
  const texts roles = k.roles("ld.shared");
  // For eight k, four words each of a and b, all with known offsets.
  REQUIRE(roles.size() == 64);
  CHECK(std::count(roles.begin(), roles.end(), "16@0 of 4") == 16);
  CHECK(std::count(roles.begin(), roles.end(), "member") == 48);
  CHECK(k.map.groups.size() == 16);
  CHECK(k.map.dropped.empty());
  CHECK(k.map.thinned.empty());
  for (const access_group& g : k.map.groups) {
    std::string_view base;
    for (const std::uint32_t n : g.members) {
      CHECK(k.map.instructions[n].group == &g - k.map.groups.data());
      CHECK((k.map.instructions[n].machine_instructions == 0) == (n != g.leader));
      const ptx::operand& from = k.body.instructions[n].operands[1];
      if (base.empty()) base = from.name;
      CHECK(from.name == base);
    }
  }
  for (const char* opcode : {"ld.global", "st.global", "st.shared"}) {
    const texts others = k.roles(opcode);
    CHECK(!others.empty());
    CHECK(std::count(others.begin(), others.end(), "alone") == std::ssize(others));
  }
}

TEST_CASE("loads and stores of adjacent words are merged") {
  const auto loads = [](const std::string& kernel) {
    return mapped(accesses(), kernel).roles("ld.shared");
  };
  CHECK(loads("vector_loads") == texts{"alone"});
  CHECK(loads("pair_loads") == texts{"8@0 of 2", "member"});
  CHECK(loads("three_of_four") == texts{"16@-12 of 3", "member", "member"});
  CHECK(loads("split_pair") == texts{"split", "split"});
  CHECK(loads("six_words") ==
        texts{"8@0 of 2", "member", "8@0 of 2", "member", "8@0 of 2", "member"});
  CHECK(loads("four_stores") == texts{"alone"});
  CHECK(loads("after_a_branch") == texts{"8@0 of 2", "member"});
  CHECK(mapped(accesses(), "four_stores").roles("st.shared") ==
        texts{"member", "member", "member", "16@-12 of 4"});
  const mapped split(accesses(), "split_pair");
  REQUIRE(split.map.groups.size() == 1);
  CHECK(split.map.groups[0].split);
  CHECK_FALSE(split.map.groups[0].ambiguous);
  const texts far = loads("far_pairs");
  CHECK(far.size() == 128);
  CHECK(std::count(far.begin(), far.end(), "split") == 128);
  CHECK(accesses().resources(accesses().function("far_pairs")).registers < 40);
}

TEST_CASE("loads that the compiler must keep are kept") {
  CHECK(mapped(accesses(), "same_load_twice").roles("ld.global") == texts{"alone", "alone"});
  CHECK(mapped(accesses(), "volatile_loads").roles("ld.volatile") == texts{"alone", "alone"});
}

TEST_CASE("loads and stores without machine instructions are dropped") {
  const mapped array(accesses(), "array_in_registers");
  const texts local = array.roles("ld.local"), stores = array.roles("st.local");
  CHECK(!local.empty());
  CHECK(!stores.empty());
  CHECK(std::count(local.begin(), local.end(), "dropped: in registers") == std::ssize(local));
  CHECK(std::count(stores.begin(), stores.end(), "dropped: in registers") == std::ssize(stores));
  const texts constants = array.roles("ld.const");
  CHECK(constants.size() == 8);
  CHECK(std::count(constants.begin(), constants.end(), "dropped: constant bank") == 8);
  CHECK(mapped(accesses(), "unused_load").roles("ld.global") == texts{"dropped: unused", "alone"});
}

TEST_CASE("the machine code's table names the same lines, in the order of the code") {
  for (const auto& [name, kernel] : accesses().machine_code.kernels) {
    CAPTURE(name);
    std::set<std::uint32_t> lines;
    std::uint32_t before = 0;
    REQUIRE(!kernel.code_lines.empty());
    CHECK(kernel.code_lines.front().offset == 0);
    for (const image::code_line& l : kernel.code_lines) {
      CHECK(l.offset >= before);
      CHECK(kernel.instructions_of_ptx_line.count(l.ptx_line) == 1);
      before = l.offset;
      lines.insert(l.ptx_line);
    }
    CHECK(lines.size() == kernel.instructions_of_ptx_line.size());
  }
}

TEST_CASE("without machine code every access stays as it is written") {
  const auto& file = accesses();
  const ptx::function& f = file.function("blocked_matmul");
  const source_map map(*file.module, f, nullptr);
  CHECK_FALSE(map.knows_machine_code);
  CHECK(map.groups.empty());
  CHECK(map.dropped.empty());
  int alone = 0;
  for (const instruction_source& i : map.instructions) {
    alone += i.role == access_role::alone;
    CHECK(i.machine_instructions == 0);
    CHECK(i.line != no_index);
  }
  CHECK(alone > 64);
  // The table of another function does not help.
  const source_map other(*file.module, f, &file.resources(file.function("unused_load")));
  CHECK_FALSE(other.knows_machine_code);
  CHECK(other.groups.empty());
}

const compiled_file& frames() {
  static const compiled_file file("frames.fatbin");
  return file;
}

std::string file_name(const source_line& line) {
  return std::filesystem::path(line.file).filename().string();
}

// The place of the first instruction that begins with `opcode`, such as
// "frames.cu:14 > four_times frames.cu:8 > twice frames.cu:5".
std::string place(const mapped& k, std::string_view opcode) {
  for (std::size_t n = 0; n < k.body.instructions.size(); ++n) {
    if (!k.body.instructions[n].text.starts_with(opcode)) continue;
    const instruction_source& i = k.map.instructions[n];
    const auto text = [](const source_line& l) {
      return file_name(l) + ":" + std::to_string(l.line);
    };
    std::string out = text(k.map.lines[i.line]);
    if (i.inner == no_index) return out;
    for (const source_frame& f : k.map.chains[i.inner]) {
      out += " > " + f.function + " " + text(f.at);
    }
    return out;
  }
  return "not found";
}

TEST_CASE("inlined functions count for the line that calls them") {
  const mapped k(frames(), "nested");
  CHECK(place(k, "ld.global") == "frames.cu:13");
  CHECK(place(k, "fma") == "frames.cu:14 > four_times frames.cu:8 > twice frames.cu:5");
  CHECK(place(k, "st.global") == "frames.cu:14");
  for (const source_line& l : k.map.lines) CHECK(l.of_user);
}

TEST_CASE("a library's code counts for the user's line") {
  const mapped k(frames(), "library");
  const std::string where = place(k, "redux");
  CHECK(where.starts_with("frames.cu:21 > "));
  CHECK(where.find("cooperative_groups::") != std::string::npos);
  for (const source_line& l : k.map.lines) CHECK(file_name(l) == "frames.cu");
  bool inner_is_library = false;
  for (const auto& chain : k.map.chains) {
    for (const source_frame& f : chain) inner_is_library = inner_is_library || !f.at.of_user;
  }
  CHECK(inner_is_library);
}

TEST_CASE("instructions that the compiler adds count for the next line in their block") {
  const mapped k(frames(), "loops");
  bool found = false;
  for (std::size_t n = 0; n < k.body.instructions.size(); ++n) {
    const instruction_source& i = k.map.instructions[n];
    REQUIRE(i.line != no_index);
    CHECK(k.map.lines[i.line].line != 0);
    found = found || i.estimated;
  }
  CHECK(found);
}

TEST_CASE("a kernel's inner loop is inside its outer loop") {
  const auto& file = frames();
  const ptx::body& body = file.module->body_of(file.function("loops"));
  const control_flow flow(body);
  REQUIRE(flow.loops.size() == 2);
  CHECK_FALSE(flow.loops[0].is_innermost);
  CHECK(flow.loops[1].is_innermost);
  CHECK(flow.loops[1].parent == 0);
  const auto loop_of = [&](std::string_view opcode) {
    for (std::size_t n = 0; n < body.instructions.size(); ++n) {
      if (body.instructions[n].text.starts_with(opcode)) return flow.blocks[flow.block_of[n]].loop;
    }
    return no_index;
  };
  CHECK(loop_of("ld.global") == 1);
  CHECK(loop_of("st.global") == 0);
}

}  // namespace
}  // namespace stepwise::emulator
