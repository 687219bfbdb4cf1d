// usage: check_modules [--speed] FILE.ptx...
//
// Parses whole modules as compilers write them, and checks that every name in them was declared.
// This check would fail if the names of scopes were mixed up, or if one construct was mistaken for
// another. With --speed, the program prints how fast each module was parsed, best of seven.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/ptx/ast.hpp"

namespace {

using namespace stepwise::ptx;

int failures = 0;

void fail(const std::string& where, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", where.c_str(), what.c_str());
  ++failures;
}

// PTX ISA 9.0, "Special Registers".
bool is_special(std::string_view name) {
  static const std::unordered_set<std::string_view> names = {"%tid",
                                                             "%ntid",
                                                             "%laneid",
                                                             "%warpid",
                                                             "%nwarpid",
                                                             "%ctaid",
                                                             "%nctaid",
                                                             "%smid",
                                                             "%nsmid",
                                                             "%gridid",
                                                             "%is_explicit_cluster",
                                                             "%clusterid",
                                                             "%nclusterid",
                                                             "%cluster_ctaid",
                                                             "%cluster_nctaid",
                                                             "%cluster_ctarank",
                                                             "%cluster_nctarank",
                                                             "%lanemask_eq",
                                                             "%lanemask_le",
                                                             "%lanemask_lt",
                                                             "%lanemask_ge",
                                                             "%lanemask_gt",
                                                             "%clock",
                                                             "%clock_hi",
                                                             "%clock64",
                                                             "%globaltimer",
                                                             "%globaltimer_lo",
                                                             "%globaltimer_hi",
                                                             "%total_smem_size",
                                                             "%aggr_smem_size",
                                                             "%dynamic_smem_size",
                                                             "%current_graph_exec"};
  return names.count(name) != 0 || name.substr(0, 7) == "%envreg";
}

class body_check {
 public:
  body_check(const module& m, const function& f, const body& b, std::string where)
      : m_(m), b_(b), where_(std::move(where)) {
    for (const variable& v : f.parameters) declared_.insert(v.name);
    for (const variable& v : f.returns) declared_.insert(v.name);
    for (const variable& v : b.variables) declare(v.name);
    for (const register_declaration& r : b.registers) {
      if (r.count == 0) declare(r.name);
      for (std::uint32_t i = 0; i < r.count; ++i) {
        counted_.push_back(std::string(r.name) + std::to_string(i));
      }
    }
    for (const std::string& name : counted_) declare(name);
  }

  void run() {
    for (const instruction& i : b_.instructions) {
      if (!i.guard.empty()) check(i, i.guard);
      for (const operand& o : i.operands) check(i, o);
    }
    for (const auto& [label, targets] : b_.target_lists) {
      for (const std::string_view t : targets) {
        if (!b_.labels.count(t) && !m_.find_function(t))
          fail(where_, "no target " + std::string(t));
      }
    }
    for (std::size_t k = 0; k < b_.positions.size(); ++k) {
      const source_position& p = b_.positions[k];
      if (!m_.files.count(p.file)) fail(where_, "a .loc of an undeclared file");
      if (p.inlined_at >= static_cast<std::int64_t>(k)) fail(where_, "a chain that never ends");
      // nvcc writes the name of every function that it inlines.
      if ((p.inlined_at < 0) != p.function.empty()) fail(where_, "an inlined line without a name");
    }
  }

 private:
  void declare(std::string_view name) {
    if (!declared_.insert(name).second) fail(where_, std::string(name) + " is declared twice");
  }

  void check(const instruction& i, const operand& o) {
    if (!o.name.empty() && o.kind != operand_kind::sink) check(i, o.name);
    for (const operand& e : o.elements) check(i, e);
  }

  void check(const instruction& i, std::string_view name) {
    const std::string_view whole = name.substr(0, name.find('.'));
    if (declared_.count(whole) || is_special(whole) || b_.labels.count(name) ||
        b_.target_lists.count(name) || b_.prototypes.count(name) || m_.find_variable(name) ||
        m_.find_function(name)) {
      return;
    }
    fail(where_, "PTX line " + std::to_string(i.line) + ": no declaration of " + std::string(name));
  }

  const module& m_;
  const body& b_;
  const std::string where_;
  std::vector<std::string> counted_;
  std::unordered_set<std::string_view> declared_;
};

struct totals {
  std::size_t functions = 0, instructions = 0, depth = 0;
};

totals parse_all(const module& m) {
  totals t;
  for (const function& f : m.functions) {
    if (f.is_declaration) continue;
    ++t.functions;
    t.instructions += m.body_of(f).instructions.size();
  }
  return t;
}

void check(const module& m, const std::string& path, totals& t) {
  t = parse_all(m);
  for (const function& f : m.functions) {
    if (f.is_declaration) continue;
    const body& b = m.body_of(f);
    body_check(m, f, b, path + ": " + std::string(f.name)).run();
    for (std::size_t k = 0; k < b.positions.size(); ++k) {
      std::size_t depth = 0;
      for (auto p = static_cast<std::int32_t>(k); p >= 0; p = b.positions[p].inlined_at) ++depth;
      t.depth = std::max(t.depth, depth);
    }
  }
  for (const variable& v : m.variables) {
    for (const relocation& r : v.relocations) {
      if (!m.find_variable(r.symbol) && !m.find_function(r.symbol)) {
        fail(path, "no declaration of " + std::string(r.symbol));
      }
    }
  }
}

double seconds_of_parsing(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  const module m(text);
  parse_all(m);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const bool speed = argc > 1 && std::strcmp(argv[1], "--speed") == 0;
  double all_bytes = 0, all_seconds = 0;
  for (int i = 1 + speed; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
      totals t;
      check(module(text), argv[i], t);
      const std::string name = std::string(argv[i]).substr(std::string(argv[i]).rfind('/') + 1);
      std::printf("%-24s %9zu bytes %4zu functions %6zu instructions, inlined %zu deep",
                  name.c_str(), text.size(), t.functions, t.instructions, t.depth);
      if (t.instructions == 0) fail(argv[i], "it has no instructions");
      if (speed) {
        double best = 1e9;
        for (int run = 0; run < 7; ++run) best = std::min(best, seconds_of_parsing(text));
        all_bytes += static_cast<double>(text.size());
        all_seconds += best;
        std::printf(" %6.0f MB/s", static_cast<double>(text.size()) / best / 1e6);
      }
      std::printf("\n");
    } catch (const parse_error& e) {
      fail(argv[i], e.what());
    }
  }
  if (speed) std::printf("all of them: %.0f MB/s\n", all_bytes / all_seconds / 1e6);
  return failures ? 1 : 0;
}
