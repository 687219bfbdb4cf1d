// Lowering for observers: values that a thread may read before they are set.
//
// idea    A register that may be read before it is written has a shadow: a predicate of the lanes
//         for which it is not set. An op before each instruction passes the shadows of its operands
//         on to its result, as the value itself is passed on. Observers are notified where such a
//         value has an effect: it is stored, it is an address, it decides a branch, it is passed to
//         a function. A function without such registers has none of these ops.
// watch   A value is set or not as a whole. Where an instruction puts a value together from parts,
//         the value counts as set if one part is, because programs often copy structures with a
//         member that is not set.
//         Tested by ../check/tests/programs/.
#include <algorithm>

#include "common/emulator/lower/lowering.hpp"
#include "common/ptx/traits.hpp"
#include "common/ptx/unset_registers.hpp"

namespace stepwise::emulator {
namespace {

// The most values that are searched for the origins of one value, and the most per instruction of
// the function for the origins of all values.
constexpr std::size_t most_values = 2000, most_values_per_instruction = 64;

// Represents all values that are stored where loads are checked.
constexpr std::string_view stored_value = "<stored>";

operand named_operand(std::string_view name) {
  operand o;
  o.name = name;
  return o;
}

enum class passing : std::uint8_t {
  nothing,  // the result is set, even if no operand is
  any,      // not set if one operand is not
  all,      // not set if no operand is
  conjunction,
  difference,  // not set if exactly one operand is not: an unset part may cancel, as in CUB's scans
  selection,
  comparison,  // setp with a second predicate
  elements,    // a vector, element by element
  shuffle
};

passing passing_of(const ptx::instruction& i) {
  const std::string_view o = i.opcode;
  const auto has = [&](std::string_view m) { return ptx::has_modifier(i, m); };
  if (o == "shfl") return i.operands.size() > 4 ? passing::shuffle : passing::nothing;
  if ((o == "mma" || (o == "wmma" && has("mma"))) && i.operands.size() >= 4 &&
      i.operands[0].kind == operand_kind::vector)
    return passing::elements;
  const ptx::traits t = ptx::traits_of(i);
  if (!t.is_pure || !ptx::has_result(i)) return passing::nothing;
  if (o == "and") return passing::conjunction;
  if (o == "sub") return passing::difference;
  if (o == "selp") return passing::selection;
  if (o == "setp" && i.operands.size() > 3) return passing::comparison;
  if (o == "bfi" || o == "prmt" || o == "shf" || o == "lop3" || o == "slct" ||
      (o == "or" && !has("pred")) || (o == "cvt" && i.operands.size() > 2) ||
      (o == "mov" && i.operands[1].kind == operand_kind::vector))
    return passing::all;
  return passing::any;
}

// The operand that a matrix product adds to.
const operand& addend(const ptx::instruction& i) {
  const operand* last = &i.operands[1];
  for (std::size_t n = 1; n < i.operands.size() && n < 4; ++n)
    if (i.operands[n].kind == operand_kind::vector) last = &i.operands[n];
  return *last;
}

void add_names(const operand& o, std::vector<std::string_view>& to) {
  if (o.kind != operand_kind::memory && !o.name.empty()) to.push_back(o.name);
  for (const operand& e : o.elements) add_names(e, to);
}

// The names of the values that the instruction may pass on to its result.
std::vector<std::string_view> names_passed_on(const ptx::instruction& i) {
  std::vector<std::string_view> names;
  switch (passing_of(i)) {
    case passing::nothing:
      break;
    case passing::shuffle:
      add_names(i.operands[1], names);
      break;
    case passing::elements:
      add_names(addend(i), names);
      break;
    case passing::comparison:
      for (const std::size_t n : {1, 2}) add_names(i.operands[n], names);
      break;
    default:
      for (std::size_t n = 1; n < i.operands.size(); ++n) add_names(i.operands[n], names);
  }
  return names;
}

// The results that values are passed on to. Whether a shuffle's lane was in range is always known.
std::vector<std::string_view> results_of(const ptx::instruction& i) {
  std::vector<std::string_view> names = names_written(i);
  if (i.opcode == "shfl" && names.size() > 1) names.resize(1);
  return names;
}

std::vector<operand> stored_values(const ptx::instruction& i) {
  if (i.opcode != "st" || i.operands.size() < 2) return {};
  return i.operands[1].kind == operand_kind::vector ? i.operands[1].elements
                                                    : std::vector<operand>{i.operands[1]};
}

bool is_own(state_space s, state_space wanted) { return s == wanted || s == state_space::none; }

}  // namespace

bool lowering::may_be_unset(const operand& o) const {
  return o.kind == operand_kind::name && unset_.contains(o.name);
}

// Whether the instruction loads bytes whose state is checked, because a store may have left them
// unset, or because no store has written them.
bool lowering::reads_checked_memory(const ptx::instruction& i) const {
  if (i.opcode != "ld" || i.operands.size() < 2) return false;
  const state_space s = ptx::space_of(i);
  return (checks_local_ && is_own(s, state_space::local)) ||
         (checks_shared_ && is_own(s, state_space::shared));
}

// Finds the registers that may hold a value that is not set. This is a fixed point, because a loop
// passes values on to itself, and a store to shared memory passes them on to the loads from there.
void lowering::find_unset(const control_flow& flow) {
  // In a debug build each variable lies in memory and is copied as a whole, or passed to a function
  // that does not use it.
  if (!out_.follows_unset || module_.is_debug) return;
  const auto function = static_cast<std::uint32_t>(out_.functions.size() - 1);
  const auto add_origin = [&](unset_value& v, std::int32_t load) {
    v.origins.push_back(static_cast<std::uint32_t>(out_.unset_origins.size()));
    out_.unset_origins.push_back({function, load});
  };
  for (const std::string_view name : names_read_before_written(body_, flow)) {
    const bool is_register =
        registers_.contains(std::string(name)) || find_counted(name) != nullptr;
    if (!is_register) continue;
    unset_value& v = unset_[name];
    v.is_register_origin = true;
    add_origin(v, -1);
  }
  // Functions of the runtime may write to local memory unseen.
  static const std::unordered_set<std::string_view> harmless = {"vprintf", "malloc", "free",
                                                                "__assertfail"};
  const bool calls_runtime = std::ranges::any_of(module_.functions, [&](const ptx::function& f) {
    return f.is_declaration && !harmless.contains(f.name) &&
           module_.find_function(f.name)->is_declaration;
  });
  access_window own;
  for (const ptx::variable& v : body_.variables) {
    if (v.space != state_space::local || v.bytes == 0) continue;
    const std::uint64_t at = locals_.at(v.name).second;
    const std::uint64_t end = std::max(own.base + own.bytes, at + v.bytes);
    own.base = own.bytes == 0 ? at : std::min(own.base, at);
    own.bytes = end - own.base;
  }
  checks_local_ = is_kernel() && !calls_runtime && own.bytes != 0;
  if (checks_local_) out_.checked_local = own;
  if (unset_.empty() && !checks_local_) return;

  origin_steps_ = most_values_per_instruction * (body_.instructions.size() + most_values);
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> readers;
  std::vector<std::string_view> open;
  for (const auto& [name, v] : unset_) open.push_back(name);
  const auto count = static_cast<std::uint32_t>(body_.instructions.size());
  for (std::uint32_t n = 0; n < count; ++n) {
    const ptx::instruction& i = body_.instructions[n];
    for (const std::string_view name : names_passed_on(i)) readers[name].push_back(n);
    for (const operand& o : stored_values(i))
      if (o.kind == operand_kind::name) readers[o.name].push_back(n);
  }
  const auto reach = [&](std::string_view name) {
    const auto [at, is_new] = unset_.try_emplace(name);
    if (is_new) open.push_back(name);
    return &at->second;
  };
  const auto reach_loads = [&] {
    for (std::uint32_t n = 0; n < count; ++n) {
      const ptx::instruction& i = body_.instructions[n];
      if (!reads_checked_memory(i)) continue;
      for (const std::string_view name : names_written(i)) {
        unset_value* const v = reach(name);
        v->from.push_back(stored_value);
        if (checks_local_ && is_own(ptx::space_of(i), state_space::local))
          add_origin(*v, static_cast<std::int32_t>(n));
      }
    }
  };
  unset_.try_emplace(stored_value);
  if (checks_local_) reach_loads();
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    const auto read = readers.find(name);
    if (read == readers.end()) continue;
    for (const std::uint32_t n : read->second) {
      const ptx::instruction& i = body_.instructions[n];
      if (i.opcode == "st") {
        const state_space s = ptx::space_of(i);
        if (is_own(s, state_space::shared) || is_own(s, state_space::local))
          unset_.at(stored_value).from.push_back(name);
        if (is_own(s, state_space::shared) && !checks_shared_) {
          checks_shared_ = true;
          reach_loads();
        }
        continue;
      }
      for (const std::string_view to : results_of(i)) reach(to)->from.push_back(name);
    }
  }
}

