// Takes slots from the line table, units from the opcodes, and registers from the operands.
#include "common/emulator/time/code_costs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "common/emulator/time/uniform_values.hpp"
#include "common/ptx/control_flow.hpp"
#include "common/ptx/traits.hpp"
#include "common/source_map/source_map.hpp"

namespace stepwise::emulator {
namespace {

using ptx::has_modifier;

bool is_one_of(std::string_view opcode, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, opcode) != all.end();
}

bool is_ordered(const ptx::instruction& i) {
  return std::ranges::any_of(i.modifiers, [](std::string_view m) {
    return m == "volatile" || m == "acquire" || m == "relaxed" || m == "acq_rel" || m == "mmio";
  });
}

bool converts_floats(const ptx::instruction& i) {
  return std::ranges::any_of(i.modifiers, [](std::string_view m) {
    return m.starts_with("f16") || m.starts_with("f32") || m.starts_with("f64") ||
           m.starts_with("bf16") || m.starts_with("tf32") || m.starts_with("e4m3") ||
           m.starts_with("e5m2");
  });
}

unit unit_of_integer(std::string_view opcode) {
  if (is_one_of(opcode, {"mul", "mad", "mul24", "mad24", "dp4a", "dp2a", "madc"}))
    return unit::multiply;
  if (is_one_of(opcode, {"add", "sub", "mov", "cvta", "neg", "addc", "subc", "mapa"}))
    return unit::integer;
  if (is_one_of(opcode, {"popc", "clz", "bfind", "brev", "div", "rem"})) return unit::special;
  return unit::alu;
}

unit unit_of(const ptx::instruction& i, const ptx::traits& t) {
  switch (t.pipe) {
    case ptx::pipe::fp32:
      return is_one_of(i.opcode, {"min", "max", "setp", "set", "selp", "slct", "testp"})
                 ? unit::alu
                 : unit::fma;
    case ptx::pipe::fp64:
      return unit::fp64;
    case ptx::pipe::half:
      return unit::half;
    case ptx::pipe::integer:
      return unit_of_integer(i.opcode);
    case ptx::pipe::conversion:
      return converts_floats(i) ? unit::conversion : unit::alu;
    case ptx::pipe::special:
      return unit::special;
    case ptx::pipe::tensor:
      return i.opcode == "movmatrix" ? unit::exchange : unit::tensor;
    case ptx::pipe::load_store:
      return i.opcode == "shfl" ? unit::exchange : unit::load_store;
    case ptx::pipe::control:
      return unit::branch;
    case ptx::pipe::barrier:
      return i.opcode == "redux"                     ? unit::reduce
             : t.kind == ptx::instruction_kind::warp ? unit::vote
                                                     : unit::none;
    case ptx::pipe::other:
      return unit::none;
  }
  return unit::none;
}

}  // namespace

step_kind kind_of(const ptx::instruction& i) {
  const ptx::traits t = ptx::traits_of(i);
  using enum ptx::instruction_kind;
  switch (t.kind) {
    case load:
      return step_kind::load;
    case store:
      return step_kind::store;
    case atomic:
      return step_kind::atomic;
    case async_copy: {
      const bool is_bulk = has_modifier(i, "bulk");
      if (has_modifier(i, "commit_group"))
        return is_bulk ? step_kind::commit_bulk : step_kind::commit;
      if (has_modifier(i, "wait_group") || has_modifier(i, "wait_all"))
        return is_bulk ? step_kind::wait_bulk : step_kind::wait_copies;
      if (has_modifier(i, "mbarrier")) return step_kind::arrive_copies;
      return !is_bulk                      ? step_kind::copy
             : has_modifier(i, "prefetch") ? step_kind::compute
                                           : step_kind::bulk_copy;
    }
    case barrier:
      if (has_modifier(i, "try_wait") || has_modifier(i, "test_wait")) return step_kind::wait_phase;
      if (i.opcode == "mbarrier" && !has_modifier(i, "pending_count")) return step_kind::signal;
      if (i.opcode == "fence" && has_modifier(i, "proxy") && has_modifier(i, "async"))
        return step_kind::fence_proxy;
      if (i.opcode != "bar" && i.opcode != "barrier") return step_kind::fence;
      if (has_modifier(i, "warp")) return step_kind::fence;
      if (has_modifier(i, "cluster"))
        return has_modifier(i, "arrive") ? step_kind::arrive_cluster : step_kind::wait_cluster;
      return has_modifier(i, "arrive") ? step_kind::arrive : step_kind::barrier;
    case control:
      return step_kind::branch;
    case tensor:
      if (i.opcode == "wmma" && t.touches_memory)
        return has_modifier(i, "load") ? step_kind::load : step_kind::store;
      if (i.opcode != "wgmma") return step_kind::compute;
      if (has_modifier(i, "mma_async")) return step_kind::product;
      if (has_modifier(i, "commit_group")) return step_kind::commit_products;
      return has_modifier(i, "wait_group") ? step_kind::wait_products : step_kind::fence;
    default:
      return step_kind::compute;
  }
}

