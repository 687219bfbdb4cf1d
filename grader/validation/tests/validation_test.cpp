// Tests that counters are compared by their rules, and that a deviation from the record is found.
#include "grader/validation/validation.hpp"

#include <doctest/doctest.h>

#include <string>

#include "grader/course/lab.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/validation/known_differences.hpp"

using namespace stepwise;

namespace {

std::size_t index_of(std::string_view key) {
  for (std::size_t c = 0; c < all_counters().size(); ++c) {
    if (all_counters()[c].key == key) return c;
  }
  FAIL("no counter " << std::string(key));
  return 0;
}

// A launch with a few counts.
ncu_launch launch_of(const std::string& kernel, unsigned blocks, double sectors = 64) {
  ncu_launch launch{kernel, {blocks, 1, 1}, {256, 1, 1}, {}};
  for (const auto& metric : ncu_metrics()) launch.metrics[metric] = 0;
  launch.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = sectors;
  launch.metrics["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] = 10000;
  launch.metrics["launch__registers_per_thread"] = 16;
  launch.metrics["sm__maximum_warps_per_active_cycle_pct"] = 100;
  launch.metrics["smsp__inst_executed.sum"] = 500;
  return launch;
}

kernel_profile profile_of(const std::string& kernel, unsigned blocks) {
  kernel_profile k;
  k.mangled = kernel;
  k.launches = 1;
  k.grid = {blocks, 1, 1};
  k.block = {256, 1, 1};
  k.registers = 16;
  k.most_warps = k.resident_warps = 64;
  k.total.global_load.sectors = 64;
  k.total.shared_load.wavefronts = 10000;
  k.total.instructions[0] = {123, 123};
  return k;
}

conclusion verdict_on(const std::vector<compared_kernel>& all, std::string_view key) {
  for (const auto& one : all.at(0).counters) {
    if (one.what->key == key) return one.found;
  }
  FAIL("not compared: " << std::string(key));
  return {};
}

bool holds(const std::vector<counted_kernel>& hardware, const kernel_profile& emulated) {
  const auto other = counted_by_emulator({emulated});
  const auto all = compare(hardware, other);
  return all.size() == 1 && all[0].holds;
}

}  // namespace

TEST_CASE("equal counters pass, and one more or one less fails") {
  const auto hardware = counted_by_ncu({launch_of("k", 4)}, 1);
  CHECK(holds(hardware, profile_of("k", 4)));
  kernel_profile other = profile_of("k", 4);
  other.total.global_load.sectors = 65;
  CHECK_FALSE(holds(hardware, other));
  other = profile_of("k", 4);
  other.registers = 17;
  CHECK_FALSE(holds(hardware, other));
  other.registers = 10;  // the hardware allocates 16 per thread
  CHECK(holds(hardware, other));
  other = profile_of("k", 4);
  other.resident_warps = 48;
  CHECK_FALSE(holds(hardware, other));
  other = profile_of("k", 4);
  other.total.global_store.requests = 1;  // the hardware has none
  CHECK_FALSE(holds(hardware, other));
}

TEST_CASE("shared wavefronts pass within 0.1 %, and instructions are only information") {
  const auto hardware = counted_by_ncu({launch_of("k", 4)}, 1);
  kernel_profile k = profile_of("k", 4);
  k.total.shared_load.wavefronts = 9990;
  const auto close = counted_by_emulator({k});
  CHECK(verdict_on(compare(hardware, close), "shared_load_wavefronts") == conclusion::close);
  CHECK(verdict_on(compare(hardware, close), "warp_instructions") == conclusion::information);
  k.total.shared_load.wavefronts = 9989;
  CHECK_FALSE(holds(hardware, k));
}

TEST_CASE("local memory that is not in the PTX is reported as machine code's") {
  ncu_launch launch = launch_of("k", 4);
  launch.metrics["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"] = 32;
  const auto hardware = counted_by_ncu({launch}, 1);
  kernel_profile k = profile_of("k", 4);
  CHECK_FALSE(holds(hardware, k));  // no spill is recorded
  k.spill_bytes = 8;
  const auto spilling = counted_by_emulator({k});
  CHECK(verdict_on(compare(hardware, spilling), "local_load_sectors") == conclusion::machine_only);
  CHECK(holds(hardware, k));
}

TEST_CASE("a count that varies between runs passes inside their range") {
  const auto hardware =
      counted_by_ncu({launch_of("k", 4, 60), launch_of("k", 4, 70), launch_of("k", 4, 62)}, 3);
  REQUIRE(hardware.size() == 1);
  CHECK(hardware[0].launches == 1);
  CHECK(holds(hardware, profile_of("k", 4)));
  kernel_profile k = profile_of("k", 4);
  k.total.global_load.sectors = 71;
  CHECK_FALSE(holds(hardware, k));
}

TEST_CASE("launches of one configuration are summed, and properties are not") {
  const auto hardware =
      counted_by_ncu({launch_of("k", 4), launch_of("j", 1), launch_of("k", 4)}, 1);
  REQUIRE(hardware.size() == 2);
  CHECK(hardware[0].launches == 2);
  CHECK(hardware[0].figures[index_of("global_load_sectors")]->low == 128);
  CHECK(hardware[0].figures[index_of("registers")]->low == 16);
}

TEST_CASE("a kernel that only one side has fails") {
  const auto hardware = counted_by_ncu({launch_of("k", 4)}, 1);
  const auto emulated = counted_by_emulator({profile_of("k", 8)});
  const auto all = compare(hardware, emulated);
  REQUIRE(all.size() == 2);
  CHECK_FALSE(all[0].holds);
  CHECK_FALSE(all[1].holds);
}

TEST_CASE("ncu's launches are divided into the calls of each size") {
  const std::vector<ncu_launch> launches = {launch_of("a", 1), launch_of("a", 1),
                                            launch_of("a", 2), launch_of("b", 1),
                                            launch_of("a", 2), launch_of("b", 1)};
  const auto cut = cut_into_sizes(launches, {1, 2}, 2);
  REQUIRE(cut.size() == 2);
  CHECK(cut[0].size() == 2);
  CHECK(cut[1].size() == 4);
  CHECK(counted_by_ncu(cut[1], 2).size() == 2);
  CHECK_THROWS_AS(cut_into_sizes(launches, {1, 3}, 2), failure);
  CHECK_THROWS_AS(cut_into_sizes(launches, {1, 1}, 2), failure);
  CHECK_THROWS_AS(counted_by_ncu(launches, 2), failure);  // the second run has other launches
  CHECK_THROWS_AS(counted_by_ncu(launches, 4), failure);
}

TEST_CASE("steps that were counted later are merged into a record, in the lab's order") {
  lab l;
  for (const char* name : {"01_a", "02_b", "03_c"}) l.steps.push_back({name, "", {}, "", {}});
  const auto record_with = [](const std::vector<std::pair<std::string, int>>& steps) {
    json record = {{"gpu", "G"}, {"driver", "1"}, {"runs", 5}, {"metrics", {{"a", "x"}}}};
    for (const auto& [name, count] : steps)
      for (const int kernel : {1, 2})
        record["entries"].push_back({{"step", name}, {"kernel", kernel}, {"counted", count}});
    return record;
  };
  const auto older = record_with({{"01_a", 1}, {"03_c", 1}, {"00_gone", 1}});
  const auto newer = record_with({{"03_c", 2}, {"02_b", 2}});
  CHECK(why_apart(older, newer) == "");
  CHECK(joined_records(older, newer, l) == record_with({{"01_a", 1}, {"02_b", 2}, {"03_c", 2}}));
  auto other = newer;
  other["driver"] = "2";
  CHECK(why_apart(older, other) == "driver \"1\" and \"2\"");
  other = newer;
  other["metrics"]["b"] = "y";
  CHECK(why_apart(older, other) == "other metrics");
}

TEST_CASE("a record is read as it was written, and a changed figure is found") {
  const auto hardware = counted_by_ncu({launch_of("k", 4, 60), launch_of("k", 4, 64)}, 2);
  auto record = record_json(hardware);
  const auto parsed = [&] { return std::vector{parse_kernel(record.at(0))}; };
  CHECK(record_json(parsed()) == record);
  CHECK(record[0]["counted"]["global_load_sectors"] == json{60, 64});
  CHECK(holds(parsed(), profile_of("k", 4)));
  record[0]["counted"]["registers"] = 17;
  CHECK_FALSE(holds(parsed(), profile_of("k", 4)));
  record[0].erase("grid");
  CHECK_THROWS_AS(parsed(), json_error);
}

namespace {

// The validation of one step at n = 7 and 8. At 8, its kernel reads one sector more than the
// emulator counts.
validation one_sector_too_many() {
  validation v{"g", "ncu", {}, {}};
  validated_step& step = v.steps.emplace_back(validated_step{"01_one", {}});
  step.sizes.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    validated_size& size = step.sizes[i];
    size.size = {static_cast<std::int64_t>(7 + i)};
    size.hardware = counted_by_ncu({launch_of("k", 4, 64.0 + static_cast<double>(i))}, 1);
    size.emulated = counted_by_emulator({profile_of("k", 4)});
    size.kernels = compare(size.hardware, size.emulated);
  }
  return v;
}

known_difference in_sectors(std::vector<lab_size> sizes) {
  return {{"01_one"}, std::move(sizes), {"global_load_sectors"}, "because"};
}

}  // namespace