// At the start of the function, no lane has set these registers.
void lowering::begin_unset() {
  for (auto& [name, v] : unset_)
    if (v.is_register_origin) emit("<unset begin>", shadow_of(named_operand(name)));
}

// The shadow of a register that may be unset; 0 for any other operand, which is set.
std::uint32_t lowering::shadow_of(const operand& o) {
  if (o.kind != operand_kind::name) return 0;
  const auto found = unset_.find(o.name);
  if (found == unset_.end()) return 0;
  std::uint32_t& shadow = found->second.shadow;
  if (shadow == no_operand) shadow = new_vreg(value_class::predicate);
  return shadow;
}

// The shadow of a value that is made of parts: unset if all of them are; 0 if one is always set.
// Literals do not count as parts of a computation, but they do count as parts of a stored vector.
std::uint32_t lowering::shadow_of_all(const std::vector<operand>& parts, bool is_store) {
  std::uint32_t all = 0;
  for (const operand& p : parts) {
    if (p.kind != operand_kind::name && !is_store) continue;
    const std::uint32_t s = shadow_of(p);
    if (s == 0) return 0;
    if (all == 0) {
      all = s;
    } else {
      const std::uint32_t both = new_vreg(value_class::predicate);
      emit("<unset all>", both, all, s);
      all = both;
    }
  }
  return all;
}

