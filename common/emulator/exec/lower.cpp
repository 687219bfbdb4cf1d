// Lowers a parsed kernel to ops.
//
// idea    Every instruction becomes the name of a row ("add.s32", "ld.global.u32.b32.a64"), its
//         operands become row offsets. What has no row fails the launch by name; nothing is
//         guessed. Tested by tests/opcodes/ and tests/lower_test.cpp.
#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unordered_map>

#include "common/emulator/exec/flow.hpp"
#include "common/emulator/exec/program.hpp"
#include "common/emulator/exec/rows.hpp"

namespace stepwise::emulator {
namespace {

using ptx::operand;
using ptx::operand_kind;
using ptx::scalar_type;
using ptx::state_space;
using row_index = std::unordered_map<std::string_view, const row*>;

const row_index& all_rows() {
  static const row_table table = [] {
    row_table t;
    const row_set& best = best_row_set();
    best.integer(t);
    best.floating(t);
    best.compare(t);
    best.convert(t);
    best.memory(t);
    atomic_rows(t);
    control_rows(t);
    return t;
  }();
  static const row_index index = [] {
    row_index m;
    for (const row& r : table) m.emplace(r.name, &r);
    return m;
  }();
  return index;
}

struct unsupported {
  std::string what;
};

unsigned bits_of(value_class k) {
  switch (k) {
    case value_class::b16:
      return 16;
    case value_class::b32:
    case value_class::f32:
      return 32;
    case value_class::b64:
    case value_class::f64:
      return 64;
    default:
      return 0;
  }
}

value_class class_of_bits(unsigned bits) {
  return bits == 16 ? value_class::b16 : bits == 32 ? value_class::b32 : value_class::b64;
}

std::string demangle(std::string_view name) {
  int state = 0;
  const std::string text(name);
  char* plain = abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &state);
  std::string result = state == 0 && plain != nullptr ? plain : text;
  std::free(plain);
  // "void reduce<256u>(int const*, int*)" is told as "reduce<256u>".
  int depth = 0;
  for (std::size_t k = 0; k < result.size(); ++k) {
    if (result[k] == '<') ++depth;
    if (result[k] == '>') --depth;
    if (result[k] == '(' && depth == 0) {
      result.resize(k);
      break;
    }
  }
  if (result.starts_with("void ")) result.erase(0, 5);
  return result;
}

// The element type's name as memory rows use it, for a value kept in a register of `bits`.
std::string memory_type(std::string_view type, unsigned bits) {
  const char kind = type[0] == 's' ? 's' : 'u';
  const unsigned width = type.ends_with("8")    ? 8
                         : type.ends_with("16") ? 16
                         : type.ends_with("32") ? 32
                         : type.ends_with("64") ? 64
                                                : 0;
  if (width == 0 || type.find('x') != std::string_view::npos)
    throw unsupported{"type ." + std::string(type)};
  return (kind == 's' && width < bits ? "s" : "u") + std::to_string(width);
}

struct special_name {
  special which;
  unsigned natural;  // bits
};

const special_name* find_special(std::string_view name) {
  static const std::unordered_map<std::string_view, special_name> names = {
      {"%tid.x", {special::tid_x, 32}},
      {"%tid.y", {special::tid_y, 32}},
      {"%tid.z", {special::tid_z, 32}},
      {"%ntid.x", {special::ntid_x, 32}},
      {"%ntid.y", {special::ntid_y, 32}},
      {"%ntid.z", {special::ntid_z, 32}},
      {"%ctaid.x", {special::ctaid_x, 32}},
      {"%ctaid.y", {special::ctaid_y, 32}},
      {"%ctaid.z", {special::ctaid_z, 32}},
      {"%nctaid.x", {special::nctaid_x, 32}},
      {"%nctaid.y", {special::nctaid_y, 32}},
      {"%nctaid.z", {special::nctaid_z, 32}},
      {"%laneid", {special::laneid, 32}},
      {"%warpid", {special::warpid, 32}},
      {"%nwarpid", {special::nwarpid, 32}},
      {"%smid", {special::smid, 32}},
      {"%nsmid", {special::nsmid, 32}},
      {"%gridid", {special::gridid, 64}},
      {"%lanemask_eq", {special::lanemask_eq, 32}},
      {"%lanemask_lt", {special::lanemask_lt, 32}},
      {"%lanemask_le", {special::lanemask_le, 32}},
      {"%lanemask_gt", {special::lanemask_gt, 32}},
      {"%lanemask_ge", {special::lanemask_ge, 32}},
      {"%dynamic_smem_size", {special::dynamic_smem_size, 32}},
      {"%total_smem_size", {special::total_smem_size, 32}},
  };
  const auto found = names.find(name);
  return found == names.end() ? nullptr : &found->second;
}

struct register_info {
  value_class kind = value_class::none;
  std::uint32_t offset = no_row;
};

class lowering {
 public:
  lowering(const ptx::module& m, const ptx::function& f, const symbol_table& symbols, program& out)
      : module_(m), function_(f), symbols_(symbols), out_(out), body_(m.body_of(f)) {
    out_.module = &m;
    out_.function = &f;
    out_.body = &body_;
    out_.name = f.name;
    out_.pretty = demangle(f.name);
  }

  void run();
  std::string where() const;

 private:
  // Storage.
  std::uint32_t take(unsigned row_bytes);
  std::uint32_t new_row(value_class k);
  std::uint32_t constant(value_class k, std::uint64_t value);
  std::uint32_t special(const special_name& s, unsigned bits);
  void declare_registers();
  void place_variables();
  const register_info* find_register(std::string_view name);
  std::uint64_t symbol_address(std::string_view name, bool generic) const;

  // Operands.
  std::uint32_t source(const operand& o, value_class k);
  std::uint32_t destination(const operand& o, value_class k);
  unsigned register_bits(const operand& o);
  struct address {
    std::uint32_t row;
    std::int64_t offset;
    unsigned bits;
  };
  address memory_address(const operand& o, state_space space);

