// Reads build/course.json: labs, terms, and the labs that a student copy does not have yet.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "grader/course/given.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/sweep_axis.hpp"
#include "grader/course/terms.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {

using manifest = nlohmann::json;

// Structures whose members are the entries' keys.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(baseline, name, is_right, what, on_cpu)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(limit_part, step, part, what, file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(mutant, name, verdict, says)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(published_figure, version, step, with, kernel, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(lecture, gpu, source, unit, size, size_stated, figures)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(taught_place, lab, target, step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(term, name, group, aliases, text, picture, taught, related)

namespace {

constexpr std::array<std::string_view, 5> kind_names = {"correct", "checks", "counter", "speedup",
                                                        "reach"};

fs::path course_file(const fs::path& build) { return build / "course.json"; }

const goal_counter* counter_of(const manifest& entry, const std::string& of) {
  const std::string name = entry.at("counter"), place = entry.at("place");
  if (name.empty()) return nullptr;
  return &counter_named(name, place + ": " + of + ": unknown counter", exit_code::ours);
}

// Only this program knows the syntax of axes, so it checks them here.
std::vector<std::string> axes_of(const manifest& entry) {
  std::vector<sweep_axis> axes;
  try {
    for (const std::string text : entry.at("over")) axes.push_back(parse_axis(text));
    combinations(axes);
  } catch (const failure& error) {
    throw failure(exit_code::ours, entry.at("place").get<std::string>() + ": " + error.what());
  }
  return entry.at("over");
}

// Returns the result of `read` for the file.
template <class Read>
auto from_course(const fs::path& build, Read read) {
  const fs::path file = course_file(build);
  try {
    return read(manifest::parse(read_file(file, static_cast<int>(exit_code::ours))));
  } catch (const manifest::exception& error) {
    throw failure(exit_code::ours, file.string() + " is malformed: " + error.what());
  }
}

}  // namespace

void from_json(const manifest& entry, goal& g) {
  g.name = entry.at("name");
  g.points = entry.at("points");
  g.hint = entry.at("hint");
  const std::string kind = entry.at("kind");
  g.what = static_cast<goal::kind>(std::ranges::find(kind_names, kind) - kind_names.begin());
  if (g.what == goal::kind::counter) {
    g.counter = counter_of(entry, "goal \"" + g.name + "\"");
    g.side = entry.at("side") == "at_most" ? bound::at_most : bound::at_least;
    g.least_shared = entry.at("least_shared");
    g.most_active = entry.at("most_active");
    g.needs = entry.at("needs");
    entry.at("size").get_to(g.size);
  }
  if (g.is_speed()) {
    g.over = entry.at("over");
    g.modelled = entry.at("modelled");
  }
  if (g.what >= goal::kind::counter) g.limit = entry.at("limit");
}

void from_json(const manifest& entry, step& s) {
  s.name = entry.at("name");
  s.over = entry.at("over");
  if (!entry.at("at_least").is_null()) s.at_least = entry.at("at_least").get<double>();
  s.idea = entry.at("idea");
  entry.at("file").get_to(s.file);
  entry.at("promised").get_to(s.promised);
  s.unmeasured = entry.at("unmeasured");
  if (entry.contains("recording")) s.recording = entry.at("recording").get<std::string>();
}

void from_json(const manifest& entry, declared_sweeps& sweeps) {
  if (const auto& sweep = entry.at("sweep"); !sweep.is_null())
    sweeps.standard = {sweep.at("step"), axes_of(sweep), counter_of(sweep, "[sweep]")};
  for (const auto& e : entry.at("experiments"))
    sweeps.experiments.push_back(
        {e.at("name"), e.at("title"), axes_of(e), counter_of(e, "experiment"), e.at("given")});
}

void from_json(const manifest& entry, lab& l) {
  for (const auto& [key, to] : {std::pair{"name", &l.name},
                                {"title", &l.title},
                                {"function", &l.function},
                                {"contract", &l.contract},
                                {"skeleton", &l.skeleton},
                                {"own_input", &l.own_input}})
    entry.at(key).get_to(*to);
  for (const auto& [key, to] : {std::pair{"check", &l.check},
                                {"bench", &l.bench},
                                {"emulated", &l.emulated},
                                {"modelled", &l.modelled},
                                {"hidden", &l.hidden},
                                {"ragged", &l.ragged},
                                {"promised", &l.promised}})
    entry.at("sizes").at(key).get_to(*to);
  l.size_unit = entry.at("sizes").at("multiple_of");
  l.order = entry.at("order");
  l.time_limit_s = entry.at("time_limit_s");
  l.timing_s = entry.at("timing_s");
  l.host_bytes = entry.at("host_bytes");
  l.tensor_cores = entry.at("tensor_cores");
  l.least_capability = entry.at("least_capability");
  entry.at("hopper").get_to(l.hopper);
  l.published_steps_earn = entry.at("published_steps_earn");
  l.library_kernels_earn = entry.at("library_kernels_earn");
  l.is_worked = entry.at("is_worked");
  entry.at("goals").get_to(l.goals);
  entry.at("steps").get_to(l.steps);
  for (const auto& name : entry.at("case_study"))
    std::ranges::find(l.steps, name.get<std::string>(), &step::name)->in_case_study = true;
  entry.at("did_not_help").get_to(l.did_not_help);
  entry.at("baselines").get_to(l.baselines);
  entry.at("limits").get_to(l.parts);
  entry.at("mutants").get_to(l.mutants);
  entry.at("lectures").get_to(l.lectures);
  entry.get_to(l.sweeps);
  l.file = fs::path("labs") / l.name / (l.name + ".cu");
}

std::string_view name_of(goal::kind k) { return kind_names[static_cast<std::size_t>(k)]; }

std::vector<lab> load_labs(const fs::path& build) {
  return from_course(
      build, [](const manifest& course) { return course.at("labs").get<std::vector<lab>>(); });
}

std::vector<std::string> lab_names(const fs::path& build) {
  std::vector<std::string> names;
  if (!fs::exists(course_file(build))) return names;
  for (const lab& l : load_labs(build)) names.push_back(l.name);
  std::ranges::sort(names);
  return names;
}

lab load_lab(const fs::path& build, const std::string& name) {
  auto labs = load_labs(build);
  const auto found = std::ranges::find(labs, name, &lab::name);
  if (found != labs.end()) return std::move(*found);
  // A file's name often stands for its lab: labs/first/first.cu.
  const std::string near = nearest(fs::path(name).stem().string(), lab_names(build));
  throw failure(exit_code::usage, "there is no lab \"" + name + "\"" +
                                      (near.empty() ? "" : "; did you mean \"" + near + "\"?") +
                                      "\n`./lab list` shows all labs");
}

std::vector<std::pair<std::string, std::string>> coming_labs(const fs::path& build) {
  return from_course(build, [](const manifest& course) {
    return course.at("coming").get<std::vector<std::pair<std::string, std::string>>>();
  });
}

std::vector<term> load_terms(const fs::path& build) {
  return from_course(
      build, [](const manifest& course) { return course.at("terms").get<std::vector<term>>(); });
}

}  // namespace stepwise
