// SHA-256, HMAC, and the numbers that are derived from them.
#include "grader/judge/key.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <string.h>
#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "common/lab/random.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

constexpr std::size_t least_key_bytes = 16, block_bytes = 64, hidden_count = 4;
constexpr std::uint64_t most_seed = std::uint64_t{1} << 53;

std::uint64_t seed_of(std::uint64_t bits) {
  return least_secret_seed + bits % (most_seed - least_secret_seed);
}

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void add_block(std::array<std::uint32_t, 8>& state, const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
           std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const std::array<std::uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += sum[i];
}

}  // namespace

digest sha256(std::string_view bytes) {
  std::array<std::uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string padded(bytes);
  padded += '\x80';
  padded.resize((padded.size() + 8 + block_bytes - 1) / block_bytes * block_bytes, '\0');
  const std::uint64_t bits = 8 * std::uint64_t{bytes.size()};
  for (std::size_t i = 0; i < 8; ++i)
    padded[padded.size() - 1 - i] = static_cast<char>(bits >> 8 * i);
  for (std::size_t at = 0; at < padded.size(); at += block_bytes)
    add_block(state, reinterpret_cast<const std::uint8_t*>(padded.data()) + at);
  digest result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return result;
}

digest hmac_sha256(std::string_view key, std::string_view bytes) {
  std::string padded(key);
  if (padded.size() > block_bytes) {
    const digest shorter = sha256(padded);
    padded.assign(shorter.begin(), shorter.end());
  }
  padded.resize(block_bytes, '\0');
  const auto with = [&](char mask) {
    std::string mixed = padded;
    for (char& c : mixed) c = static_cast<char>(c ^ mask);
    return mixed;
  };
  const digest inner = sha256(with(0x36) + std::string(bytes));
  return sha256(with(0x5c) + std::string(inner.begin(), inner.end()));
}

std::string hex_of(const digest& d) {
  std::string text;
  for (const std::uint8_t byte : d) text += fmt::format("{:02x}", byte);
  return text;
}

std::uint64_t fresh_seed() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
    throw failure(exit_code::environment,
                  std::string("cannot draw a random number: ") + strerror(errno));
  return seed_of(bits);
}

grading_key::grading_key() : key_("stepwise: the public key"), is_public_(true) {}

grading_key::grading_key(const std::filesystem::path& file) {
  const auto content = read_if_there(file);
  if (!content) throw failure(exit_code::usage, "--key: there is no file " + file.string());
  if (content->size() < least_key_bytes)
    throw failure(exit_code::usage, fmt::format("{} has {} bytes, but a key has at least {}; to "
                                                "create one: head -c 32 /dev/urandom > FILE",
                                                file.string(), content->size(), least_key_bytes));
  key_ = *content;
}

std::string grading_key::id() const {
  return hex_of(hmac_sha256(key_, "the name of this key")).substr(0, 12);
}

// Each part is preceded by its length, so different questions never have the same bytes.
std::uint64_t grading_key::draw(const lab& l, std::string_view from,
                                const std::string& what) const {
  std::string question;
  for (const std::string& part : {l.name, hex_of(sha256(from)), what})
    question += fmt::format("{}:{}", part.size(), part);
  const digest drawn = hmac_sha256(key_, question);
  std::uint64_t number = 0;
  std::memcpy(&number, drawn.data(), sizeof number);
  return number;
}

std::uint64_t grading_key::seed(const lab& l, std::string_view content) const {
  return is_public_ ? fresh_seed() : seed_of(draw(l, content, "seed"));
}

std::uint64_t grading_key::seed_of_inputs(const lab& l, std::uint64_t shown) const {
  return is_public_ ? shown : seed_of(draw(l, std::to_string(shown), "seed of inputs"));
}

lab_size grading_key::draw_size(const lab& l, std::string_view from, const std::string& what,
                                const lab_size& least, const lab_size& most) const {
  lab_size size;
  for (std::size_t d = 0; d < least.size(); ++d) {
    const std::uint64_t drawn = draw(l, from, fmt::format("{} {}", what, d));
    const auto width = static_cast<std::uint64_t>(most[d] - least[d]) + 1;
    if (least[d] < 1) {
      size.push_back(least[d] + static_cast<std::int64_t>(drawn % width));
      continue;
    }
    const double fraction = static_cast<double>(drawn >> 11) * 0x1p-53;
    const double low = std::log(static_cast<double>(least[d]));
    const double high = std::log(static_cast<double>(most[d]) + 1);
    const auto number = static_cast<std::int64_t>(std::exp(low + fraction * (high - low)));
    size.push_back(std::clamp(number - number % l.size_unit, least[d], most[d]));
  }
  return size;
}

std::string grading_key::sizes_come_from(std::string_view content, std::uint64_t seed) const {
  return is_public_ ? fmt::format("seed {}", seed) : std::string(content);
}

std::vector<lab_size> grading_key::hidden_sizes(const lab& l, std::string_view content,
                                                std::uint64_t seed) const {
  const std::string from = sizes_come_from(content, seed);
  std::vector<lab_size> sizes;
  if (l.hidden.size() != 2) return sizes;
  for (std::size_t i = 0; i < hidden_count; ++i)
    sizes.push_back(draw_size(l, from, fmt::format("size {}", i), l.hidden[0], l.hidden[1]));
  return sizes;
}

std::optional<lab_size> grading_key::large_size(const lab& l, lab_size least,
                                                std::string_view content,
                                                std::uint64_t seed) const {
  if (l.modelled.empty() || l.modelled.back().size() != least.size()) return std::nullopt;
  lab_size most = l.modelled.back();
  for (std::size_t d = 0; d < least.size(); ++d)
    if (least[d] > most[d]) std::swap(least[d], most[d]);
  return draw_size(l, sizes_come_from(content, seed), "large size", least, most);
}

lab_size grading_key::counted_size(const lab& l, const lab_size& least, std::string_view content,
                                   std::uint64_t seed) const {
  const std::string from = sizes_come_from(content, seed);
  lab_size size;
  for (std::size_t d = 0; d < least.size(); ++d) {
    const std::int64_t unit = least[d] < 65536 ? 32 : 1024, most = least[d] / 4 / unit;
    const std::uint64_t drawn = draw(l, from, fmt::format("counted size {}", d));
    const auto choices = static_cast<std::uint64_t>(most + 1);
    size.push_back(least[d] + static_cast<std::int64_t>(drawn % choices) * unit);
  }
  return size;
}

}  // namespace stepwise
