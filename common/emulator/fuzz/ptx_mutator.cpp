// Mutations that stay close to PTX: words, modifiers, numbers and whole statements.
//
// idea    Bytes changed at random rarely pass the lexer. Here the text is split into words and
//         punctuation. Words are replaced by other words of the same text or of PTX's vocabulary.
//         Statements are moved, repeated and taken from a second input. Instructions are generated
//         from the emulator's own ops, with registers of the widths that they need.
#include "common/emulator/fuzz/ptx_mutator.hpp"

#include <algorithm>
#include <cstring>

#include "common/emulator/fuzz/mutator.hpp"
#include "common/emulator/ops/op_entry.hpp"

namespace stepwise::fuzz {
namespace {

using emulator::op_entry;
using emulator::value_class;

// Words that are not names of ops. The ops supply opcodes, modifiers and types.
constexpr const char* vocabulary[] = {".version",
                                      ".target",
                                      ".address_size",
                                      ".file",
                                      ".section",
                                      ".alias",
                                      ".pragma",
                                      ".entry",
                                      ".func",
                                      ".extern",
                                      ".visible",
                                      ".weak",
                                      ".common",
                                      ".reg",
                                      ".global",
                                      ".shared",
                                      ".local",
                                      ".param",
                                      ".const",
                                      ".align",
                                      ".ptr",
                                      ".attribute",
                                      ".managed",
                                      ".unified",
                                      ".maxntid",
                                      ".reqntid",
                                      ".minnctapersm",
                                      ".maxnreg",
                                      ".noreturn",
                                      ".loc",
                                      ".callprototype",
                                      ".branchtargets",
                                      ".calltargets",
                                      ".debug_str",
                                      ".explicitcluster",
                                      ".reqnctapercluster",
                                      "function_name",
                                      "inlined_at",
                                      "generic",
                                      "WARP_SZ",
                                      "%tid.x",
                                      "%laneid",
                                      "%clock64",
                                      "%envreg2",
                                      "%ctaid.y",
                                      "%reserved_smem_offset_0",
                                      "%globaltimer_lo",
                                      "_",
                                      "sm_90",
                                      "9.0",
                                      ".pred",
                                      ".b8",
                                      ".u16",
                                      ".s32",
                                      ".f32",
                                      ".b64",
                                      ".f64",
                                      ".b128",
                                      ".v2",
                                      ".v4",
                                      ".texref",
                                      "vprintf",
                                      "malloc",
                                      "free",
                                      "__assertfail",
                                      "{}",
                                      "[a+4]",
                                      "{a, b}",
                                      "a|b",
                                      "!a",
                                      "-a",
                                      "0f3F800000",
                                      "0d3FF0000000000000",
                                      "1e9",
                                      "-1",
                                      "(1<<63)/-1",
                                      "(.s64)4",
                                      "~0",
                                      "1?2:3",
                                      "bra",
                                      "brx.idx",
                                      "ret",
                                      "exit",
                                      "trap",
                                      "call",
                                      "call.uni",
                                      "ld",
                                      "ldu",
                                      "st",
                                      "mov",
                                      "setp",
                                      "set",
                                      "slct",
                                      "cvt",
                                      "cvta",
                                      "cvta.to.shared.u64",
                                      "atom",
                                      "red",
                                      "membar",
                                      "fence",
                                      "shfl",
                                      "vote",
                                      "match",
                                      "redux",
                                      "bar",
                                      "barrier",
                                      "alloca",
                                      "stacksave",
                                      "stackrestore",
                                      "cp",
                                      "mbarrier",
                                      "mapa",
                                      "elect",
                                      "ldmatrix",
                                      "stmatrix",
                                      "movmatrix",
                                      "mma",
                                      "wmma",
                                      "isspacep",
                                      "createpolicy",
                                      "tex",
                                      "tensormap",
                                      "wgmma",
                                      "sync",
                                      "aligned",
                                      "async",
                                      "bulk",
                                      "tensor",
                                      "2d",
                                      "replace",
                                      "tile",
                                      "global_address",
                                      "elemtype",
                                      "bulk_group",
                                      "multicast::cluster",
                                      "volatile",
                                      "relaxed",
                                      "acquire",
                                      "release",
                                      "cluster",
                                      "cta",
                                      "gpu",
                                      "sys",
                                      "arrive",
                                      "wait",
                                      "popc",
                                      "row",
                                      "col",
                                      "m16n8k16",
                                      "m16n16k16",
                                      "m8n8",
                                      "x4",
                                      "trans",
                                      "satfinite",
                                      "sp",
                                      "up",
                                      "bfly",
                                      "ballot",
                                      "any",
                                      "all",
                                      "uni",
                                      "ftz",
                                      "sat",
                                      "relu",
                                      "wide",
                                      "cc",
                                      "noinc",
                                      "expect_tx",
                                      "parity",
                                      "shared::cta",
                                      "shared::cluster",
                                      "L2::cache_hint",
                                      "mbarrier::complete_tx::bytes"};

constexpr const char* numbers[] = {"0",
                                   "1",
                                   "-1",
                                   "2",
                                   "3",
                                   "4",
                                   "7",
                                   "8",
                                   "16",
                                   "31",
                                   "32",
                                   "33",
                                   "63",
                                   "64",
                                   "127",
                                   "255",
                                   "256",
                                   "1024",
                                   "65535",
                                   "65536",
                                   "1048576",
                                   "1048577",
                                   "2147483647",
                                   "2147483648",
                                   "4294967295",
                                   "4294967296",
                                   "1099511627776",
                                   "1099511627777",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "18446744073709551615",
                                   "0x10",
                                   "017",
                                   "0b11",
                                   "4294967295U"};

const emulator::op_table& ops() {
  static const emulator::op_table all = [] {
    emulator::op_table t;
    const emulator::op_set& best = emulator::best_op_set();
    for (const auto add : {best.integer, best.floating, best.compare, best.convert, best.memory,
                           best.half, best.rounding, &emulator::atomic_ops, &emulator::narrow_ops,
                           &emulator::carry_ops, &emulator::packed_ops, &emulator::async_ops})
      add(t);
    std::erase_if(
        t, [](const op_entry& r) { return r.name.text().find('<') != std::string_view::npos; });
    return t;
  }();
  return all;
}

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.' || c == ':';
}

struct range {
  std::size_t first = 0, size = 0;
};

std::vector<range> words_of(const std::string& text) {
  std::vector<range> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word_part(text[end])) ++end;
    if (end > at) words.push_back({at, end - at});
    at = end + 1;
  }
  return words;
}