  // Emission.
  op& emit(const row& r, std::uint32_t d = 0, std::uint32_t a = 0, std::uint32_t b = 0,
           std::uint32_t c = 0);
  op& emit(const std::string& name, std::uint32_t d = 0, std::uint32_t a = 0, std::uint32_t b = 0,
           std::uint32_t c = 0);
  const row& find(const std::string& name) const;
  std::string text() const { return std::string(i_->text); }
  bool has(std::string_view modifier) const;
  std::string_view type() const {
    return i_->modifiers.empty() ? std::string_view() : i_->modifiers.back();
  }

  // Instructions.
  void instruction(std::uint32_t index);
  void unguarded();
  void generic();
  void move();
  void set_predicate();
  void set_value();
  void convert();
  void convert_address();
  void load();
  void store();
  void load_parameter(const operand& to, std::string_view type, std::uint64_t at);
  void atomic(bool reduction);
  void barrier();
  void warp_wide();
  void branch();
  void leave();

  void find_blocks();

  const ptx::module& module_;
  const ptx::function& function_;
  const symbol_table& symbols_;
  program& out_;
  const ptx::body& body_;
  const ptx::instruction* i_ = nullptr;
  std::uint32_t ordinal_ = 0;
  std::uint32_t next_row_ = 64;  // offset 0 is never a row

  std::unordered_map<std::string, register_info> registers_;
  std::map<std::pair<unsigned, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::pair<int, unsigned>, std::uint32_t> specials_;
  std::unordered_map<std::string_view, std::pair<state_space, std::uint64_t>>
      locals_;  // places in the block

  // Control flow: blocks of instructions.
  std::vector<std::uint32_t> block_of_;     // instruction -> block
  std::vector<std::uint32_t> block_start_;  // block -> its first instruction
  std::vector<std::uint32_t> meets_;        // block -> immediate post-dominator
  std::vector<bool> is_meeting_;            // block begins with a join
  std::vector<std::uint32_t> block_op_;     // block -> its first op
  std::vector<std::pair<std::uint32_t, std::uint32_t>> targets_;  // op -> block, to be patched
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joins_;    // op -> block of its join
};

// --- storage -----------------------------------------------------------------------------------

std::uint32_t lowering::take(unsigned row_bytes) {
  const std::uint32_t align = std::min(row_bytes, 64u);
  next_row_ = (next_row_ + align - 1) / align * align;
  const std::uint32_t at = next_row_;
  next_row_ += row_bytes;
  return at;
}

std::uint32_t lowering::new_row(value_class k) {
  return take(k == value_class::predicate ? 4 : bits_of(k) / 8 * lanes);
}

std::uint32_t lowering::constant(value_class k, std::uint64_t value) {
  const unsigned bytes = bits_of(k) / 8;  // 0 for a predicate
  if (bytes != 0 && bytes < 8) value &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [at, fresh] = constants_.try_emplace({bytes, value}, 0);
  if (fresh) {
    at->second = new_row(k);
    out_.constants.push_back({at->second, bytes, value});
  }
  return at->second;
}

std::uint32_t lowering::special(const special_name& s, unsigned bits) {
  const auto [at, fresh] = specials_.try_emplace({static_cast<int>(s.which), bits}, 0);
  if (fresh) {
    at->second = new_row(class_of_bits(bits));
    out_.specials.push_back({at->second, bits / 8, s.which});
  }
  return at->second;
}

void lowering::declare_registers() {
  for (const ptx::register_declaration& r : body_.registers) {
    value_class k;
    if (r.type == scalar_type::pred)
      k = value_class::predicate;
    else if (const unsigned bytes = ptx::bytes_of(r.type); bytes == 2 || bytes == 4 || bytes == 8)
      k = class_of_bits(8 * bytes);
    else
      throw unsupported{"registers of type ." + std::string(ptx::name_of(r.type))};
    if (r.vector_length != 1) throw unsupported{"vector registers"};
    const std::string prefix(r.name);
    if (r.count == 0) registers_[prefix] = {k, no_row};
    for (std::uint32_t n = 0; n < r.count; ++n)
      registers_[prefix + std::to_string(n)] = {k, no_row};
  }
}

const register_info* lowering::find_register(std::string_view name) {
  const auto found = registers_.find(std::string(name));
  if (found == registers_.end()) return nullptr;
  if (found->second.offset == no_row) found->second.offset = new_row(found->second.kind);
  return &found->second;
}

// Shared variables first, each at its alignment; dynamic shared memory after all of them.
void lowering::place_variables() {
  std::uint64_t shared = 0, local = 0, dynamic_alignment = 16;
  std::vector<const ptx::variable*> dynamic;
  const auto place = [&](const ptx::variable& v, std::uint64_t& next) {
    const std::uint64_t align = std::max(1u, v.alignment);
    next = (next + align - 1) / align * align;
    locals_[v.name] = {v.space, next};
    next += v.bytes;
  };
  const auto consider = [&](const ptx::variable& v) {
    if (v.space == state_space::shared) {
      if (v.is_extern || v.bytes == 0)
        dynamic.push_back(&v);
      else
        place(v, shared);
      if (v.is_extern) dynamic_alignment = std::max<std::uint64_t>(dynamic_alignment, v.alignment);
    } else if (v.space == state_space::local) {
      place(v, local);
    }
  };
  for (const ptx::variable& v : module_.variables) {
    if (v.space != state_space::shared) continue;
    // A shared variable of the module belongs to the kernels that name it.
    const bool used = function_.body_text.find(v.name) != std::string_view::npos;
    if (used) consider(v);
  }
  for (const ptx::variable& v : body_.variables) consider(v);
  if (!dynamic.empty())
    shared = (shared + dynamic_alignment - 1) / dynamic_alignment * dynamic_alignment;
  for (const ptx::variable* v : dynamic) locals_[v->name] = {state_space::shared, shared};
  out_.static_shared_bytes = shared;
  out_.local_bytes = (local + 15) / 16 * 16;
  std::uint64_t at = 0;
  for (const ptx::variable& p : function_.parameters) {
    const std::uint64_t align = std::max(1u, p.alignment);
    at = (at + align - 1) / align * align;
    locals_[p.name] = {state_space::param, at};
    at += p.bytes;
  }
  out_.parameter_bytes = at;
}

std::uint64_t lowering::symbol_address(std::string_view name, bool generic) const {
  if (const auto at = locals_.find(name); at != locals_.end()) {
    const auto [space, offset] = at->second;
    if (!generic) return offset;
    return offset + (space == state_space::shared  ? shared_window
                     : space == state_space::local ? local_window
                                                   : parameter_window);
  }
  if (const auto at = symbols_.find(name); at != symbols_.end()) return at->second.address;
  throw unsupported{"the name " + std::string(name) + ", which is no register or variable"};
}

// --- operands ----------------------------------------------------------------------------------

unsigned lowering::register_bits(const operand& o) {
  if (o.kind != operand_kind::name) return 0;
  if (const register_info* r = find_register(o.name)) return bits_of(r->kind);
  if (const special_name* s = find_special(o.name)) return s->natural;
  return 0;
}

std::uint32_t lowering::source(const operand& o, value_class k) {
  switch (o.kind) {
    case operand_kind::name: {
      if (const register_info* r = find_register(o.name)) {
        const bool fits =
            k == value_class::predicate ? r->kind == k : bits_of(r->kind) == bits_of(k);
        if (!fits) throw unsupported{"register " + std::string(o.name) + " of another width"};
        if (!o.negated) return r->offset;
        const std::uint32_t row = new_row(k);
        if (k == value_class::predicate)
          emit("not.pred", row, r->offset, r->offset);
        else
          throw unsupported{"a negated register"};
        return row;
      }
      if (const special_name* s = find_special(o.name)) return special(*s, bits_of(k));
      if (o.name == "WARP_SZ") return constant(k, 32);
      return constant(k, symbol_address(o.name, false));
    }
    case operand_kind::offset:
      return constant(k, symbol_address(o.name, false) + static_cast<std::uint64_t>(o.offset));
    case operand_kind::integer:
      if (k == value_class::f32)
        return constant(
            k, std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(o.bits))));
      if (k == value_class::f64)
        return constant(k, std::bit_cast<std::uint64_t>(
                               static_cast<double>(static_cast<std::int64_t>(o.bits))));
      return constant(k, o.bits);
    case operand_kind::float32:
      if (k == value_class::f64 || k == value_class::b64) {
        return constant(k, std::bit_cast<std::uint64_t>(static_cast<double>(
                               std::bit_cast<float>(static_cast<std::uint32_t>(o.bits)))));
      }
      return constant(k, o.bits);
    case operand_kind::float64:
      if (bits_of(k) == 32)
        return constant(
            k, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))));
      return constant(k, o.bits);
    default:
      throw unsupported{"an operand of this form"};
  }
}

