// Tests the pictures in labs/<lab>/pictures. On the emulator, every step must compute the
// reference's picture from each picture, and the committed stages for the handout must be those of
// the reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/lab/picture_problem.hpp"
#include "common/lab/points.hpp"
#include "common/testing/skip_case.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/installation.hpp"
#include "grader/judge/one_call.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "labs/tests/problem_of.hpp"

namespace {

using namespace stepwise;

const installation& where() {
  static const installation found = [] {
    const char* const build = std::getenv("STEPWISE_BUILD");
    REQUIRE_MESSAGE(build != nullptr, "run this test through `meson test`");
    return load_installation(build);
  }();
  return found;
}

picture read(const fs::path& file) {
  const std::string content = read_file(file, static_cast<int>(exit_code::ours));
  return decode(std::as_bytes(std::span(content)));
}

std::vector<fs::path> pngs_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".png") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Calls body(lab, problem, file, call) for each picture of each lab that takes pictures.
template <class Body>
void for_each_picture(const Body& body) {
  std::size_t count = 0;
  for (const lab& l : load_labs(where().build)) {
    const auto* const p = dynamic_cast<const picture_problem*>(&problem_of(l));
    const auto files = pngs_in(where().root / "labs" / l.name / "pictures");
    CHECK((p != nullptr) == !files.empty());
    if (p == nullptr) continue;
    for (const fs::path& file : files) {
      CAPTURE(file);
      CHECK(fs::file_size(file) <= 60 * 1024);
      body(l, *p, file, p->call_with(read(file), file.filename()));
      ++count;
    }
  }
  CHECK(count >= 2);
}

TEST_CASE("lab.toml names the kind of input that a student can bring to each lab") {
  for (const lab& l : load_labs(where().build)) {
    CAPTURE(l.name);
    const problem* const p = &problem_of(l);
    CHECK((l.own_input == "image") == (dynamic_cast<const picture_problem*>(p) != nullptr));
    CHECK((l.own_input == "points") == (dynamic_cast<const points_problem*>(p) != nullptr));
  }
}

TEST_CASE("every step's picture is identical to the reference's") {
  if (where().nvcc.empty()) {
    return skip_case("no nvcc: no programs were built, so nothing was run");
  }
  const device_choice device = choose_device(device_request::emulated, where());
  for_each_picture(
      [&](const lab& l, const picture_problem& p, const fs::path&, const problem_call& call) {
        const picture expected = p.stages(call).back().shown;
        CHECK(std::count(expected.pixels.begin(), expected.pixels.end(), expected.pixels[0]) <
              std::ssize(expected.pixels) / 2);
        for (const step& s : l.steps) {
          CAPTURE(s.name);
          const auto made =
              check_one_call(l, p, where().solution(l.name, s.name), device, call, 1, activity());
          CHECK(made.report.found.message == "");
          CHECK(made.report.correct());
          REQUIRE(made.outputs.size() == 1);
          const picture found{expected.width, expected.height, expected.channels, made.outputs[0]};
          const picture off = difference(found, expected);
          CHECK(std::count(off.pixels.begin(), off.pixels.end(), std::byte{0}) ==
                std::ssize(off.pixels));
        }
      });
}

TEST_CASE("the stages in the handout are those that the reference computes from their picture") {
  for_each_picture([](const lab& l, const picture_problem& p, const fs::path& file,
                      const problem_call& call) {
    const fs::path folder = file.parent_path() / file.stem();
    if (!fs::exists(folder)) return;
    const auto stages = p.stages(call);
    CHECK(pngs_in(folder).size() == stages.size());
    const std::string handout =
        read_file(where().root / "labs" / l.name / "README.md", static_cast<int>(exit_code::ours));
    for (const auto& stage : stages) {
      const std::string name = stage.name + ".png";
      CAPTURE(name);
      const std::string as_file = encode(stage.shown, picture_format::png);
      CHECK(read(folder / name) == decode(std::as_bytes(std::span(as_file))));
      CHECK(handout.find("pictures/" + file.stem().string() + "/" + name) != std::string::npos);
    }
  });
}

}  // namespace
