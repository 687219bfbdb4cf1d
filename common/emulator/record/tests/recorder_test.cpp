// Compares recordings with the profiler's counts for the same warps, and with values computed by
// hand.
#include "common/emulator/record/recorder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/device/device.hpp"

namespace stepwise::emulator {
namespace {

struct recorded {
  std::vector<kernel_profile> kernels;
  warp_recording warps;
  std::string text;
};

// A kernel with divergence, strided and padded shared memory, a shuffle, vectors and a fused
// product. Its 64 threads are two warps that exchange words.
const char* const body_of_most = R"(
.loc 1 2 0
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
.loc 1 3 0
ld.global.u32 %r2, [%rd3];
mov.u32 %r3, s;
shl.b32 %r4, %r1, 2;
add.s32 %r4, %r4, %r3;
st.shared.u32 [%r4], %r1;
.loc 1 4 0
bar.sync 0;
mov.u32 %r10, 0;
mov.u32 %r11, 1;
again:
.loc 1 5 0
shl.b32 %r5, %r11, 1;
rem.u32 %r6, %r1, %r5;
setp.ne.u32 %p1, %r6, 0;
@%p1 bra skip;
.loc 1 6 0
shl.b32 %r7, %r1, 3;
add.s32 %r7, %r7, %r3;
ld.shared.u32 %r8, [%r7];
add.s32 %r10, %r10, %r8;
skip:
.loc 1 7 0
shl.b32 %r11, %r11, 1;
setp.lt.u32 %p2, %r11, 32;
@%p2 bra again;
.loc 1 8 0
shfl.sync.down.b32 %r9, %r10, 1, 31, -1;
mul.wide.u32 %rd4, %r1, 128;
add.s64 %rd5, %rd1, %rd4;
.loc 1 9 0
cvt.rn.f32.u32 %f1, %r1;
mul.f32 %f2, %f1, 0f3F000000;
add.f32 %f3, %f2, 0f3F800000;
st.global.f32 [%rd5], %f3;
@%p1 st.global.v2.u32 [%rd5], {%r9, %r10};
)";

// One thread announces 64 bytes at an mbarrier, copies them, and arrives again; a thread of the
// other warp arrives, too. All threads wait for the phase of parity 0.
const char* const barrier_body = R"(
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 31;
setp.ne.u32 %p1, %r1, 0;
setp.ne.u32 %p2, %r2, 0;
mov.u32 %r3, s;
add.u32 %r4, %r3, 512;
@!%p1 mbarrier.init.shared.b64 [%r4], 3;
bar.sync 0;
@%p1 bra others;
mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r4], 64;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 64, [%r4];
bra all;
others:
@!%p2 mbarrier.arrive.shared.b64 %rd2, [%r4];
all:
bar.warp.sync -1;
@!%p1 mbarrier.arrive.shared.b64 %rd2, [%r4];
wait:
mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0;
@!%p3 bra wait;
)";

recorded record(const std::string& of, const char* body = body_of_most) {
  const std::string text =
      std::string(
          ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"/home/me/lesson.cu\"\n"
          ".visible .entry kernel(.param .u64 out)\n{\n.shared .align 16 .b8 s[1024];\n"
          ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<16>;\n"
          ".loc 1 1 0\nld.param.u64 %rd1, [out];\n") +
      body + "ret;\n}\n";
  const auto file =
      std::filesystem::temp_directory_path() / ("recorder_test." + std::to_string(getpid()));
  setenv("STEPWISE_COUNTERS", "1", 1);
  setenv("STEPWISE_RECORD", file.c_str(), 1);
  setenv("STEPWISE_RECORD_OF", of.c_str(), 1);
  const auto device = make_emulated_device(*find_gpu("h200"));
  for (const char* name : {"STEPWISE_COUNTERS", "STEPWISE_RECORD", "STEPWISE_RECORD_OF"})
    unsetenv(name);
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  REQUIRE_MESSAGE(module.ok(), module.failure().message);
  const auto kernel = device->find_kernel(*module, "kernel");
  const std::uint64_t parameter = *device->allocate(1 << 14);
  device->extras().checks->name_allocation(parameter, "out");
  REQUIRE(device->fill(parameter, 0, 4, 1 << 12).ok());
  REQUIRE(device
              ->launch(*kernel, {{1, 1, 1}, {64, 1, 1}, 0, false},
                       std::as_bytes(std::span(&parameter, 1)))
              .ok());
  const status end = device->synchronize();
  REQUIRE_MESSAGE(end.ok(), end.message);
  recorded r{device->extras().profile->take_profile(), {}, {}};
  std::ostringstream all;
  all << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  r.text = all.str();
  if (!r.text.empty()) r.warps = parse_recording(r.text);
  return r;
}