std::uint32_t lowering::destination(const operand& o, value_class k) {
  if (o.kind == operand_kind::sink || (o.kind == operand_kind::name && o.name == "_"))
    return new_row(k);
  const register_info* r = o.kind == operand_kind::name ? find_register(o.name) : nullptr;
  if (r == nullptr) throw unsupported{"a result that is no register"};
  const bool fits = k == value_class::predicate ? r->kind == k : bits_of(r->kind) == bits_of(k);
  if (!fits) throw unsupported{"register " + std::string(o.name) + " of another width"};
  return r->offset;
}

lowering::address lowering::memory_address(const operand& o, state_space space) {
  if (o.kind != operand_kind::memory || !o.elements.empty())
    throw unsupported{"an address of this form"};
  if (o.name.empty()) return {constant(value_class::b64, 0), o.offset, 64};
  if (const register_info* r = find_register(o.name))
    return {r->offset, o.offset, bits_of(r->kind)};
  const std::uint64_t at = symbol_address(o.name, space == state_space::none);
  const bool narrow = space == state_space::shared || space == state_space::local;
  return {constant(narrow ? value_class::b32 : value_class::b64, at), o.offset, narrow ? 32u : 64u};
}

// --- emission ----------------------------------------------------------------------------------

const row& lowering::find(const std::string& name) const {
  const auto found = all_rows().find(name);
  if (found == all_rows().end()) throw unsupported{"the instruction " + text()};
  return *found->second;
}

op& lowering::emit(const row& r, std::uint32_t d, std::uint32_t a, std::uint32_t b,
                   std::uint32_t c) {
  out_.code.push_back({r.run, d, a, b, c, 0, ordinal_, 0});
  out_.instruction.push_back(
      i_ == nullptr ? -1 : static_cast<std::int32_t>(i_ - body_.instructions.data()));
  return out_.code.back();
}

op& lowering::emit(const std::string& name, std::uint32_t d, std::uint32_t a, std::uint32_t b,
                   std::uint32_t c) {
  return emit(find(name), d, a, b, c);
}

bool lowering::has(std::string_view modifier) const {
  return std::ranges::find(i_->modifiers, modifier) != i_->modifiers.end();
}

// --- instructions ------------------------------------------------------------------------------

