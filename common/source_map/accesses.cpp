// Collects the loads and stores of each window, and explains those without machine instructions.
#include "common/source_map/accesses.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "common/ptx/traits.hpp"
#include "common/source_map/addresses.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::int64_t window_bytes = 16;
constexpr std::uint32_t word_bytes = 4;
// The most bytes that a thread can access at once. A wider access (.v8.v8) is not valid PTX.
constexpr std::int64_t most_bytes = 64;
// A place is a byte at some distance from a root. For an access that the machine code lacks, this
// is the number of accesses to examine at each place near it, nearest in the text first. This limit
// makes the time linear for any text.
constexpr std::ptrdiff_t most_at_a_place = 32;

// A load or a store in the PTX, by one thread.
struct access {
  std::uint32_t instruction = 0, block = 0;
  ptx::state_space space = ptx::state_space::none;
  bool is_store = false;
  bool is_plain = true;  // not volatile, not ordered: may be merged
  std::uint32_t bytes = 0;
  symbolic_address address;
  // The size of the aligned window as far as the PTX shows it, at most 16; its number; and the
  // access's offset in it.
  std::int64_t window_size = 1, window = 0, at = 0;
  std::uint32_t machine_instructions = 0;
};

// nullopt for anything other than an ordinary load or store.
std::optional<access> read_access(const ptx::instruction& i, const address_table& addresses,
                                  std::uint32_t number) {
  if ((i.opcode != "ld" && i.opcode != "st") || i.operands.size() != 2) return {};
  access a;
  a.instruction = number;
  a.is_store = i.opcode == "st";
  const ptx::operand& memory = i.operands[a.is_store ? 0 : 1];
  if (memory.kind != ptx::operand_kind::memory || i.modifiers.empty()) return {};
  a.bytes = ptx::bytes_of(ptx::type_of(i.modifiers.back()));
  a.space = ptx::space_of(i);
  for (const std::string_view m : i.modifiers) {
    if (m == "v2") a.bytes *= 2;
    if (m == "v4") a.bytes *= 4;
    if (m == "v8") a.bytes *= 8;
    a.is_plain = a.is_plain && m != "volatile" && m != "relaxed" && m != "acquire" &&
                 m != "release" && m != "mmio";
  }
  if (a.bytes == 0 || a.bytes > most_bytes) return {};
  a.address = addresses.resolve(memory, number);
  const alignment base = addresses.alignment_of(a.address);
  const std::int64_t place = a.address.offset + base.residue;
  a.window_size = base.modulus;
  a.window = place >= 0 ? place / a.window_size : -((a.window_size - 1 - place) / a.window_size);
  a.at = place - a.window * a.window_size;
  return a;
}

class access_finder {
 public:
  access_finder(const ptx::module& m, const ptx::body& body, const control_flow& flow,
                bool has_no_frame, source_map& out)
      : body_(body), flow_(flow), has_no_frame_(has_no_frame), out_(out), addresses_(m, body) {}

  void run() {
    collect();
    if (!out_.knows_machine_code) return;
    for (const access& a : all_) places_[place_of(a)].push_back(&a);
    find_shared_lines();
    for (const access& a : all_) {
      const bool stays = a.machine_instructions != 0 && !is_in_registers(a);
      if (!stays) explain(a);
    }
    finish_groups();
    find_thinned();
  }

 private:
  // The beginning of an access, as far as the PTX shows it.
  struct place {
    ptx::state_space space = ptx::state_space::none;
    std::string_view root;
    std::uint32_t version = 0;
    std::int64_t offset = 0;
    bool same_root(const place& o) const {
      return space == o.space && root == o.root && version == o.version;
    }
    auto operator<=>(const place&) const = default;
  };
  static constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

  static place place_of(const access& a) {
    return {a.space, a.address.root, a.address.version, a.address.offset};
  }

