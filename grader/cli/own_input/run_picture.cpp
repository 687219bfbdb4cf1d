// lab run --image: runs the function on the user's own picture and writes the stages to look at.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/lab/picture_problem.hpp"
#include "grader/cli/own_input/own_input.hpp"
#include "grader/cli/own_input/picture_files.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

const picture_problem& picture_problem_of(const context& c, const lab& l) {
  if (const auto* p = dynamic_cast<const picture_problem*>(&problem_of(l, c.where))) return *p;
  refuse_own_input(c, l, "image", "a picture");
}

// The input, the call that is made from it, and the reference's stages for that call.
struct prepared {
  picture input;
  bool has_alpha = false;
  problem_call call;
  std::vector<picture_stage> stages;
};

prepared prepare_call(context& c, const picture_problem& p, const own_input& o) {
  c.now().doing("reading " + *o.image);
  prepared made;
  made.input = read_picture(*o.image, [&](std::int64_t width, std::int64_t height) {
    try {
      p.work({width, height});
    } catch (const std::invalid_argument& error) {
      throw failure(exit_code::usage, fmt::format("{} has {} x {} pixels; {}", *o.image, width,
                                                  height, error.what()));
    }
  });
  const picture& input = made.input;
  for (std::size_t i = 3; i < input.pixels.size() && !made.has_alpha; i += 4) {
    made.has_alpha = input.pixels[i] != std::byte{255};
  }
  made.call = p.call_with(input, fmt::format("{}, {} x {}", fs::path(*o.image).filename().string(),
                                             input.width, input.height));
  c.now().doing("computing the expected result");
  made.stages = p.stages(made.call);
  return made;
}

// The requested files. The pictures of the result and of the difference are added last.
class wanted_files {
 public:
  wanted_files(const own_input& o, const prepared& made) : o_(o) {
    if (!o.out.empty()) {
      const bool is_grey = made.stages.back().shown.channels == 1;
      if (wanted_format("--out", o.out) == picture_format::pgm && !is_grey) {
        throw failure(exit_code::usage,
                      "--out " + o.out + ": the result has colours, so use .png or .ppm");
      }
      add("--out", o.out, role::found);
    }
    if (o.stages.empty()) return;
    check_target_folder("--stages", o.stages);
    add_stage("input", made.input);
    for (const auto& stage : made.stages) add_stage(stage.name, stage.shown);
    add("--stages", in_folder("found"), role::found);
    add("--stages", in_folder("difference"), role::difference);
  }

  std::vector<picture_file> with(const picture& found, const picture& difference) && {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (roles_[i] == role::found) files_[i].shown = found;
      if (roles_[i] == role::difference) files_[i].shown = difference;
    }
    return std::move(files_);
  }

 private:
  enum class role { reference, found, difference };

  fs::path in_folder(const std::string& name) const {
    return fs::path(o_.stages) / (name + ".png");
  }
  void add_stage(const std::string& name, const picture& shown) {
    add("--stages", in_folder(name), role::reference);
    files_.back().shown = shown;
  }
  void add(const std::string& option, const fs::path& file, role r) {
    std::error_code ignored;
    // A folder that does not exist yet holds nothing that could be overwritten.
    if (option == "--out" || fs::exists(o_.stages, ignored)) check_target(option, file, *o_.image);
    if (!names_.insert(fs::weakly_canonical(fs::absolute(file), ignored)).second) {
      throw failure(exit_code::usage,
                    fmt::format("{} {}: --out names the same file; choose another name", option,
                                file.string()));
    }
    files_.push_back({file, {}});
    roles_.push_back(r);
  }

  const own_input& o_;
  std::vector<picture_file> files_;
  std::vector<role> roles_;
  std::set<fs::path> names_;
};

struct deviation {
  std::int64_t pixels = 0;
  int largest = 0;
};

deviation deviation_of(const picture& difference) {
  deviation found;
  const auto channels = static_cast<std::size_t>(difference.channels);
  for (std::size_t i = 0; i < difference.pixels.size(); i += channels) {
    const auto pixel = std::span(difference.pixels).subspan(i, channels);
    const int most = std::to_integer<int>(*std::max_element(pixel.begin(), pixel.end()));
    found.pixels += most > 0 ? 1 : 0;
    found.largest = std::max(found.largest, most);
  }
  return found;
}

json picture_json(const own_input& o, const prepared& made, const std::optional<deviation>& wrong) {
  return {{"file", *o.image},
          {"width", made.input.width},
          {"height", made.input.height},
          {"has_alpha", made.has_alpha},
          {"wrong_pixels", wrong ? json(wrong->pixels) : json(nullptr)},
          {"largest_difference", wrong ? json(wrong->largest) : json(nullptr)}};
}

std::vector<remark> remarks_on(const own_input& o, const prepared& made,
                               const std::optional<deviation>& wrong) {
  std::vector<remark> remarks;
  if (made.has_alpha) {
    remarks.push_back(
        {"note", "the alpha channel is ignored; the stored colours are used as they are"});
  }
  const bool asked = !o.out.empty() || !o.stages.empty();
  if (!asked) {
    remarks.push_back({"note", "--out FILE saves the result, --stages FOLDER saves every stage"});
  } else if (!wrong) {
    remarks.push_back({"note", "nothing was written, because the call produced no result"});
  } else if (wrong->pixels > 0) {
    remarks.push_back(
        {"note",
         fmt::format("the result was written although {} of {} pixels are wrong, by {} at most",
                     wrong->pixels, made.input.width * made.input.height, wrong->largest)});
  }
  return remarks;
}

}  // namespace

int run_picture(context& c, const own_input& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const picture_problem& p = picture_problem_of(c, l);
  const prepared made = prepare_call(c, p, o);
  wanted_files wanted(o, made);
  const device_choice device = c.device();
  const subject s = prepare(c, l, o.file, o.step);
  json document = own_input_document(l, s, device);
  document["picture"] = picture_json(o, made, {});
  c.say(fmt::format("{} on {}", c.out.paint(tone::strong, s.shown), device.text()));
  c.say();
  if (s.program.empty()) return report_compile_errors(c, s, std::move(document));
  const auto [report, outputs] =
      call_program(c, l, p, s, device, made.call, {made.input.width, made.input.height});
  std::optional<deviation> wrong;
  std::vector<picture_file> written;
  if (!outputs.empty()) {
    const picture& expected = made.stages.back().shown;
    const picture found{expected.width, expected.height, expected.channels, outputs.at(0)};
    const picture off = difference(found, expected);
    wrong = deviation_of(off);
    written = std::move(wanted).with(found, off);
    write_pictures(written, c.now().doing);
  }
  std::vector<fs::path> names;
  for (const auto& one : written) names.push_back(one.file);
  if (c.as_json) {
    document["picture"] = picture_json(o, made, wrong);
    complete(document, report, names);
    c.print(document);
  } else {
    show_own_result(c, l, s, made.call, report, remarks_on(o, made, wrong), names);
  }
  return exit_code_of(report.found.what);
}

}  // namespace stepwise::cli