namespace {

// Finds a shape such as "m16n8k16".
std::optional<std::array<unsigned, 3>> shape_of(const ptx::instruction& i) {
  for (const std::string_view m : i.modifiers) {
    std::array<unsigned, 3> shape{};
    if (std::sscanf(std::string(m).c_str(), "m%un%uk%u", &shape[0], &shape[1], &shape[2]) == 3)
      return shape;
  }
  return {};
}

// Operands of 16 bits whose two elements per register are not adjacent in memory.
unsigned transposed_blocks_of(const ptx::instruction& i) {
  const auto shape = shape_of(i);
  const bool is_a = has_modifier(i, "a"), is_b = has_modifier(i, "b");
  const bool is_half = has_modifier(i, "f16") || has_modifier(i, "bf16");
  if (i.opcode != "wmma" || !has_modifier(i, "load") || !shape || !is_half) return 0;
  if (!(is_a && has_modifier(i, "col")) && !(is_b && has_modifier(i, "row"))) return 0;
  return (is_a ? (*shape)[0] : (*shape)[1]) * (*shape)[2] / 64;
}

// The size of A's type. The types are those of D, A, B and, except for wgmma, C.
unsigned operand_bits(const ptx::instruction& i) {
  std::vector<std::string_view> types;
  for (const std::string_view m : i.modifiers)
    if (is_one_of(m, {"f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64", "s8", "u8", "s4", "u4",
                      "b1", "s32"}))
      types.push_back(m);
  // For products of f16, wmma names only the types of D and C.
  const std::string_view of = types.size() > 2 ? types[1] : "f16";
  if (of == "f64") return 64;
  if (of == "tf32" || of == "f32") return 32;
  if (of == "f16" || of == "bf16") return 16;
  return of == "b1" ? 1 : of.ends_with('4') && of != "s32" ? 4 : 8;
}

}  // namespace

tensor_work tensor_work_of(const ptx::instruction& i) {
  const ptx::traits t = ptx::traits_of(i);
  tensor_work w;
  const auto shape = shape_of(i);
  if (t.kind != ptx::instruction_kind::tensor || t.pipe != ptx::pipe::tensor || !shape) return w;
  const auto [m, n, k] = *shape;
  if (i.opcode == "wgmma") {
    w.kind = tensor_work::form::wgmma;
    w.columns = static_cast<std::uint16_t>(n);
    w.a_in_registers = i.operands.size() > 1 && i.operands[1].kind == ptx::operand_kind::vector;
    return w;
  }
  const unsigned bits = operand_bits(i), bytes_of_k = k * bits / 8;
  if (bits == 64) {
    w.kind = tensor_work::form::wide;
    w.parts = static_cast<float>(m * n * k) / (8 * 8 * 4);
    return w;
  }
  w.kind = bytes_of_k <= 16 ? tensor_work::form::half : tensor_work::form::whole;
  w.parts = static_cast<float>(m * n) / (16 * 8) *
            (bytes_of_k <= 32 ? 1 : static_cast<float>(bytes_of_k) / 32);
  return w;
}

