// Statements, scopes of labels, directives, instructions and their operands.
#include "common/ptx/body_parser.hpp"

#include <algorithm>

#include "common/ptx/declarations.hpp"
#include "common/ptx/names.hpp"
#include "common/ptx/positions.hpp"
#include "common/ptx/reader.hpp"
#include "common/ptx/spelling.hpp"

namespace stepwise::ptx {
namespace {

class body_parser {
 public:
  body_parser(const function& f, const surroundings& module, std::deque<std::string>& storage)
      : in_(f.body_text, f.body_line),
        module_(module),
        names_(storage, module.is_global),
        positions_(out_.positions) {
    for (const variable& v : f.parameters) names_.surround(v.name);
    for (const variable& v : f.returns) names_.surround(v.name);
    label_scopes_.emplace_back();
    // An estimate that is usually too low: an instruction takes about 30 characters of nvcc's text.
    out_.instructions.reserve(f.body_text.size() / 48);
  }

  body parse() {
    while (!in_.at_end()) statement();
    if (names_.depth() > 0) in_.fail("'}'");
    check_tables();
    return std::move(out_);
  }

 private:
  // Every brx.idx gets its own table, even if many of them share a list. This check keeps a short
  // text from taking gigabytes.
  void check_tables() const {
    constexpr std::size_t most = std::size_t{1} << 22;
    std::size_t targets = 0;
    for (const instruction& i : out_.instructions) {
      if (i.opcode != "brx" || i.operands.size() < 2) continue;
      const auto list = out_.target_lists.find(i.operands[1].name);
      if (list != out_.target_lists.end()) targets += list->second.size();
      if (targets > most) throw parse_error(i.line, "too many targets of brx.idx");
    }
  }

  // The labels between one pair of braces. Labels in inner braces are renamed. A branch may precede
  // its label, so the names in operands are replaced when the braces close.
  struct label_scope {
    std::size_t first_instruction = 0, first_list = 0;
    std::unordered_map<std::string_view, std::string_view> renamed;
  };

  void statement() {
    const token& t = in_.current();
    switch (t.kind) {
      case token_kind::word:
        return word();
      case token_kind::directive:
        return directive();
      case token_kind::mark:
        if (t.is('@')) return guarded();
        if (t.is('{')) return open_scope();
        if (t.is('}') && names_.depth() > 0) return close_scope();
        if (t.is(';')) return in_.advance();
        break;
      default:
        break;
    }
    in_.fail("an instruction, a label or a directive");
  }

  // ---- scopes and labels ----

  void open_scope() {
    if (names_.depth() >= static_cast<std::size_t>(nesting_limit)) in_.fail("fewer nested '{'");
    in_.advance();
    names_.open_scope();
    label_scopes_.push_back({out_.instructions.size(), lists_.size(), {}});
  }

  void close_scope() {
    in_.advance();
    names_.close_scope();
    const label_scope scope = std::move(label_scopes_.back());
    label_scopes_.pop_back();
    if (scope.renamed.empty()) return;
    for (std::size_t i = scope.first_instruction; i < out_.instructions.size(); ++i) {
      for (operand& o : out_.instructions[i].operands) rename(o, scope.renamed);
    }
    for (std::size_t i = scope.first_list; i < lists_.size(); ++i) {
      for (std::string_view& name : *lists_[i]) rename(name, scope.renamed);
    }
  }

  using renamed_labels = std::unordered_map<std::string_view, std::string_view>;

  static void rename(std::string_view& name, const renamed_labels& renamed) {
    if (const auto found = renamed.find(name); found != renamed.end()) name = found->second;
  }

  static void rename(operand& o, const renamed_labels& renamed) {
    if (!o.name.empty()) rename(o.name, renamed);
    for (operand& e : o.elements) rename(e, renamed);
  }

  // The label's name in the body.
  std::string_view declare_label(const token& label) {
    if (names_.depth() == 0) return label.text;
    auto& renamed = label_scopes_.back().renamed;
    if (renamed.count(label.text) != 0) twice(label);
    return renamed[label.text] = names_.fresh(label.text);
  }

  [[noreturn]] static void twice(const token& label) {
    throw parse_error(label.line, "the label " + quoted(label) + " is defined a second time");
  }

  void label(const token& name) {
    in_.advance();  // ':'
    const std::string_view unique = declare_label(name);
    bool is_new = true;
    if (in_.accept_directive(".callprototype")) {
      const auto [found, added] = out_.prototypes.try_emplace(unique);
      is_new = added;
      prototype(found->second);
    } else if (in_.accept_directive(".branchtargets") || in_.accept_directive(".calltargets")) {
      const auto [found, added] = out_.target_lists.try_emplace(unique);
      is_new = added;
      do {
        found->second.push_back(names_.resolve(in_.expect_word("a label or a function")));
      } while (in_.accept(','));
      lists_.push_back(&found->second);
      in_.expect(';', "after a list of targets");
    } else {
      is_new = out_.labels.try_emplace(unique, static_cast<std::uint32_t>(out_.instructions.size()))
                   .second;
    }
    if (!is_new) twice(name);
  }