std::vector<std::uint32_t> lowering::origins_of(const std::vector<std::string_view>& values) {
  std::vector<std::uint32_t> found;
  std::vector<std::string_view> open = values;
  std::unordered_set<std::string_view> seen(values.begin(), values.end());
  while (!open.empty() && seen.size() < most_values && origin_steps_ != 0) {
    --origin_steps_;
    const auto at = unset_.find(open.back());
    open.pop_back();
    if (at == unset_.end()) continue;
    found.insert(found.end(), at->second.origins.begin(), at->second.origins.end());
    for (const std::string_view from : at->second.from)
      if (seen.insert(from).second) open.push_back(from);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void lowering::use_unset(std::uint32_t shadow, unset_use::effect what,
                         const std::vector<std::string_view>& values) {
  if (shadow == 0) return;
  op& e = emit("<unset used>", 0, shadow);
  e.immediate = what == unset_use::effect::store && i_->opcode == "st" ? 1 : 0;
  e.slot = static_cast<std::uint32_t>(out_.unset_uses.size());
  out_.unset_uses.push_back({static_cast<std::uint32_t>(out_.functions.size() - 1),
                             static_cast<std::int32_t>(written_ - body_.instructions.data()), what,
                             origins_of(values)});
}

// Notes the registers that the instruction reads and that may not have been written.
void lowering::note_unset_reads() {
  std::vector<std::string_view> noted;
  for (const std::string_view name : names_read_by(*written_)) {
    const auto at = unset_.find(name);
    if (at == unset_.end() || !at->second.is_register_origin ||
        std::ranges::find(noted, name) != noted.end())
      continue;
    noted.push_back(name);
    op& e = emit("<unset read>", 0, shadow_of(named_operand(name)));
    e.slot = at->second.origins.front();
  }
}

void lowering::watch_unset_guard() {
  if (unset_.empty()) return;
  const operand guard = named_operand(written_->guard);
  if (!written_->guard.empty() && may_be_unset(guard)) {
    note_unset_reads();
    use_unset(shadow_of(guard), unset_use::effect::branch, {guard.name});
  }
  if (written_->opcode == "brx" && may_be_unset(written_->operands.at(0))) {
    note_unset_reads();
    use_unset(shadow_of(written_->operands[0]), unset_use::effect::branch,
              {written_->operands[0].name});
  }
}

void lowering::watch_unset_uses() {
  using enum unset_use::effect;
  for (const operand& o : written_->operands)
    if (o.kind == operand_kind::memory && !o.name.empty())
      use_unset(shadow_of(named_operand(o.name)), address, {o.name});
  if (written_->opcode == "atom" || written_->opcode == "red") {
    for (std::size_t n = written_->opcode == "red" ? 1 : 2; n < written_->operands.size(); ++n)
      use_unset(shadow_of(written_->operands[n]), store, {written_->operands[n].name});
  }
  const std::vector<operand> stored = stored_values(*written_);
  std::vector<std::string_view> names;
  for (const operand& o : stored) names.push_back(o.name);
  const bool is_argument = ptx::space_of(*written_) == state_space::param;
  use_unset(shadow_of_all(stored, true), is_argument ? argument : store, names);
}

// Passes the operands' shadows on to a result.
void lowering::pass_unset(const operand& to, const std::vector<operand>& from) {
  const std::uint32_t d = shadow_of(to);
  if (d == 0) return;
  std::vector<std::uint32_t> shadows;
  for (const operand& o : from)
    if (const std::uint32_t s = shadow_of(o); s != 0) shadows.push_back(s);
  const auto at = [&](std::size_t n) { return n < shadows.size() ? shadows[n] : 0; };
  if (shadows.size() > 3) {
    const std::uint32_t some = new_vreg(value_class::predicate);
    emit("<unset any>", some, at(0), at(1), at(2));
    for (std::size_t n = 3; n < shadows.size(); ++n) emit("<unset any>", some, some, at(n));
    shadows = {some};
  }
  emit("<unset any>", d, at(0), at(1), at(2));
}

void lowering::pass_unset_on() {
  const ptx::instruction& i = *written_;
  const std::vector<operand>& o = i.operands;
  const std::vector<operand> results =
      o[0].elements.empty() ? std::vector<operand>{o[0]} : o[0].elements;
  const std::vector<operand> sources(o.begin() + 1, o.end());
  const auto to_each = [&](const auto& pass) {
    for (const operand& r : results)
      if (may_be_unset(r)) pass(r);
  };
  const auto copy_to_each = [&](std::uint32_t shadow) {
    to_each([&](const operand& r) { emit("<unset any>", shadow_of(r), shadow); });
  };
  switch (passing_of(i)) {
    case passing::nothing:
      return copy_to_each(0);
    case passing::any:
      return to_each([&](const operand& r) { pass_unset(r, sources); });
    case passing::all:
      return copy_to_each(shadow_of_all(
          sources[0].kind == operand_kind::vector ? sources[0].elements : sources, false));
    case passing::conjunction: {
      const bool of_predicates = has("pred");
      const value_class k =
          of_predicates ? value_class::predicate : class_of_bits(std::max(16u, type_bits(type())));
      const std::string bits = of_predicates ? "pred" : "b" + std::to_string(bits_of(k));
      const std::uint32_t a = source(o.at(1), k), b = source(o.at(2), k);
      const std::uint32_t d = shadow_of(results[0]);
      op& e = emit("<unset and." + bits + ">", d, shadow_of(o[1]), shadow_of(o[2]), a);
      e.slot = b;
      return;
    }
    case passing::difference:
      emit("<unset difference>", shadow_of(results[0]), shadow_of(o.at(1)), shadow_of(o.at(2)));
      return;
    case passing::selection: {
      operand p = o.at(3);
      p.negated = false;
      op& e = emit("<unset select>", shadow_of(results[0]), shadow_of(o[1]), shadow_of(o[2]),
                   shadow_of(p));
      e.slot = source(p, value_class::predicate);
      e.immediate = o[3].negated ? 1 : 0;
      return;
    }
    case passing::comparison: {
      operand q = o.at(3);
      q.negated = false;
      const std::uint32_t compared = new_vreg(value_class::predicate);
      emit("<unset any>", compared, shadow_of(o[1]), shadow_of(o[2]));
      const std::uint32_t value = source(q, value_class::predicate);
      to_each([&](const operand& r) {
        // With xor, the comparison decides for either value of q.
        op& e = emit("<unset if>", shadow_of(r), compared, value);
        e.immediate = has("xor") ? 2 : has("or") != o[3].negated ? 1 : 0;
      });
      return;
    }
    case passing::elements: {
      const operand& c = addend(i);
      for (std::size_t n = 0; n < results.size(); ++n)
        if (may_be_unset(results[n]))
          emit("<unset any>", shadow_of(results[n]),
               n < c.elements.size() ? shadow_of(c.elements[n]) : 0);
      return;
    }
    case passing::shuffle: {
      // The lanes that read this lane may run later, so the shadow that they read is kept
      // separately.
      shuffled_shadow_ = new_vreg(value_class::predicate);
      emit("<unset any>", shuffled_shadow_, shadow_of(o.at(1)));
      if (results.size() > 1 && may_be_unset(results[1]))
        emit("<unset any>", shadow_of(results[1]));
      return;
    }
  }
}

// Emits the ops before the instruction that is being lowered.
void lowering::watch_unset() {
  shuffled_shadow_ = 0;
  if (unset_.empty()) return;
  note_unset_reads();
  watch_unset_uses();
  if (names_written(*written_).empty()) return;
  const auto any_unset = std::ranges::any_of(
      names_written(*written_), [&](std::string_view name) { return unset_.contains(name); });
  if (any_unset) pass_unset_on();
}

// Emits the ops after the instruction, if the result's shadow depends on what the instruction did.
void lowering::watch_unset_after() {
  if (unset_.empty()) return;
  if (shuffled_shadow_ != 0) {
    const operand& to = written_->operands[0];
    const operand& d = to.elements.empty() ? to : to.elements[0];
    op& e = emit("<unset shuffled>", shadow_of(d), shuffled_shadow_,
                 source(written_->operands.at(2), value_class::b32),
                 source(written_->operands.at(3), value_class::b32));
    e.immediate = static_cast<std::int64_t>(out_.syncs.back().kind);
    shuffled_shadow_ = 0;
    return;
  }
  if (!reads_checked_memory(*written_)) return;
  const operand& to = written_->operands[0];
  const std::vector<operand> results = to.elements.empty() ? std::vector<operand>{to} : to.elements;
  for (std::size_t n = 0; n < results.size(); ++n) {
    const auto found = unset_.find(results[n].name);
    if (found == unset_.end()) continue;
    op& e = emit("<unset loaded>", shadow_of(results[n]));
    e.immediate = static_cast<std::int64_t>(n);
    // The origin of this load among those of the register.
    const auto index = static_cast<std::int32_t>(written_ - body_.instructions.data());
    const auto own = std::ranges::find_if(found->second.origins, [&](std::uint32_t origin) {
      return out_.unset_origins[origin].load == index;
    });
    e.slot = own == found->second.origins.end() ? no_operand : *own;
  }
}

}  // namespace stepwise::emulator
