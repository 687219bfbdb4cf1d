// The examples of the CUDA C Programming Guide 5.5, appendix G, and consequences of its rules.
#include "common/emulator/profile/older_requests.hpp"

#include <doctest/doctest.h>

#include <array>

namespace stepwise::emulator {
namespace {

constexpr std::uint32_t whole_warp = ~std::uint32_t{0};

memory_rules rules(int major, int minor) {
  gpu g;
  g.compute_major = major, g.compute_minor = minor;
  return memory_rules_of(g);
}

using addresses = std::array<std::uint64_t, 32>;
addresses lanes_every(std::uint64_t stride, std::uint64_t first = 0) {
  addresses a;
  for (std::size_t l = 0; l < a.size(); ++l) a[l] = first + l * stride;
  return a;
}

touched_lines touched(int major, int minor, const addresses& a, unsigned bytes, bool loads = true,
                      std::uint32_t active = whole_warp) {
  touched_lines out;
  touch_older(rules(major, minor), a.data(), active, bytes, loads, out);
  return out;
}

unsigned waves(int major, int minor, const addresses& a, unsigned bytes,
               shared_use use = shared_use::load) {
  return older_wavefronts(rules(major, minor), use, a.data(), whole_warp, bytes);
}

TEST_CASE("1.3: each half-warp uses the smallest segments that hold its words") {
  // Adjacent words: 64 bytes per half.
  touched_lines t = touched(1, 3, lanes_every(4), 4);
  CHECK(t.count == 2);
  CHECK(t.sectors == 4);
  CHECK(t.lines[0].sectors == 0b0011);
  CHECK(t.lines[1].sectors == 0b1100);
  // One word further: the first half takes 128 bytes, and the second half takes 64 bytes and, after
  // the line, 32.
  t = touched(1, 3, lanes_every(4, 4), 4);
  CHECK(t.count == 3);
  CHECK(t.lines[0].sectors == 0b1111);
  CHECK(t.lines[1].sectors == 0b1100);
  CHECK(t.lines[2].line == 1);
  CHECK(t.lines[2].sectors == 0b0001);
  // Every second word: twice the bytes. Every 32nd word: 32 bytes per lane.
  CHECK(touched(1, 3, lanes_every(8), 4).sectors == 8);
  CHECK(touched(1, 3, lanes_every(128), 4).sectors == 32);
  // Segments have 32 bytes for bytes, 64 for words of two bytes, and 128 for wider words.
  CHECK(touched(1, 3, lanes_every(1), 1).sectors == 2);
  CHECK(touched(1, 3, lanes_every(2), 2).sectors == 2);
  CHECK(touched(1, 3, lanes_every(16), 16).sectors == 16);
  // A segment around the middle of a line needs both halves of the line.
  CHECK(touched(1, 3, lanes_every(0, 32), 4, true, 1).sectors == 1);
  addresses middle = lanes_every(0, 32);
  middle[1] = 64;
  CHECK(touched(1, 3, middle, 4, true, 3).sectors == 4);
  // An address that both halves read is read twice.
  CHECK(touched(1, 3, lanes_every(0), 4).count == 2);
}

TEST_CASE("2.1 loads whole lines and stores sectors; 3.5 and 5.2 load and store sectors") {
  CHECK(touched(2, 1, lanes_every(4), 4).sectors == 4);
  CHECK(touched(2, 1, lanes_every(128), 4).sectors == 128);
  CHECK(touched(2, 1, lanes_every(128), 4, false).sectors == 32);
  CHECK(touched(3, 5, lanes_every(128), 4).sectors == 32);
  CHECK(touched(5, 2, lanes_every(128), 4).sectors == 32);
}

TEST_CASE("1.3: sixteen banks, half a warp at a time, one broadcast word") {
  CHECK(waves(1, 3, lanes_every(4), 4) == 2);
  CHECK(waves(1, 3, lanes_every(8), 4) == 4);
  CHECK(waves(1, 3, lanes_every(12), 4) == 2);
  CHECK(waves(1, 3, lanes_every(64), 4) == 32);
  CHECK(waves(1, 3, lanes_every(68), 4) == 2);
  CHECK(waves(1, 3, lanes_every(0), 4) == 2);
  // Four bytes of one word need four wavefronts. Halves of doubles are in every second bank.
  CHECK(waves(1, 3, lanes_every(1), 1) == 8);
  CHECK(waves(1, 3, lanes_every(8), 8) == 8);
  // Several lanes read each of two words. One word is broadcast. For the other word, one lane is
  // served.
  addresses two = lanes_every(0);
  for (std::size_t l = 0; l < 32; l += 2) two[l] = 4;
  CHECK(waves(1, 3, two, 4) > 2);
  // Ideal: each half separately.
  CHECK(older_ideal_wavefronts(rules(1, 3), shared_use::load, whole_warp, 4, 32) == 2);
  CHECK(older_ideal_wavefronts(rules(1, 3), shared_use::load, 0xff, 4, 32) == 1);
}

TEST_CASE("2.1 and 5.2 have 32 banks of 4 bytes; 3.5 has 32 banks of 8 bytes") {
  for (const auto& [major, minor] : {std::pair(2, 1), {5, 2}}) {
    CAPTURE(major);
    CHECK(waves(major, minor, lanes_every(4), 4) == 1);
    CHECK(waves(major, minor, lanes_every(8), 4) == 2);
    CHECK(waves(major, minor, lanes_every(64), 4) == 16);
    CHECK(waves(major, minor, lanes_every(128), 4) == 32);
    CHECK(waves(major, minor, lanes_every(132), 4) == 1);
    CHECK(waves(major, minor, lanes_every(0), 4) == 1);
    CHECK(waves(major, minor, lanes_every(1), 1) == 1);
    CHECK(waves(major, minor, lanes_every(8), 8) == 2);
    CHECK(waves(major, minor, lanes_every(16), 16) == 4);
    CHECK(waves(major, minor, lanes_every(0), 4, shared_use::atomic) == 32);
  }
  CHECK(waves(3, 5, lanes_every(4), 4) == 1);
  CHECK(waves(3, 5, lanes_every(8), 4) == 1);  // words i and i + 32 of 64
  CHECK(waves(3, 5, lanes_every(16), 4) == 2);
  CHECK(waves(3, 5, lanes_every(128), 4) == 16);
  CHECK(waves(3, 5, lanes_every(256), 4) == 32);
  CHECK(waves(3, 5, lanes_every(8), 8) == 1);
  CHECK(waves(3, 5, lanes_every(16), 16) == 2);
  CHECK(older_ideal_wavefronts(rules(3, 5), shared_use::load, whole_warp, 8, 32) == 1);
  CHECK(older_ideal_wavefronts(rules(2, 1), shared_use::load, whole_warp, 8, 32) == 2);
}

}  // namespace
}  // namespace stepwise::emulator
