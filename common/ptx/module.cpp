// Reads the module's scope: directives, variables, and the text of each function's body.
#include <algorithm>
#include <charconv>
#include <exception>
#include <mutex>

#include "common/ptx/ast.hpp"
#include "common/ptx/body_parser.hpp"
#include "common/ptx/debug_strings.hpp"
#include "common/ptx/declarations.hpp"
#include "common/ptx/reader.hpp"
#include "common/ptx/version.hpp"

namespace stepwise::ptx {
struct section {
  std::string_view text;
  std::uint32_t line = 0;
};

struct parsed_body {
  std::once_flag once;
  std::exception_ptr problem;  // the error, if the body has no content
  body content;
  std::deque<std::string> names;
};

// The module's directives, except for those in its public members.
struct module_index {
  std::unordered_map<std::string_view, std::size_t> functions, variables;  // by name
  std::unordered_map<std::string_view, std::string_view> aliases;
  section debug_str;
};

namespace {

// The version in a token like "9.0", which the lexer reads as one number; 0.0 if the token is not a
// version.
version version_of(const token& t) {
  version v;
  const char* const last = t.text.data() + t.text.size();
  const auto [dot, problem] = std::from_chars(t.text.data(), last, v.major);
  if (t.kind != token_kind::float64 || problem != std::errc() || dot == last || *dot != '.' ||
      std::from_chars(dot + 1, last, v.minor).ptr != last)
    return {};
  return v;
}

// Reads the whole text once, from directive to directive.
class module_reader {
 public:
  module_reader(module& m, module_index& index, std::string_view text)
      : m_(m), index_(index), in_(text, 1) {}

  void read() {
    while (!in_.at_end()) item();
    if (m_.version_major == 0) throw parse_error(1, "expected '.version' in the module");
  }

 private:
  void item() {
    if (in_.accept(';')) return;
    if (in_.current().kind != token_kind::directive) in_.fail("a directive");
    if (in_.accept_directive(".version")) return version();
    if (in_.accept_directive(".target")) return target();
    if (in_.accept_directive(".address_size")) return address_size();
    if (in_.accept_directive(".file")) return file();
    if (in_.accept_directive(".section")) return debug_section();
    if (in_.accept_directive(".alias")) return alias();
    if (in_.accept_directive(".pragma")) {
      do {
        in_.expect_string("a pragma's text");
      } while (in_.accept(','));
      return in_.expect(';', "after .pragma");
    }
    declaration();
  }

  void version() {
    const ptx::version v = version_of(in_.current());
    if (v.major == 0) in_.fail("a version such as 9.0");
    m_.version_major = v.major;
    m_.version_minor = v.minor;
    in_.advance();
  }

  // Reads, for example, ".target sm_90a, debug, texmode_independent".
  void target() {
    do {
      const std::string_view word = in_.expect_word("a target such as sm_90");
      if (word == "debug") m_.is_debug = true;
      const std::size_t underscore = word.find('_');
      if (word.substr(0, 3) != "sm_" && word.substr(0, 8) != "compute_") continue;
      m_.target = word;
      m_.target_sm = 0;
      std::from_chars(word.data() + underscore + 1, word.data() + word.size(), m_.target_sm);
    } while (in_.accept(','));
  }

  void address_size() {
    if (in_.expect_integer("an address size") != 64) {
      throw parse_error(in_.current().line, "only 64-bit addresses are supported");
    }
  }

  // Reads .file 1 "/home/student/reduction.cu", timestamp, size
  void file() {
    const std::uint32_t number = in_.expect_small("a file's number", ~0u);
    m_.files[number] = in_.expect_string("a file's name");
    for (int k = 0; k < 2 && in_.accept(','); ++k) in_.expect_integer("a time or a size");
  }

  void debug_section() {
    if (in_.current().kind != token_kind::directive) in_.fail("a section's name");
    const bool strings = in_.current().text == ".debug_str";
    in_.advance();
    section s;
    s.text = in_.expect_block(s.line, "before a section's content");
    if (strings) index_.debug_str = s;
  }

