// Tests what counts as a wait for asynchronous work, as a fence between proxies, and as an early
// access to the data of the previous launch.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "common/device/device.hpp"
#include "common/emulator/check/async/bulk_loads.hpp"
#include "common/report/finding.hpp"

using namespace stepwise;
using emulator::bulk_loads;

namespace {

// The findings for a kernel of 64 threads. %rd1 is the address of 256 bytes of global memory. %r1
// is the address of a tile of the same size, %r2 of an mbarrier, and %r4 of the thread's own word
// in the tile. %r3 is the thread's index. %p1 is true in all threads except the first. The kernel
// is launched twice.
std::vector<finding> found_in(const std::string& body, bool may_begin_early = false) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{\n.shared .align 16 .b8 tile[256];\n"
      ".shared .align 8 .b64 bar, second;\n.shared .align 4 .b32 flag;\n"
      ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"
      "ld.param.u64 %rd1, [out];\nmov.u32 %r1, tile;\nmov.u32 %r2, bar;\nmov.u32 %r3, %tid.x;\n"
      "mad.lo.u32 %r4, %r3, 4, %r1;\nsetp.ne.u32 %p1, %r3, 0;\n" +
      body + "\nret;\n}\n";
  const auto model = find_gpu("h200");
  REQUIRE(model.ok());
  setenv("STEPWISE_CHECK", "1", 1);
  const auto device = make_emulated_device(*model);
  unsetenv("STEPWISE_CHECK");
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  REQUIRE(module.ok());
  const auto kernel = device->find_kernel(*module, "k");
  REQUIRE(kernel.ok());
  const auto out = device->allocate(256);
  REQUIRE(out.ok());
  REQUIRE(device->fill(*out, 0, 1, 256).ok());
  for (const bool is_early : {false, may_begin_early})
    CHECK(device
              ->launch(*kernel, {{1, 1, 1}, {64, 1, 1}, 0, false, is_early},
                       std::as_bytes(std::span(&*out, 1)))
              .ok());
  CHECK(device->synchronize().ok());
  return device->extras().checks->take_findings(false);
}

std::string says(const std::vector<finding>& all) {
  std::string text;
  for (const finding& f : all) text += std::string(name_of(f.kind)) + ": " + f.message + "\n";
  return text;
}

bool is_only(const std::vector<finding>& all, finding_kind kind, const std::string& why) {
  return all.size() == 1 && all[0].kind == kind && all[0].message.find(why) != std::string::npos;
}
bool is_early_use(const std::vector<finding>& all) {
  return is_only(all, finding_kind::race, "has not waited for the bulk copy");
}
bool is_missing_fence(const std::vector<finding>& all) {
  return is_only(all, finding_kind::missing_fence, "no fence.proxy.async follows");
}
bool overlaps(const std::vector<finding>& all) {
  return is_only(all, finding_kind::race, "two kernels access");
}

const std::string loads_tile =
    "@%p1 bra issued;\n"
    "mbarrier.init.shared.b64 [%r2], 1;\nfence.proxy.async.shared::cta;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];\n"
    "issued: bar.sync 0;\n";
const std::string wait_for_phase = "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n";
const std::string use_of_tile = "ld.shared.u32 %r5, [%r4];\n";

}  // namespace

TEST_CASE("a bulk copy to shared memory is accepted if every thread waits for it") {
  const auto each = found_in(loads_tile + wait_for_phase + use_of_tile);
  CAPTURE(says(each));
  CHECK(each.empty());
  const auto by_one = found_in(loads_tile + "@%p1 bra over;\n" + wait_for_phase +
                               "over: bar.sync 0;\n" + use_of_tile);
  CAPTURE(says(by_one));
  CHECK(by_one.empty());
  const auto by_lane =
      found_in(loads_tile + "and.b32 %r6, %r3, 31;\nsetp.ne.u32 %p3, %r6, 0;\n@%p3 bra over;\n" +
               wait_for_phase + "over: bar.warp.sync -1;\n" + use_of_tile);
  CAPTURE(says(by_lane));
  CHECK(by_lane.empty());
}

