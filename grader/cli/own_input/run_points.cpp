// lab run --points: the function on the user's own points.
#include <fmt/core.h>

#include <cstring>
#include <new>
#include <stdexcept>

#include "common/lab/points.hpp"
#include "grader/cli/own_input/own_input.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

const points_problem& points_problem_of(const context& c, const lab& l) {
  if (const auto* p = dynamic_cast<const points_problem*>(&problem_of(l, c.where))) return *p;
  refuse_own_input(c, l, "points", "points");
}

struct prepared_points {
  std::int64_t count = 0;
  problem_call call;
};

prepared_points prepare_call(context& c, const points_problem& p, const own_input& o) {
  c.now().doing("reading " + *o.points);
  const std::string text = read_input(*o.points);
  try {
    const auto points = parse_points(text, p.largest_coordinate());
    p.work({std::ssize(points), 0});
    return {std::ssize(points),
            p.call_with(points, fmt::format("{}, n = {}", fs::path(*o.points).filename().string(),
                                            points.size()))};
  } catch (const points_error& error) {
    throw failure(exit_code::usage, "cannot read " + *o.points + ": " + error.what());
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, "cannot use " + *o.points + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw failure(exit_code::environment, "out of memory: " + *o.points + " has too many points");
  }
}

// One line per point: the int that the function stored for it.
std::string lines_of(const std::vector<std::byte>& output) {
  std::string text;
  for (std::size_t at = 0; at + sizeof(int) <= output.size(); at += sizeof(int)) {
    int value = 0;
    std::memcpy(&value, output.data() + at, sizeof value);
    text += std::to_string(value) + "\n";
  }
  return text;
}

}  // namespace

int run_points(context& c, const own_input& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const points_problem& p = points_problem_of(c, l);
  const auto [count, call] = prepare_call(c, p, o);
  if (!o.stages.empty()) throw failure(exit_code::usage, "--stages works only with --image");
  if (!o.out.empty()) check_target("--out", o.out, *o.points);
  const device_choice device = c.device();
  const subject s = prepare(c, l, o.file, o.step);
  json document = own_input_document(l, s, device);
  document["points"] = {{"file", *o.points}, {"count", count}};
  c.say(fmt::format("{} on {}", c.out.paint(tone::strong, s.shown), device.text()));
  c.say();
  if (s.program.empty()) return report_compile_errors(c, s, std::move(document));
  const auto [report, outputs] = call_program(c, l, p, s, device, call, {count, 0});
  std::vector<fs::path> written;
  if (!outputs.empty() && !o.out.empty()) {
    write_atomically(o.out, lines_of(outputs.at(0)));
    written.push_back(o.out);
  }
  if (c.as_json) {
    complete(document, report, written);
    c.print(document);
  } else {
    std::vector<remark> remarks;
    if (o.out.empty()) {
      remarks.push_back({"note", "--out FILE saves the result, one line per point"});
    } else if (written.empty()) {
      remarks.push_back({"note", "nothing was written, because the call produced no result"});
    } else if (!report.correct()) {
      remarks.push_back({"note", "the result was written although it is wrong"});
    }
    show_own_result(c, l, s, call, report, remarks, written);
  }
  return exit_code_of(report.found.what);
}

}  // namespace stepwise::cli