  void alias() {
    const std::string_view name = in_.expect_word("an alias");
    in_.expect(',', "after an alias");
    index_.aliases[name] = in_.expect_word("the function that an alias stands for");
    in_.expect(';', "after .alias");
  }

  void declaration() {
    linkage link;
    while (link.accept(in_)) {
    }
    if (in_.accept_directive(".entry")) return function_(link, true);
    if (in_.accept_directive(".func")) return function_(link, false);
    const state_space space = in_.current().kind == token_kind::directive
                                  ? space_of(in_.current().text)
                                  : state_space::none;
    if (space == state_space::none || space == state_space::param) {
      in_.fail("a directive of the module's scope");
    }
    in_.advance();
    std::vector<variable> declared;
    read_variables(in_, space, link, declared);
    in_.expect(';', "after a declaration");
    for (variable& v : declared) add(std::move(v));
  }

  void add(variable&& v) {
    const auto [found, is_new] = index_.variables.try_emplace(v.name, m_.variables.size());
    if (is_new) {
      m_.variables.push_back(std::move(v));
      return;
    }
    variable& before = m_.variables[found->second];
    if (!before.is_extern && !v.is_extern) {
      throw parse_error(v.line, "the variable '" + std::string(v.name) + "' is defined twice");
    }
    if (before.is_extern) before = std::move(v);
  }

  void function_(const linkage& link, bool is_entry) {
    function f;
    f.is_entry = is_entry;
    f.is_extern = link.is_extern;
    f.is_visible = link.is_visible || link.is_weak;
    f.is_weak = link.is_weak;
    f.line = in_.current().line;
    while (attribute(f)) {
    }
    if (!is_entry && in_.current().is('(')) read_parameters(in_, f.returns);
    f.name = in_.expect_word("a function's name");
    if (in_.current().is('(')) read_parameters(in_, f.parameters);
    while (attribute(f)) {
    }
    if (in_.accept(';')) {
      f.is_declaration = true;
    } else {
      f.body_text = in_.expect_block(f.body_line, "or ';' after a function's head");
    }
    add(std::move(f));
  }

  void add(function&& f) {
    const auto [found, is_new] = index_.functions.try_emplace(f.name, m_.functions.size());
    if (is_new) {
      m_.functions.push_back(std::move(f));
      return;
    }
    function& before = m_.functions[found->second];
    if (!before.is_declaration && !f.is_declaration) {
      throw parse_error(f.line, "the function '" + std::string(f.name) + "' is defined twice");
    }
    if (before.is_declaration) before = std::move(f);
  }

  // Up to three numbers; missing numbers are 1.
  void extents(std::uint32_t (&out)[3]) {
    out[0] = out[1] = out[2] = 1;
    int k = 0;
    do {
      if (k == 3) in_.fail("at most three numbers");
      out[k++] = in_.expect_small("a number", ~0u);
    } while (in_.accept(','));
  }

  // One of the directives between a function's parameters and its body.
  bool attribute(function& f) {
    if (in_.current().kind != token_kind::directive) return false;
    if (in_.accept_directive(".maxntid")) {
      extents(f.max_threads);
    } else if (in_.accept_directive(".reqntid")) {
      extents(f.required_threads);
    } else if (in_.accept_directive(".minnctapersm")) {
      f.min_blocks = in_.expect_small("a number of blocks", ~0u);
    } else if (in_.accept_directive(".maxnreg")) {
      f.max_registers = in_.expect_small("a number of registers", ~0u);
    } else if (in_.accept_directive(".maxclusterrank")) {
      f.max_cluster_rank = in_.expect_small("a number of blocks", ~0u);
    } else if (in_.accept_directive(".reqnctapercluster")) {
      extents(f.required_cluster);
      f.has_cluster = true;
    } else if (in_.accept_directive(".explicitcluster")) {
      f.has_cluster = true;
    } else if (in_.accept_directive(".noreturn")) {
      f.is_noreturn = true;
    } else if (in_.accept_directive(".maxnctapersm") || in_.accept_directive(".abi_preserve")) {
      in_.expect_integer("a number");
    } else if (in_.accept_directive(".attribute")) {
      unified();
    } else if (in_.accept_directive(".pragma")) {
      in_.expect_string("a pragma's text");
      in_.expect(';', "after .pragma");
    } else if (!in_.accept_directive(".blocksareclusters") &&
               !in_.accept_directive(".abi_preserve_control")) {
      in_.fail("a directive of a function's head, '{' or ';'");
    }
    return true;
  }