void lowering::generic() {
  std::string key(i_->opcode);
  for (const std::string_view m : i_->modifiers) key += "." + std::string(m);
  // Types that name bits only, where the row is one for all types of a width.
  static constexpr std::string_view by_width[] = {"and", "or", "xor", "not", "cnot", "selp", "shl"};
  if (std::ranges::find(by_width, i_->opcode) != std::end(by_width) && type() != "pred") {
    key = std::string(i_->opcode) + ".b" + std::string(type().substr(1));
  }
  if (i_->opcode == "lop3" && has("b32") && i_->operands.size() == 5) key = "lop3.b32";
  const row& r = find(key);
  const std::vector<operand>& o = i_->operands;
  const value_class kinds[] = {r.a, r.b, r.c};
  std::uint32_t rows[3] = {0, 0, 0};
  std::size_t next = r.d == value_class::none ? 0 : 1;
  for (int k = 0; k < 3 && kinds[k] != value_class::none && next < o.size(); ++k)
    rows[k] = source(o[next++], kinds[k]);
  std::uint32_t fourth = 0;
  std::int64_t table = 0;
  if (i_->opcode == "bfi") fourth = source(o.at(4), value_class::b32);
  if (i_->opcode == "lop3") table = static_cast<std::int64_t>(o.at(4).bits);
  const std::uint32_t d = r.d == value_class::none ? 0 : destination(o.at(0), r.d);
  op& e = emit(r, d, rows[0], rows[1], rows[2]);
  e.slot = fourth;
  e.immediate = table;
}

void lowering::move() {
  const operand& to = i_->operands.at(0);
  const operand& from = i_->operands.at(1);
  if (type() == "pred") {
    const std::uint32_t a = source(from, value_class::predicate);
    emit("mov.pred", destination(to, value_class::predicate), a, a);
    return;
  }
  const unsigned bits = static_cast<unsigned>(std::atoi(std::string(type().substr(1)).c_str()));
  if (bits != 16 && bits != 32 && bits != 64) throw unsupported{"the instruction " + text()};
  const value_class k = class_of_bits(bits);
  const std::string name = "mov.b" + std::to_string(bits);
  if (from.kind == operand_kind::name && from.name.starts_with("%clock")) {
    emit(from.name == "%clock64" ? "<clock64>" : "<clock>", destination(to, k));
    return;
  }
  if (from.kind == operand_kind::name && from.name == "%globaltimer") {
    emit("<globaltimer>", destination(to, k));
    return;
  }
  if (from.kind == operand_kind::vector) {  // pack, lowest part first
    const unsigned part = bits / static_cast<unsigned>(from.elements.size());
    if (part < 16) throw unsupported{"the instruction " + text()};
    const std::string u = "u" + std::to_string(part), whole = "u" + std::to_string(bits);
    std::uint32_t sum = constant(k, 0);
    for (unsigned n = 0; n < from.elements.size(); ++n) {
      const std::uint32_t wide = new_row(k), shifted = new_row(k), next = new_row(k);
      emit("cvt." + whole + "." + u, wide, source(from.elements[n], class_of_bits(part)));
      emit("shl.b" + std::to_string(bits), shifted, wide, constant(value_class::b32, n * part));
      emit("or.b" + std::to_string(bits), next, sum, shifted);
      sum = next;
    }
    emit(name, destination(to, k), sum);
    return;
  }
  if (to.kind == operand_kind::vector) {  // unpack
    const unsigned part = bits / static_cast<unsigned>(to.elements.size());
    if (part < 16) throw unsupported{"the instruction " + text()};
    const std::uint32_t whole = new_row(k);
    emit(name, whole, source(from, k));
    for (unsigned n = 0; n < to.elements.size(); ++n) {
      const operand& e = to.elements[n];
      if (e.kind == operand_kind::sink || e.name == "_") continue;
      const std::uint32_t shifted = new_row(k);
      emit("shr.b" + std::to_string(bits), shifted, whole, constant(value_class::b32, n * part));
      emit("cvt.u" + std::to_string(part) + ".u" + std::to_string(bits),
           destination(e, class_of_bits(part)), shifted);
    }
    return;
  }
  emit(name, destination(to, k), source(from, k));
}

// setp.cmp[.bool][.ftz].type p[|q], a, b[, c]
void lowering::set_predicate() {
  std::string compare(i_->modifiers.at(0));
  static const std::map<std::string, std::string> unsigned_names = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  if (const auto u = unsigned_names.find(compare); u != unsigned_names.end()) compare = u->second;
  std::string kind(type());
  if (kind[0] == 'b') kind[0] = 'u';
  const row& r = find("setp." + compare + (has("ftz") ? ".ftz." : ".") + kind);
  const std::vector<operand>& o = i_->operands;
  const std::uint32_t a = source(o.at(1), r.a), b = source(o.at(2), r.b);
  const bool pair = o[0].kind == operand_kind::pair;
  const operand& first = pair ? o[0].elements.at(0) : o[0];
  std::string combine;
  for (const char* c : {"and", "or", "xor"})
    if (has(c)) combine = std::string(c) + ".pred";
  if (!pair && combine.empty()) {
    emit(r, destination(first, value_class::predicate), a, b);
    return;
  }
  const std::uint32_t holds = new_row(value_class::predicate),
                      fails = new_row(value_class::predicate);
  emit(r, holds, a, b);
  emit("not.pred", fails, holds, holds);
  const std::uint32_t other = combine.empty() ? 0 : source(o.at(3), value_class::predicate);
  const auto give = [&](const operand& to, std::uint32_t value) {
    const std::uint32_t d = destination(to, value_class::predicate);
    if (combine.empty())
      emit("mov.pred", d, value, value);
    else
      emit(combine, d, value, other);
  };
  // The first result may be `other` itself, so it is written last.
  if (pair) give(o[0].elements.at(1), fails);
  give(first, holds);
}

// set.cmp[.ftz].dtype.atype d, a, b: all ones, or 1.0f, where the comparison holds.
void lowering::set_value() {
  const std::string compare(i_->modifiers.at(0));
  const std::string to(i_->modifiers.at(i_->modifiers.size() - 2)), from(type());
  const row& r = find("setp." + compare + (has("ftz") ? ".ftz." : ".") + from);
  const std::uint32_t holds = new_row(value_class::predicate);
  emit(r, holds, source(i_->operands.at(1), r.a), source(i_->operands.at(2), r.b));
  const std::uint64_t yes = to == "f32" ? 0x3f800000u : 0xffffffffu;
  emit("selp.b32", destination(i_->operands.at(0), value_class::b32),
       constant(value_class::b32, yes), constant(value_class::b32, 0), holds);
}