TEST_CASE("a use of a bulk copy's data by a thread that has not waited is a race") {
  const auto none = found_in(loads_tile + use_of_tile);
  CAPTURE(says(none));
  CHECK(is_early_use(none));
  const auto one =
      found_in(loads_tile + "@%p1 bra over;\n" + wait_for_phase + "over:\n" + use_of_tile);
  CAPTURE(says(one));
  CHECK(is_early_use(one));
  const auto unused = found_in(loads_tile);
  CAPTURE(says(unused));
  CHECK(is_only(unused, finding_kind::not_awaited, "no thread waits for the phase"));
}

TEST_CASE("a thread that waits may inform other threads through a flag or an mbarrier") {
  const std::string first_waits = loads_tile + "@%p1 bra over;\n" + wait_for_phase;
  // The copy was issued before a barrier, so the flag only has to pass on the wait.
  const auto through_flag = [&](const std::string& fence) {
    return found_in("@!%p1 st.shared.u32 [flag], 0;\n" + first_waits + fence +
                    "st.volatile.shared.u32 [flag], 1;\nover:\n"
                    "ld.volatile.shared.u32 %r6, [flag];\nsetp.eq.u32 %p4, %r6, 0;\n"
                    "@%p4 bra over;\n" +
                    fence + use_of_tile);
  };
  const auto fenced = through_flag("membar.cta;\n");
  CAPTURE(says(fenced));
  CHECK(fenced.empty());
  const auto plain = through_flag("");
  CAPTURE(says(plain));
  CHECK(is_early_use(plain));
  const auto between_proxies = through_flag("fence.proxy.async.shared::cta;\n");
  CAPTURE(says(between_proxies));
  CHECK(is_early_use(between_proxies));
  const auto through_mbarrier =
      found_in("@%p1 bra init;\nmbarrier.init.shared.b64 [second], 1;\ninit:\n" + first_waits +
               "mbarrier.arrive.shared.b64 _, [second];\nover:\n"
               "mbarrier.try_wait.parity.shared.b64 %p4, [second], 0;\n@!%p4 bra over;\n" +
               use_of_tile);
  CAPTURE(says(through_mbarrier));
  CHECK(through_mbarrier.empty());
}

namespace {

const std::string store_tile = "st.shared.u32 [%r4], %r3;\n";
const std::string proxy_fence = "fence.proxy.async.shared::cta;\n";
const std::string bulk_store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;\n";
const std::string commit = "cp.async.bulk.commit_group;\n";
const std::string wait_for_reads = "cp.async.bulk.wait_group.read 0;\n";

// The first thread copies the tile to global memory after `before`.
std::string by_first(const std::string& before, const std::string& after = "") {
  return before + "@%p1 bra end;\n" + bulk_store + commit + wait_for_reads + "end:\n" + after;
}

}  // namespace

TEST_CASE("a fence covers the stores that are ordered before it") {
  const std::string barrier = "bar.sync 0;\n";
  const auto by_all = found_in(by_first(store_tile + proxy_fence + barrier));
  CAPTURE(says(by_all));
  CHECK(by_all.empty());
  const auto by_reader = found_in(store_tile + barrier + "@%p1 bra end;\n" + proxy_fence +
                                  bulk_store + commit + wait_for_reads + "end:\n");
  CAPTURE(says(by_reader));
  CHECK(by_reader.empty());
  // A named barrier orders the stores before the fence of one thread, too.
  const auto by_other = found_in(store_tile + "bar.sync 1, 64;\n@%p1 bra over;\n" + proxy_fence +
                                 "over:\n" + by_first(barrier));
  CAPTURE(says(by_other));
  CHECK(by_other.empty());
  const auto none = found_in(by_first(store_tile + barrier));
  CAPTURE(says(none));
  CHECK(is_missing_fence(none));
  const auto too_early = found_in(by_first(proxy_fence + store_tile + barrier));
  CAPTURE(says(too_early));
  CHECK(is_missing_fence(too_early));
  const auto by_one =
      found_in(by_first(store_tile + "@%p1 bra over;\n" + proxy_fence + "over:\n" + barrier));
  CAPTURE(says(by_one));
  CHECK(is_missing_fence(by_one));
}

