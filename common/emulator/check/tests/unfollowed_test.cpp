// Tests that the checks report exactly those operations that they do not follow.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "common/device/device.hpp"
#include "common/emulator/check/unfollowed/bulk_loads.hpp"
#include "common/report/finding.hpp"

using namespace stepwise;
using emulator::bulk_loads;

namespace {

// The findings for a kernel of 64 threads. %rd1 is the address of 256 bytes of global memory. %r1
// is the address of a tile of the same size, %r2 of an mbarrier, and %r4 of the thread's own word
// in the tile. %r3 is the thread's index. %p1 is true in all threads except the first.
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
  const status launch = device->launch(*kernel, {{1, 1, 1}, {64, 1, 1}, 0, false, may_begin_early},
                                       std::as_bytes(std::span(&*out, 1)));
  CHECK(launch.ok());
  CHECK(device->synchronize().ok());
  return device->extras().checks->take_findings(false);
}

std::string says(const std::vector<finding>& all) {
  std::string text;
  for (const finding& f : all) text += std::string(name_of(f.kind)) + ": " + f.message + "\n";
  return text;
}

bool is_held_for(const std::vector<finding>& all, const std::string& why) {
  return all.size() == 1 && all[0].kind == finding_kind::not_followed &&
         all[0].message.find(why) != std::string::npos;
}

const std::string bulk_load =
    "@%p1 bra issued;\n"
    "mbarrier.init.shared.b64 [%r2], 1;\nfence.proxy.async.shared::cta;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];\n"
    "issued: bar.sync 0;\n";
const std::string wait_for_phase = "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n";
const std::string use_of_tile = "ld.shared.u32 %r5, [%r4];\n";

}  // namespace

TEST_CASE("a bulk copy to shared memory is accepted if every thread waits for it") {
  const auto each = found_in(bulk_load + wait_for_phase + use_of_tile);
  CAPTURE(says(each));
  CHECK(each.empty());
  const auto by_one = found_in(bulk_load + "@%p1 bra over;\n" + wait_for_phase +
                               "over: bar.sync 0;\n" + use_of_tile);
  CAPTURE(says(by_one));
  CHECK(by_one.empty());
  const auto by_lane =
      found_in(bulk_load + "and.b32 %r6, %r3, 31;\nsetp.ne.u32 %p3, %r6, 0;\n@%p3 bra over;\n" +
               wait_for_phase + "over: bar.warp.sync -1;\n" + use_of_tile);
  CAPTURE(says(by_lane));
  CHECK(by_lane.empty());
}

TEST_CASE("a bulk copy to shared memory is held if a thread does not wait for it") {
  const auto none = found_in(bulk_load + use_of_tile);
  CAPTURE(says(none));
  CHECK(std::ranges::any_of(none, [](const finding& f) {
    return f.kind == finding_kind::not_followed &&
           f.message.find("before they use its data") != std::string::npos;
  }));
  const auto one =
      found_in(bulk_load + "@%p1 bra over;\n" + wait_for_phase + "over:\n" + use_of_tile);
  CAPTURE(says(one));
  CHECK(is_held_for(one, "before they use its data"));
  const auto unused = found_in(bulk_load);
  CAPTURE(says(unused));
  CHECK(is_held_for(unused, "wait for all of its bulk copies"));
}

TEST_CASE("a thread that waits may inform other threads through a flag or an mbarrier") {
  const std::string first_waits = bulk_load + "@%p1 bra over;\n" + wait_for_phase;
  // The copy was issued before a barrier, so the flag passes on only the wait.
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
  CHECK(is_held_for(plain, "before they use its data"));
  const auto between_proxies = through_flag("fence.proxy.async.shared::cta;\n");
  CAPTURE(says(between_proxies));
  CHECK(is_held_for(between_proxies, "before they use its data"));
  const auto through_mbarrier =
      found_in("@%p1 bra init;\nmbarrier.init.shared.b64 [second], 1;\ninit:\n" + first_waits +
               "mbarrier.arrive.shared.b64 _, [second];\nover:\n"
               "mbarrier.try_wait.parity.shared.b64 %p4, [second], 0;\n@!%p4 bra over;\n" +
               use_of_tile);
  CAPTURE(says(through_mbarrier));
  CHECK(through_mbarrier.empty());
}

TEST_CASE("a bulk copy to global memory is held") {
  const auto all = found_in(
      "st.shared.u32 [%r4], %r3;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra end;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend:");
  CAPTURE(says(all));
  CHECK(is_held_for(all, "do not follow bulk copies to global memory"));
}

TEST_CASE("a kernel that may begin early is held unless it waits before it uses memory") {
  const std::string store = "st.global.u32 [%rd1], %r3;\n", one = "@%p1 bra end;\n";
  CHECK(found_in(one + store + "end:").empty());
  CHECK(is_held_for(found_in(one + store + "end:", true), "may begin before the preceding kernel"));
  CHECK(found_in("griddepcontrol.wait;\n" + one + store + "end:", true).empty());
  // No other kernel accesses this block's shared memory.
  CHECK(found_in("st.shared.u32 [%r4], %r3;\n" + one + "griddepcontrol.wait;\n" + store + "end:",
                 true)
            .empty());
  // Only one of two paths waits.
  CHECK(is_held_for(
      found_in("@%p1 bra over;\ngriddepcontrol.wait;\nover:\n" + one + store + "end:", true),
      "may begin before"));
  CHECK(is_held_for(found_in("@!%p1 griddepcontrol.wait;\n" + one + store + "end:", true),
                    "may begin before"));
  CHECK(
      is_held_for(found_in(one + store + "griddepcontrol.wait;\nend:", true), "may begin before"));
}

TEST_CASE("a lane knows of a copy after this or an earlier lane saw its phase complete") {
  bulk_loads all;
  emulator::tick settled = 0;  // all threads know what was seen before this tick
  const auto knows = [&](std::uint64_t at, std::uint64_t bytes, std::uint32_t warp, int lane) {
    return all.knows(at, bytes, warp, lane,
                     [&](const bulk_loads::observation& s) { return s.when < settled; });
  };
  CHECK(knows(0, 16, 0, 0));
  CHECK(all.add(0, 64, 1000, 0));
  CHECK(!knows(60, 8, 0, 0));
  CHECK(knows(64, 8, 0, 0));
  all.saw(1008, 1, 0, 0, 5);  // another mbarrier
  all.saw(1000, 0, 0, 0, 5);  // the previous phase
  CHECK(!knows(0, 4, 0, 0));
  CHECK(all.any_unseen());
  all.saw(1000, 1, 0, 3, 6);
  CHECK(knows(0, 4, 0, 3));
  CHECK(!knows(0, 4, 0, 2));
  CHECK(!all.any_unseen());
  settled = 6;
  CHECK(!knows(0, 4, 1, 2));
  settled = 7;
  CHECK(knows(0, 4, 1, 2));
  all.all_met();
  CHECK(all.empty());
}

TEST_CASE("a copy over one that no thread waited for is noticed") {
  bulk_loads all;
  CHECK(all.add(0, 64, 1000, 0));
  CHECK(all.add(64, 64, 1000, 0));
  CHECK(!all.add(32, 16, 1000, 0));
  all.clear();
  CHECK(all.add(0, 64, 1000, 0));
  all.saw(1000, 1, 5, 7, 3);
  CHECK(all.add(0, 64, 1000, 1));
}