void lowering::convert() {
  const std::string to(i_->modifiers.at(i_->modifiers.size() - 2)), from(type());
  const operand& d = i_->operands.at(0);
  const operand& a = i_->operands.at(1);
  const auto is_float = [](const std::string& t) { return t[0] == 'f'; };
  const auto width = [](const std::string& t) {
    return static_cast<unsigned>(std::atoi(t.c_str() + 1));
  };
  const unsigned to_bits = register_bits(d);
  unsigned from_bits = register_bits(a);
  if (from_bits == 0) from_bits = std::max(16u, width(from));
  if (!is_float(to) && !is_float(from)) {
    const bool natural = !has("sat") && to_bits == width(to) && from_bits == width(from);
    if (natural) {
      emit("cvt." + to + "." + from, destination(d, class_of_bits(to_bits)),
           source(a, class_of_bits(from_bits)));
      return;
    }
    const std::uint32_t wide = new_row(value_class::b64);
    emit("extend." + from + ".b" + std::to_string(from_bits), wide,
         source(a, class_of_bits(from_bits)));
    const std::string store =
        has("sat") ? "store.sat." + to + (from[0] == 's' ? ".s64" : ".u64") : "store." + to;
    emit(store + ".b" + std::to_string(to_bits), destination(d, class_of_bits(to_bits)), wide);
    return;
  }
  std::string key = "cvt";
  for (const std::string_view m : i_->modifiers) key += "." + std::string(m);
  // A float's saturation to an integer type is what the conversion does anyway.
  if (!is_float(to) && has("sat")) key.erase(key.find(".sat"), 4);
  if (is_float(from)) {
    const bool narrow = to == "u8" || to == "s8";
    const row& r = find(key);
    const std::uint32_t value = source(a, r.a);
    if (narrow || bits_of(r.d) != to_bits) {
      const std::uint32_t result = new_row(r.d), wide = new_row(value_class::b64);
      emit(r, result, value);
      emit("extend." + to + ".b" + std::to_string(bits_of(r.d)), wide, result);
      emit("store." + to + ".b" + std::to_string(to_bits), destination(d, class_of_bits(to_bits)),
           wide);
    } else {
      emit(r, destination(d, r.d), value);
    }
    return;
  }
  // Integer to float: narrow integers and odd registers go through 64 bits.
  if (from_bits == width(from) && width(from) >= 32) {
    const row& r = find(key);
    emit(r, destination(d, r.d), source(a, r.a));
    return;
  }
  key.replace(key.rfind('.') + 1, std::string::npos, from[0] == 's' ? "s64" : "u64");
  const row& r = find(key);
  const std::uint32_t wide = new_row(value_class::b64);
  emit("extend." + from + ".b" + std::to_string(from_bits), wide,
       source(a, class_of_bits(from_bits)));
  emit(r, destination(d, r.d), wide);
}

// cvta: between a state space's addresses and generic ones. Those of global and constant memory
// are the same.
void lowering::convert_address() {
  const operand& d = i_->operands.at(0);
  const operand& a = i_->operands.at(1);
  if (type() != "u64") throw unsupported{"the instruction " + text()};
  const std::uint64_t window = has("shared") || has("shared::cta") ? shared_window
                               : has("local")                      ? local_window
                               : has("param")                      ? parameter_window
                                                                   : 0;
  const std::uint32_t from = source(a, value_class::b64), to = destination(d, value_class::b64);
  if (window == 0)
    emit("mov.b64", to, from);
  else
    emit(has("to") ? "sub.u64" : "add.u64", to, from, constant(value_class::b64, window));
}

struct memory_form {
  state_space space = state_space::none;
  unsigned vector = 1;
  bool polls = false, acquires = false, releases = false;
};

memory_form form_of(const ptx::instruction& i) {
  memory_form f;
  for (const std::string_view m : i.modifiers) {
    if (m == "global")
      f.space = state_space::global;
    else if (m.starts_with("shared"))
      f.space = state_space::shared;
    else if (m == "local")
      f.space = state_space::local;
    else if (m.starts_with("const"))
      f.space = state_space::constant;
    else if (m.starts_with("param"))
      f.space = state_space::param;
    else if (m == "v2")
      f.vector = 2;
    else if (m == "v4")
      f.vector = 4;
    else if (m == "v8")
      throw unsupported{"the instruction " + std::string(i.text)};
    else if (m == "volatile" || m == "relaxed" || m == "mmio")
      f.polls = true;
    else if (m == "acquire")
      f.polls = f.acquires = true;
    else if (m == "release")
      f.releases = true;
    if (m == "shared::cluster") throw unsupported{"the instruction " + std::string(i.text)};
  }
  return f;
}

const char* row_space(state_space s) {
  switch (s) {
    case state_space::global:
    case state_space::constant:
      return "global";
    case state_space::shared:
      return "shared";
    case state_space::local:
      return "local";
    case state_space::param:
      return "param";
    default:
      return "generic";
  }
}

// A kernel parameter at a known offset is a row that is filled before the warp starts.
void lowering::load_parameter(const operand& to, std::string_view type, std::uint64_t at) {
  const unsigned bits = register_bits(to);
  const std::string memory = memory_type(type, bits);
  const unsigned bytes = static_cast<unsigned>(std::atoi(memory.c_str() + 1)) / 8;
  if (at + bytes > out_.parameter_bytes)
    throw unsupported{"a read outside the kernel's parameters"};
  const std::uint32_t row = new_row(class_of_bits(bits));
  out_.parameters.push_back(
      {row, bits / 8, bytes, memory[0] == 's', static_cast<std::uint32_t>(at)});
  emit("mov.b" + std::to_string(bits), destination(to, class_of_bits(bits)), row);
}