  // Parses, for example, "(.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn;".
  void prototype(body::prototype& p) {
    if (in_.current().is('(')) read_parameters(in_, p.returns);
    in_.expect_word("'_' in a prototype");
    if (in_.current().is('(')) read_parameters(in_, p.parameters);
    while (in_.current().kind == token_kind::directive) {
      if (in_.accept_directive(".noreturn") || in_.accept_directive(".abi_preserve_control")) {
        continue;
      }
      if (!in_.accept_directive(".abi_preserve")) in_.fail("';' after a prototype");
      in_.expect_integer("a number of registers");
    }
    in_.expect(';', "after a prototype");
  }

  // ---- directives ----

  void directive() {
    const std::string_view word = in_.current().text;
    if (word == ".loc") return loc();
    if (word == ".pragma") {
      in_.advance();
      do {
        in_.expect_string("a pragma's text");
      } while (in_.accept(','));
      return in_.expect(';', "after .pragma");
    }
    if (word == ".reg") return registers();
    linkage link;
    while (link.accept(in_)) {
    }
    const state_space space = in_.current().kind == token_kind::directive
                                  ? space_of(in_.current().text)
                                  : state_space::none;
    if (space == state_space::none) in_.fail("a directive of a function's body");
    in_.advance();
    const std::size_t first = out_.variables.size();
    read_variables(in_, space, link, out_.variables);
    for (std::size_t i = first; i < out_.variables.size(); ++i) {
      variable& v = out_.variables[i];
      v.name = names_.declare(v.name, v.line);
    }
    in_.expect(';', "after a declaration");
  }

  void registers() {
    const std::uint32_t line = in_.current().line;
    in_.advance();
    const std::size_t first = out_.registers.size();
    read_registers(in_, out_.registers);
    for (std::size_t i = first; i < out_.registers.size(); ++i) {
      register_declaration& r = out_.registers[i];
      r.name = r.count ? names_.declare_counted(r.name, line) : names_.declare(r.name, line);
    }
    in_.expect(';', "after a declaration of registers");
  }

  position_list::place place() {
    position_list::place p;
    p.file = in_.expect_small("a file's number", ~0u);
    p.line = in_.expect_small("a line", ~0u);
    p.column = in_.expect_small("a column", ~0u);
    return p;
  }

  // Parses ".loc 1 9 3" or ".loc 2 50 3, function_name $L__info_string0, inlined_at 1 9 3".
  void loc() {
    const bool directly_after = located_ == out_.instructions.size();
    in_.advance();
    const position_list::place at = place();
    located_ = out_.instructions.size();
    if (!in_.accept(',')) {
      position_ = positions_.add(at);
      return;
    }
    std::string_view function;
    position_list::place call;
    bool inlined = false;
    do {
      const std::string_view what = in_.expect_word("'function_name' or 'inlined_at'");
      if (what == "function_name") {
        const std::string_view label = in_.expect_word("a label of .debug_str");
        function = module_.debug_string(label, in_.optional_offset());
      } else if (what == "inlined_at") {
        call = place();
        inlined = true;
      } else {
        in_.fail("'function_name' or 'inlined_at' before it");
      }
    } while (in_.accept(','));
    position_ =
        inlined ? positions_.add_inlined(at, function, call, directly_after) : positions_.add(at);
  }

  // ---- instructions ----

  void word() {
    const token first = in_.current();
    in_.advance();
    if (in_.current().is(':')) return label(first);
    instruction i;
    i.line = first.line;
    finish(i, first);
  }

  void guarded() {
    instruction i;
    i.line = in_.current().line;
    in_.advance();
    i.guard_negated = in_.accept('!');
    i.guard = names_.resolve(in_.expect_word("a predicate register"));
    const token opcode = in_.current();
    in_.expect_word("an instruction");
    finish(i, opcode);
  }

  void finish(instruction& i, const token& opcode) {
    split(i, opcode.text);
    while (in_.current().kind == token_kind::directive) {  // "add .s32": spaces before a modifier
      i.modifiers.push_back(in_.current().text.substr(1));
      const char* const end = in_.current().text.data() + in_.current().text.size();
      i.text = {i.text.data(), static_cast<std::size_t>(end - i.text.data())};
      in_.advance();
    }
    i.position = position_;
    is_call_ = i.opcode == "call";
    if (!in_.current().is(';')) {
      do {
        scratch_.push_back(operand_here());
      } while (in_.accept(','));
      i.operands.assign(std::make_move_iterator(scratch_.begin()),
                        std::make_move_iterator(scratch_.end()));
      scratch_.clear();
    }
    if (!in_.accept(';')) in_.fail("',' or ';' after an operand of '" + spelled(i) + "'");
    out_.instructions.push_back(std::move(i));
  }