  // Reads ".attribute(.unified(1, 2))", which marks one function with one name in several modules.
  void unified() {
    in_.expect('(', "after .attribute");
    if (!in_.accept_directive(".unified")) in_.fail("'.unified'");
    in_.expect('(', "after .unified");
    in_.expect_integer("the upper half of a UUID");
    in_.expect(',', "in .unified");
    in_.expect_integer("the lower half of a UUID");
    in_.expect(')', "after .unified");
    in_.expect(')', "after the attributes");
  }

  module& m_;
  module_index& index_;
  reader in_;
};

}  // namespace

struct module::state {
  explicit state(std::string owned) : text(std::move(owned)) {}

  const std::string text;
  module_index index;
  std::once_flag debug_once;
  debug_strings strings;
  std::unique_ptr<parsed_body[]> bodies;

  std::string_view debug_string(std::string_view label, std::int64_t offset) {
    std::call_once(debug_once, [&] {
      const section& s = index.debug_str;
      if (s.line != 0) strings = debug_strings(s.text, s.line);
    });
    return strings.at(label, offset);
  }
};

module::module(std::string text) :state_(std::make_unique<state>(std::move(text))) {
  std::string_view all = state_->text;
  while (!all.empty() && all.back() == '\0') all.remove_suffix(1);
  module_reader(*this, state_->index, all).read();
  state_->bodies = std::make_unique<parsed_body[]>(functions.size());
}

module::~module() = default;

std::string text_of(version v) { return std::to_string(v.major) + "." + std::to_string(v.minor); }

version stated_version(std::string_view text) {
  try {
    lexer in(text, 1);
    if (!in.next().is(token_kind::directive, ".version")) return {};
    return version_of(in.next());
  } catch (const parse_error&) {
    return {};
  }
}

const function* module::find_function(std::string_view name) const {
  // An alias may refer to an alias, but hostile text may contain a cycle.
  for (int hops = 0; hops < 8; ++hops) {
    const auto alias = state_->index.aliases.find(name);
    if (alias == state_->index.aliases.end()) break;
    name = alias->second;
  }
  const auto found = state_->index.functions.find(name);
  return found == state_->index.functions.end() ? nullptr : &functions[found->second];
}

const variable* module::find_variable(std::string_view name) const {
  const auto found = state_->index.variables.find(name);
  return found == state_->index.variables.end() ? nullptr : &variables[found->second];
}

const body& module::body_of(const function& f) const {
  if (f.is_declaration) {
    throw parse_error(f.line, "the function '" + std::string(f.name) + "' has no body here");
  }
  parsed_body& slot = state_->bodies[static_cast<std::size_t>(&f - functions.data())];
  std::call_once(slot.once, [&] {
    surroundings around;
    around.is_global = [this](std::string_view name) {
      return state_->index.variables.count(name) != 0 || state_->index.functions.count(name) != 0;
    };
    around.debug_string = [this](std::string_view label, std::int64_t offset) {
      return state_->debug_string(label, offset);
    };
    // Under ThreadSanitizer, call_once blocks forever after an exception has left it.
    try {
      slot.content = parse_body(f, around, slot.names);
    } catch (...) {
      slot.problem = std::current_exception();
    }
  });
  if (slot.problem != nullptr) std::rethrow_exception(slot.problem);
  return slot.content;
}

}  // namespace stepwise::ptx