  void collect() {
    for (std::uint32_t n = 0; n < body_.instructions.size(); ++n) {
      const ptx::instruction& i = body_.instructions[n];
      if (!ptx::traits_of(i).touches_memory) continue;
      auto a = read_access(i, addresses_, n);
      if (a && a->space == ptx::state_space::param) continue;
      out_.instructions[n].role = access_role::alone;
      if (!a) continue;
      a->block = flow_.block_of[n];
      a->machine_instructions = out_.instructions[n].machine_instructions;
      all_.push_back(*a);
    }
  }

  // If a line has several instructions, the owner of its machine instructions is unknown.
  void find_shared_lines() {
    for (std::size_t n = 1; n < body_.instructions.size(); ++n) {
      if (body_.instructions[n].line == body_.instructions[n - 1].line) {
        shared_lines_.insert(body_.instructions[n].line);
      }
    }
  }

  bool is_in_registers(const access& a) const {
    return has_no_frame_ && a.space == ptx::state_space::local;
  }

  // Whether a's bytes include b's. Both have the same root.
  static bool covers(const access& a, const access& b) {
    return a.address.offset <= b.address.offset &&
           a.address.offset + a.bytes >= b.address.offset + b.bytes;
  }

  bool comes_before(const access& a, const access& b) const {
    return a.instruction < b.instruction && flow_.dominates(a.block, b.block);
  }

  // Explains an access without machine instructions.
  void explain(const access& a) {
    if (is_in_registers(a)) return drop(a, drop_reason::in_registers);
    if (a.space == ptx::state_space::constant) return drop(a, drop_reason::constant_bank);
    if (!a.is_store && !is_result_read(a)) return drop(a, drop_reason::unused);
    const std::vector<const access*> others = near_places(a);
    if (has_same_bytes(a, others)) return drop(a, drop_reason::same_address);
    if (a.is_plain && join_group(a, others)) return;
    drop(a, drop_reason::unknown);
  }

  bool is_result_read(const access& a) const {
    const ptx::operand& to = body_.instructions[a.instruction].operands[0];
    if (to.kind != ptx::operand_kind::vector) return addresses_.is_read(to.name);
    return std::any_of(to.elements.begin(), to.elements.end(), [&](const ptx::operand& e) {
      return e.kind == ptx::operand_kind::name && addresses_.is_read(e.name);
    });
  }

  // A load whose bytes are loaded or stored before it, or a store whose bytes are stored after it.
  bool has_same_bytes(const access& a, const std::vector<const access*>& others) const {
    return std::any_of(others.begin(), others.end(), [&](const access* other) {
      if (!covers(*other, a)) return false;  // the cheap test first
      return a.is_store ? other->is_store && comes_before(a, *other) : comes_before(*other, a);
    });
  }

  // The accesses of the same root that may be related to `a`. For a load, these are the accesses
  // before it in the text; for a store, the accesses after it.
  std::vector<const access*> near_places(const access& a) const {
    std::vector<const access*> found;
    const std::int64_t offset = a.address.offset;
    place at = place_of(a);
    at.offset = offset < lowest + most_bytes ? lowest : offset - most_bytes;
    for (auto p = places_.lower_bound(at); p != places_.end(); ++p) {
      const bool is_near =
          p->first.offset <= offset ||
          static_cast<std::uint64_t>(p->first.offset) - static_cast<std::uint64_t>(offset) <=
              window_bytes;
      if (!p->first.same_root(at) || !is_near) break;
      const std::vector<const access*>& all = p->second;
      const auto here = std::partition_point(all.begin(), all.end(), [&](const access* other) {
        return other->instruction < a.instruction;
      });
      if (a.is_store)
        found.insert(found.end(), here, here + std::min(most_at_a_place, all.end() - here));
      else
        found.insert(found.end(), here - std::min(most_at_a_place, here - all.begin()), here);
    }
    return found;
  }

  // Whether `leader` may execute a group that `a` is in. `leader` has to be among the results of
  // near_places(a), so it is before a load, or after a store.
  bool may_lead(const access& leader, const access& a) const {
    if (leader.machine_instructions == 0 || leader.is_store != a.is_store || !leader.is_plain) {
      return false;
    }
    return a.is_store ? leader.block == a.block && leader.instruction > a.instruction
                      : comes_before(leader, a);
  }

