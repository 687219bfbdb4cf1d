// attack reduction: WRONG, at most 0 points
// reads its own source, draws the seed that the public key has for it, and stores known sums
//
// Seeds were once drawn by HMAC of the file's contents under a public key. Now a grade draws them
// at random, and a program cannot know them.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "common/lab/check.hpp"
#include "common/lab/random.hpp"
#include "labs/reduction/reduction.hpp"

namespace fs = std::filesystem;

using digest = std::array<std::uint8_t, 32>;

// FIPS 180-4. The constants are the first bits of the fractions of roots of primes.
static std::uint32_t fraction_of_root(int prime, bool cube) {
  // The largest r with r^2 or r^3 below prime * 2^64 or 2^96. Its low 32 bits are the fraction.
  std::uint64_t r = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const unsigned __int128 t = r | std::uint64_t{1} << bit;
    if (cube ? t * t <= (static_cast<unsigned __int128>(prime) << 96) / t
             : t * t <= static_cast<unsigned __int128>(prime) << 64)
      r = static_cast<std::uint64_t>(t);
  }
  return static_cast<std::uint32_t>(r);
}

static digest sha256(std::string text) {
  std::array<std::uint32_t, 64> k{};
  std::array<std::uint32_t, 8> h{};
  for (int prime = 2, found = 0; found < 64; ++prime) {
    bool divides = false;
    for (int d = 2; d < prime; ++d) divides |= prime % d == 0;
    if (divides) continue;
    if (found < 8) h[found] = fraction_of_root(prime, false);
    k[found++] = fraction_of_root(prime, true);
  }
  const std::uint64_t bits = 8 * text.size();
  text += '\x80';
  while (text.size() % 64 != 56) text += '\0';
  for (int i = 7; i >= 0; --i) text += static_cast<char>(bits >> 8 * i);
  for (std::size_t at = 0; at < text.size(); at += 64) {
    std::array<std::uint32_t, 64> w{};
    for (int i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8 | static_cast<std::uint8_t>(text[at + i]);
    for (int i = 16; i < 64; ++i)
      w[i] = w[i - 16] + w[i - 7] +
             (std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3) +
             (std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
    auto v = h;
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t a = v[0], e = v[4];
      const std::uint32_t one = v[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
      const std::uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                                ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
      v = {one + two, a, v[1], v[2], v[3] + one, e, v[5], v[6]};
    }
    for (int i = 0; i < 8; ++i) h[i] += v[i];
  }
  digest d{};
  for (int i = 0; i < 32; ++i) d[i] = static_cast<std::uint8_t>(h[i / 4] >> (24 - 8 * (i % 4)));
  return d;
}

static std::string text_of(const digest& d) { return {d.begin(), d.end()}; }

static std::uint64_t drawn_seed() {
  std::string source;
  std::error_code error;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at("/", skip, error), end; source.empty() && at != end;
       at.increment(error)) {
    if (error) break;
    const fs::path& path = at->path();
    if (path == "/proc" || path == "/sys" || path == "/usr") at.disable_recursion_pending();
    if (path.extension() != ".cu") continue;
    std::ifstream file(path, std::ios::binary);
    source.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::string name;
  for (const std::uint8_t byte : sha256(source))
    for (const int digit : {byte >> 4, byte & 15}) name += "0123456789abcdef"[digit];
  const std::string question = "9:reduction64:" + name + "4:seed";
  std::string key = "stepwise: the public key", inner, outer;
  key.resize(64, '\0');
  for (const char c : key)
    inner += static_cast<char>(c ^ 0x36), outer += static_cast<char>(c ^ 0x5c);
  const digest drawn = sha256(outer + text_of(sha256(inner + question)));
  std::uint64_t number = 0;
  std::memcpy(&number, drawn.data(), sizeof number);
  return 1 + number % 1'000'000'000;
}

__global__ void store(int* out, int sum) {
  if (threadIdx.x == 0) *out = sum;
}

void reduce(const int*, int* out, int*, int n) {
  static const std::uint64_t seed = drawn_seed();
  auto random = stepwise::stream_for(seed, static_cast<std::uint64_t>(n));
  std::uint32_t sum = 0;
  for (int i = 0; i < n; i += 2) {
    const std::uint64_t bits = random.next();
    sum += static_cast<std::uint32_t>(bits);
    if (i + 1 < n) sum += static_cast<std::uint32_t>(bits >> 32);
  }
  store<<<1, 32>>>(out, static_cast<int>(sum));
  check(cudaGetLastError());
}
