// The cache model and the order of requests, on an invented GPU with two multiprocessors.
#include "common/emulator/profile/caches.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "common/emulator/profile/trace.hpp"

namespace stepwise::emulator {
namespace {

gpu small_gpu() {
  gpu g;
  g.compute_major = 9;
  g.multiprocessors = 2;
  g.l2_bytes = 1 << 20;
  g.shared_bytes_per_multiprocessor = 233472;
  return g;
}
constexpr std::uint32_t line_sectors = 0xf;

TEST_CASE("a line is missed once, then found in L1; another multiprocessor gets it from L2") {
  caches c(small_gpu());
  c.clear(128 << 10, 3);
  c.load(0, 1000, line_sectors, 0);
  CHECK(c.of(0).l1_hits == 0);
  CHECK(c.of(0).l2_sectors == 4);
  CHECK(c.of(0).l2_hits == 0);
  CHECK(c.of(0).dram_read_bytes == 128);
  c.load(0, 1000, line_sectors, 1);
  CHECK(c.of(1).l1_hits == 4);
  CHECK(c.of(1).l2_sectors == 0);
  c.load(1, 1000, line_sectors, 2);
  CHECK(c.of(2).l1_hits == 0);
  CHECK(c.of(2).l2_sectors == 4);
  CHECK(c.of(2).dram_read_bytes == 0);
}

TEST_CASE("sectors are loaded one by one, but come from memory in pairs") {
  caches c(small_gpu());
  c.clear(128 << 10, 3);
  c.load(0, 7, 0b0001, 0);
  CHECK(c.of(0).dram_read_bytes == 64);
  c.load(0, 7, 0b0100, 1);
  CHECK(c.of(1).l1_hits == 0);
  CHECK(c.of(1).dram_read_bytes == 64);
  c.load(0, 7, 0b1101, 2);
  CHECK(c.of(2).l1_hits == 2);
  CHECK(c.of(2).dram_read_bytes == 0);
}

TEST_CASE("L1 holds as many lines as its size allows, and evicts the least recently used") {
  caches c(small_gpu());
  c.clear(32 << 10, 2);  // 256 lines
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t line = 0; line < 256; ++line) c.load(0, line, line_sectors, 0);
  CHECK(c.of(0).l1_hits == 4 * 256);
  c.clear(32 << 10, 2);
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t line = 0; line < 512; ++line) c.load(0, line, line_sectors, 0);
  CHECK(c.of(0).l1_hits == 0);
}

TEST_CASE("loads hit a line that a store wrote whole; only stores hit one written in part") {
  caches c(small_gpu());
  c.clear(32 << 10, 4);
  c.store(0, 5, line_sectors, true, 0);
  CHECK(c.of(0).l1_hits == 0);
  CHECK(c.of(0).l2_sectors == 4);
  c.load(0, 5, line_sectors, 1);
  CHECK(c.of(1).l1_hits == 4);
  c.store(0, 6, 0b0001, false, 2);
  c.store(0, 6, 0b0001, false, 2);
  CHECK(c.of(2).l1_hits == 1);
  c.load(0, 6, 0b0001, 3);
  CHECK(c.of(3).l1_hits == 0);
}

TEST_CASE("atomics are done in L2, and L1 discards the sector") {
  caches c(small_gpu());
  c.clear(32 << 10, 3);
  c.load(0, 5, 0b0011, 0);
  c.atomic(0, 5, 0b0001, 1);
  CHECK(c.of(1).l1_hits == 0);
  CHECK(c.of(1).l2_hits == 1);
  c.load(0, 5, 0b0011, 2);
  CHECK(c.of(2).l1_hits == 1);
}