namespace {

unsigned registers_of(const ptx::instruction& i) {
  const unsigned bytes = ptx::bytes_of(ptx::value_type(i));
  unsigned each = bytes > 4 ? 2 : bytes == 0 ? 0 : 1;
  for (const std::string_view m : i.modifiers) {
    if (m == "wide") each = 2;
    if (m == "v2") each *= 2;
    if (m == "v4") each *= 4;
    if (m == "v8") each *= 8;
  }
  return each;
}

// The slots of an instruction whose number of machine instructions is unknown.
float guessed_slots(const ptx::instruction& i, const ptx::traits& t) {
  if (t.pipe == ptx::pipe::other || i.opcode == "cvta") return 0;
  if (t.kind == ptx::instruction_kind::move) return 0.5F;
  const bool wide = ptx::bytes_of(ptx::value_type(i)) == 8;
  if (i.opcode == "div" || i.opcode == "rem") return wide ? 40 : has_modifier(i, "approx") ? 3 : 10;
  if (i.opcode == "sqrt" && !has_modifier(i, "approx")) return 8;
  return t.pipe == ptx::pipe::integer && wide ? 2 : 1;
}

// Lines that become one machine instruction in each copy of their block.
bool is_one_instruction(const ptx::instruction& i, const instruction_source& s) {
  return i.opcode == "fma" || i.text == "add.f32" || i.text == "mul.f32" || i.text == "sub.f32" ||
         i.opcode == "bar" || i.opcode == "shfl" || i.opcode == "dp4a" ||
         s.role == access_role::alone || s.role == access_role::leader;
}

// The most frequent number of machine instructions among lines that become one in each copy; 0 if
// there are no such lines.
std::uint32_t most_frequent(const std::map<std::uint32_t, std::uint32_t>& times) {
  const auto most = std::ranges::max_element(
      times, [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? 0 : most->first;
}

// The number of copies that ptxas made of each block, inferred from its lines that become one
// instruction per copy; otherwise, from such lines of its loop; otherwise, from its line with the
// fewest copies.
std::vector<std::uint32_t> copies_of(const ptx::body& body, const control_flow& flow,
                                     const source_map& map) {
  std::vector<std::map<std::uint32_t, std::uint32_t>> of_block(flow.blocks.size());
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> of_loop;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    const basic_block& block = flow.blocks[b];
    for (std::uint32_t n = block.first; n < block.end; ++n) {
      const instruction_source& s = map.instructions[n];
      if (s.machine_instructions == 0 || !is_one_instruction(body.instructions[n], s)) continue;
      ++of_block[b][s.machine_instructions];
      if (block.loop != no_index) ++of_loop[block.loop][s.machine_instructions];
    }
  }
  std::vector<std::uint32_t> copies;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    const basic_block& block = flow.blocks[b];
    std::uint32_t times = most_frequent(of_block[b]);
    if (times == 0 && block.loop != no_index) times = most_frequent(of_loop[block.loop]);
    if (times == 0 && block.loop != no_index) {
      for (std::uint32_t n = block.first; n < block.end; ++n)
        if (const std::uint32_t m = map.instructions[n].machine_instructions; m != 0)
          times = times == 0 ? m : std::min(times, m);
    }
    copies.push_back(std::max(1U, times));
  }
  return copies;
}

// The places of each line's machine instructions, counted in instructions.
std::map<std::uint32_t, std::vector<std::uint32_t>> places_of_lines(
    const image::kernel_resources& machine_code) {
  constexpr std::uint32_t instruction_bytes = 16;
  std::map<std::uint32_t, std::vector<std::uint32_t>> places;
  const std::vector<image::code_line>& table = machine_code.code_lines;
  for (std::size_t n = 0; n < table.size(); ++n) {
    // The end of the last entry is unknown.
    const std::uint32_t end =
        n + 1 < table.size() ? table[n + 1].offset : table[n].offset + instruction_bytes;
    for (std::uint32_t at = table[n].offset; at < end; at += instruction_bytes)
      places[table[n].ptx_line].push_back(at / instruction_bytes);
  }
  return places;
}

class register_names {
 public:
  std::uint32_t number(std::string_view name) {
    return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size() + first_))
        .first->second;
  }
  explicit register_names(std::uint32_t first) : first_(first) {}
  std::uint32_t end() const { return first_ + static_cast<std::uint32_t>(numbers_.size()); }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::uint32_t first_;
};

void add_registers(const ptx::operand& o, register_names& known, std::vector<std::uint32_t>& to) {
  if (o.name.starts_with('%') && o.name.find('.') == std::string_view::npos)
    to.push_back(known.number(o.name));
  for (const ptx::operand& e : o.elements) add_registers(e, known, to);
}

}  // namespace

code_costs::code_costs(const program& code, const image::kernel_resources* machine_code) {
  at.resize(code.code.empty() ? 0 : code.code.back().ordinal + 1);
  copies.assign(at.size(), 1);
  if (machine_code != nullptr) registers = machine_code->registers;
  for (std::size_t n = 0; n < code.functions.size(); ++n) add_function(code, n, machine_code);
}

