// A PTX module as its text says it: no meaning yet, every construct in its place.
//
// idea    All names are views into text that the module owns, so an AST is cheap. Function bodies
//         are parsed when they are first asked for: a module with a thousand kernels costs little
//         until one of them runs.
// source  PTX ISA 9.0, "Syntax", "Directives", "Debugging Directives". Tested by tests/.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepwise::ptx {

enum class state_space : std::uint8_t {
  none,
  reg,
  sreg,
  constant,
  global,
  local,
  param,
  shared,
  tex
};

enum class scalar_type : std::uint8_t {
  none,
  pred,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  f16,
  bf16,
  b32,
  u32,
  s32,
  f32,
  tf32,
  f16x2,
  bf16x2,
  u16x2,
  s16x2,
  b64,
  u64,
  s64,
  f64,
  b128,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  texref,
  samplerref,
  surfref,
  other,  // named by the syntax, unknown to us
};

// Size of one value in bytes; pred and none have 0.
unsigned bytes_of(scalar_type type);
std::string_view name_of(scalar_type type);
// The type called `name` ("f32"): none if that is no type at all, other if it is one that only
// some instructions know ("e2m1x2").
scalar_type type_of(std::string_view name);

// Where an instruction comes from: a .loc record. `inlined_at` is the index, in the same
// function's list, of the record of the call that this line was inlined at; -1 for none.
struct source_position {
  std::uint32_t file = 0;  // number of a .file directive
  std::uint32_t line = 0;  // 0: made by the compiler
  std::uint32_t column = 0;
  std::int32_t inlined_at = -1;
  std::string_view function;  // mangled name of the inlined function, if known
};

enum class operand_kind : std::uint8_t {
  name,     // register, special register, variable, function or label: see `name`
  integer,  // literal: two's complement in `bits`
  float32,  // 0fXXXXXXXX: IEEE bits in the low half of `bits`
  float64,  // 0dX..., or a decimal literal: IEEE bits in `bits`
  vector,   // {a, b, ...}: `elements`
  memory,   // [base + offset]: `name` (empty: absolute), `offset`; further parts in `elements`
  pair,     // d|p: two elements
  sink,     // _
  list,     // (a, b, ...): arguments of a call
  offset,   // name + constant outside brackets: `name`, `offset`
};

struct operand {
  operand_kind kind = operand_kind::name;
  bool negated = false;   // !%p or -%r
  std::string_view name;  // "%r1", "%tid.x", "$L__BB0_3", "_"
  std::uint64_t bits = 0;
  std::int64_t offset = 0;  // in bytes
  std::vector<operand> elements;
};

struct instruction {
  std::string_view opcode;                  // "ld"
  std::vector<std::string_view> modifiers;  // "global", "v4", "f32" (without the dots)
  std::string_view text;                    // "ld.global.v4.f32": as written, for messages
  std::string_view guard;                   // predicate register, empty for none
  bool guard_negated = false;
  std::vector<operand> operands;
  std::int32_t position = -1;  // index into body::positions, -1 before any .loc
  std::uint32_t line = 0;      // line of the PTX text, from 1
};

// An initialiser's entry that is an address: `bytes` bytes at `at` are symbol + addend.
struct relocation {
  std::uint64_t at = 0;
  unsigned bytes = 8;
  std::string_view symbol;
  std::int64_t addend = 0;
  bool generic = false;    // generic(symbol): address in the generic space
  std::uint64_t mask = 0;  // mask(symbol) operators: 0 for the whole address
};

struct variable {
  state_space space = state_space::none;
  scalar_type type = scalar_type::none;
  std::string_view name;
  unsigned alignment = 0;      // in bytes; natural alignment if the text gives none
  std::uint64_t bytes = 0;     // whole size; 0 for an extern array of unstated size
  unsigned vector_length = 1;  // .v2, .v4
  bool is_array = false;
  bool is_extern = false;
  bool is_visible = false;  // .visible or .weak or .common
  bool is_managed = false;  // .attribute(.managed)
  bool is_pointer = false;  // .ptr parameter
  std::vector<std::uint8_t>
      initial;  // leading bytes of the initialiser, little endian; rest is zero
  std::vector<relocation> relocations;
  std::uint32_t line = 0;
};

struct register_declaration {
  scalar_type type = scalar_type::none;
  unsigned vector_length = 1;
  std::string_view name;    // "%r" for %r<30>, or a whole name
  std::uint32_t count = 0;  // 0: one register of that very name; else name0 .. name(count-1)
};

// A function's body. Names declared in nested { } scopes are made unique ("name$2"), so all names
// of a body live in one flat scope.
struct body {
  std::vector<register_declaration> registers;
  std::vector<variable> variables;  // .local, .shared, .param (call frames) declared inside
  std::vector<instruction> instructions;
  std::unordered_map<std::string_view, std::uint32_t> labels;  // index of the next instruction
  // .branchtargets / .calltargets lists by label
  std::unordered_map<std::string_view, std::vector<std::string_view>> target_lists;
  // .callprototype by label: the parameters' and returns' variables
  struct prototype {
    std::vector<variable> returns, parameters;
  };
  std::unordered_map<std::string_view, prototype> prototypes;
  std::vector<source_position> positions;
};

struct function {
  std::string_view name;
  bool is_entry = false;
  bool is_extern = false;  // .extern: no body here
  bool is_visible = false;
  bool is_weak = false;
  bool is_declaration = false;  // no body in this text
  std::vector<variable> parameters;
  std::vector<variable> returns;
  std::uint32_t max_threads[3] = {0, 0, 0};       // .maxntid; 0: not given
  std::uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  std::uint32_t min_blocks = 0;                   // .minnctapersm
  std::uint32_t max_registers = 0;                // .maxnreg
  std::uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
  std::uint32_t max_cluster_rank = 0;             // .maxclusterrank
  bool has_cluster = false;                       // .explicitcluster or .reqnctapercluster
  bool is_noreturn = false;
  std::uint32_t line = 0;
  std::string_view body_text;   // between the outer braces
  std::uint32_t body_line = 0;  // line of its first character
};

struct parse_error : std::runtime_error {
  parse_error(std::uint32_t at, const std::string& what)
      : std::runtime_error("PTX line " + std::to_string(at) + ": " + what), line(at) {}
  std::uint32_t line;
};

class module {
 public:
  // Reads the module's directives and finds the functions; bodies stay text. The module owns a
  // copy of the text. Throws parse_error.
  explicit module(std::string text);
  ~module();
  module(const module&) = delete;
  module& operator=(const module&) = delete;

  unsigned version_major = 0, version_minor = 0;  // .version
  std::string_view target;                        // "sm_90"
  unsigned target_sm = 0;                         // 90
  std::vector<variable> variables;                // of the module's scope
  std::vector<function> functions;
  std::unordered_map<std::uint32_t, std::string_view> files;  // .file number -> path
  bool is_debug = false;                                      // .target sm_90, debug (nvcc -G)

  // By name or .alias; the definition, where the text has one beside declarations. nullptr if
  // there is none.
  const function* find_function(std::string_view name) const;
  const variable* find_variable(std::string_view name) const;

  // The parsed body; parsed at the first call, kept after it. Safe from several threads. `f` is
  // an element of `functions`. Throws parse_error, also where `f` is a declaration only.
  const body& body_of(const function& f) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace stepwise::ptx