void lowering::load() {
  const memory_form f = form_of(*i_);
  const operand& to = i_->operands.at(0);
  const operand& from = i_->operands.at(1);
  std::vector<operand> results =
      to.kind == operand_kind::vector ? to.elements : std::vector<operand>{to};
  if (results.size() != f.vector) throw unsupported{"the instruction " + text()};
  if (f.space == state_space::param && find_register(from.name) == nullptr) {
    const std::uint64_t at =
        symbol_address(from.name, false) + static_cast<std::uint64_t>(from.offset);
    const unsigned bytes =
        static_cast<unsigned>(std::atoi(std::string(type().substr(1)).c_str())) / 8;
    for (std::size_t n = 0; n < results.size(); ++n)
      load_parameter(results[n], type(), at + n * bytes);
    return;
  }
  unsigned bits = 0;
  for (const operand& r : results) bits = std::max(bits, register_bits(r));
  if (bits == 0)
    bits = std::max(16u, static_cast<unsigned>(std::atoi(std::string(type().substr(1)).c_str())));
  const address at = memory_address(from, f.space);
  if (f.polls) emit("<poll>");
  const std::string vector = f.vector == 1 ? "" : ".v" + std::to_string(f.vector);
  const row& r = find("ld" + vector + "." + row_space(f.space) + "." + memory_type(type(), bits) +
                      ".b" + std::to_string(bits) + ".a" + std::to_string(at.bits));
  std::uint32_t rows[4] = {};
  for (std::size_t n = 0; n < results.size(); ++n) rows[n] = destination(results[n], r.d);
  op& e = emit(r, rows[0], at.row);
  e.immediate = at.offset;
  e.slot = out_.window_count++;
  if (f.vector != 1) emit("<rows>", rows[0], rows[1], rows[2], rows[3]);
  if (f.acquires) emit("<fence>");
}

void lowering::store() {
  const memory_form f = form_of(*i_);
  const operand& to = i_->operands.at(0);
  const operand& from = i_->operands.at(1);
  const std::vector<operand> values =
      from.kind == operand_kind::vector ? from.elements : std::vector<operand>{from};
  if (values.size() != f.vector || f.space == state_space::param)
    throw unsupported{"the instruction " + text()};
  unsigned bits = 0;
  for (const operand& v : values) bits = std::max(bits, register_bits(v));
  if (bits == 0)
    bits = std::max(16u, static_cast<unsigned>(std::atoi(std::string(type().substr(1)).c_str())));
  const address at = memory_address(to, f.space);
  if (f.releases) emit("<fence>");
  const std::string vector = f.vector == 1 ? "" : ".v" + std::to_string(f.vector);
  std::string memory = memory_type(type(), bits);
  memory[0] = 'u';
  const row& r = find("st" + vector + "." + row_space(f.space) + "." + memory + ".b" +
                      std::to_string(bits) + ".a" + std::to_string(at.bits));
  const value_class kind =
      type()[0] == 'f' && bits >= 32 ? (bits == 32 ? value_class::f32 : value_class::f64) : r.b;
  std::uint32_t rows[4] = {};
  for (std::size_t n = 0; n < values.size(); ++n) rows[n] = source(values[n], kind);
  op& e = emit(r, 0, at.row, rows[0]);
  e.immediate = at.offset;
  e.slot = out_.window_count++;
  if (f.vector != 1) emit("<rows>", rows[0], rows[1], rows[2], rows[3]);
}