struct sums {
  std::uint64_t warps = 0, lanes = 0, loads = 0, stores = 0, shared = 0, ideal = 0;
  bool operator==(const sums&) const = default;
};

TEST_CASE("steps match the profiler's counts, line by line") {
  const recorded r = record("warps=all steps=5000");
  CHECK_FALSE(r.warps.is_cut());
  std::map<std::uint32_t, sums> steps, counted;
  for (const auto& s : r.warps.steps) {
    sums& to = steps[r.warps.instructions[s.instruction].line];
    ++to.warps;
    to.lanes += static_cast<unsigned>(std::popcount(s.mask));
    for (const auto& a : s.accesses) {
      if (!a.counted) continue;
      (a.space == "shared" ? to.shared : a.kind == "load" ? to.loads : to.stores) += a.taken;
      to.ideal += a.ideal;
    }
  }
  for (const line_profile& l : r.kernels.at(0).lines) {
    const profile_counts& c = l.counts;
    const auto all = c.all_instructions();
    counted[static_cast<std::uint32_t>(l.at.line)] = {
        all.warps,
        all.lanes,
        c.global_load.sectors,
        c.global_store.sectors,
        c.shared_load.wavefronts + c.shared_store.wavefronts,
        c.global_load.ideal_sectors + c.global_store.ideal_sectors +
            c.shared_load.ideal_wavefronts + c.shared_store.ideal_wavefronts};
  }
  REQUIRE(steps.size() == counted.size());
  for (const auto& [line, s] : counted) {
    const sums& is = steps[line];
    CAPTURE(line);
    CHECK(is.warps == s.warps);
    CHECK(is.lanes == s.lanes);
    CHECK(is.loads == s.loads);
    CHECK(is.stores == s.stores);
    CHECK(is.shared == s.shared);
    CHECK(is.ideal == s.ideal);
  }
  CHECK(counted[9].stores == 2 * 32 + 2 * 31);
}

TEST_CASE("masks, banks and values of one warp") {
  const recorded r = record("");
  CHECK(r.warps.warps == std::vector<std::uint32_t>{0});
  std::vector<std::uint32_t> masks;
  std::vector<unsigned> wavefronts;
  for (const auto& s : r.warps.steps) {
    const auto& i = r.warps.instructions[s.instruction];
    if (i.line == 6) masks.push_back(s.mask);
    if (i.line == 6 && !s.accesses.empty()) wavefronts.push_back(s.accesses[0].taken);
    if (i.ptx.starts_with("add.s64 %rd3")) {
      CHECK(value_text(r.warps, s.values.at(0), i.writes.at(0).type, 0) == "out");
      CHECK(value_text(r.warps, s.values.at(0), i.writes.at(0).type, 3) == "out + 12");
    }
    if (i.ptx.starts_with("add.f32 %f3"))
      CHECK(value_text(r.warps, s.values.at(0), "f32", 3) == "2.5");
    if (i.ptx.starts_with("mul.f32")) CHECK(i.note == "part of a fused multiply-add");
    if (i.ptx.starts_with("@%p1 st.global")) CHECK(s.active == 0xfffffffeu);
    // While this warp waited, the other warp has filled its half of the tile.
    if (i.ptx.starts_with("mov.u32 %r10")) {
      REQUIRE(s.fills.size() == 1);
      CHECK(s.fills[0].warp == 1);
      CHECK(s.fills[0].first == 32);
      CHECK(s.fills[0].count == 32);
    }
    if (i.ptx.starts_with("st.shared")) CHECK(s.accesses.at(0).stored.at(0).of[7] == 7);
  }
  REQUIRE(masks.size() == 5 * 4);
  CHECK(masks[0] == 0x55555555u);
  CHECK(masks[4] == 0x11111111u);
  CHECK(masks[16] == 1u);
  // Lane l reads word 2 l of the even lanes, so lanes 0 and 16 use the same bank.
  CHECK(wavefronts == std::vector<unsigned>{2, 2, 2, 2, 1});
}