// Each statement ends with a ';' or a brace, which is included.
std::vector<range> statements_of(const std::string& text) {
  std::vector<range> statements;
  std::size_t first = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != ';' && text[at] != '{' && text[at] != '}') continue;
    statements.push_back({first, at + 1 - first});
    first = at + 1;
  }
  return statements;
}

template <class List>
const auto& any_of(const List& list, std::mt19937& random) {
  return std::begin(list)[random() % std::size(list)];
}

const char* operand_for(value_class k, std::mt19937& random) {
  static constexpr const char* literals[] = {"0", "-1", "32", "1.5", "0f7F800000", "{}", "%tid.x"};
  if (random() % 16 == 0) return any_of(literals, random);
  const bool second = random() % 2 != 0;
  switch (k) {
    case value_class::predicate:
      return second ? "%p1" : "!%p0";
    case value_class::b16:
      return second ? "%h1" : "%h0";
    case value_class::b32:
    case value_class::f32:
      return second ? "%w1" : "%w0";
    default:
      return second ? "%d1" : "%d0";
  }
}

// For example "{ .reg ...; add.s32 %w0, %w1, 32; }".
std::string instruction(std::mt19937& random) {
  const op_entry& r = any_of(ops(), random);
  std::string text = "{.reg .pred %p<2>; .reg .b16 %h<2>; .reg .b32 %w<2>; .reg .b64 %d<2>; ";
  if (random() % 8 == 0) text += "@%p0 ";
  text += r.name.text();
  static constexpr const char* added[] = {".ftz", ".sat", ".relu", ".rn", ".rz", ".cc", ".u32"};
  if (random() % 4 == 0) text += any_of(added, random);
  const char* separator = " ";
  for (const value_class k : {r.d, r.a, r.b, r.c}) {
    if (k == value_class::none) continue;
    text += separator;
    text += operand_for(k, random);
    separator = ", ";
  }
  return text + ";}";
}

