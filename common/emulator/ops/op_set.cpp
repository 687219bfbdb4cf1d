// Selects the fastest compiled ops (meson.build) that this CPU can run, and builds op names.
#include <cstring>
#include <stdexcept>
#include <string>

#include "common/emulator/ops/simd.hpp"

namespace stepwise::emulator {
namespace {

#if defined(__x86_64__)
[[maybe_unused]] bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

[[maybe_unused]] bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}
#endif

struct choice {
  const op_set* ops = nullptr;
  const char* missing = nullptr;  // the lowest compiled instruction set, if this CPU lacks it
};

choice choose() {
#define STEPWISE_ALL_OPS(simd)                                    \
  {&simd::integer_ops,   &simd::floating_ops, &simd::compare_ops, \
   &simd::convert_ops,   &simd::memory_ops,   &simd::matrix_ops,  \
   &simd::warpgroup_ops, &simd::half_ops,     &simd::rounding_ops}
  choice c;
#ifdef STEPWISE_OPS_AVX512
  static constexpr op_set widest = STEPWISE_ALL_OPS(avx512);
  if (has_avx512()) return {&widest, nullptr};
  c = {&widest, "AVX-512"};
#endif
#ifdef STEPWISE_OPS_AVX2
  static constexpr op_set wide = STEPWISE_ALL_OPS(avx2);
  if (has_avx2()) return {&wide, nullptr};
  c = {&wide, "AVX2"};
#endif
#ifdef STEPWISE_OPS_BASELINE
  static constexpr op_set plain = STEPWISE_ALL_OPS(baseline);
  c = {&plain, nullptr};
#endif
#undef STEPWISE_ALL_OPS
  return c;
}

}  // namespace

op_name::op_name(const char* text) { append(text); }

op_name operator+(const op_name& a, const op_name& b) {
  op_name sum;
  sum.append(a.text());
  sum.append(b.text());
  return sum;
}

void op_name::append(std::string_view part) {
  if (part.size() > sizeof text_ - size_)
    throw std::length_error("the name of an op: " + std::string(text()) + std::string(part));
  std::memcpy(text_ + size_, part.data(), part.size());
  size_ = static_cast<unsigned char>(size_ + part.size());
}

void add_op(op_table& table, const op_name& name, handler run, value_class d, value_class a,
            value_class b, value_class c) {
  table.push_back({name, run, d, a, b, c});
}

const op_set& best_op_set() { return *choose().ops; }
const char* missing_instruction_set() { return choose().missing; }

}  // namespace stepwise::emulator