TEST_CASE("a recording is bounded and says so, and unrequested parts are not recorded") {
  const recorded few = record("steps=10");
  CHECK(few.warps.steps.size() == 10);
  CHECK(few.warps.is_cut());
  const recorded later = record("first=9 steps=2");
  CHECK(few.warps.instructions[few.warps.steps[8].instruction].ptx ==
        later.warps.instructions[later.warps.steps[0].instruction].ptx);
  CHECK(record("launch=2").text.empty());
  CHECK(record("block=1").warps.steps.empty());
  CHECK(record("steps=0").text.empty());
  CHECK(record("warps=0,").text.empty());
}

TEST_CASE("uses of mbarriers, and their phases afterwards") {
  const recorded r = record("warps=all", barrier_body);
  std::vector<std::string> first_warp, second_warp;
  std::uint32_t waited = 0;
  std::string note;
  for (const auto& s : r.warps.steps) {
    const std::string& of = r.warps.instructions[s.instruction].note;
    if (!of.empty()) note = of;
    for (const auto& b : s.barriers) {
      CHECK(b.at == 512);
      if (b.use == "passes") waited |= b.lanes;
      if (b.use != "polls")
        (s.warp == 0 ? first_warp : second_warp).push_back(barrier_text(r.warps, b));
    }
  }
  REQUIRE(first_warp.size() == 4);
  CHECK(first_warp[0] ==
        "mbarrier s + 512: initialised; its phase of parity 0 waits for 3 arrivals");
  CHECK(first_warp[1] ==
        "mbarrier s + 512: arrived; its phase of parity 0 waits for 1 arrival and 64 bytes");
  CHECK(first_warp[3] ==
        "mbarrier s + 512: the wait succeeded; its phase of parity 1 waits for 3 arrivals");
  REQUIRE(second_warp.size() == 2);
  CHECK(second_warp[1] == first_warp[3]);
  CHECK(waited == ~0u);
  CHECK(note ==
        "begins a copy by TMA to shared memory; the mbarrier counts its bytes when they arrive");
  CHECK(recording_text(parse_recording(r.text)) == r.text);
}

TEST_CASE("malformed files are refused with an explanation") {
  const std::string good = record("").text;
  CHECK(recording_text(parse_recording(good)) == good);
  const auto why = [](const std::string& text) -> std::string {
    try {
      parse_recording(text);
    } catch (const json_error& e) {
      return e.what();
    }
    return "";
  };
  const auto with = [&](const std::string& a, const std::string& b) {
    std::string text = good;
    const auto at = text.find(a);
    REQUIRE(at != std::string::npos);
    return text.replace(at, a.size(), b);
  };
  CHECK(why("") == "is empty");
  CHECK(why("{}") == "is not a recorded warp");
  CHECK(why(with("\"version\":1", "\"version\":2")) ==
        "has version 2, but this course reads version 1");
  CHECK(why(good.substr(0, good.size() / 2)) != "");
  CHECK(why(with("\"i\":0", "\"i\":99")) == "a step with no such instruction");
  CHECK(why(with("\"at\":", "\"at\":9999")) == "a step with no such row");
  CHECK(why(with("\"rows\":[", "\"rows\":[\"AAAA\",")) != "");
  CHECK(why(std::string((64 << 20) + 1, ' ')) == "is too large for a recorded warp");
}

}  // namespace
}  // namespace stepwise::emulator
