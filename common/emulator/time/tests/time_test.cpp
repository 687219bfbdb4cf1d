// Tests the parts of the time model, on code made by hand: the time that a kernel of each kind must
// take.
#include <doctest/doctest.h>

#include <algorithm>

#include "common/emulator/time/schedule.hpp"
#include "common/emulator/time/tests/made_code.hpp"

namespace stepwise::emulator {
namespace {

double cycles_of(const made_code& m, unsigned blocks, unsigned warps, unsigned times,
                 site_rates rates = {}, unsigned resident = 1, std::uint16_t sectors = 4,
                 std::uint8_t lines = 1, bool in_l1 = false) {
  const launch_trace t = made_trace(m, blocks, warps, times, sectors, lines, in_l1);
  return simulate(made_work(m, t, rates, resident), h200()).cycles;
}

TEST_CASE("every known GPU has costs, and an H200's are those that were measured") {
  for (const std::string& id : known_gpus()) {
    CAPTURE(id);
    const gpu_costs c = costs_of(*find_gpu(id));
    CHECK(c.ghz > 0.3);
    CHECK(c.multiprocessors >= 2);
    CHECK(c.dram_latency >= c.l2_latency);
    CHECK(c.l2_latency >= c.l1_latency);
    CHECK(c.dram_read_bytes > 1);
    for (int u = 0; u < units; ++u) CHECK(c.of[u].interval > 0);
  }
  const gpu model = *find_gpu("h200");
  const gpu_costs c = h200();
  CHECK(c.l1_latency == model.measured.at("l1_latency"));
  CHECK(c.dram_read_bytes * c.ghz == doctest::Approx(model.measured.at("dram_read")));
  CHECK(c.of[static_cast<int>(unit::fma)].interval ==
        doctest::Approx(4 / model.measured.at("fma_f32_rate")));
  CHECK(find_gpu("gtx980")->measured.empty());
}

TEST_CASE(
    "loads move ahead of the instructions that need them, but not past a barrier or a store") {
  made_code m;
  m.load(0);
  m.fma(1, 0);
  m.load(2);
  m.fma(3, 2);
  const auto order_of = [&] {
    return schedule(m.code, h200(), 0, static_cast<std::uint32_t>(m.code.at.size()), 1).order;
  };
  const auto place_of = [&](std::uint32_t n) {
    const auto order = order_of();
    return std::ranges::find(order, n) - order.begin();
  };
  CHECK(order_of() == std::vector<std::uint32_t>{0, 2, 1, 3});
  SUBCASE("a barrier") {
    m.add(step_kind::barrier, unit::none, {}, {});
    m.load(4);
    CHECK(place_of(2) < place_of(4));
    CHECK(place_of(4) < place_of(5));
  }
  SUBCASE("a store") {
    m.add(step_kind::store, unit::load_store, {}, {1});
    m.load(4);
    CHECK(place_of(4) < place_of(5));
    m.code.at[5].may_move = true;  // from memory that is never written
    CHECK(place_of(4) > place_of(5));
  }
}

TEST_CASE("two iterations of an unrolled loop are scheduled together") {
  made_code m;
  m.load(0);
  m.fma(1, 0);
  const straight_run r = schedule(m.code, h200(), 0, 2, 2);
  CHECK(r.order == std::vector<std::uint32_t>{0, 2, 1, 3});
}

// The places of an instruction's machine instructions.
void place(made_code& m, std::uint32_t n, std::vector<std::uint32_t> places) {
  m.code.at[n].first_place = static_cast<std::uint32_t>(m.code.places.size());
  m.code.at[n].places = static_cast<std::uint32_t>(places.size());
  m.code.places.insert(m.code.places.end(), places.begin(), places.end());
}

TEST_CASE("where the machine code is known, its order counts") {
  made_code m;
  m.load(0);
  m.fma(1, 0);
  m.load(2);
  m.fma(3, 2);
  for (std::uint32_t n = 0; n < 4; ++n) place(m, n, {10 + n});
  const straight_run as_written = schedule(m.code, h200(), 0, 4, 1);
  CHECK(as_written.order == std::vector<std::uint32_t>{0, 1, 2, 3});
  place(m, 2, {9});  // loaded first
  CHECK(schedule(m.code, h200(), 0, 4, 1).order == std::vector<std::uint32_t>{2, 0, 1, 3});
  place(m, 1, {5});  // before the load that it needs, so not an order of this run
  CHECK(schedule(m.code, h200(), 0, 4, 1).order == std::vector<std::uint32_t>{2, 0, 1, 3});
}

TEST_CASE("a branch is predication if the machine code moves accesses across it") {
  made_code m;
  m.load(0);
  m.add(step_kind::store, unit::load_store, {}, {0});
  m.add(step_kind::branch, unit::none, {}, {});
  m.load(1);
  m.add(step_kind::store, unit::load_store, {}, {1});
  const auto order = [&] { return schedule(m.code, h200(), 0, 5, 1).order; };
  const std::vector<std::uint32_t> at = {10, 12, 13, 14, 15};
  for (std::uint32_t n = 0; n < 5; ++n) place(m, n, {at[n]});
  CHECK(order() == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  place(m, 3, {11});  // loaded before the store that precedes the branch
  CHECK(order() == std::vector<std::uint32_t>{0, 3, 1, 2, 4});
  place(m, 3, {14});
  place(m, 0, {30});  // accesses before the branch move below it; those after it keep their places
  place(m, 1, {31});
  CHECK(order() == std::vector<std::uint32_t>{2, 3, 4, 0, 1});
}

TEST_CASE("copies of a loop are distinguished by the places of its lines") {
  made_code m;
  m.load(0);
  m.fma(1, 0);
  m.code.copies = {5, 5};  // four copies, and one for the remainder
  const auto order = [&] { return schedule(m.code, h200(), 0, 2, 4).order; };
  const std::vector<std::uint32_t> loads_first{0, 2, 4, 6, 1, 3, 5, 7};
  SUBCASE("the remainder after the copies") {
    place(m, 0, {20, 21, 22, 23, 40});
    place(m, 1, {24, 25, 26, 27, 41});
    CHECK(order() == loads_first);
  }
  SUBCASE("the remainder before the copies") {
    place(m, 0, {5, 20, 21, 22, 23});
    place(m, 1, {6, 24, 25, 26, 27});
    CHECK(order() == loads_first);
  }
  SUBCASE("one line has a constant") {
    place(m, 0, {20, 22, 24, 26, 40});
    place(m, 1, {2, 21, 23, 25, 27, 41});
    CHECK(order() == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  }
  SUBCASE("one machine instruction for several copies") {
    place(m, 0, {20, 40});
    place(m, 1, {24, 25, 26, 27, 41});
    CHECK(order() == loads_first);
  }
}

TEST_CASE("loads ahead stop where the registers end") {
  made_code m;
  m.code.registers = 16;
  for (std::uint32_t n = 0; n < 40; ++n) m.load(n);
  for (std::uint32_t n = 0; n < 40; ++n) m.fma(100, n);
  const auto order = schedule(m.code, h200(), 0, 80, 1).order;
  const auto first_use = std::ranges::find_if(order, [](std::uint32_t n) { return n >= 40; });
  CHECK(first_use - order.begin() <= 10);
  CHECK(std::is_permutation(order.begin(), order.end(),
                            [] {
                              std::vector<std::uint32_t> all(80);
                              for (std::uint32_t n = 0; n < 80; ++n) all[n] = n;
                              return all;
                            }()
                                .begin()));
}

TEST_CASE("a comparison moves ahead of the branch that waits long for it") {
  made_code m;
  for (int n = 0; n < 8; ++n) m.fma(0, 0);
  const std::uint32_t compare = m.add(step_kind::compute, unit::alu, {1}, {2});
  m.add(step_kind::branch, unit::branch, {}, {1});
  const auto order = schedule(m.code, h200(), 0, 10, 1).order;
  CHECK(std::ranges::find(order, compare) - order.begin() <= 5);
  CHECK(order.back() == 9);
}

TEST_CASE("an unrolled loop has one branch after all its copies") {
  made_code m;
  for (int n = 0; n < 4; ++n) m.fma(0, 0);
  m.add(step_kind::compute, unit::alu, {1}, {2});
  m.add(step_kind::branch, unit::branch, {}, {1});
  const gpu_costs c = h200();
  const double fma = c.of[static_cast<int>(unit::fma)].latency;
  const double as_written = cycles_of(m, 1, 1, 400);
  CHECK(as_written > 400 * (4 * fma + 0.8 * c.branch));
  std::ranges::fill(m.code.copies, std::uint8_t{4});
  m.code.at.back().slots = 0.25F;
  const double unrolled = cycles_of(m, 1, 1, 400);
  CHECK(unrolled < 400 * (4 * fma + 0.5 * c.branch));
  CHECK(unrolled > 400 * 4 * fma);
}

TEST_CASE("one warp waits for each result, but many warps keep the pipe busy") {
  made_code m;
  for (int n = 0; n < 100; ++n) m.fma(0, 0);
  const double latency = h200().of[static_cast<int>(unit::fma)].latency;
  CHECK(cycles_of(m, 1, 1, 10) == doctest::Approx(1000 * latency).epsilon(0.03));
  // 32 warps with 1000 instructions each: 4 per cycle, times the pipe's interval.
  const double interval = h200().of[static_cast<int>(unit::fma)].interval;
  CHECK(cycles_of(m, 1, 32, 10) == doctest::Approx(32 * 1000 / 4 * interval).epsilon(0.03));
}

TEST_CASE("memory gives a multiprocessor its share of the rate, after a latency") {
  made_code m;
  m.load(0);
  m.fma(1, 0);
  site_rates from_memory;
  from_memory.dram = 1;
  const gpu_costs c = h200();
  CHECK(cycles_of(m, 1, 1, 1, from_memory) == doctest::Approx(c.dram_latency).epsilon(0.1));
  // 64 warps, 200 requests each. With 128 bytes per request, too few bytes are in flight. With 512
  // bytes, the share is fully used.
  CHECK(cycles_of(m, 1, 64, 200, from_memory) ==
        doctest::Approx(200 * c.dram_latency).epsilon(0.1));
  const double bytes = 64 * 200 * 512.0;
  const double at_once = cycles_of(m, 1, 64, 200, from_memory, 1, 16, 4);
  CHECK(at_once < bytes / (c.dram_few_bytes / 132) * 1.05);
  CHECK(at_once > bytes / (c.dram_read_bytes / 132));
  CHECK(cycles_of(m, 1, 64, 200, {}, 1, 4, 1, true) == doctest::Approx(64 * 200).epsilon(0.1));
  // A line per lane.
  CHECK(cycles_of(m, 1, 64, 200, {}, 1, 32, 32, true) ==
        doctest::Approx(64 * 200 * 8 * c.line_cycles).epsilon(0.1));
}

TEST_CASE("blocks that were not traced continue like those that were") {
  made_code m;
  for (int n = 0; n < 64; ++n) m.fma(0, 0);
  const launch_trace t = made_trace(m, 24, 8, 4);
  multiprocessor_work w = made_work(m, t, {}, 8);
  const double some = simulate(w, h200()).cycles;
  w.blocks = 2400;
  const double all = simulate(w, h200()).cycles;
  CHECK(all == doctest::Approx(100 * some).epsilon(0.15));
  CHECK(simulate(w, h200()).cycles == all);
}

TEST_CASE("a barrier holds every warp, and a block's slot stays empty for a while") {
  made_code with, without;
  for (int n = 0; n < 4; ++n) {
    with.fma(0, 0);
    without.fma(0, 0);
  }
  with.add(step_kind::barrier, unit::none, {}, {});
  const gpu_costs c = h200();
  const double each = (cycles_of(with, 1, 8, 100) - cycles_of(without, 1, 8, 100)) / 100;
  CHECK(each > c.barrier_latency);
  CHECK(each < 2 * (c.barrier_latency + 8 * c.barrier_per_warp));
  const double one = cycles_of(without, 1, 8, 100), ten = cycles_of(without, 10, 8, 100);
  CHECK(ten - 10 * one == doctest::Approx(9 * (c.turnover + 8 * c.turnover_per_warp)).epsilon(0.1));
}

// The fraction of all warps' waiting cycles that have this reason.
double share_of(stall why, const multiprocessor_time& t) {
  stall_cycles all;
  for (const stall_cycles& s : t.stalled) all += s;
  return all.of[static_cast<int>(why)] / all.all();
}

TEST_CASE("the reasons why warps wait") {
  const auto time_of = [](const made_code& m, unsigned warps, site_rates rates = {},
                          std::uint16_t sectors = 4) {
    const launch_trace t = made_trace(m, 1, warps, 50, sectors);
    return simulate(made_work(m, t, rates), h200());
  };
  made_code chain;
  for (int n = 0; n < 20; ++n) chain.fma(0, 0);
  CHECK(share_of(stall::execution_dependency, time_of(chain, 1)) > 0.9);
  CHECK(share_of(stall::not_selected, time_of(chain, 64)) > 0.5);

  made_code needs_memory;
  needs_memory.load(0);
  needs_memory.fma(1, 0);
  site_rates from_memory;
  from_memory.dram = 1;
  const multiprocessor_time waits = time_of(needs_memory, 1, from_memory);
  CHECK(share_of(stall::memory_dependency, waits) > 0.9);
  CHECK(waits.stalled[1].of[static_cast<int>(stall::memory_dependency)] > 50 * 600.0);
  CHECK(waits.waited_for.at(std::uint64_t{1} << 32 | 0) > 50 * 600.0);
  CHECK(waits.waited_for.size() == 1);

  made_code special, exchanges;
  for (int n = 0; n < 20; ++n) {
    special.add(step_kind::compute, unit::special, {0}, {0});
    exchanges.add(step_kind::compute, unit::exchange, {0}, {0});
  }
  for (const unsigned few_or_many : {1U, 64U}) {  // waits for results, or for the unit
    CHECK(share_of(stall::special_functions, time_of(special, few_or_many)) > 0.4);
    CHECK(share_of(stall::shared_dependency, time_of(special, few_or_many)) == 0);
  }
  CHECK(share_of(stall::shared_dependency, time_of(exchanges, 1)) > 0.9);
  CHECK(share_of(stall::special_functions, time_of(exchanges, 1)) == 0);

  made_code stores;
  stores.add(step_kind::store, unit::load_store, {}, {0});
  CHECK(share_of(stall::memory_throttle, time_of(stores, 64, {}, 32)) > 0.5);

  made_code meets;
  for (int n = 0; n < 2; ++n) meets.fma(0, 0);
  meets.add(step_kind::barrier, unit::none, {}, {});
  CHECK(share_of(stall::synchronization, time_of(meets, 32)) > 0.3);
}

TEST_CASE("warps are counted as active until they end") {
  made_code m;
  for (int n = 0; n < 20; ++n) m.fma(0, 0);
  const launch_trace t = made_trace(m, 1, 16, 50);
  const multiprocessor_time all = simulate(made_work(m, t, {}), h200());
  CHECK(all.warp_cycles / all.simulated_cycles == doctest::Approx(16).epsilon(0.05));
}

TEST_CASE("an experiment removes what its name says, and nothing else") {
  made_code m;
  m.load(0);
  for (int n = 0; n < 30; ++n) m.fma(1, 1);
  site_rates from_memory;
  from_memory.dram = 1;
  launch_trace t = made_trace(m, 1, 32, 50, 32, 32);
  for (warp_trace& w : t.blocks[0].warps)
    for (recorded_access& a : w.accesses) a.ideal_sectors = 4;
  const auto cycles_with = [&](const memory_wishes& wishes) {
    multiprocessor_work w = made_work(m, t, from_memory);
    w.memory = wishes;
    return simulate(w, h200()).cycles;
  };
  const double now = cycles_with({}), coalesced = cycles_with({.ideal_sectors = true}),
               none = cycles_with({.no_global = true});
  CHECK(now > 2 * coalesced);
  CHECK(coalesced >= none);
  CHECK(none > 50 * 30 * 4);  // the chain of sums remains
  CHECK(cycles_with({.ideal_wavefronts = true}) == now);
  CHECK(cycles_with({.no_local = true}) == now);
  for (warp_trace& w : t.blocks[0].warps)
    for (recorded_access& a : w.accesses) a.is_local = true;
  CHECK(cycles_with({.no_local = true}) == none);
}

TEST_CASE("an empty launch takes no time, and a trace without an end does not hang") {
  made_code m;
  m.fma(0, 0);
  m.add(step_kind::barrier, unit::none, {}, {});
  launch_trace t = made_trace(m, 1, 2, 1);
  t.blocks[0].warps[1].pieces.clear();  // never reaches the barrier
  CHECK(simulate(made_work(m, t, {}), h200()).cycles < 200);
  const launch_trace none;
  CHECK(simulate(made_work(m, none, {}), h200()).cycles == 0);
}

// --- asynchronous units ---

// Adds a signal of this instruction to the warp's last piece.
void add_signal(warp_trace& w, std::uint32_t ordinal, const recorded_signal& s) {
  recorded_access a;
  a.ordinal = ordinal;
  a.is_signal = true;
  a.first_line = static_cast<std::uint32_t>(w.signals.size());
  w.accesses.push_back(a);
  w.signals.push_back(s);
  ++w.pieces.back().accesses;
}

std::uint32_t add_signal_code(made_code& m, step_kind kind) {
  const std::uint32_t n = m.add(kind, unit::none, {}, {0});
  m.code.at[n].is_memory = m.code.at[n].is_shared = true;
  return n;
}

double cycles_of(const made_code& m, const launch_trace& t) {
  return simulate(made_work(m, t, {}), h200()).cycles;
}

TEST_CASE("a wait for an mbarrier ends after the arrival of another warp") {
  made_code m;
  for (int n = 0; n < 1000; ++n) m.fma(0, 0);
  const std::uint32_t arrival = add_signal_code(m, step_kind::signal);
  const auto code_end = static_cast<std::uint32_t>(m.code.at.size());
  const std::uint32_t wait = add_signal_code(m, step_kind::wait_phase);
  launch_trace t;
  t.runs = {{0, code_end}, {wait, wait + 1}};
  block_trace b{0, std::vector<warp_trace>(2), 0, 0};
  b.warps[0].pieces = {{0, 0}};
  b.warps[1].pieces = {{1, 0}};
  add_signal(b.warps[0], arrival, {64, 0, false, false});
  add_signal(b.warps[1], wait, {64, 0, true, false});
  t.blocks.push_back(b);
  const double busy = 1000 * h200().of[static_cast<int>(unit::fma)].latency;
  const double with_wait = cycles_of(m, t);
  CHECK(with_wait > busy + h200().async.wake);
  CHECK(with_wait < busy + 600);
  SUBCASE("without the arrival in the trace, the warp does not wait forever") {
    t.blocks[0].warps[0] = {};
    CHECK(cycles_of(m, t) < 600);
  }
}

TEST_CASE("products of a warp follow each other, and only a wait for them stops the warp") {
  made_code m;
  const auto add_product = [&] {
    const std::uint32_t n = m.add(step_kind::product, unit::tensor, {}, {});
    m.code.at[n].tensor = {tensor_work::form::wgmma, false, 128, 1};
  };
  for (int n = 0; n < 4; ++n) add_product();
  m.add(step_kind::commit_products, unit::none, {}, {});
  const double without_wait = cycles_of(m, 1, 4, 1);
  const std::uint32_t wait = m.add(step_kind::wait_products, unit::none, {}, {});
  m.code.at[wait].groups_left = 0;
  const double with_wait = cycles_of(m, 1, 4, 1);
  CHECK(without_wait < 100);
  // ncu shows 314 cycles for four products of 64 x 128 x 16 and a wait (wgmma_n128_in_fours).
  CHECK(with_wait > 4 * 64 + h200().tensor.product_latency);
  CHECK(with_wait < 400);
}

TEST_CASE("the time of a tensor instruction follows from its shape") {
  const tensor_costs& c = h200().tensor;
  const gpu model = *find_gpu("h200");
  for (const unsigned n : {8U, 16U, 32U, 64U, 96U, 128U, 192U, 256U}) {
    CAPTURE(n);
    const std::string name = "wgmma_n" + std::to_string(n);
    const auto columns = static_cast<std::uint16_t>(n);
    CHECK(c.interval({tensor_work::form::wgmma, false, columns, 1}) ==
          doctest::Approx(model.measured.at(name)).epsilon(0.01));
    CHECK(c.interval({tensor_work::form::wgmma, true, columns, 1}) ==
          doctest::Approx(model.measured.at(name + "_a_in_registers")).epsilon(0.02));
  }
  CHECK(c.interval({tensor_work::form::whole, false, 0, 2}) == doctest::Approx(2 * c.whole));
}

TEST_CASE("L2 and memory keep their clock when the multiprocessors lower theirs") {
  const gpu_costs& usual = h200();
  const gpu_costs slow = usual.at_clock(usual.ghz / 2);
  CHECK(slow.dram_read_bytes * slow.ghz == doctest::Approx(usual.dram_read_bytes * usual.ghz));
  CHECK(slow.l2_latency / slow.ghz == doctest::Approx(usual.l2_latency / usual.ghz));
  CHECK(slow.shared_latency == usual.shared_latency);
}

TEST_CASE("a launch with clusters uses the multiprocessors on which its clusters fit") {
  CHECK(h200().multiprocessors_of(1) == 132);
  CHECK(h200().multiprocessors_of(2) == 132);
  CHECK(h200().multiprocessors_of(4) == 120);
  CHECK(h200().multiprocessors_of(16) == 112);
}

}  // namespace
}  // namespace stepwise::emulator