  static bool in_one_window(const access& a, const access& b) {
    return a.window == b.window && a.at + a.bytes <= a.window_size;
  }

  static bool near(const access& a, const access& b) {
    const std::int64_t first = std::min(a.address.offset, b.address.offset);
    const std::int64_t end = std::max(a.address.offset + a.bytes, b.address.offset + b.bytes);
    return end - first <= window_bytes;
  }

  static bool same_half(const access& a, const access& b) {
    return a.at / (window_bytes / 2) == b.at / (window_bytes / 2);
  }

  // Tries the window of `a` first, and then the nearby places, because ptxas may know more about
  // the root's alignment.
  bool join_group(const access& a, const std::vector<const access*>& others) {
    return join_group(a, others, in_one_window, false) || join_group(a, others, near, true);
  }

  bool join_group(const access& a, const std::vector<const access*>& others,
                  bool (*fits)(const access&, const access&), bool ambiguous) {
    std::vector<const access*> leaders;
    for (const access* leader : others)
      if (may_lead(*leader, a) && fits(*leader, a)) leaders.push_back(leader);
    std::sort(leaders.begin(), leaders.end(),
              [](const access* x, const access* y) { return x->instruction < y->instruction; });
    const access* best = nullptr;
    for (const access* leader : leaders) {
      // Prefer the nearest leader: the last one before a load, but the first one after a store.
      const bool nearer = best == nullptr || !a.is_store;
      if (nearer && (best == nullptr || same_half(*leader, a) || !same_half(*best, a))) {
        best = leader;
      }
    }
    if (best == nullptr) return false;
    const auto [at, is_new] =
        group_of_.try_emplace(best->instruction, static_cast<std::uint32_t>(out_.groups.size()));
    if (is_new) {
      access_group g;
      g.leader = best->instruction;
      out_.groups.push_back(g);
      parts_.push_back({*best});
    }
    parts_[at->second].push_back(a);
    access_group& g = out_.groups[at->second];
    g.ambiguous = g.ambiguous || ambiguous || leaders.size() > 1 || shares_line(a);
    return true;
  }

  bool shares_line(const access& a) const {
    return shared_lines_.count(body_.instructions[a.instruction].line) != 0;
  }

  void drop(const access& a, drop_reason why) {
    instruction_source& i = out_.instructions[a.instruction];
    i.role = access_role::dropped;
    i.group = static_cast<std::uint32_t>(out_.dropped.size());
    out_.dropped.push_back({a.instruction, why, why == drop_reason::unknown || shares_line(a)});
  }

  // Computes the smallest aligned power of two around all members, and lists the members.
  void finish_groups() {
    for (std::size_t n = 0; n < out_.groups.size(); ++n) {
      access_group& g = out_.groups[n];
      auto& parts = parts_[n];
      const access leader = parts.front();
      std::stable_sort(parts.begin(), parts.end(), [](const access& a, const access& b) {
        return a.address.offset < b.address.offset;
      });
      const std::int64_t first = parts.front().address.offset;
      std::int64_t end = first;
      for (const access& a : parts) end = std::max(end, a.address.offset + a.bytes);
      // If the members are not known to be in one window, assume that the first byte is aligned.
      const bool is_known = end - first + parts.front().at <= leader.window_size;
      std::int64_t at = is_known ? parts.front().at : 0;
      std::int64_t bytes = std::bit_ceil(static_cast<std::uint64_t>(end - first));
      while (bytes < window_bytes && at / bytes != (at + end - first - 1) / bytes) bytes *= 2;
      at %= bytes;
      g.bytes = static_cast<std::uint32_t>(bytes);
      g.offset = static_cast<std::int32_t>(first - at - leader.address.offset);
      const bool is_split_pair = bytes == window_bytes && words_of(parts) == 2;
      g.split = is_split_pair && leader.machine_instructions >= 2;
      g.ambiguous = g.ambiguous || (is_split_pair && !g.split);
      for (const access& a : parts) {
        g.members.push_back(a.instruction);
        instruction_source& i = out_.instructions[a.instruction];
        i.group = static_cast<std::uint32_t>(n);
        if (g.split) continue;
        i.role = a.instruction == g.leader ? access_role::leader : access_role::member;
      }
    }
    sort_groups();
  }