TEST_CASE("a listed difference, with its reason, does not fail") {
  validation v = one_sector_too_many();
  REQUIRE_FALSE(v.steps[0].sizes[1].holds());
  const std::vector<known_difference> known = {in_sectors({{8}})};
  const excused found = excuse(v, known);
  CHECK(found.used.size() == 1);
  CHECK(found.unused.empty());
  CHECK(v.steps[0].sizes[1].holds());
  CHECK(verdict_on(v.steps[0].sizes[1].kernels, "global_load_sectors") == conclusion::known);
  CHECK(verdict_on(v.steps[0].sizes[0].kernels, "global_load_sectors") == conclusion::equal);
}

TEST_CASE("a difference listed for another size, counter or step excuses nothing") {
  const auto holds_with = [](const known_difference& d) {
    validation v = one_sector_too_many();
    excuse(v, {d});
    return v.steps[0].sizes[1].holds();
  };
  CHECK(holds_with(in_sectors({})));
  CHECK_FALSE(holds_with(in_sectors({{7}})));
  CHECK_FALSE(holds_with({{"01_one"}, {}, {"global_store_sectors"}, "because"}));
  CHECK_FALSE(holds_with({{"02_two"}, {}, {"global_load_sectors"}, "because"}));
}

TEST_CASE("a listed difference that has disappeared is reported if all of it was compared") {
  validation v = one_sector_too_many();
  CHECK(excuse(v, {in_sectors({{7}})}).unused.size() == 1);
  CHECK(excuse(v, {in_sectors({{7}, {9}})}).unused.empty());
  known_difference two_steps = in_sectors({{7}});
  two_steps.steps.push_back("02_two");
  CHECK(excuse(v, {two_steps}).unused.empty());
}