TEST_CASE("memory is written when another line evicts a written line from L2") {
  caches c(small_gpu());
  c.clear(32 << 10, 1);
  for (std::uint64_t line = 0; line < 1000; ++line) c.store(0, line, line_sectors, true, 0);
  CHECK(c.of(0).dram_write_bytes == 0);
  for (std::uint64_t line = 0; line < 100000; ++line) c.store(0, line, line_sectors, true, 0);
  CHECK(c.of(0).dram_write_bytes > 90'000 * 128);
  CHECK(c.of(0).dram_write_bytes < 100'000 * 128);
}

gpu old_gpu(int major, int minor) {
  gpu g = small_gpu();
  g.compute_major = major, g.compute_minor = minor;
  if (major == 1) g.l2_bytes = 0;
  return g;
}

TEST_CASE("without caches everything is read from and written to memory, in sectors") {
  caches c(old_gpu(1, 3));
  c.clear(0, 2);
  for (int again = 0; again < 2; ++again) c.load_around_l1(0, 7, 0b0011, 0);
  CHECK(c.of(0).dram_read_bytes == 2 * 64);
  CHECK(c.of(0).l2_hits == 0);
  c.store(0, 7, 0b0001, false, 1);
  CHECK(c.of(1).dram_write_bytes == 32);
}

TEST_CASE("before 7.0 stores do not fill L1, and before 8.0 memory gives single sectors") {
  for (const auto& [major, minor] : {std::pair(2, 1), {3, 5}, {5, 2}, {7, 5}}) {
    CAPTURE(major);
    caches c(old_gpu(major, minor));
    c.clear(16 << 10, 3);
    c.load(0, 7, 0b0001, 0);
    CHECK(c.of(0).dram_read_bytes == 32);
    c.store(0, 7, 0b0001, true, 1);
    c.load(0, 7, 0b0001, 2);
    CHECK(c.of(2).l1_hits == (major == 7));
  }
}

// Every warp of every block reads its own lines `rounds` times.
cache_counts read_rounds(std::size_t memory, unsigned blocks, unsigned lines_per_warp, int rounds,
                         double& share) {
  std::vector<site_plan> sites(1);
  sites[0].counted = true;
  trace t(small_gpu(), memory);
  t.begin({2, 2, blocks, 0, 128 << 10}, sites);
  touched_lines request;
  request.count = 1;
  for (unsigned b = 0; b < blocks; ++b) {
    t.begin_block(b);
    for (unsigned w = 0; w < 2; ++w) {
      for (int r = 0; r < rounds; ++r) {
        for (unsigned n = 0; n < lines_per_warp; ++n) {
          request.lines[0] = {(std::uint64_t{b} * 2 + w) * lines_per_warp + n, line_sectors};
          t.add(w, 0, request, false, false);
        }
      }
    }
    t.end_block(b);
  }
  t.end();
  share = t.share();
  return t.of(0);
}

TEST_CASE("blocks of a wave share L1 at the same time as on a GPU, not one after the other") {
  // Two blocks with two warps each run at once. Their 4 * 128 lines are half of the 1024 that fit.
  // 4 * 384 lines do not fit, although the lines of each block alone would fit.
  double share = 0;
  CHECK(read_rounds(64 << 20, 8, 128, 2, share).l1_hits == 4u * 8 * 2 * 128);
  CHECK(share == 1);
  CHECK(read_rounds(64 << 20, 8, 384, 2, share).l1_hits == 0);
}

TEST_CASE("an atomic is an atomic whatever its address, and local memory is separate") {
  std::vector<site_plan> sites(3);
  sites[0].cache = cache_use::atomic;
  sites[0].kind = access_kind::atomic;
  trace t(small_gpu());
  t.begin({1, 1, 1, 16, 128 << 10}, sites);
  t.begin_block(0);
  touched_lines request;
  request.count = 1;
  for (const std::uint64_t line : {std::uint64_t{1}, std::uint64_t{0x7fff'ffff'ff80} >> 7}) {
    request.lines[0] = {line, 1};
    t.add(0, 1, request, false, false);
    t.add(0, 0, request, false, false);
    t.add(0, 2, request, false, false);
  }
  t.end_block(0);
  t.end();
  CHECK(t.of(0).l2_sectors == 2);
  CHECK(t.of(0).l1_hits == 0);
  CHECK(t.of(2).l1_hits == 0);
  t.begin({1, 1, 1, 16, 128 << 10}, sites);
  t.begin_block(0);
  request.lines[0] = {t.local_line(0), 1};
  t.add(0, 1, request, false, false);
  t.add(0, 2, request, false, true);
  t.end_block(0);
  t.end();
  CHECK(t.of(2).l1_hits == 0);
}

TEST_CASE("with too little memory, only some of the sets are simulated") {
  double share = 0;
  // 2 rounds of 1024 lines in 4 blocks make 16384 records of 8 bytes. A quarter of them fits.
  const cache_counts c = read_rounds(32 << 10, 4, 256, 2, share);
  CHECK(share < 1);
  CHECK(share >= 1.0 / 32);
  CHECK(c.sectors > 0);
  CHECK(static_cast<double>(c.l1_hits) / static_cast<double>(c.sectors) ==
        doctest::Approx(0.5).epsilon(0.1));
}

// Returns the fraction of sectors that are found in L1, for accesses like those of a matrix
// product. Every warp reads its own line 32 times and, at the same time, the lines that all warps
// read. L1 holds few lines.
double shared_rows(std::size_t memory, double& share) {
  constexpr unsigned warps = 8, steps = 4096;
  std::vector<site_plan> sites(1);
  sites[0].counted = true;
  trace t(small_gpu(), memory);
  t.begin({1, warps, 1, 0, 16 << 10}, sites);
  t.begin_block(0);
  touched_lines request;
  request.count = 2;
  for (unsigned w = 0; w < warps; ++w) {
    for (unsigned k = 0; k < steps; ++k) {
      request.lines[0] = {1'000'000 * (w + 1) + k / 32, 1};
      request.lines[1] = {k, 1};
      t.add(w, 0, request, false, false);
    }
  }
  t.end_block(0);
  t.end();
  share = t.share();
  return static_cast<double>(t.of(0).l1_hits) / static_cast<double>(t.of(0).sectors);
}

TEST_CASE("requests that are not simulated keep their place in the order") {
  double share = 0;
  const double all = shared_rows(64 << 20, share);
  CHECK(share == 1);
  CHECK(all > 0.9);
  const double sampled = shared_rows(64 << 10, share);
  CHECK(share < 0.5);
  CHECK(sampled == doctest::Approx(all).epsilon(0.02));
}

}  // namespace
}  // namespace stepwise::emulator
