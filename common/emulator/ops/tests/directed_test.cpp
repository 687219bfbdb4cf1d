// Directed rounding in integers, compared with the rounding modes of x86.
#include "common/emulator/ops/directed.hpp"

#include <doctest/doctest.h>

#include <cfenv>
#include <random>
#include <vector>

using namespace stepwise::emulator;

namespace {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, u32, u64>;

// Zeros, subnormal numbers, the largest number and infinity, with their neighbours.
template <class T>
std::vector<T> edges() {
  using limits = std::numeric_limits<T>;
  std::vector<T> all = {0, 1, 3, limits::epsilon(), limits::infinity(), limits::quiet_NaN()};
  for (const T v : {limits::denorm_min(), limits::min(), limits::max(), T{1}, T{1.5}})
    for (const int by : {-2, -1, 0, 1})
      all.push_back(std::bit_cast<T>(static_cast<bits_of<T>>(std::bit_cast<bits_of<T>>(v) + by)));
  const std::size_t positive = all.size();
  for (std::size_t k = 0; k < positive; ++k) all.push_back(-all[k]);
  return all;
}

template <class T>
struct operands {
  T a, b, c;
};

// Every triple of edges, numbers with any bits, and numbers near each other, which cancel.
template <class T>
std::vector<operands<T>> cases() {
  std::vector<operands<T>> all;
  for (const T a : edges<T>())
    for (const T b : edges<T>())
      for (const T c : edges<T>()) all.push_back({a, b, c});
  std::mt19937_64 random(1);
  const auto any = [&] { return std::bit_cast<T>(static_cast<bits_of<T>>(random())); };
  const auto near_one = [&] {
    return std::ldexp(T(1) + static_cast<T>(random() % 4096) * std::numeric_limits<T>::epsilon(),
                      static_cast<int>(random() % 5) - 2);
  };
  for (int k = 0; k < 100'000; ++k) {
    all.push_back({any(), any(), any()});
    const T a = near_one(), b = near_one();
    all.push_back({a, b, k % 2 ? -near_one() : -(a * b)});
  }
  return all;
}

template <class T>
bool same(T mine, T host) {
  return std::bit_cast<bits_of<T>>(mine) == std::bit_cast<bits_of<T>>(host) ||
         (mine != mine && host != host);
}

template <class T, rounding Mode, class Operation>
T on_the_host(const Operation& operation, const operands<T>& o) {
  volatile T a = o.a, b = o.b, c = o.c;
  std::fesetround(Mode == rounding::zero   ? FE_TOWARDZERO
                  : Mode == rounding::down ? FE_DOWNWARD
                                           : FE_UPWARD);
  volatile T result = operation(T(a), T(b), T(c));
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class T, rounding Mode, class Operation>
void matches_in_mode(const char* name, const Operation& operation) {
  using number = directed_number<T, Mode>;
  unsigned wrong = 0;
  for (const operands<T>& o : cases<T>())
    wrong += !same(operation(number{o.a}, number{o.b}, number{o.c}).value,
                   on_the_host<T, Mode>(operation, o));
  CHECK_MESSAGE(wrong == 0, name, " of ", sizeof(T), " bytes, mode ", int(Mode));
}

template <class T, class Operation>
void matches(const char* name, Operation operation) {
  matches_in_mode<T, rounding::zero>(name, operation);
  matches_in_mode<T, rounding::down>(name, operation);
  matches_in_mode<T, rounding::up>(name, operation);
}

TEST_CASE_TEMPLATE("directed rounding equals the host's", T, f32, f64) {
  matches<T>("+", [](auto a, auto b, auto) { return a + b; });
  matches<T>("-", [](auto a, auto b, auto) { return a - b; });
  matches<T>("*", [](auto a, auto b, auto) { return a * b; });
  matches<T>("/", [](auto a, auto b, auto) { return a / b; });
  matches<T>("fma", [](auto a, auto b, auto c) {
    using std::fma;
    return fma(a, b, c);
  });
  matches<T>("sqrt", [](auto a, auto, auto) {
    using std::sqrt;
    return sqrt(a);
  });
}

}  // namespace