TEST_CASE("errors in the list of known differences are reported") {
  const temporary_folder root(fs::temp_directory_path());
  lab l;
  l.name = "twice";
  l.steps.resize(1);
  l.steps[0].name = "01_one";
  CHECK(load_known_differences(root.path(), l).empty());
  const fs::path folder = root.path() / "solutions" / "twice" / "measured";
  fs::create_directories(folder);
  const auto fault = [&](const std::string& text) -> std::string {
    write_atomically(folder / "differs.toml", text);
    try {
      load_known_differences(root.path(), l);
      return "none";
    } catch (const failure& f) {
      return f.what();
    }
  };
  const std::string entry = "[[differs]]\nsteps = [\"01_one\"]\ncounters = [\"registers\"]\n";
  CHECK(fault(entry + "why = \"it is so\"\nsizes = [[7]]\n") == "none");
  CHECK(fault(entry).find("needs a reason") != std::string::npos);
  CHECK(fault(entry + "why = \"it is so\"\nsizes = [7]\n").find("a size must be a list") !=
        std::string::npos);
  CHECK(fault("[[differs]]\nwhy = \"it is so\"\n").find("needs `steps`") != std::string::npos);
  CHECK(fault("[[differs]]\nwhy = \"so\"\nsteps = [\"02\"]\ncounters = [\"registers\"]\n")
            .find("no step `02`") != std::string::npos);
  CHECK(fault("[[differs]]\nwhy = \"so\"\nsteps = [\"01_one\"]\ncounters = [\"speed\"]\n")
            .find("no counter `speed`") != std::string::npos);
  CHECK(fault("[[differs").find("differs.toml:1") != std::string::npos);
}