// atom.[sem.][scope.][space.]op.type d, [a], b[, c]; red has no d.
void lowering::atomic(bool reduction) {
  const memory_form f = form_of(*i_);
  if (f.space != state_space::none && f.space != state_space::global &&
      f.space != state_space::shared)
    throw unsupported{"the instruction " + text()};
  std::string operation;
  for (const char* o : {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"})
    if (has(o)) operation = o;
  std::string kind(type());
  static constexpr std::string_view bitwise[] = {"and", "or", "xor", "exch", "cas"};
  if (std::ranges::find(bitwise, operation) != std::end(bitwise)) kind[0] = 'b';
  if (has("noftz") || f.vector != 1) throw unsupported{"the instruction " + text()};
  const std::size_t first = reduction ? 0 : 1;
  const std::vector<operand>& o = i_->operands;
  const address at = memory_address(o.at(first), f.space);
  const row& r = find("atom." + std::string(row_space(f.space)) + "." + operation + "." + kind +
                      ".a" + std::to_string(at.bits));
  const std::uint32_t b = source(o.at(first + 1), r.b);
  const std::uint32_t c = o.size() > first + 2 ? source(o[first + 2], r.c) : b;
  const std::uint32_t d = reduction ? new_row(r.d) : destination(o[0], r.d);
  op& e = emit(r, d, at.row, b, c);
  e.immediate = at.offset;
  e.slot = out_.window_count++;
}

// bar.sync a[, b]; bar.arrive a, b; bar.red.op.type d, a[, b], [!]p; barrier[.cta].… alike.
void lowering::barrier() {
  if (has("cluster")) throw unsupported{"the instruction " + text()};
  const std::vector<operand>& o = i_->operands;
  barrier_site site{};
  std::size_t next = 0;
  std::uint32_t d = 0;
  std::size_t last = o.size();
  if (has("red")) {
    site.reduction = has("popc")  ? barrier_reduction::popc
                     : has("and") ? barrier_reduction::logical_and
                                  : barrier_reduction::logical_or;
    d = destination(o.at(next++), has("popc") ? value_class::b32 : value_class::predicate);
    operand p = o.at(--last);
    site.source_negated = p.negated;
    p.negated = false;
    site.source = source(p, value_class::predicate);
  } else if (has("arrive")) {
    site.arrive_only = true;
  } else if (!has("sync")) {
    throw unsupported{"the instruction " + text()};
  }
  site.id = source(o.at(next++), value_class::b32);
  site.count = next < last ? source(o[next], value_class::b32) : no_row;
  op& e = emit("<barrier>", d);
  e.slot = static_cast<std::uint32_t>(out_.barriers.size());
  out_.barriers.push_back(site);
}

void lowering::warp_wide() {
  const std::vector<operand>& o = i_->operands;
  if (!has("sync")) throw unsupported{"the instruction " + text()};
  sync_site site{};
  std::uint32_t d = 0, a = 0, b = 0, c = 0;
  const auto kind_of = [&](std::initializer_list<std::pair<const char*, sync_kind>> kinds) {
    for (const auto& [name, kind] : kinds)
      if (has(name)) return kind;
    throw unsupported{"the instruction " + text()};
  };
  if (i_->opcode == "bar") {
    site.kind = sync_kind::warp_barrier;
    site.members = source(o.at(0), value_class::b32);
  } else if (i_->opcode == "shfl") {
    site.kind = kind_of({{"up", sync_kind::shfl_up},
                         {"down", sync_kind::shfl_down},
                         {"bfly", sync_kind::shfl_bfly},
                         {"idx", sync_kind::shfl_idx}});
    const bool pair = o.at(0).kind == operand_kind::pair;
    a = source(o.at(1), value_class::b32);
    b = source(o.at(2), value_class::b32);
    c = source(o.at(3), value_class::b32);
    site.members = source(o.at(4), value_class::b32);
    d = destination(pair ? o[0].elements.at(0) : o[0], value_class::b32);
    if (pair) site.predicate = destination(o[0].elements.at(1), value_class::predicate);
  } else if (i_->opcode == "vote") {
    site.kind = kind_of({{"all", sync_kind::vote_all},
                         {"any", sync_kind::vote_any},
                         {"uni", sync_kind::vote_uni},
                         {"ballot", sync_kind::vote_ballot}});
    operand p = o.at(1);
    site.source_negated = p.negated;
    p.negated = false;
    a = source(p, value_class::predicate);
    site.members = source(o.at(2), value_class::b32);
    d = destination(
        o[0], site.kind == sync_kind::vote_ballot ? value_class::b32 : value_class::predicate);
  } else if (i_->opcode == "match") {
    const bool wide = has("b64");
    site.kind = has("any") ? (wide ? sync_kind::match_any64 : sync_kind::match_any32)
                           : (wide ? sync_kind::match_all64 : sync_kind::match_all32);
    const bool pair = o.at(0).kind == operand_kind::pair;
    a = source(o.at(1), wide ? value_class::b64 : value_class::b32);
    site.members = source(o.at(2), value_class::b32);
    d = destination(pair ? o[0].elements.at(0) : o[0], value_class::b32);
    if (pair) site.predicate = destination(o[0].elements.at(1), value_class::predicate);
  } else {  // redux
    const bool is_signed = has("s32");
    if (has("f32")) throw unsupported{"the instruction " + text()};
    site.kind = kind_of({{"add", sync_kind::redux_add},
                         {"and", sync_kind::redux_and},
                         {"or", sync_kind::redux_or},
                         {"xor", sync_kind::redux_xor},
                         {"min", is_signed ? sync_kind::redux_min_s32 : sync_kind::redux_min_u32},
                         {"max", is_signed ? sync_kind::redux_max_s32 : sync_kind::redux_max_u32}});
    a = source(o.at(1), value_class::b32);
    site.members = source(o.at(2), value_class::b32);
    d = destination(o[0], value_class::b32);
  }
  op& e = emit("<warp-wide>", d, a, b, c);
  e.slot = static_cast<std::uint32_t>(out_.syncs.size());
  out_.syncs.push_back(site);
}

void lowering::branch() {
  const std::string_view label = i_->operands.at(0).name;
  const auto at = body_.labels.find(label);
  if (at == body_.labels.end())
    throw unsupported{"a branch to " + std::string(label) + ", which is no label"};
  const std::uint32_t index = static_cast<std::uint32_t>(i_ - body_.instructions.data());
  const std::uint32_t target = at->second < block_of_.size()
                                   ? block_of_[at->second]
                                   : static_cast<std::uint32_t>(block_start_.size());
  const auto here = static_cast<std::uint32_t>(out_.code.size());
  if (i_->guard.empty()) {
    emit("<branch>");
  } else {
    const register_info* p = find_register(i_->guard);
    if (p == nullptr) throw unsupported{"the guard " + std::string(i_->guard)};
    op& e = emit("<branch if>", 0, p->offset, i_->guard_negated ? 1 : 0);
    e.slot = no_row;
    if (const std::uint32_t meet = meets_[block_of_[index]]; meet != no_block)
      joins_.emplace_back(here, meet);
  }
  targets_.emplace_back(here, target);
}

void lowering::leave() {
  if (i_->guard.empty()) {
    emit("<exit>");
    return;
  }
  const register_info* p = find_register(i_->guard);
  if (p == nullptr) throw unsupported{"the guard " + std::string(i_->guard)};
  emit("<exit if>", 0, p->offset, i_->guard_negated ? 1 : 0);
}

void lowering::unguarded() {
  const std::string_view o = i_->opcode;
  if (o == "ld" || o == "ldu")
    load();
  else if (o == "st")
    store();
  else if (o == "mov")
    move();
  else if (o == "setp")
    set_predicate();
  else if (o == "set")
    set_value();
  else if (o == "cvt")
    convert();
  else if (o == "cvta")
    convert_address();
  else if (o == "atom")
    atomic(false);
  else if (o == "red")
    atomic(true);
  else if (o == "membar" || (o == "fence" && !has("proxy") && !has("cluster"))) {
    emit("<poll>");
    emit("<fence>");
  } else if (o == "nanosleep")
    emit("<sleep>");
  else if ((o == "bar" && has("warp")) || o == "shfl" || o == "vote" || o == "match" ||
           o == "redux")
    warp_wide();
  else if (o == "bar" || o == "barrier")
    barrier();
  else
    generic();
}

void lowering::instruction(std::uint32_t index) {
  i_ = &body_.instructions[index];
  const std::string_view o = i_->opcode;
  if (o == "bra")
    branch();
  else if (o == "ret" || o == "exit")
    leave();
  else if (i_->guard.empty())
    unguarded();
  else {
    const register_info* p = find_register(i_->guard);
    if (p == nullptr) throw unsupported{"the guard " + std::string(i_->guard)};
    const bool waits =
        o == "bar" || o == "barrier" || o == "shfl" || o == "vote" || o == "match" || o == "redux";
    const auto here = out_.code.size();
    if (waits) {  // the other lanes branch around it
      emit("<branch if>", 0, p->offset, i_->guard_negated ? 0 : 1);
      unguarded();
      const auto after = static_cast<std::uint32_t>(out_.code.size());
      emit("<join>");
      out_.code[here].immediate = out_.code[here].slot = after;
    } else {
      emit("<guard>", 0, p->offset, i_->guard_negated ? 1 : 0);
      unguarded();
      out_.code[here].immediate = static_cast<std::int64_t>(out_.code.size());
      emit("<end of guard>");
    }
  }
  ++ordinal_;
}

// Divides the body into blocks and finds where the paths of each branch meet.
void lowering::find_blocks() {
  const auto count = static_cast<std::uint32_t>(body_.instructions.size());
  std::vector<bool> leads(count + 1, false);
  leads[0] = true;
  for (const auto& [name, at] : body_.labels) leads[std::min(at, count)] = true;
  const auto ends = [](const ptx::instruction& i) {
    return i.opcode == "bra" || i.opcode == "ret" || i.opcode == "exit" || i.opcode == "trap";
  };
  for (std::uint32_t n = 0; n < count; ++n)
    if (ends(body_.instructions[n])) leads[n + 1] = true;
  block_of_.resize(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    if (leads[n]) block_start_.push_back(n);
    block_of_[n] = static_cast<std::uint32_t>(block_start_.size()) - 1;
  }
  const auto blocks = static_cast<std::uint32_t>(block_start_.size());
  std::vector<std::vector<std::uint32_t>> successors(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    const std::uint32_t last = (b + 1 < blocks ? block_start_[b + 1] : count) - 1;
    const ptx::instruction& i = body_.instructions[last];
    // Lanes that leave by a guarded exit need not be waited for: it counts as passing on.
    const bool falls = !ends(i) || !i.guard.empty();
    if (falls && b + 1 < blocks) successors[b].push_back(b + 1);
    if (i.opcode == "bra" && !i.operands.empty()) {
      const auto at = body_.labels.find(i.operands[0].name);
      if (at != body_.labels.end() && at->second < count)
        successors[b].push_back(block_of_[at->second]);
    }
  }
  meets_ = immediate_post_dominators(successors);
  is_meeting_.assign(blocks, false);
  for (std::uint32_t b = 0; b < blocks; ++b)
    if (successors[b].size() > 1 && meets_[b] != no_block) is_meeting_[meets_[b]] = true;
}

void lowering::run() {
  declare_registers();
  place_variables();
  if (body_.instructions.empty()) {
    emit("<exit>");
  } else {
    find_blocks();
    const auto blocks = static_cast<std::uint32_t>(block_start_.size());
    block_op_.resize(blocks + 1);
    for (std::uint32_t n = 0; n < body_.instructions.size(); ++n) {
      const std::uint32_t b = block_of_[n];
      if (block_start_[b] == n) {
        block_op_[b] = static_cast<std::uint32_t>(out_.code.size());
        i_ = &body_.instructions[n];
        if (is_meeting_[b]) emit("<join>");
      }
      instruction(n);
    }
    block_op_[blocks] = static_cast<std::uint32_t>(out_.code.size());
    emit("<exit>");  // a body may end without ret
    for (const auto& [at, block] : targets_) out_.code[at].immediate = block_op_[block];
    for (const auto& [at, block] : joins_) out_.code[at].slot = block_op_[block];
  }
  out_.register_bytes = next_row_;
}

std::string lowering::where() const {
  if (i_ == nullptr || out_.instruction.empty()) return out_.pretty;
  program probe;
  probe.body = &body_;
  probe.module = &module_;
  probe.code.resize(1);
  probe.instruction = {static_cast<std::int32_t>(i_ - body_.instructions.data())};
  const std::string line = probe.source_line(probe.code.data());
  return out_.pretty + (line.empty() ? "" : " at " + line) + " (PTX line " +
         std::to_string(i_->line) + ")";
}

}  // namespace

std::string program::source_line(const op* at) const {
  std::int32_t index = instruction[static_cast<std::size_t>(at - code.data())];
  for (; index >= 0; --index) {
    std::int32_t position = body->instructions[static_cast<std::size_t>(index)].position;
    if (position < 0) return "";
    const ptx::source_position* p = &body->positions[static_cast<std::size_t>(position)];
    while (p->inlined_at >= 0) p = &body->positions[static_cast<std::size_t>(p->inlined_at)];
    if (p->line == 0) continue;  // made by the compiler: the line before it
    const auto file = module->files.find(p->file);
    std::string_view name = file == module->files.end() ? std::string_view("?") : file->second;
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos)
      name.remove_prefix(slash + 1);
    return std::string(name) + ":" + std::to_string(p->line);
  }
  return "";
}

result<std::unique_ptr<program>> lower(const ptx::module& m, const ptx::function& f,
                                       const symbol_table& symbols) {
  auto out = std::make_unique<program>();
  try {
    lowering l(m, f, symbols, *out);
    try {
      l.run();
    } catch (const unsupported& u) {
      return {error::not_supported, l.where() + ": the emulator does not implement " + u.what};
    } catch (const std::out_of_range&) {
      return {error::invalid_ptx, l.where() + ": an instruction has too few operands"};
    }
  } catch (const ptx::parse_error& e) {
    return {error::invalid_ptx, std::string(f.name) + ": " + e.what()};
  }
  return out;
}

}  // namespace stepwise::emulator