void code_costs::add_function(const program& code, std::size_t index,
                              const image::kernel_resources* machine_code) {
  const program_function& f = code.functions[index];
  if (f.body == nullptr || f.body->instructions.empty()) return;
  const std::vector<ptx::instruction>& body = f.body->instructions;
  const source_map map(*f.module, *f.function, machine_code);
  knows_machine_code = knows_machine_code || map.knows_machine_code;
  const control_flow flow(*f.body);
  register_names known(register_count);
  std::unordered_map<std::uint32_t, std::uint32_t> on_line;
  for (const ptx::instruction& i : body) ++on_line[i.line];
  const uniform_values uniform(body);

  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> places_of;  // lines
  if (map.knows_machine_code) {
    for (const auto& [line, at_line] : places_of_lines(*machine_code)) {
      places_of[line] = {static_cast<std::uint32_t>(places.size()),
                         static_cast<std::uint32_t>(at_line.size())};
      places.insert(places.end(), at_line.begin(), at_line.end());
    }
  }

  const std::uint32_t first = code.code[f.first_op].ordinal;
  const std::vector<std::uint32_t> block_copies = copies_of(*f.body, flow, map);
  for (std::size_t block = 0; block < flow.blocks.size(); ++block) {
    const basic_block& b = flow.blocks[block];
    const std::uint32_t times = map.knows_machine_code ? block_copies[block] : 1;
    for (std::uint32_t n = b.first; n < b.end && first + n < at.size(); ++n) {
      const ptx::instruction& i = body[n];
      const ptx::traits t = ptx::traits_of(i);
      instruction_cost& c = at[first + n];
      c.kind = kind_of(i);
      c.on = unit_of(i, t);
      const bool signals = c.kind == step_kind::signal || c.kind == step_kind::arrive_copies ||
                           c.kind == step_kind::wait_phase;
      c.is_memory = (t.touches_memory && ptx::space_of(i) != ptx::state_space::param) || signals;
      c.is_shared = ptx::space_of(i) == ptx::state_space::shared || signals;
      c.tensor = tensor_work_of(i);
      c.transposed_blocks = transposed_blocks_of(i);
      c.releases_cluster =
          c.kind == step_kind::signal && has_modifier(i, "cluster") && has_modifier(i, "release");
      c.may_move = has_modifier(i, "nc");
      if (c.kind == step_kind::load && t.pipe == ptx::pipe::other) c.kind = step_kind::compute;
      if (c.kind == step_kind::wait_copies || c.kind == step_kind::wait_bulk ||
          c.kind == step_kind::wait_products) {
        c.groups_left = -1;
        if (has_modifier(i, "wait_group") && !i.operands.empty())
          c.groups_left = static_cast<std::int16_t>(i.operands[0].bits);
      }
      has_loops = has_loops || b.loop != no_index;
      waits_for_blocks = waits_for_blocks || i.opcode == "atom" ||
                         (c.kind == step_kind::load && is_ordered(i) && !c.is_shared);
      draws_work = draws_work || (i.opcode == "atom" && !c.is_shared && b.loop != no_index);
      c.slots = map.knows_machine_code
                    ? static_cast<float>(map.instructions[n].machine_instructions) /
                          static_cast<float>(times * on_line[i.line])
                    : guessed_slots(i, t);
      if (const auto found = places_of.find(i.line); found != places_of.end())
        std::tie(c.first_place, c.places) = found->second;
      if (c.kind == step_kind::atomic && !c.is_shared && has_modifier(i, "add")) {
        c.adds_floats = has_modifier(i, "f32") || has_modifier(i, "f64");
        c.adds_warps = uniform.has_one_sum(i);
      }
      copies[first + n] =
          static_cast<std::uint8_t>(b.loop == no_index ? 1U : std::clamp(times, 1U, 64U));

      const bool has_result = ptx::has_result(i);
      c.first_written = static_cast<std::uint32_t>(names.size());
      if (has_result) {
        add_registers(i.operands[0], known, names);
        c.registers = static_cast<std::uint8_t>(std::min(255U, registers_of(i)));
      }
      c.written = static_cast<std::uint32_t>(names.size()) - c.first_written;
      c.first_read = static_cast<std::uint32_t>(names.size());
      for (std::size_t o = has_result ? 1 : 0; o < i.operands.size(); ++o)
        add_registers(i.operands[o], known, names);
      if (!i.guard.empty()) names.push_back(known.number(i.guard));
      c.reads = static_cast<std::uint32_t>(names.size()) - c.first_read;
    }
  }
  register_count = known.end();
  if (map.knows_machine_code) find_predicated(f, first);
}

// A forward branch without a machine instruction. The instructions that it jumps over have
// predicates instead, and are issued whether lanes take part or not.
void code_costs::find_predicated(const program_function& f, std::uint32_t first) {
  const std::vector<ptx::instruction>& body = f.body->instructions;
  for (std::uint32_t n = 0; n < body.size() && first + n < at.size(); ++n) {
    const ptx::instruction& i = body[n];
    instruction_cost& c = at[first + n];
    if (i.opcode != "bra" || i.guard.empty() || c.slots > 0 || i.operands.empty()) continue;
    const auto target = f.body->labels.find(i.operands[0].name);
    if (target == f.body->labels.end() || target->second <= n) continue;
    c.target = first + target->second;
    for (std::uint32_t m = n + 1; m < target->second && first + m < at.size(); ++m)
      c.skipped_slots += at[first + m].slots;
  }
}

}  // namespace stepwise::emulator