// Removes, inserts, replaces or swaps one modifier of a dotted word.
std::string with_other_modifier(const std::string& word, std::mt19937& random) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= word.size();) {
    const std::size_t dot = std::min(word.find('.', at), word.size());
    parts.push_back(word.substr(at, dot - at));
    at = dot + 1;
  }
  const std::string name(any_of(ops(), random).name.text());
  const std::size_t from = name.find('.');
  const std::string other = random() % 2 != 0 || from == std::string::npos
                                ? std::string(any_of(vocabulary, random))
                                : name.substr(from + 1, name.find('.', from + 1) - from - 1);
  const std::size_t at = random() % parts.size();
  switch (random() % 4) {
    case 0:
      parts[at] = other;
      break;
    case 1:
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(at), other);
      break;
    case 2:
      std::swap(parts[at], any_of(parts, random) == parts[at] ? parts.back() : parts.front());
      break;
    default:
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ".") + part;
  return out;
}

void change_word(std::string& text, std::mt19937& random) {
  const std::vector<range> words = words_of(text);
  if (words.empty()) return;
  const range at = any_of(words, random);
  const std::string word = text.substr(at.first, at.size);
  std::string other;
  switch (random() % 6) {
    case 0:
      break;  // the word is removed
    case 1:
      other = any_of(vocabulary, random);
      break;
    case 2:
      other = any_of(numbers, random);
      break;
    case 3:
      other = any_of(ops(), random).name.text();
      break;
    case 4:
      other = with_other_modifier(word, random);
      break;
    default: {
      const range from = any_of(words, random);
      other = text.substr(from.first, from.size);
    }
  }
  text.replace(at.first, at.size, other);
}

void change_statement(std::string& text, std::mt19937& random) {
  const std::vector<range> statements = statements_of(text);
  if (statements.empty()) return;
  const range at = any_of(statements, random), from = any_of(statements, random);
  switch (random() % 4) {
    case 0:
      text.erase(at.first, at.size);
      break;
    case 1:
      text.insert(at.first, text.substr(from.first, from.size));
      break;
    case 2:
      text.replace(at.first, at.size, text.substr(from.first, from.size));
      break;
    default:
      text.insert(at.first + at.size, instruction(random));
  }
}

void change_mark(std::string& text, std::mt19937& random) {
  static constexpr char marks[] = "{}()[]<>,;:@!|+-*/&^~=?%.\"\n 01";
  if (text.empty()) return;
  const std::size_t at = random() % text.size();
  const char mark = marks[random() % (sizeof marks - 1)];
  if (random() % 2 != 0)
    text[at] = mark;
  else
    text.insert(at, 1, mark);
}

}  // namespace

void change(std::string& input, std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      return change_mark(input, random);
    case 1:
    case 2:
    case 3:
      return change_statement(input, random);
    default:
      return change_word(input, random);
  }
}

void cross(std::string& input, const std::string& other, std::mt19937& random) {
  const std::vector<range> here = statements_of(input), there = statements_of(other);
  if (here.empty() || there.empty()) return;
  const std::size_t first = random() % there.size();
  const std::size_t last = std::min(there.size() - 1, first + random() % 8);
  input.insert(
      any_of(here, random).first,
      other.substr(there[first].first, there[last].first + there[last].size - there[first].first));
}

}  // namespace stepwise::fuzz
