// Tests profiles as JSON, and as text for people.
#include <doctest/doctest.h>

#include <algorithm>

#include "common/report/profile_json.hpp"
#include "common/report/profile_text.hpp"

using namespace stepwise;

namespace {

kernel_profile example() {
  kernel_profile k;
  k.kernel = "transpose";
  k.mangled = "_Z9transposePKfPfi";
  k.launches = 2;
  k.grid = {32, 32, 1};
  k.block = {32, 8, 1};
  k.registers = 20;
  k.dynamic_shared_bytes = 4096;
  k.fits.blocks = 8;
  k.fits.by_warps = true;
  k.resident_warps = k.most_warps = 64;
  k.knows_machine_code = true;
  k.l1_bytes = 229376;
  line_profile load;
  load.at = {"transpose.cu", 23, "tile[y][x] = in[y * n + x];", ""};
  load.path = "/home/me/transpose.cu";
  load.counts.global_load = {10, 320, 40, 40, 8, 32, 16, 512, 0};
  load.counts.shared_store = {10, 320, 10, 10};
  load.counts.instructions[static_cast<int>(pipe::load_store)] = {20, 640};
  load.notes = {"2 adjacent accesses are one of 8 bytes in the machine code"};
  line_profile store = load;
  store.at = {"transpose.cu", 27, "out[x * n + y] = tile[x][y];", ""};
  store.counts = {};
  store.counts.global_store = {10, 320, 320, 40, 0, 320, 320, 0, 0};
  store.counts.shared_load = {10, 320, 80, 10};
  store.counts.instructions[static_cast<int>(pipe::load_store)] = {20, 640};
  store.counts.global_atomic.repeated_sectors = 3;
  store.counts.shared_atomic.repeated_wavefronts = 4;
  store.counts.async = {8, 512, 64, 2, 1024, 256, 3, 4, 5, 16};
  store.counts.branches = 10;
  store.counts.divergent_branches = 5;
  store.notes.clear();
  line_profile inner = store;
  inner.at = {"tile.hpp", 4, "return tile[x][y];", "read_tile"};
  store.inner = {inner};
  store.stalled.of[static_cast<int>(stall::shared_dependency)] = 200;
  store.stalled.issued = 20;
  store.waited_for = {{load.at, 150}};
  k.lines = {load, store};
  k.timing.us = 12.5;
  k.timing.instructions = 4000;
  k.timing.busy[static_cast<int>(part::dram)] = 0.75;
  k.timing.active_warps = 40;
  k.timing.counted = 0.5;
  k.timing.traffic = level_traffic{1, 2, 3, 4, 5, 6, 7, 8, 9};
  k.timing.experiments_us = {1, 2, 3, 4, 5, 6, 7, 8};
  k.total += load.counts;
  k.total += store.counts;
  return k;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the work of asynchronous units is serialised and described") {
  const kernel_profile k = example();
  const auto parsed = parse_profile(profile_json({k}));
  REQUIRE(parsed.has_value());
  CHECK(parsed->front().lines[1].counts.async == k.lines[1].counts.async);
  CHECK(parsed->front().lines[0].counts.async == async_counts{});
  const std::string text = profile_text({k}, {160, true});
  CHECK(has(text, "tensor cores: 8 instructions, 64 cycles each"));
  CHECK(has(text, "operands in shared memory: 8.0 wavefronts per warp"));
  CHECK(has(text, "bulk copies: 32.8 KB arrive in shared memory"));
  CHECK(has(text, "mbarriers: 3 arrivals, 4 waits"));
  CHECK(has(text, "other blocks' shared memory: 512 B"));
}

TEST_CASE("copies and fills are serialised next to the kernels") {
  const device_transfers moved = {2, 4096, 1, 32, 5.5, 3};
  CHECK(transfers_in_profile(profile_json({example()}, {}, moved)) == moved);
  CHECK(parse_profile(profile_json({}, {}, moved))->empty());
  CHECK(transfers_in_profile(profile_json({example()})) == device_transfers{});
  CHECK(transfers_in_profile(R"({"kernels": [], "transfers": {"copies": "many"}})") ==
        device_transfers{});
}

TEST_CASE("a profile is written as JSON and read back without loss") {
  const std::string text = profile_json({example()});
  CHECK(text.find('\n') == std::string::npos);
  const auto read = parse_profile(text);
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  CHECK(profile_json(*read) == text);
  const kernel_profile& k = read->at(0);
  CHECK(k.kernel == "transpose");
  CHECK(k.grid.y == 32);
  CHECK(k.fits.by_warps);
  CHECK(k.total.global_store == example().total.global_store);
  CHECK(k.lines.at(1).inner.at(0).at.inner == "read_tile");
  CHECK(k.lines.at(0).notes.size() == 1);
  CHECK(k.total.all_instructions().lanes == 1280);
  CHECK(k.timing.us == 12.5);
  CHECK(k.timing.busy[static_cast<int>(part::dram)] == 0.75);
  REQUIRE(k.timing.traffic);
  CHECK(k.timing.traffic->l1_sectors == 1);
  CHECK(k.timing.traffic->l2_sectors == 5);
  CHECK(k.timing.traffic->dram_earlier_bytes == 9);
  CHECK(k.timing.experiments_us.size() == experiments);
  CHECK(k.lines.at(1).stalled.all() == 200);
  CHECK(k.lines.at(1).waited_for.at(0).at.line == 23);
  CHECK(k.lines.at(0).waited_for.empty());
}

kernel_profile with_counts(const profile_counts& counts) {
  kernel_profile k = example();
  k.lines.resize(1);
  k.lines[0].counts = counts;
  k.total = counts;
  return k;
}

std::string what_stands_out(const kernel_profile& k) {
  const std::string text = profile_text({k}, {160, true});
  const auto at = text.find("What stands out");
  return at == text.npos ? "" : text.substr(at);
}

TEST_CASE("a bounds check that few warps diverge at does not stand out") {
  profile_counts c;
  c.branches = 3128;
  c.divergent_branches = 1;
  c.instructions[static_cast<int>(pipe::fp32)] = {30000, 32 * 30000 - 100};
  CHECK(what_stands_out(with_counts(c)).empty());
  CHECK(has(profile_text({with_counts(c)}, {160, true}), "1 of 3,128 branches diverge"));
  SUBCASE("nor does one that always diverges but does not affect the other instructions") {
    c.branches = c.divergent_branches = 10;
    CHECK(what_stands_out(with_counts(c)).empty());
  }
  SUBCASE("branches that leave lanes idle do") {
    c.divergent_branches = 1000;
    c.instructions[static_cast<int>(pipe::fp32)] = {30000, 16 * 30000};
    CHECK(has(what_stands_out(with_counts(c)), "line 23: 1,000 of 3,128 branches diverge"));
  }
  SUBCASE("and so does a loop that lanes leave one after the other") {
    c.divergent_branches = 90;
    c.instructions[static_cast<int>(pipe::fp32)] = {30000, 16 * 30000};
    CHECK(has(what_stands_out(with_counts(c)), "90 of 3,128"));
  }
  SUBCASE("lanes without a thread are not idle because of a branch") {
    c.divergent_branches = 1;
    c.instructions[static_cast<int>(pipe::fp32)] = {30000, 16 * 30000};
    kernel_profile k = with_counts(c);
    k.block = {16, 1, 1};
    CHECK(what_stands_out(k).empty());
  }
}

TEST_CASE("atomics at one address and local memory are not called uncoalesced") {
  profile_counts c;
  c.global_atomic = {100, 3200, 3200, 100};
  c.global_atomic.repeated_sectors = 3100;
  CHECK(has(what_stands_out(with_counts(c)),
            "32.0 sectors per request, 1.0 if lanes with the same address were combined first"));
  c.global_atomic = {100, 3200, 3200, 400};
  CHECK(has(what_stands_out(with_counts(c)), "32.0 sectors per request, 4.0 would be enough"));
  c.global_atomic = {};
  c.shared_atomic = {100, 3200, 3200, 100, 3100};
  CHECK(has(what_stands_out(with_counts(c)), "1.0 if lanes with the same address were combined"));
  c.shared_atomic = {100, 3200, 3200, 100, 0};
  CHECK(has(what_stands_out(with_counts(c)), "32.0-way bank conflict"));
  c.shared_atomic = {};
  c.local_load = {100, 3200, 400, 400};
  CHECK(has(what_stands_out(with_counts(c)),
            "local load: 4.0 sectors per request, 0 if the array were in registers"));
}

TEST_CASE("the rest after L1 is mentioned only if L1 had hits") {
  profile_counts c;
  c.global_load = {10, 320, 40, 40};
  c.global_load.l2_sectors = 40, c.global_load.l2_hits = 20;
  CHECK(has(profile_text({with_counts(c)}, {160, true}), "per request; 50 % in L2"));
}

TEST_CASE("launches that differ only in the grid are one section of the text") {
  kernel_profile first = example(), second = example();
  first.grid = {64, 1, 1};
  second.grid = {1, 1, 1};
  second.launches = 3;
  second.lines.pop_back();
  const std::string text = profile_text({first, second}, {160, true});
  CHECK(has(text, "grids from 64 to 1, block 32 x 8, " + std::to_string(first.launches + 3) +
                      " launches"));
  CHECK(has(text, "80 warp instructions"));
  CHECK(text.find("What stands out") == text.rfind("What stands out"));
  second.block = {7, 1, 1};
  CHECK(!has(profile_text({first, second}, {160, true}), "grids from"));
}

TEST_CASE("a profile includes a kernel's failure") {
  CHECK(failure_in_profile(profile_json({example()}, "f failed")) == "f failed");
  CHECK(parse_profile(profile_json({}, "f failed"))->empty());
  CHECK(failure_in_profile(profile_json({example()})).empty());
  CHECK(failure_in_profile("torn").empty());
  CHECK(failure_in_profile("{\"failed\": 1}").empty());
}

TEST_CASE("a malformed profile is refused") {
  CHECK(!parse_profile(""));
  CHECK(!parse_profile("{\"kernels\": [{}]}"));
  CHECK(!parse_profile("[1, 2]"));
  CHECK(!parse_profile(profile_json({example()}).substr(0, 200)));
}

TEST_CASE("the text has the line, its cost, and the cost that would be enough") {
  for (const std::size_t width : {60, 80, 120, 160}) {
    const std::string text = profile_text({example()}, {width, true});
    CHECK(has(text, "transpose\n"));
    CHECK(has(text, "   27   50 %  out[x * n + y] = tile[x][y];"));
    std::size_t longest = 0, begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      longest = std::max(longest, end - begin);
    CHECK(longest <= width);
  }
  const std::string text = profile_text({example()}, {160, true});
  CHECK(has(text, "grid 32 x 32, block 32 x 8, 2 launches"));
  CHECK(has(text, "20 registers, 4.1 KB of shared memory; occupancy 100 %: 64 of 64 warps"));
  CHECK(has(text, "(limit: warps)"));
  CHECK(has(text, "global store: 32.0 sectors per request, 4.0 would be enough"));
  CHECK(has(text, "shared load: 8.0 wavefronts per request, 8.0-way bank conflict"));
  CHECK(has(text, "5 of 10 branches diverge"));
  CHECK(has(text, "global load: 4.0 sectors per request; 20 % hit in L1; of the rest 50 % in L2"));
  CHECK(has(text, "2 adjacent accesses are one of 8 bytes"));
  CHECK(has(text, "read_tile: return tile[x][y];"));
  CHECK(has(text, "* line 27: global store: 32.0 sectors"));
  CHECK(!has(text, "* line 23"));
  CHECK(!has(profile_text({example()}, {160, false}), "read_tile"));
}

}  // namespace