TEST_CASE("a bulk store uses its source until its thread has waited") {
  const std::string first = store_tile + proxy_fence + "bar.sync 0;\n";
  const auto overwrites = [&](const std::string& between) {
    return found_in(by_first(first, between + store_tile));
  };
  const auto in_order = overwrites("bar.sync 0;\n");
  CAPTURE(says(in_order));
  CHECK(in_order.empty());
  const auto no_barrier = overwrites("");
  CAPTURE(says(no_barrier));
  CHECK(std::ranges::any_of(no_barrier, [](const finding& f) {
    return f.message.starts_with("a bulk copy and a thread");
  }));
  const auto no_wait = found_in(first + "@%p1 bra end;\n" + bulk_store + commit +
                                "end:\nbar.sync 0;\n" + store_tile + wait_for_reads);
  CAPTURE(says(no_wait));
  CHECK(is_only(no_wait, finding_kind::race, "a bulk copy and a thread access"));
  const auto never = found_in(first + "@%p1 bra end;\n" + bulk_store + commit + "end:\n");
  CAPTURE(says(never));
  CHECK(is_only(never, finding_kind::not_awaited, "may still read its shared memory"));
}

TEST_CASE("a launch that may begin early races with the previous launch until it waits") {
  const std::string store = "st.global.u32 [%rd1], %r3;\n", one = "@%p1 bra end;\n";
  CHECK(found_in(one + store + "end:").empty());
  CHECK(overlaps(found_in(one + store + "end:", true)));
  CHECK(found_in("griddepcontrol.wait;\n" + one + store + "end:", true).empty());
  // No other kernel accesses this block's shared memory.
  CHECK(found_in("st.shared.u32 [%r4], %r3;\n" + one + "griddepcontrol.wait;\n" + store + "end:",
                 true)
            .empty());
  // Another thread waits, before or without a barrier.
  const std::string last_waits = "setp.ne.u32 %p3, %r3, 63;\n@!%p3 griddepcontrol.wait;\n";
  CHECK(found_in(last_waits + "bar.sync 0;\n" + one + store + "end:", true).empty());
  CHECK(overlaps(found_in(last_waits + one + store + "end:", true)));
  CHECK(overlaps(found_in(one + store + "griddepcontrol.wait;\nend:", true)));
}

TEST_CASE("a lane knows of a copy after this or an earlier lane saw its phase complete") {
  bulk_loads all;
  emulator::tick settled = 0;  // all threads know what was seen before this tick
  const auto knows = [&](std::uint64_t at, std::uint64_t bytes, std::uint32_t warp, int lane) {
    return all.unfinished(at, bytes, warp, lane, [&](const emulator::phase_observation& s) {
      return s.when < settled;
    }) == nullptr;
  };
  CHECK(knows(0, 16, 0, 0));
  CHECK(!all.add({0, 64, 1000, 0, {}, false, {}}));
  CHECK(!knows(60, 8, 0, 0));
  CHECK(knows(64, 8, 0, 0));
  all.saw(1008, 1, 0, 0, 5);  // another mbarrier
  all.saw(1000, 0, 0, 0, 5);  // the previous phase
  CHECK(!knows(0, 4, 0, 0));
  CHECK(all.unseen() != nullptr);
  all.saw(1000, 1, 0, 3, 6);
  CHECK(knows(0, 4, 0, 3));
  CHECK(!knows(0, 4, 0, 2));
  CHECK(all.unseen() == nullptr);
  settled = 6;
  CHECK(!knows(0, 4, 1, 2));
  settled = 7;
  CHECK(knows(0, 4, 1, 2));
  all.all_met();
  CHECK(all.empty());
}

TEST_CASE("a copy that overwrites one that no thread has waited for is found") {
  bulk_loads all;
  CHECK(!all.add({0, 64, 1000, 0, {}, false, {}}));
  CHECK(!all.add({64, 128, 1000, 0, {}, false, {}}));
  const auto overwritten = all.add({32, 48, 1000, 0, {}, false, {}});
  REQUIRE(overwritten);
  CHECK(overwritten->first == 0);
  all.clear();
  CHECK(!all.add({0, 64, 1000, 0, {}, false, {}}));
  all.saw(1000, 1, 5, 7, 3);
  CHECK(!all.add({0, 64, 1000, 1, {}, false, {}}));
}
