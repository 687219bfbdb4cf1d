// GPU descriptions.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "common/device/code_of.hpp"
#include "common/device/device.hpp"

using namespace stepwise;

namespace {

std::filesystem::path gpus_folder() {
  const char* const folder = std::getenv("GPUS_FOLDER");
  return folder != nullptr ? folder : "common/gpus";
}

}  // namespace

TEST_CASE("the description of an H200 has the figures of its data sheet") {
  const auto found = find_gpu("h200");
  REQUIRE(found.ok());
  const gpu& h200 = *found;
  CHECK(h200.id == "h200");
  CHECK(h200.name == "NVIDIA H200");
  CHECK(h200.compute_capability() == 90);
  CHECK(h200.multiprocessors == 132);
  CHECK(h200.warp_size == 32);
  CHECK(h200.max_threads_per_block == 1024);
  CHECK(h200.max_block[2] == 64);
  CHECK(h200.max_grid[0] == 2147483647);
  CHECK(h200.max_grid[1] == 65535);
  CHECK(h200.shared_bytes_per_block == 48 * 1024);
  CHECK(h200.shared_bytes_per_block_optin == 227 * 1024);
  CHECK(h200.shared_bytes_per_multiprocessor == 228 * 1024);
  CHECK(h200.reserved_shared_bytes_per_block == 1024);
  CHECK(h200.registers_per_multiprocessor == 65536);
  CHECK(h200.l2_bytes == 60u << 20);
  CHECK(h200.memory_bytes > 139ull << 30);
  CHECK(h200.attributes.at(10) == 32);
  CHECK(h200.limits.at(0) == 1024);
}

TEST_CASE("every description in common/gpus is built in and can be read") {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(gpus_folder())) {
    if (entry.path().extension() == ".toml") files.insert(entry.path().stem());
  }
  const auto known = known_gpus();
  CHECK(files == std::set<std::string>(known.begin(), known.end()));
  for (const std::string& id : known) {
    const auto found = find_gpu(id);
    INFO(id << ": " << found.failure().message);
    CHECK(found.ok());
  }
}

TEST_CASE("an estimated figure is marked as estimated") {
  CHECK(find_gpu("h200")->estimated.empty());
  CHECK(find_gpu("gtx980")->estimated == std::set<int>{36, 37});
}

TEST_CASE("the groups for clusters add up to all multiprocessors") {
  std::ifstream file(gpus_folder() / "h200.toml");
  std::string text(std::istreambuf_iterator<char>(file), {});
  REQUIRE(parse_gpu("mine", text).ok());
  CHECK(parse_gpu("mine", text)->cluster_groups.size() == 12);
  text.replace(text.find("[18, 18"), 7, "[18, 17");
  CHECK(parse_gpu("mine", text).failure().message.find("cluster_groups") != std::string::npos);
  text.replace(text.find("[18, 17"), 7, "[19, -1");
  CHECK(!parse_gpu("mine", text).ok());
}

TEST_CASE("an unknown GPU is refused with the names of the known ones") {
  const auto found = find_gpu("h2000");
  REQUIRE(!found.ok());
  CHECK(found.failure().code == error::invalid_value);
  CHECK(found.failure().message.find("h2000") != std::string::npos);
  CHECK(found.failure().message.find("h200") != std::string::npos);
}

TEST_CASE("a GPU can be named by the path of your own description") {
  const auto folder = std::filesystem::temp_directory_path();
  const auto file = folder / ("stepwise-gpu-" + std::to_string(getpid()) + ".toml");
  std::filesystem::copy_file(gpus_folder() / "h200.toml", file);
  const auto found = find_gpu(file.string());
  std::filesystem::remove(file);
  REQUIRE(found.ok());
  CHECK(found->id == file.string());
  CHECK(found->multiprocessors == 132);
  const auto gone = find_gpu(file.string());
  REQUIRE(!gone.ok());
  CHECK(gone.failure().message == "cannot read " + file.string());
  CHECK(!find_gpu(folder.string() + ".toml").ok());
}

TEST_CASE("a broken description is refused, and the message says where") {
  const auto message = [](std::string_view text) {
    const auto parsed = parse_gpu("broken", text);
    return parsed.ok() ? std::string("accepted") : parsed.failure().message;
  };
  CHECK(message("name = ").find("line 1") != std::string::npos);
  CHECK(message("name = \"x\"\nmemory_bytes = -1\n").find("memory_bytes") != std::string::npos);
  const std::string head = "name = \"x\"\nmemory_bytes = 1\ndriver_version = 1\n";
  CHECK(message(head).find("[attributes]") != std::string::npos);
  CHECK(message(head + "[attributes]\n1 = 2\n")
            .find("line 5: 1 = 2 (MaxThreadsPerBlock): expected 32 to 4096") != std::string::npos);
  CHECK(message(head + "[attributes]\n1 = 1024\n").find("attribute 2 (MaxBlockDimX) is missing") !=
        std::string::npos);
  CHECK(message(head + "[attributes]\nx = 2\n").find("'x'") != std::string::npos);
  CHECK(message(head + "[attributes]\n01 = 2\n").find("'01'") != std::string::npos);
  CHECK(message(head + "[attributes]\n1 = 4294967296\n").find("'1'") != std::string::npos);
  CHECK(message(head + "[attributes]\n1 = \"2\"\n").find("'1'") != std::string::npos);

  std::ifstream file(gpus_folder() / "t4.toml");
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  CHECK(message(whole) == "accepted");
  CHECK(message(whole.substr(0, whole.find("[limits]"))).find("[limits]") != std::string::npos);
  CHECK(message("estimated = [3, 900]\n" + whole).find("line 1: 'estimated'") != std::string::npos);
}

TEST_CASE("a GPU runs its own code, or the oldest that there is") {
  CHECK(code_capability(*find_gpu("h200")) == 90);
  CHECK(code_capability(*find_gpu("a100")) == 80);
  CHECK(code_capability(*find_gpu("t4")) == 75);
  CHECK(code_capability(*find_gpu("gtx980")) == 75);
  CHECK(code_capability(*find_gpu("gtx280")) == 75);
}
