// Selects the blocks of a launch that run and are recorded, and derives times from them. The tests
// report to a timer what blocks do, without running any blocks.
#include "common/emulator/time/timer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/emulator/time/tests/driven_timer.hpp"

namespace stepwise::emulator {
namespace {

TEST_CASE(
    "whole launches: every block runs to its end, and those of one multiprocessor are recorded") {
  const kernel k(sums);
  timer t(model(), {});
  const driven d = drive(t, k, 1000, 3);
  CHECK(d.ran.size() == 1000);
  CHECK(d.time.counted == 1);
  CHECK(d.time.us > 0);
  CHECK(t.slice() == slice_instructions);
  REQUIRE(d.recorded.size() == 3 * resident);
  CHECK(d.recorded.front() >= wave);  // the first wave differs from the others
  for (std::size_t n = 1; n < d.recorded.size(); ++n)
    CHECK(d.recorded[n] == d.recorded[n - 1] + processors);
}

TEST_CASE("sampled launches: only a wave from the middle and the recorded blocks run") {
  const kernel k(looped_sums);
  timer t(model(), {.sampling = true});
  const std::uint64_t blocks = 40 * wave;
  const driven d = drive(t, k, blocks, 3);
  CHECK(d.recorded.size() == 3 * resident);
  CHECK(d.ran.size() == wave + 2 * resident);
  CHECK(d.ran.front() == 20 * wave);
  CHECK(std::ranges::includes(d.ran, d.recorded));
  const std::uint64_t each = t.code().at.size() * warps * 3;
  CHECK(d.time.counted ==
        doctest::Approx(static_cast<double>(d.instructions) / static_cast<double>(each * blocks)));
}

TEST_CASE("sampled launches: a small launch without loops runs completely") {
  const kernel k(sums);
  timer t(model(), {.sampling = true});
  const std::uint64_t few = 10 * wave, many = 100 * wave;
  CHECK(drive(t, k, few, 1).ran.size() == few);
  CHECK(t.slice() == slice_instructions);
  CHECK(drive(t, k, many, 1).ran.size() < many);
}

TEST_CASE("if a grid's first blocks have all the work, the wave that runs is one of theirs") {
  const kernel k(looped_sums);
  const std::uint64_t blocks = 40 * wave, busy = blocks / 4;
  const auto time_of = [&](timer::options how, std::uint64_t last_busy) {
    timer t(model(), how);
    timer::launch_shape s = k.shape(blocks);
    s.launch.work_of_block = [&](std::uint64_t block, std::uint64_t) {
      return probed_work{block < last_busy ? 1000U : 20U, 0, block < last_busy ? 1U : 0U};
    };
    t.begin(s);
    const auto length = static_cast<std::uint32_t>(t.code().at.size());
    std::uint64_t recorded = 0;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      if (!t.wants(b)) continue;
      t.begin_block(b);
      recorded += t.is_recording() && b < last_busy;
      for (std::uint32_t w = 0; w < warps && b < last_busy; ++w) t.executed(w, 0, length);
      t.end_block(b);
      t.switch_to(blocks);
    }
    CHECK(recorded == 3 * resident);
    return t.end({});
  };
  for (const bool sampling : {true, false}) {
    CAPTURE(sampling);
    const timer::options how{.sampling = sampling};
    const launch_time all = time_of(how, blocks), quarter = time_of(how, busy),
                      half = time_of(how, blocks / 2);
    CHECK(quarter.us > 0.25 * all.us);  // the other blocks start and end
    CHECK(quarter.us < 0.8 * all.us);
    CHECK(half.us > 0.5 * all.us);
    CHECK(all.idle_blocks == 0);
    CHECK(quarter.idle_blocks == 0.75 * static_cast<double>(blocks));
    CHECK(half.idle_blocks == 0.5 * static_cast<double>(blocks));
  }
}

TEST_CASE("idle blocks are found even if each loops over all of the input") {
  const kernel k(looped_sums);
  const std::uint64_t blocks = 40 * wave;
  for (const std::uint64_t work : {1'000U, 10'000'000U}) {
    CAPTURE(work);
    timer t(model(), {.sampling = true});
    timer::launch_shape s = k.shape(blocks);
    int probed_to_the_end = 0;
    s.launch.work_of_block = [&](std::uint64_t block, std::uint64_t enough) {
      probed_to_the_end += enough > work;
      return probed_work{std::min(work, enough), 0, block < blocks / 4 ? 1U : 0U};
    };
    t.begin(s);
    CHECK(probed_to_the_end == (work == 1'000 ? 64 : 8));
    CHECK(t.end({}).idle_blocks == 0.75 * static_cast<double>(blocks));
  }
}

TEST_CASE("a seed draws the recorded blocks, and exposes work hidden from the usual ones") {
  const kernel k(sums);
  const auto recorded_by = [&](std::uint64_t seed, std::uint64_t blocks) {
    timer t(model(), {.seed = seed});
    return drive(t, k, blocks, 2).recorded;
  };
  const std::uint64_t many = 40 * wave;
  CHECK(recorded_by(1, many) != recorded_by(0, many));
  CHECK(recorded_by(1, many) != recorded_by(2, many));
  CHECK(recorded_by(1, many) == recorded_by(1, many));
  CHECK(recorded_by(1, many).size() == 3 * resident);
  CHECK(recorded_by(5, wave).size() == 2 * resident);  // the early blocks and those drawn

  const auto lazy = recorded_by(0, wave);  // these do a tenth of the other blocks' work
  const auto time_by = [&](std::uint64_t seed) {
    timer t(model(), {.seed = seed});
    t.begin(k.shape(wave));
    const auto length = static_cast<std::uint32_t>(t.code().at.size());
    for (std::uint64_t b = 0; b < wave; ++b) {
      t.begin_block(b);
      for (int iteration = 0; iteration < (std::ranges::find(lazy, b) == lazy.end() ? 100 : 10);
           ++iteration)
        for (std::uint32_t w = 0; w < warps; ++w) t.executed(w, 0, length);
      t.end_block(b);
      t.switch_to(wave);
    }
    return t.end({});
  };
  const launch_time usual = time_by(0), drawn = time_by(7);
  CHECK(usual.likeness < 0.2);
  CHECK(drawn.likeness > 0.9);
  CHECK(drawn.us > 3 * usual.us);
}

TEST_CASE("blocks that draw work from a counter are interleaved") {
  timer t(model(), {});
  const kernel drawn(looped("atom.global.add.u32 %r1, [%rd1], 1;"));
  drive(t, drawn, 6 * wave, 1);
  CHECK(t.interleaves_blocks());
  CHECK(t.slice() < slice_instructions);
  const kernel once("atom.global.add.u32 %r1, [%rd1], 1;"),
      sum(looped("red.global.add.u32 [%rd1], 1;"));
  drive(t, once, wave, 1);
  CHECK(!t.interleaves_blocks());
  drive(t, sum, wave, 1);
  CHECK(!t.interleaves_blocks());
}

TEST_CASE("sampled launches: in every grid, a block of the busiest multiprocessors is recorded") {
  const kernel k(looped_sums);
  for (const std::uint64_t blocks : {std::uint64_t{1}, std::uint64_t{2}, processors - 1, processors,
                                     processors + 1, wave - 1, wave, wave + 1, 3 * wave + 5}) {
    CAPTURE(blocks);
    timer t(model(), {.sampling = true});
    const driven d = drive(t, k, blocks, 2);
    REQUIRE(!d.recorded.empty());
    CHECK(d.time.us > 0);
    if (blocks <= wave) CHECK(d.ran.size() == blocks);
    // No multiprocessor has more blocks than the recorded one.
    const std::uint64_t busiest = blocks % processors;
    if (busiest != 0) CHECK(d.recorded.front() % processors < busiest);
  }
}

TEST_CASE("all blocks resident: the multiprocessor that gets its blocks first is recorded") {
  const kernel k(sums);
  const gpu_costs costs = costs_of(model());
  REQUIRE(costs.early_blocks.size() == 8);
  const auto recorded_of = [&](std::uint64_t blocks) {
    timer t(model(), {});
    return drive(t, k, blocks, 2).recorded;
  };
  CHECK(recorded_of(wave) ==
        std::vector(costs.early_blocks.begin(), costs.early_blocks.begin() + resident));
  CHECK(recorded_of(processors) == std::vector{costs.early_blocks[0]});
  CHECK(recorded_of(wave + 1).size() > resident);  // more blocks than are resident: from the middle
  gpu unmeasured = model();
  unmeasured.measured.clear();
  timer t(unmeasured, {});
  CHECK(drive(t, k, wave, 2).recorded == std::vector{processors / 2, processors / 2 + processors});
}

TEST_CASE("all blocks resident: the launch may be shorter than its first blocks suggest") {
  const kernel k(sums);
  timer t(model(), {});
  t.begin(k.shape(wave));
  const std::vector<std::uint64_t> early = costs_of(model()).early_blocks;
  REQUIRE(early.size() > 1);
  const auto length = static_cast<std::uint32_t>(t.code().at.size());
  double all = 0;
  for (std::uint64_t b = 0; b < wave; ++b) {
    t.begin_block(b);
    for (unsigned iteration = 0; iteration < (b < early[1] ? 3U : 1U); ++iteration) {
      for (std::uint32_t w = 0; w < warps; ++w) t.executed(w, 0, length);
      all += length * warps;
    }
    t.end_block(b);
    t.switch_to(wave);
  }
  // The counts are issue slots of instructions with an effect. Only the launches' ratio matters.
  timer even(model(), {});
  const double each = drive(even, k, wave, 1).time.instructions / static_cast<double>(wave);
  CHECK(t.end({}).instructions == doctest::Approx(each * all / (length * warps)).epsilon(0.001));
}

TEST_CASE("sampled launches: fewer rounds are recorded if blocks are long, but at least one") {
  const kernel k(many_sums(2000));  // one report per iteration, so the test is quick
  const auto rounds_of = [&](unsigned iterations) {
    timer t(model(), {.sampling = true});
    return drive(t, k, 40 * wave, iterations).recorded.size() / resident;
  };
  CHECK(rounds_of(1) == 3);
  CHECK(rounds_of(50) == 2);  // 800,000 instructions in a block
  CHECK(rounds_of(180) == 1);
}

TEST_CASE("sampled launches: blocks are cut short unless they are recorded") {
  const kernel k(looped_sums);
  timer t(model(), {.sampling = true});
  t.begin(k.shape(40 * wave));
  const std::uint64_t first = 20 * wave;
  bool saw_recorded = false, saw_other = false;
  for (std::uint64_t b = first; b < first + processors; ++b) {
    t.begin_block(b);
    const bool recorded = t.is_recording();
    CHECK(t.slice() > 0);
    CHECK((t.slice() == slice_instructions) == recorded);
    const std::uint64_t many = 10'000'000;
    t.executed(0, 0, many);
    CHECK((t.slice() > 0) == recorded);
    (recorded ? saw_recorded : saw_other) = true;
    t.switch_to(first - 1);
  }
  CHECK(saw_recorded);
  CHECK(saw_other);
}

TEST_CASE("blocks that may wait for each other all run") {
  const auto ran = [](const kernel& k) {
    timer t(model(), {.sampling = true});
    return drive(t, k, 6 * wave, 1).ran.size();
  };
  CHECK(ran(kernel(looped_sums)) < 6 * wave);
  CHECK(ran(kernel("atom.global.add.u32 %r1, [%rd1], 1;")) == 6 * wave);
  CHECK(ran(kernel(looped("red.global.add.u32 [%rd1], 1;"))) <
        6 * wave);  // no instruction reads the sum
  CHECK(ran(kernel("ld.acquire.gpu.global.u32 %r1, [%rd1];")) == 6 * wave);
  CHECK(ran(kernel("ld.volatile.global.u32 %r1, [%rd1];")) == 6 * wave);
  kernel cooperative(sums);
  cooperative.config.cooperative = true;
  CHECK(ran(cooperative) == 6 * wave);
}

TEST_CASE("a sampled launch takes the time of the whole launch if its blocks are alike") {
  const kernel k(looped_sums);
  for (const std::uint64_t blocks : {wave, 7 * wave + 11, 40 * wave}) {
    CAPTURE(blocks);
    timer whole(model(), {}), sampled(model(), {.sampling = true});
    const launch_time all = drive(whole, k, blocks, 20).time;
    const launch_time some = drive(sampled, k, blocks, 20).time;
    CHECK(some.us == doctest::Approx(all.us).epsilon(0.001));
    CHECK(some.instructions == doctest::Approx(all.instructions).epsilon(0.001));
    CHECK(some.active_warps == doctest::Approx(all.active_warps).epsilon(0.001));
  }
}

TEST_CASE("launches follow each other in one timer, each with its own time") {
  const kernel k(sums);
  timer t(model(), {.sampling = true});
  const double once = drive(t, k, 40 * wave, 20).time.us;
  CHECK(drive(t, k, 80 * wave, 20).time.us == doctest::Approx(2 * once).epsilon(0.05));
  CHECK(drive(t, k, 40 * wave, 20).time.us == once);
}

TEST_CASE("experiments run only if they are requested") {
  const kernel k(sums);
  timer without(model(), {}), with(model(), {.sampling = false, .experiments = true});
  CHECK(drive(without, k, wave, 20).time.experiments_us.empty());
  const launch_time t = drive(with, k, wave, 20).time;
  REQUIRE(t.experiments_us.size() == experiments);
  const auto if_there_were = [&](what_if e) { return t.experiments_us[static_cast<int>(e)]; };
  for (int e = 0; e < static_cast<int>(what_if::full_occupancy); ++e)
    CHECK(t.experiments_us[e] <= t.us);  // what is removed takes no time
  CHECK(if_there_were(what_if::no_arithmetic) < 0.5 * t.us);
  CHECK(if_there_were(what_if::no_global_memory) == doctest::Approx(t.us));
  CHECK(if_there_were(what_if::no_bank_conflicts) == doctest::Approx(t.us));
}

// --- memory --------------------------------------------------------------------------------------

const std::string load = looped("ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;");
const std::string store = looped("st.global.f32 [%rd1], %f1;");

constexpr unsigned iterations = 20;

// The work of the kernel's first memory instruction: whole lines that miss the caches.
memory_work one_access(const kernel& k) {
  const auto [a, is_store] = first_access_of(k);
  site_traffic seen;
  seen.is_store = is_store;
  seen.sectors = static_cast<double>(wave * warps * iterations * 4);
  seen.dram_sectors = seen.is_store ? 0 : seen.sectors;
  seen.bytes = 32 * seen.sectors;
  return {{a}, {seen}, [](timer&) {}};
}

TEST_CASE(
    "an experiment that changes an access or the number of resident blocks changes the time") {
  const auto time_of = [](const kernel& k, const recorded_access& a) {
    memory_work work = one_access(k);
    recorded_access& each = work.each[0];
    each = {.ordinal = each.ordinal,
            .sectors = a.sectors,
            .wavefronts = a.wavefronts,
            .lines = a.lines,
            .lanes = 32,
            .ideal_sectors = 4,
            .ideal_wavefronts = 1};
    timer t(model(), {.sampling = false, .experiments = true});
    return drive(t, k, 8 * wave, iterations, work).time;
  };
  const auto gains = [](const launch_time& t, what_if e) {
    return t.experiments_us.at(static_cast<std::size_t>(e)) < 0.9 * t.us;
  };
  const kernel loads(load);
  const auto scattered = time_of(loads, {.sectors = 32, .wavefronts = 32, .lines = 32});
  CHECK(gains(scattered, what_if::perfect_coalescing));
  CHECK(gains(scattered, what_if::no_global_memory));
  CHECK_FALSE(gains(scattered, what_if::no_bank_conflicts));
  const kernel shared(looped("ld.shared.f32 %f1, [%r1];\nadd.f32 %f2, %f1, %f1;"));
  const auto conflicts = time_of(shared, {.wavefronts = 32});
  CHECK(gains(conflicts, what_if::no_bank_conflicts));
  CHECK_FALSE(gains(conflicts, what_if::perfect_coalescing));
  const auto waiting = time_of(shared, {.wavefronts = 1});
  CHECK(gains(waiting, what_if::full_occupancy));
}

std::uint64_t allocated(kernel& k, std::uint64_t bytes) {
  const auto memory = k.memory->allocate(bytes);
  REQUIRE(memory.ok());
  return *memory;
}

TEST_CASE("data that stays in L2 from wave to wave is read from memory once") {
  kernel k(load);
  const auto us_of = [&](std::uint64_t bytes) {
    memory_work w = one_access(k);
    w.report = [at = allocated(k, bytes)](timer& t) { t.loaded(0, at); };
    timer t(model(), {.sampling = true});
    return drive(t, k, 40 * wave, iterations, w).time.us;
  };
  const double in_l2 = us_of(std::uint64_t{1} << 20), beyond = us_of(std::uint64_t{256} << 20);
  CHECK(in_l2 < 0.7 * beyond);
}

// The account of the only site of `k`, in a launch of `blocks` blocks.
site_account account_of(timer& t, const kernel& k, std::uint64_t blocks, const memory_work& w) {
  const launch_time time = drive(t, k, blocks, iterations, w).time;
  REQUIRE(time.sites.size() == 1);
  return time.sites[0];
}

TEST_CASE("the account of a sampled launch covers all blocks") {
  kernel k(load);
  memory_work w = one_access(k);
  w.report = [at = allocated(k, std::uint64_t{256} << 20)](timer& t) { t.loaded(0, at); };
  timer t(model(), {.sampling = true});
  const site_account a = account_of(t, k, 40 * wave, w);
  const auto sectors = static_cast<double>(40 * wave * warps * iterations * 4);
  CHECK(a.sectors == doctest::Approx(sectors));
  CHECK(a.l2_sectors == doctest::Approx(sectors));
  CHECK(a.dram_read_bytes == doctest::Approx(32 * sectors));
}

TEST_CASE("DRAM is busy for the part of the published bandwidth that its bytes use") {
  kernel k(load);
  memory_work w = one_access(k);
  w.report = [at = allocated(k, std::uint64_t{256} << 20)](timer& t) { t.loaded(0, at); };
  timer t(model(), {});
  const launch_time time = drive(t, k, wave, iterations, w).time;
  REQUIRE(time.sites.size() == 1);
  const site_account& a = time.sites[0];
  const double bytes = a.dram_read_bytes + a.dram_write_bytes + a.dram_earlier_bytes;
  CHECK(time.busy[static_cast<int>(part::dram)] ==
        doctest::Approx(bytes / (time.us * 1e-6 * model().memory_bytes_per_s())));
  CHECK(time.busy[static_cast<int>(part::dram)] < 0.96);  // an H200's reads reach 95 %
}

TEST_CASE("recorded blocks read their own data but hit L1 more often, so L2 limits the time") {
  kernel k(load);
  const auto timed = [&](double more_from_l2) {
    memory_work w = one_access(k);
    w.report = [at = allocated(k, std::uint64_t{256} << 20)](timer& t) { t.loaded(0, at); };
    site_traffic& own = w.traffic[0];  // of 8 waves
    own.sectors = own.l2_sectors = own.dram_sectors = 8 * own.sectors;
    site_traffic others;  // no data from memory
    others.sectors = others.l2_sectors = more_from_l2 * own.sectors;
    w.traffic.push_back(others);
    timer t(model(), {.seed = 7});
    return drive(t, k, 8 * wave, iterations, w).time;
  };
  const launch_time usual = timed(0), more = timed(20), twice = timed(40);
  CHECK(usual.likeness > 0.95);
  CHECK(more.likeness > 0.95);
  CHECK(more.us > 1.5 * usual.us);
  CHECK(twice.us == doctest::Approx(2 * more.us).epsilon(0.05));
}

TEST_CASE("data that all blocks share is read once per launch, however many blocks ran") {
  kernel k(load);
  constexpr std::uint64_t shared = std::uint64_t{1} << 20;
  memory_work w = one_access(k);
  w.report = [at = allocated(k, shared)](timer& t) { t.loaded(0, at); };
  for (const std::uint64_t blocks : {3 * wave, 40 * wave}) {
    timer t(model(), {.sampling = true});
    CHECK(account_of(t, k, blocks, w).dram_read_bytes == doctest::Approx(shared).epsilon(0.02));
  }
}

TEST_CASE("stores that do not fit in L2 go to memory, and so do bytes that were there before") {
  const kernel k(store);
  const double room = costs_of(model()).dirty_bytes, before = costs_of(model()).dirty_at_rest;
  const memory_work w = one_access(k);
  timer t(model(), {.sampling = true});
  const site_account much = account_of(t, k, 40 * wave, w);
  const double stored = 32 * much.sectors;
  REQUIRE(stored > 2 * room);
  CHECK(much.dram_write_bytes == doctest::Approx(stored - room).epsilon(0.01));
  CHECK(much.dram_earlier_bytes == doctest::Approx(before).epsilon(0.02));
  timer other(model(), {.sampling = true});
  memory_work little = w;
  const site_account kept = account_of(other, k, wave, little);
  REQUIRE(32 * kept.sectors < room);
  CHECK(kept.dram_write_bytes == 0);
}

TEST_CASE("work at the end of a block counts in full, although cut blocks stop before it") {
  const kernel k(store);
  const memory_work first = one_access(k);
  memory_work last = first;  // stored by the recorded blocks only
  last.traffic[0].sectors = last.traffic[0].sectors / wave * 3 * resident;
  last.traffic[0].bytes = 32 * last.traffic[0].sectors;
  timer t(model(), {.sampling = true}), other(model(), {.sampling = true});
  const site_account a = account_of(t, k, 40 * wave, first),
                     b = account_of(other, k, 40 * wave, last);
  CHECK(a.dram_write_bytes > 0);
  CHECK(b.dram_write_bytes == doctest::Approx(a.dram_write_bytes));
  CHECK(b.dram_earlier_bytes == doctest::Approx(a.dram_earlier_bytes));
}

TEST_CASE("the caches report a site that no simulated block reaches") {
  kernel k(load);
  memory_work w = one_access(k);
  w.report = [at = allocated(k, std::uint64_t{256} << 20)](timer& t) { t.loaded(0, at); };
  w.each.clear();
  w.traffic[0].l2_sectors = w.traffic[0].sectors / 2;
  w.traffic[0].dram_sectors = w.traffic[0].sectors / 4;
  timer t(model(), {});
  const site_account a = account_of(t, k, wave, w);
  CHECK(a.sectors == w.traffic[0].sectors);
  CHECK(a.l1_hits == w.traffic[0].sectors / 2);
  CHECK(a.dram_read_bytes == 32 * w.traffic[0].sectors / 4);
}

TEST_CASE("data that an earlier launch has just written is read from L2, if it fits there") {
  kernel writes("st.global.f32 [%rd1], %f1;"),
      reads("ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;");
  reads.memory = writes.memory;  // as on one device
  const auto us_of = [&](std::uint64_t bytes, bool is_written_before) {
    const std::uint64_t at = allocated(writes, bytes);
    memory_work w = one_access(writes), r = one_access(reads);
    w.report = [&](timer& t) { t.stored(is_written_before ? at : allocated(writes, 256)); };
    r.report = [&](timer& t) { t.loaded(0, at); };
    timer t(model(), {});
    drive(t, writes, wave, iterations, w);
    return drive(t, reads, wave, iterations, r).time.us;
  };
  const std::uint64_t small = std::uint64_t{4} << 20, large = std::uint64_t{256} << 20;
  CHECK(us_of(small, true) < 0.8 * us_of(small, false));
  CHECK(us_of(large, true) == doctest::Approx(us_of(large, false)));
}

TEST_CASE("atomics at one address are serialised") {
  kernel k("mov.u32 %r1, %tid.x;\nred.global.add.u32 [%rd1], %r1;");
  const auto us_of = [&](std::uint64_t step) {
    memory_work w = one_access(k);
    w.report = [&](timer& t) {
      for (std::uint64_t n = 0; n < wave * warps; ++n) {
        std::uint64_t address[32];
        for (std::uint64_t lane = 0; lane < 32; ++lane)
          address[lane] = (1 << 20) + step * (32 * n + lane);
        t.atomic(0, address, ~0U);
      }
    };
    timer t(model(), {});
    return drive(t, k, wave, iterations, w).time.us;
  };
  CHECK(us_of(0) > 20 * us_of(4));
  CHECK(us_of(4) > 0);
}

}  // namespace
}  // namespace stepwise::emulator
