// Compares fusion with ptxas on generated bodies. ptxas's line table shows whether a product has
// its own machine instruction. Usage: fusion_ptxas_test PTXAS [BODIES]. Skipped without PTXAS.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/emulator/lower/fusion.hpp"
#include "common/image/image.hpp"

namespace {

using namespace stepwise;

class generator {
 public:
  generator(unsigned seed, std::string type) : random_(seed), type_(std::move(type)) {}

  std::string module(int bodies) {
    text_ = ".version 9.0\n.target sm_90\n.address_size 64\n";
    for (int n = 0; n < bodies; ++n) body(n);
    return text_;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  bool is_pair() const { return type_.ends_with("x2"); }
  std::string bits() const { return is_pair() ? "b32" : type_ == "f64" ? "f64" : "f32"; }
  std::string name(int n) const { return "%f" + std::to_string(n); }
  void line(const std::string& l) { text_ += l + ";\n"; }
  void keep(const std::string& what) { line("st.volatile.global." + bits() + " [%to], " + what); }
  std::string factor() { return name(below(inputs)); }

  // Leaves out neg.ftz, because its rule is not fully known.
  void body(int n) {
    text_ += ".visible .entry k" + std::to_string(n) +
             "(.param .u64 from, .param .u64 to, .param .u32 n)\n{\n";
    line(".reg ." + bits() + " %f<100>");
    line(".reg .b64 %from, %to");
    line(".reg .b32 %i, %n");
    line(".reg .pred %p");
    line("ld.param.u64 %from, [from]");
    line("ld.param.u64 %to, [to]");
    line("ld.param.u32 %n, [n]");
    line("mov.u32 %i, %tid.x");
    line("setp.lt.u32 %p, %i, %n");
    for (int k = 0; k < inputs; ++k)
      line("ld.volatile.global." + bits() + " " + name(k) + ", [%from+" + std::to_string(8 * k) +
           "]");
    const int statements = 4 + below(24);
    std::vector<std::string> products;
    std::set<std::pair<std::string, std::string>> sums;
    int next = inputs, labels = 0;
    const auto some_product = [&] {
      return products.empty()
                 ? factor()
                 : products[static_cast<std::size_t>(below(static_cast<int>(products.size())))];
    };
    int pair = below(inputs * inputs);
    for (int s = 0; s < statements; ++s) {
      switch (below(12)) {
        case 0:
        case 1:
        case 2:
        case 3: {
          products.push_back(name(next++));
          // Uses a new pair of factors, because ptxas merges equal products.
          while (pair / inputs >= pair % inputs) pair = (pair + 1) % (inputs * inputs);
          const std::string first = name(pair / inputs), second = name(pair % inputs);
          pair = (pair + 1) % (inputs * inputs);
          const bool constant_factor = !is_pair() && one_in(4);
          line("mul." + type_ + " " + products.back() + ", " + first + ", " +
               (constant_factor ? constant(static_cast<unsigned>(s)) : second));
          break;
        }
        case 4:
          line("neg." + (is_pair() ? type_ : bits()) + " " + name(next) + ", " + some_product());
          products.push_back(name(next++));
          break;
        case 5:
          if (one_in(3)) divide(labels);
          break;
        default: {
          const bool swap = one_in(2);
          const std::string p = some_product(), q = one_in(2) ? some_product() : factor();
          if (!sums.emplace(std::min(p, q), std::max(p, q)).second)
            break;  // ptxas merges equal sums
          const std::string sum = name(next++);
          line((one_in(2) ? "add." : "sub.") + type_ + " " + sum + ", " + (swap ? q : p) + ", " +
               (swap ? p : q));
          keep(sum);
        }
      }
    }
    if (!products.empty() && one_in(2)) keep(products.front());
    line("ret");
    text_ += "}\n";
  }

  // A constant factor that is never 1 or a power of two.
  std::string constant(unsigned n) const {
    char text[24];
    if (type_ == "f64")
      std::snprintf(text, sizeof text, "0d%016llX", 0x3fb1234500000000ull + n);
    else
      std::snprintf(text, sizeof text, "0f%08X", 0x3dccccc0u + n);
    return text;
  }

  void divide(int& labels) {
    switch (below(3)) {
      case 0: {
        const std::string label = "L" + std::to_string(labels++);
        line("@%p bra " + label);
        line("st.volatile.global.b32 [%to], %i");
        text_ += label + ":\n";
        break;
      }
      case 1:
        line("bar.sync 0");
        break;
      default:
        line("membar.gl");
    }
  }

  static constexpr int inputs = 12;
  std::mt19937 random_;
  std::string type_, text_;
};

std::string content(const std::filesystem::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct tally {
  int fused = 0, kept = 0, wrong = 0;
};

// Whether anything except a negation reads the instruction's result.
bool is_read(const ptx::body& body, std::uint32_t n) {
  for (std::uint32_t m = n + 1; m < body.instructions.size(); ++m) {
    const ptx::instruction& i = body.instructions[m];
    for (std::size_t k = 1; k < i.operands.size(); ++k)
      if (i.operands[k].name == body.instructions[n].operands[0].name && i.opcode != "neg")
        return true;
  }
  return false;
}

void compare(const std::string& text, const std::string& elf, tally& t) {
  const ptx::module module(text);
  const auto cubin = image::read_cubin(std::as_bytes(std::span(elf)));
  if (!cubin.ok()) return void(++t.wrong);
  for (const ptx::function& f : module.functions) {
    const auto& body = module.body_of(f);
    const auto found = emulator::find_fusion(body, emulator::control_flow(body), true);
    const auto& lines = cubin->kernels.at(std::string(f.name)).instructions_of_ptx_line;
    for (std::uint32_t n = 0; n < body.instructions.size(); ++n) {
      const ptx::instruction& i = body.instructions[n];
      if (i.opcode != "mul" || !is_read(body, n)) continue;
      const bool ours = found.products.contains(n), theirs = !lines.contains(i.line);
      ++(theirs ? t.fused : t.kept);
      if (ours == theirs) continue;
      if (++t.wrong < 10)
        std::printf("%s, PTX line %u: %s here, %s by ptxas\n", std::string(f.name).c_str(), i.line,
                    ours ? "fused" : "kept", theirs ? "fused" : "kept");
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 77;
  const int bodies = count > 2 ? std::atoi(arguments[2]) : 150;
  char folder[] = "/tmp/stepwise-fusion-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::filesystem::path here = folder;
  tally t;
  unsigned seed = 1;
  for (const char* type : {"f32", "ftz.f32", "f64", "f16x2", "bf16x2"}) {
    const std::string text = generator(seed++, type).module(bodies);
    std::ofstream(here / "k.ptx") << text;
    const std::string command = "'" + std::string(arguments[1]) + "' -arch=sm_90 -lineinfo -o '" +
                                (here / "k.cubin").string() + "' '" + (here / "k.ptx").string() +
                                "'";
    if (std::system(command.c_str()) != 0) return 1;
    const tally before = t;
    compare(text, content(here / "k.cubin"), t);
    std::printf("%s: %d fused, %d kept, %d wrong\n", type, t.fused - before.fused,
                t.kept - before.kept, t.wrong - before.wrong);
  }
  if (t.wrong == 0)
    std::filesystem::remove_all(here);
  else
    std::printf("the last text and cubin are in %s\n", folder);
  return t.wrong == 0 && t.fused > 0 && t.kept > 0 ? 0 : 1;
}
