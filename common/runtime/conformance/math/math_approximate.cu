// The approximate instructions of floats, of 16 bits and of doubles' upper words: the bits that an
// H100 gave, as sums over ranges of operands; on a GPU over all 2^32 operands, too.
#include <cstdint>
#include <string>
#include <utility>

#include "common/emulator/ops/tests/special_functions_recorded.hpp"
#include "common/emulator/tests/programs/program.hpp"

namespace {

using word = std::uint32_t;

// In the order of recorded::forms.
constexpr int forms = 15;

__device__ word mixed(word h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}
__device__ word term(word operand, word result) { return mixed(result + operand * 0x9e3779b9u); }

#define RESULT(number, instruction)                                                  \
  if constexpr (Form == number) {                                                    \
    float r;                                                                         \
    asm volatile(instruction ".f32 %0, %1;" : "=f"(r) : "f"(__uint_as_float(bits))); \
    return __float_as_uint(r);                                                       \
  }
template <int Form>
__device__ word apply_form(word bits) {
  RESULT(0, "rcp.approx")
  RESULT(1, "rcp.approx.ftz")
  RESULT(2, "rsqrt.approx")
  RESULT(3, "rsqrt.approx.ftz")
  RESULT(4, "sqrt.approx")
  RESULT(5, "sqrt.approx.ftz")
  RESULT(6, "ex2.approx")
  RESULT(7, "ex2.approx.ftz")
  RESULT(8, "lg2.approx")
  RESULT(9, "lg2.approx.ftz")
  RESULT(10, "sin.approx")
  RESULT(11, "sin.approx.ftz")
  RESULT(12, "cos.approx")
  RESULT(13, "cos.approx.ftz")
  RESULT(14, "tanh.approx")
  return 0;
}
#undef RESULT

__device__ word apply_quotient(int form, word a, word b) {
  const float x = __uint_as_float(a), y = __uint_as_float(b);
  float r = 0;
  if (form == 0) asm volatile("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  if (form == 1) asm volatile("div.approx.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  if (form == 2) asm volatile("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  if (form == 3) asm volatile("div.full.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return __float_as_uint(r);
}

// The pair has `low` and another operand in its halves: the halves' results, or 0xdead if they are
// not those of the scalar form.
#define HALVES(number, scalar, pair)                                          \
  if (form == number) {                                                       \
    asm volatile(scalar " %0, %1;" : "=h"(first) : "h"(low));                 \
    asm volatile(scalar " %0, %1;" : "=h"(second) : "h"(high));               \
    asm volatile(pair " %0, %1;" : "=r"(both) : "r"(low | word{high} << 16)); \
  }
__device__ word apply_half(int form, std::uint16_t low) {
  const std::uint16_t high = static_cast<std::uint16_t>(mixed(low));
  std::uint16_t first = 0, second = 0;
  word both = 0;
  HALVES(0, "ex2.approx.f16", "ex2.approx.f16x2")
  HALVES(1, "tanh.approx.f16", "tanh.approx.f16x2")
  HALVES(2, "ex2.approx.ftz.bf16", "ex2.approx.ftz.bf16x2")
  HALVES(3, "tanh.approx.bf16", "tanh.approx.bf16x2")
  return both == (first | word{second} << 16) ? first : 0xdeadu;
}
#undef HALVES

__device__ word apply_upper(int form, word upper) {
  double r = 0;
  const double x = __hiloint2double(static_cast<int>(upper), 0x1234567);
  if (form == 0) asm volatile("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  if (form == 1) asm volatile("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return __double2loint(r) == 0 ? static_cast<word>(__double2hiint(r)) : 0xdeadbeefu;
}

// rsqrt.approx.f64 against what ptxas makes of it: 1 if they differ. Operands of all exponents,
// subnormal and special ones among them.
__device__ double refined_root(double x) {
  double first;
  asm volatile("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(first) : "d"(x));
  const double error = __fma_rn(x, -__dmul_rn(first, first), 1.0);
  return __fma_rn(__fma_rn(error, 0.375, 0.5), __dmul_rn(first, error), first);
}
__device__ word refined_otherwise(word i) {
  const word upper = i % 64 == 0 ? i << 16 : mixed(i);
  const double x = __hiloint2double(static_cast<int>(upper), static_cast<int>(mixed(~i)));
  double found, expected;
  asm volatile("rsqrt.approx.f64 %0, %1;" : "=d"(found) : "d"(x));
  if (x != x || x < 0) return found == found;
  if (x == 0)
    expected = copysign(__longlong_as_double(0x7ff0000000000000), x);
  else if (isinf(x))
    expected = 0;
  else if (x < 0x1p-1022)
    expected = __dmul_rn(refined_root(__dmul_rn(x, 0x1p54)), 0x1p27);
  else
    expected = refined_root(x);
  return __double_as_longlong(found) != __double_as_longlong(expected);
}

// One thread has `per_thread` operands; all threads' terms are summed in *sum.
constexpr word threads = 256, per_thread = 64;

template <class Term>
__global__ void add_terms(Term of, word* sum) {
  word mine = 0;
  for (word k = 0; k < per_thread; ++k)
    mine += of((blockIdx.x * per_thread + k) * threads + threadIdx.x);
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
template <class Term>
word sum_of(Term of, word count_in_blocks) {
  device_array<word> sum(1);
  add_terms<<<count_in_blocks, threads>>>(of, sum.get());
  finish();
  return sum.values()[0];
}

template <int Form>
struct of_form {
  word first;
  __device__ word operator()(word i) const { return term(first + i, apply_form<Form>(first + i)); }
};
struct of_quotients {
  int form;
  bool near;
  __device__ word operand(word i) const {
    const word v = mixed(i + 777);
    return near ? (v & 0x87ffffffu) + (119u << 23) : v;
  }
  __device__ word operator()(word i) const {
    return term(i, apply_quotient(form, operand(2 * i), operand(2 * i + 1)));
  }
};
struct of_halves {
  int form;
  __device__ word operator()(word i) const {
    return term(i, apply_half(form, static_cast<std::uint16_t>(i)));
  }
};
struct of_upper_words {
  int form;
  word first, step;
  __device__ word operator()(word i) const {
    return term(first + i * step, apply_upper(form, first + i * step));
  }
};

struct of_refined_roots {
  __device__ word operator()(word i) const { return refined_otherwise(i); }
};

constexpr word per_block = threads * per_thread, range = 65536 / per_block;

bool expect(const std::string& what, word found, word expected) {
  if (found == expected) return true;
  std::printf("%s: the sum is 0x%08x, an H100's is 0x%08x\n", what.c_str(), found, expected);
  return false;
}

template <int Form>
bool check_form(bool all) {
  const recorded::form& f = recorded::forms[Form];
  const std::string name = f.name;
  bool right =
      expect(name + " on [1, 2)", sum_of(of_form<Form>{0x3f800000u}, 128 * range), f.binade);
  for (int r = 0; r < recorded::range_count; ++r) {
    const word first = word{recorded::ranges[r]} << 16;
    char where[32];
    std::snprintf(where, sizeof where, " from 0x%08x", first);
    right &= expect(name + where, sum_of(of_form<Form>{first}, range), f.sums[r]);
  }
  if (all) right &= expect(name, sum_of(of_form<Form>{0}, 65536 * range), f.all);
  return right;
}
template <int... Form>
bool check_forms(bool all, std::integer_sequence<int, Form...>) {
  return (check_form<Form>(all) & ...);
}

}  // namespace

int main() {
  const bool on_gpu = !on_emulator();
  bool right = check_forms(on_gpu, std::make_integer_sequence<int, forms>());
  for (int q = 0; q < 4; ++q) {
    const recorded::quotients& f = recorded::quotient_forms[q];
    const std::string name = f.name;
    right &= expect(name, sum_of(of_quotients{q, false}, 2 * range), f.all);
    right &= expect(name + ", near", sum_of(of_quotients{q, true}, 2 * range), f.near);
  }
  const char* const names[] = {"ex2.f16", "tanh.f16", "ex2.bf16", "tanh.bf16"};
  const word expected[] = {recorded::ex2_f16, recorded::tanh_f16, recorded::ex2_bf16,
                           recorded::tanh_bf16};
  for (int h = 0; h < 4; ++h) right &= expect(names[h], sum_of(of_halves{h}, range), expected[h]);
  right &= expect("rcp.f64", sum_of(of_upper_words{0, 0, 65536}, range), recorded::rcp_f64_sparse);
  right &= expect("rcp.f64 on [1, 2)", sum_of(of_upper_words{0, 0x3ff00000u, 1}, 16 * range),
                  recorded::rcp_f64_dense);
  right &=
      expect("rsqrt.f64", sum_of(of_upper_words{1, 0, 65536}, range), recorded::rsqrt_f64_sparse);
  right &= expect("rsqrt.f64 on [1, 4)", sum_of(of_upper_words{1, 0x3ff00000u, 1}, 32 * range),
                  recorded::rsqrt_f64_dense);
  const word refined = sum_of(of_refined_roots{}, range);
  if (refined != 0) std::printf("rsqrt.approx.f64: %u of 65536 results differ\n", refined);
  right &= refined == 0;
  if (!right) return 1;
  std::printf("approximate instructions, all right\n");
  return 0;
}
