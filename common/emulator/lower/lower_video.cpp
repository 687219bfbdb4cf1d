// Lowering: video instructions (vadd, vabsdiff4 ...).
#include "common/emulator/lower/lowering.hpp"
#include "common/emulator/machine/video.hpp"

namespace stepwise::emulator {
namespace {

const std::unordered_map<std::string_view, video_operation>& operations() {
  static const std::unordered_map<std::string_view, video_operation> names = {
      {"vadd", video_operation::add},         {"vsub", video_operation::sub},
      {"vabsdiff", video_operation::absdiff}, {"vmin", video_operation::min},
      {"vmax", video_operation::max},         {"vshl", video_operation::shl},
      {"vshr", video_operation::shr},         {"vset", video_operation::set}};
  return names;
}

bool is_type(std::string_view m) { return m == "u32" || m == "s32"; }

// %r1.b2 -> %r1 and its byte 2. Returns false for an invalid part.
bool split_part(operand& o, video_part& part) {
  const auto dot = o.kind == operand_kind::name ? o.name.rfind('.') : std::string_view::npos;
  if (dot == std::string_view::npos) return true;
  const std::string_view name = o.name.substr(dot + 1);
  o.name = o.name.substr(0, dot);
  if (name.size() != 2 || (name[0] != 'b' && name[0] != 'h')) return false;
  part.bits = name[0] == 'b' ? 8 : 16;
  part.index = static_cast<std::uint8_t>(name[1] - '0') & 3;
  return name[1] >= '0' && name[1] < (name[0] == 'b' ? '4' : '2');
}

}  // namespace

// v<op>[2|4][.dtype].atype.btype[.sat][.op2] d[.part], a[.part], b[.part][, c]
void lowering::video() {
  video_form f;
  std::string_view name = i_->opcode;
  if (name.back() == '2' || name.back() == '4') {
    f.lanes = name.back() == '2' ? 2 : 4;
    name.remove_suffix(1);
  }
  const auto operation = operations().find(name);
  if (operation == operations().end()) throw unsupported{"the instruction " + text()};
  f.operation = operation->second;
  std::vector<bool> is_signed;
  for (const std::string_view m : i_->modifiers)
    if (is_type(m)) is_signed.push_back(m == "s32");
  if (f.operation == video_operation::set) is_signed.insert(is_signed.begin(), false);
  if (is_signed.size() != 3) throw unsupported{"the instruction " + text()};
  f.d_signed = is_signed[0];
  f.a_signed = is_signed[1];
  f.b_signed = is_signed[2];
  f.saturates = has("sat");
  f.wraps = has("wrap");
  static constexpr std::pair<const char*, video_relation> relations[] = {
      {"eq", video_relation::eq}, {"ne", video_relation::ne}, {"lt", video_relation::lt},
      {"le", video_relation::le}, {"gt", video_relation::gt}, {"ge", video_relation::ge}};
  for (const auto& [word, relation] : relations)
    if (has(word)) f.relation = relation;
  f.second = has("add")   ? video_second::add
             : has("min") ? video_second::min
             : has("max") ? video_second::max
                          : video_second::none;

  std::vector<operand> o = i_->operands;
  if (o.size() < 3) throw unsupported{"the instruction " + text()};
  bool known = split_part(o[0], f.d) && split_part(o[1], f.a) && split_part(o[2], f.b);
  // The SIMD forms number their parts differently.
  known &= f.lanes == 1 || (f.a.bits == 32 && f.b.bits == 32 && f.d.bits == 32);
  if (!known) throw unsupported{"the instruction " + text() + " with these parts of registers"};
  // In these forms an H200 differs from the PTX manual. Compilers do not generate them.
  const bool minimum = f.second == video_second::min || f.second == video_second::max;
  if (f.lanes == 1 && (minimum || f.d.bits != 32 || (f.saturates && !f.d_signed)))
    throw unsupported{"the instruction " + text()};
  const value_class k = value_class::b32;
  const std::uint32_t a = source(o[1], k), b = source(o[2], k);
  const std::uint32_t c = o.size() > 3 ? source(o[3], k) : constant(k, 0);
  emit("<video>", destination(o[0], k), a, b, c).immediate = pack(f);
}

}  // namespace stepwise::emulator
