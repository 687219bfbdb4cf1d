// A multiprocessor's path to memory, access by access: which part of the path an access uses, and
// for how long.
#include "common/emulator/time/memory_path.hpp"

#include <doctest/doctest.h>

#include "common/emulator/time/tests/made_code.hpp"

namespace stepwise::emulator {
namespace {

instruction_cost of_kind(step_kind kind) {
  instruction_cost c;
  c.kind = kind;
  c.on = unit::load_store;
  c.is_memory = true;
  return c;
}

recorded_access row() {  // 32 adjacent words
  recorded_access a;
  a.sectors = a.ideal_sectors = 4;
  a.lines = a.tag_passes = 1;
  a.lanes = 32;
  a.wavefronts = 1;
  return a;
}

constexpr std::uint64_t l1_bytes = 200 * 1024;

// When the last of `times` equal, simultaneous accesses is done, on one of 132 multiprocessors.
double done_after(const instruction_cost& c, recorded_access a, const site_rates& rates,
                  unsigned times = 1000, const std::vector<recorded_line>& lines = {}) {
  const std::vector<site_rates> sites{rates};
  memory_path path(h200(), 132, l1_bytes, sites, {});
  a.known_lines = static_cast<std::uint8_t>(lines.size());
  double done = 0;
  for (unsigned n = 0; n < times; ++n)
    done = std::max(done, path.access(c, std::span(&a, 1), lines, 0));
  return done;
}

std::vector<recorded_line> first_lines(unsigned count, std::uint32_t sectors) {
  std::vector<recorded_line> lines;
  for (unsigned n = 0; n < count; ++n) lines.push_back(line_record(n, sectors));
  return lines;
}

TEST_CASE("a request occupies the L1 pipe for its busiest bank or for its lines") {
  const instruction_cost load = of_kind(step_kind::load);
  const double one = done_after(load, row(), {}, 1000, first_lines(1, 0xf));
  CHECK(one == doctest::Approx(1000 * h200().bank_cycles).epsilon(0.3));
  recorded_access column = row();  // a line per lane, each in a different bank
  column.lines = 32;
  column.tag_passes = 8;
  column.sectors = 32;
  CHECK(done_after(load, column, {}, 1000, first_lines(32, 1)) ==
        doctest::Approx(1000 * 8 * h200().line_cycles).epsilon(0.05));
  column.wavefronts = 32;  // all lanes in one bank
  CHECK(done_after(load, column, {}, 1000, first_lines(32, 1)) ==
        doctest::Approx(1000 * 32 * h200().bank_cycles).epsilon(0.05));
  CHECK(8 * h200().line_cycles < 12);
}

TEST_CASE("a GPU without L2 sends loads and stores to memory, at its rate") {
  const gpu_costs costs = costs_of(*find_gpu("gtx280"));
  const std::vector<site_rates> sites{{1, 1, 1, 1, 32}};  // all from memory, all to memory
  for (const step_kind kind : {step_kind::load, step_kind::store}) {
    memory_path path(costs, 30, 0, sites, {});
    const recorded_access a = row();
    for (unsigned n = 0; n < 10000; ++n) path.access(of_kind(kind), std::span(&a, 1), {}, 0);
    // A load's bytes are also written, because each line that comes in evicts a written line.
    const double bytes = kind == step_kind::load ? 2 * 128e4 : 128e4;
    CHECK(path.drained() == doctest::Approx(bytes * 30 / costs.dram_read_bytes).epsilon(0.05));
    CHECK(path.busy().l2_read + path.busy().l2_write < 1);
  }
}

TEST_CASE("lines in one bank of L1's tags are looked up one after the other") {
  const auto side_by_side = [](unsigned n) { return std::uint64_t{1000} + n; };
  const auto fourth = [](unsigned n) { return std::uint64_t{4} * n + 3; };
  CHECK(most_in_a_tag_bank(h200(), 32, side_by_side) == 8);
  CHECK(most_in_a_tag_bank(h200(), 32, fourth) < 32);
  CHECK(most_in_a_tag_bank(h200(), 1, fourth) == 1);
  gpu_costs simple = h200();
  simple.tag_bank_of_bit = {1, 2};  // the line's number modulo 4
  CHECK(most_in_a_tag_bank(simple, 32, fourth) == 32);
}

TEST_CASE("where all blocks are resident, writes to memory take longer, but reads do not") {
  REQUIRE(h200().resident_write_factor > 1.1);
  const auto busy = [&](step_kind kind, bool all_resident) {
    const std::vector<site_rates> sites{
        {.dram = 1, .whole = 1, .evicted = kind == step_kind::store ? 1.0 : 0.0}};
    memory_path path(h200(), 132, l1_bytes, sites, {}, all_resident);
    const recorded_access a = row();
    for (int n = 0; n < 100; ++n) path.access(of_kind(kind), std::span(&a, 1), {}, 0);
    return path.busy().dram;
  };
  CHECK(busy(step_kind::store, true) ==
        doctest::Approx(h200().resident_write_factor * busy(step_kind::store, false)));
  CHECK(busy(step_kind::load, true) == busy(step_kind::load, false));
}

TEST_CASE("hits in L1 do not wait for misses") {
  const std::vector<site_rates> sites{{.dram = 1}};
  memory_path path(h200(), 132, l1_bytes, sites, {});
  const instruction_cost load = of_kind(step_kind::load);
  recorded_access a = row();
  a.known_lines = 1;
  const std::vector<recorded_line> near = first_lines(1, 0xf), far{line_record(7, 0xf)};
  const double there = path.access(load, std::span(&a, 1), near, 0);
  CHECK(path.access(load, std::span(&a, 1), near, there) < there + 2 * h200().l1_latency);
  const double later = path.access(load, std::span(&a, 1), far, 2 * there);
  CHECK(later > 2 * there + 0.5 * h200().dram_latency);
  CHECK(path.access(load, std::span(&a, 1), near, 2 * there + 5) <
        2 * there + 2 * h200().l1_latency);
}

TEST_CASE("a line that is in flight is requested once") {
  const std::vector<site_rates> sites{{.dram = 1}};
  memory_path path(h200(), 132, l1_bytes, sites, {});
  const instruction_cost load = of_kind(step_kind::load);
  recorded_access a = row();
  a.known_lines = 1;
  const std::vector<recorded_line> line = first_lines(1, 0xf);
  const double first = path.access(load, std::span(&a, 1), line, 0), read = path.busy().dram;
  CHECK(path.access(load, std::span(&a, 1), line, 10) == first);
  CHECK(path.busy().dram == read);
}

TEST_CASE("L1 keeps as many lines as fit, and the most recently used line the longest") {
  l1_lines small(64 * 128);  // two lines in each of 32 sets
  CHECK(small.find(0, 0xf).missing == 0xf);
  small.put(0, 0xf, 5);
  CHECK(small.find(0, 0x3).missing == 0);
  CHECK(small.find(0, 0x3).at == 5);
  small.put(1, 0x1, 6);
  CHECK(small.find(1, 0x3).missing == 0x2);
  for (std::uint64_t line = 100; line < 400; ++line) {
    small.put(line, 0xf, 7);
    CHECK(small.find(0, 0xf).missing == 0);  // used repeatedly
  }
  CHECK(small.find(1, 0x1).missing == 0x1);
}

TEST_CASE("a site's account contains what the queues were given") {
  const std::vector<site_rates> sites{{.dram = 0.25, .evicted = 0.5, .own = 0.4, .dram_bytes = 64},
                                      {.evicted = 0.5, .own = 0.4}};
  memory_path path(h200(), 132, l1_bytes, sites, {});
  recorded_access a = row(), s = row();
  a.known_lines = s.known_lines = 1;
  s.site = 1;
  constexpr unsigned times = 1000;
  for (unsigned n = 0; n < times; ++n) {
    const std::vector<recorded_line> line{line_record(n / 2, 0xf)};  // each line is loaded twice
    path.access(of_kind(step_kind::load), std::span(&a, 1), line, 1000.0 * n);
    path.access(of_kind(step_kind::store), std::span(&s, 1),
                std::vector<recorded_line>{line_record(100'000 + n, 0xf)}, 1000.0 * n);
  }
  const std::vector<site_account> all = path.account();
  const site_account &loads = all[0], &stores = all[1];
  CHECK(loads.sectors == 4 * times);
  CHECK(loads.l1_hits == 2 * times);
  const double l2_share = std::min(h200().l2_bytes_of_one, h200().l2_bytes / 132),
               write_share = std::min(h200().l2_bytes_of_one, h200().l2_write_bytes / 132);
  CHECK(32 * loads.l2_sectors == doctest::Approx(path.busy().l2_read * l2_share));
  CHECK(32 * stores.l2_sectors == doctest::Approx(path.busy().l2_write * write_share));
  const double read = 64 * loads.dram_sectors;
  CHECK(loads.dram_read_bytes == doctest::Approx(read));
  CHECK(loads.dram_sectors == doctest::Approx(times));  // a quarter
  CHECK(stores.dram_read_bytes == 0);
  const double written = 0.5 * (read + 32.0 * stores.sectors);
  CHECK(loads.dram_write_bytes + stores.dram_write_bytes == doctest::Approx(0.4 * written));
  CHECK(loads.dram_earlier_bytes + stores.dram_earlier_bytes == doctest::Approx(0.6 * written));
  // Only these accesses wait for memory, so memory reads at the rate for few bytes in flight.
  const double few = std::min(h200().dram_few_bytes, h200().dram_read_bytes) / 132;
  CHECK(path.busy().dram ==
        doctest::Approx(read / few + written / (h200().dram_write_bytes / 132)).epsilon(0.005));
}

TEST_CASE("a site's account contains both its reads from memory and its hits in L1") {
  const std::vector<site_rates> sites{{}, {.dram = 0.5}};
  memory_path path(h200(), 132, l1_bytes, sites, {});
  recorded_access first = row(), second = row();
  first.known_lines = second.known_lines = 1;
  second.site = 1;
  for (unsigned n = 0; n < 100; ++n) {
    const std::vector<recorded_line> line{line_record(n, 0xf)};
    path.access(of_kind(step_kind::load), std::span(&first, 1), line, 1000.0 * n);
    path.access(of_kind(step_kind::load), std::span(&second, 1), line, 1000.0 * n + 900);
  }
  CHECK(path.account()[1].l1_hits == 400);
  CHECK(path.account()[1].dram_read_bytes == 200 * 32);
}

TEST_CASE("memory is read in pairs of sectors, even if only one is wanted") {
  const instruction_cost load = of_kind(step_kind::load);
  site_rates sites{.dram = 1};
  const double wanted = done_after(load, row(), sites);
  sites.dram_bytes = 64;
  CHECK(done_after(load, row(), sites) > 1.6 * wanted);
}

TEST_CASE("atomics at one address are serialised, and float additions take longer") {
  instruction_cost add = of_kind(step_kind::atomic);
  recorded_access a = row();
  a.sectors = 32;  // one access to the sector per lane
  const site_rates one{.hot = 1, .hot_line = 1};
  const double ints = done_after(add, a, one, 100);
  CHECK(ints == doctest::Approx(100 * 32 * 132 / h200().same_address_lanes).epsilon(0.3));
  add.adds_floats = true;
  CHECK(
      done_after(add, a, one, 100) ==
      doctest::Approx(ints * h200().same_address_lanes / h200().same_address_floats).epsilon(0.02));
  add.adds_floats = false;
  add.adds_warps = true;  // in the machine code, one lane adds for its warp
  CHECK(done_after(add, a, one, 100) < ints / 16);
}

TEST_CASE("sectors of one line are serialised, but sectors of different lines are not") {
  const instruction_cost add = of_kind(step_kind::atomic);
  const double apart = done_after(add, row(), {}),
               together = done_after(add, row(), {.hot_line = 1});
  CHECK(together == doctest::Approx(1000 * 4 * 132 / h200().same_line_sectors).epsilon(0.02));
  CHECK(apart < together / 10);
}

TEST_CASE("few lines are spread unevenly over the slices of L2") {
  CHECK(slice_imbalance(1, 94) == doctest::Approx(94).epsilon(0.01));
  CHECK(slice_imbalance(94, 94) > 3);
  CHECK(slice_imbalance(94, 94) < 5);
  CHECK(slice_imbalance(30000, 94) < 1.2);
  CHECK(slice_imbalance(30000, 94) > 1);
}

TEST_CASE("bulk reductions wait for the busiest slice") {
  recorded_access a = row();
  a.use = bulk_use::reduction;
  a.sectors = 128;  // 4 KiB
  const auto bytes_per_cycle = [&](double imbalance) {
    const std::vector<site_rates> sites{{.imbalance = imbalance}};
    memory_path path(h200(), 132, l1_bytes, sites, {});
    constexpr int copies = 1000;
    double done = 0;
    for (int n = 0; n < copies; ++n) done = path.bulk_copy(std::span(&a, 1), 1, done);
    return 4096 * copies / done;
  };
  // bulk_add_stream_to_l2_of_4096 and bulk_add_stream_to_one_place
  CHECK(bytes_per_cycle(1) == doctest::Approx(14.7).epsilon(0.15));
  CHECK(bytes_per_cycle(slice_imbalance(32, h200().l2_slices)) ==
        doctest::Approx(1.95).epsilon(0.15));
}

}  // namespace
}  // namespace stepwise::emulator