  void split(instruction& i, std::string_view text) {
    i.text = text;
    const std::size_t dots = std::count(text.begin(), text.end(), '.');
    if (dots == 0) {
      i.opcode = text;
      return;
    }
    i.modifiers.reserve(dots);
    std::size_t dot = text.find('.');
    i.opcode = text.substr(0, dot);
    while (dot != std::string_view::npos) {
      const std::size_t next = text.find('.', dot + 1);
      i.modifiers.push_back(text.substr(dot + 1, next - dot - 1));
      if (i.modifiers.back().empty()) in_.fail("a modifier after '.'");
      dot = next;
    }
  }

  // ---- operands ----

  operand operand_here() {
    operand first = simple_operand();
    if (!in_.current().is('|')) return first;
    in_.advance();
    operand pair;
    pair.kind = operand_kind::pair;
    pair.elements.reserve(2);
    pair.elements.push_back(std::move(first));
    pair.elements.push_back(simple_operand());
    return pair;
  }

  operand simple_operand() {
    operand o;
    const token& t = in_.current();
    if (t.kind == token_kind::word && t.text != "WARP_SZ") {
      name(o);
    } else if (t.is('{')) {
      sequence(o, operand_kind::vector, '}');
    } else if (t.is('[')) {
      memory(o);
    } else if (t.is('(') && is_call_) {
      sequence(o, operand_kind::list, ')');
    } else if (t.is('!') || t.is('-')) {
      signed_operand(o);
    } else {
      set_constant(o, in_.expect_constant("an operand"));
    }
    return o;
  }

  void name(operand& o) {
    const std::string_view text = in_.current().text;
    in_.advance();
    if (text == "_") {
      o.kind = operand_kind::sink;
      o.name = text;
      return;
    }
    o.name = names_.resolve(text);
    if (in_.current().is('+') || in_.current().is('-')) {
      o.kind = operand_kind::offset;
      o.offset = in_.optional_offset();
    } else if (in_.current().is('[')) {
      in_.fail("',' or ';': array elements as operands are not supported, use [name+bytes]");
    }
  }

  // Parses !%p, -%r, -5 or !0.
  void signed_operand(operand& o) {
    const token sign = in_.current();
    const char* const next = sign.text.data() + 1;
    const bool before_name = *next == '%' || *next == '_' || *next == '$' ||
                             (*next >= 'a' && *next <= 'z') || (*next >= 'A' && *next <= 'Z');
    if (!before_name) return set_constant(o, in_.expect_constant("an operand"));
    in_.advance();
    name(o);
    o.negated = true;
  }

  static void set_constant(operand& o, const constant& c) {
    o.kind = c.what == constant::kind::integer   ? operand_kind::integer
             : c.what == constant::kind::float32 ? operand_kind::float32
                                                 : operand_kind::float64;
    o.bits = c.bits;
  }

  void sequence(operand& o, operand_kind kind, char closing) {
    const deeper level(in_);
    o.kind = kind;
    in_.advance();
    if (in_.accept(closing)) return;
    o.elements.reserve(2);
    do {
      o.elements.push_back(operand_here());
    } while (in_.accept(','));
    in_.expect(closing, "or ',' in an operand");
  }

  // Parses [base], [base+offset], [address] or [texture, sampler, {x, y}].
  void memory(operand& o) {
    const deeper level(in_);
    in_.advance();
    o.kind = operand_kind::memory;
    if (in_.current().kind == token_kind::word && in_.current().text != "WARP_SZ") {
      o.name = names_.resolve(in_.current().text);
      in_.advance();
      o.offset = in_.optional_offset();
    } else {
      const constant c = in_.expect_constant("an address");
      if (c.what != constant::kind::integer) in_.fail("an integer as the address before it");
      o.offset = static_cast<std::int64_t>(c.bits);
    }
    while (in_.accept(',')) o.elements.push_back(operand_here());
    in_.expect(']', "after an address");
  }

  reader in_;
  const surroundings& module_;
  body out_;
  names names_;
  position_list positions_;
  std::int32_t position_ = -1;
  std::size_t located_ = ~std::size_t{0};  // number of instructions before the last .loc
  std::vector<label_scope> label_scopes_;
  std::vector<std::vector<std::string_view>*> lists_;
  std::vector<operand> scratch_;
  bool is_call_ = false;
};

}  // namespace

std::string spelled(const instruction& i) {
  constexpr std::size_t most = 100;
  std::string out(i.opcode.substr(0, most));
  for (const std::string_view m : i.modifiers) {
    if (out.size() + m.size() > most) return out + "...";
    out += "." + std::string(m);
  }
  return out;
}

body parse_body(const function& f, const surroundings& module, std::deque<std::string>& names) {
  return body_parser(f, module, names).parse();
}

}  // namespace stepwise::ptx