  // The number of words of the window that are loaded.
  static int words_of(const std::vector<access>& parts) {
    std::uint32_t words = 0;
    for (const access& a : parts) {
      for (std::int64_t byte = a.at; byte < a.at + a.bytes; ++byte) {
        words |= 1u << static_cast<unsigned>(byte / word_bytes % word_bytes);
      }
    }
    return std::popcount(words);
  }

  // Groups were found in the order of their members.
  void sort_groups() {
    std::stable_sort(
        out_.groups.begin(), out_.groups.end(),
        [](const access_group& a, const access_group& b) { return a.leader < b.leader; });
    for (std::uint32_t n = 0; n < out_.groups.size(); ++n) {
      for (const std::uint32_t i : out_.groups[n].members) out_.instructions[i].group = n;
    }
  }

  // The number of copies that ptxas has made of a block. This is the most frequent count among the
  // lines that usually become one instruction: float arithmetic, accesses and barriers.
  std::uint32_t copies_of(const basic_block& b) const {
    std::map<std::uint32_t, std::uint32_t> times;
    for (std::uint32_t n = b.first; n < b.end; ++n) {
      const ptx::instruction& i = body_.instructions[n];
      const instruction_source& s = out_.instructions[n];
      const bool is_arithmetic = i.opcode == "fma" || i.text == "add.f32" || i.text == "mul.f32" ||
                                 i.text == "sub.f32" || i.opcode == "bar";
      const bool is_access = s.role == access_role::alone || s.role == access_role::leader;
      if (s.machine_instructions != 0 && (is_arithmetic || is_access)) {
        ++times[s.machine_instructions];
      }
    }
    const auto most =
        std::max_element(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == times.end() ? 0 : most->first;
  }

  // Whether a block is in a loop and all its copies are iterations of the loop. If the block has an
  // operation of a whole warp, ptxas also duplicates the code around the operation, for warps that
  // have diverged and for warps that have not.
  bool is_in_loop_alone(const basic_block& b) const {
    if (b.loop == no_index) return false;
    return std::none_of(body_.instructions.begin() + b.first, body_.instructions.begin() + b.end,
                        [](const ptx::instruction& i) {
                          return i.text.starts_with("bar.warp") ||
                                 std::find(i.modifiers.begin(), i.modifiers.end(), "sync") !=
                                     i.modifiers.end();
                        });
  }

  void find_thinned() {
    std::map<std::uint32_t, std::uint32_t> copies;  // by block; 0: not a copied loop body
    for (const access& a : all_) {
      if (out_.instructions[a.instruction].role == access_role::dropped) continue;
      if (a.machine_instructions == 0) continue;
      const auto [at, is_new] = copies.try_emplace(a.block, 0);
      if (is_new && is_in_loop_alone(flow_.blocks[a.block])) {
        at->second = copies_of(flow_.blocks[a.block]);
      }
      if (2 * a.machine_instructions <= at->second) {
        out_.thinned.push_back({a.instruction, a.machine_instructions, at->second});
      }
    }
  }

  const ptx::body& body_;
  const control_flow& flow_;
  const bool has_no_frame_;
  source_map& out_;
  address_table addresses_;
  std::vector<access> all_;                             // in the order of the text
  std::map<place, std::vector<const access*>> places_;  // in order at each place
  std::set<std::uint32_t> shared_lines_;
  std::map<std::uint32_t, std::uint32_t> group_of_;  // leader -> group
  std::vector<std::vector<access>> parts_;           // by group; the leader comes first
};

}  // namespace

void find_accesses(const ptx::module& m, const ptx::body& body, const control_flow& flow,
                   bool has_no_frame, source_map& out) {
  access_finder(m, body, flow, has_no_frame, out).run();
}

}  // namespace stepwise::emulator
