// Reads build/course.json: labs, terms, and what a student copy does not have yet.
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
namespace {

using nlohmann_value = nlohmann::json;

constexpr std::array<std::string_view, 5> kind_names = {"correct", "checks", "counter", "speedup",
                                                        "reach"};

fs::path course_file(const fs::path& build) { return build / "course.json"; }

// What `read` makes of the file; failure(ours) where the reader of another version wrote it.
template <class Read>
auto from_course(const fs::path& build, Read read) {
  const fs::path file = course_file(build);
  try {
    return read(nlohmann_value::parse(read_file(file, static_cast<int>(exit_code::ours))));
  } catch (const nlohmann_value::exception& error) {
    throw failure(exit_code::ours, file.string() + " is malformed: " + error.what());
  }
}

const goal_counter* counter_at(const nlohmann_value& entry, const std::string& where) {
  const std::string name = entry.at("counter");
  if (name.empty()) return nullptr;
  return &counter_named(name, where + ": unknown counter", exit_code::ours);
}

goal goal_of(const nlohmann_value& entry) {
  goal g;
  g.name = entry.at("name");
  g.points = entry.at("points");
  g.hint = entry.at("hint");
  const std::string kind = entry.at("kind"), place = entry.at("place");
  g.what = static_cast<goal::kind>(std::ranges::find(kind_names, kind) - kind_names.begin());
  if (g.what == goal::kind::counter) {
    g.counter = counter_at(entry, place + ": goal \"" + g.name + "\"");
    g.side = entry.at("side") == "at_most" ? bound::at_most : bound::at_least;
    g.limit = entry.at("limit");
    g.least_shared = entry.at("least_shared");
    g.needs = entry.at("needs");
    g.size = entry.at("size").get<lab_size>();
  }
  if (g.is_speed()) {
    g.over = entry.at("over");
    g.limit = entry.at("limit");
    g.modelled = entry.at("modelled");
  }
  return g;
}

// The program alone knows the forms of what varies, and checks them here.
std::vector<std::string> axes_of(const nlohmann_value& entry) {
  std::vector<sweep_axis> axes;
  try {
    for (const std::string text : entry.at("over")) axes.push_back(parse_axis(text));
    combinations(axes);
  } catch (const failure& error) {
    throw failure(exit_code::ours, entry.at("place").get<std::string>() + ": " + error.what());
  }
  return entry.at("over");
}

declared_sweeps sweeps_of(const nlohmann_value& entry) {
  declared_sweeps sweeps;
  if (const auto& sweep = entry.at("sweep"); !sweep.is_null())
    sweeps.standard = {sweep.at("step"), axes_of(sweep),
                       counter_at(sweep, sweep.at("place").get<std::string>() + ": [sweep]")};
  for (const auto& e : entry.at("experiments"))
    sweeps.experiments.push_back({e.at("name"), e.at("title"), axes_of(e),
                                  counter_at(e, e.at("place").get<std::string>() + ": experiment"),
                                  e.at("given")});
  return sweeps;
}

step step_of(const nlohmann_value& entry) {
  step s;
  s.name = entry.at("name");
  s.over = entry.at("over");
  if (!entry.at("at_least").is_null()) s.at_least = entry.at("at_least").get<double>();
  s.promised = entry.at("promised").get<std::vector<lab_size>>();
  s.unmeasured = entry.at("unmeasured");
  s.idea = entry.at("idea");
  s.file = entry.at("file").get<std::string>();
  if (entry.contains("recording")) s.recording = entry.at("recording").get<std::string>();
  return s;
}

lecture lecture_of(const nlohmann_value& entry) {
  lecture l{entry.at("gpu"),  entry.at("source"),    entry.at("unit"),
            entry.at("size"), entry.at("size_told"), {}};
  for (const auto& f : entry.at("figures"))
    l.figures.push_back(
        {f.at("version"), f.at("step"), f.at("with"), f.at("kernel"), f.at("value")});
  return l;
}

lab lab_of(const nlohmann_value& entry) {
  lab l;
  l.name = entry.at("name");
  l.title = entry.at("title");
  l.function = entry.at("function");
  l.order = entry.at("order");
  l.contract = entry.at("contract");
  l.skeleton = entry.at("skeleton");
  l.time_limit_s = entry.at("time_limit_s");
  l.timing_s = entry.at("timing_s");
  l.host_bytes = entry.at("host_bytes");
  l.own_input = entry.at("own_input");
  const auto& sizes = entry.at("sizes");
  for (const auto& [key, to] : {std::pair{"check", &l.check},
                                {"bench", &l.bench},
                                {"emulated", &l.emulated},
                                {"modelled", &l.modelled},
                                {"hidden", &l.hidden},
                                {"ragged", &l.ragged},
                                {"promised", &l.promised}})
    *to = sizes.at(key).get<std::vector<lab_size>>();
  l.tensor_cores = entry.at("tensor_cores");
  l.published_steps_earn = entry.at("published_steps_earn");
  l.library_kernels_earn = entry.at("library_kernels_earn");
  for (const auto& g : entry.at("goals")) l.goals.push_back(goal_of(g));
  for (const auto& s : entry.at("steps")) l.steps.push_back(step_of(s));
  for (const auto& p : entry.at("peers"))
    l.peers.push_back({p.at("name"), p.at("is_right"), p.at("what"), p.at("on_cpu")});
  for (const auto& p : entry.at("limits"))
    l.parts.push_back({p.at("step"), p.at("part"), p.at("what"), p.at("file").get<std::string>()});
  for (const auto& m : entry.at("mutants"))
    l.mutants.push_back({m.at("name"), m.at("class"), m.at("says")});
  for (const auto& one : entry.at("lectures")) l.lectures.push_back(lecture_of(one));
  l.sweeps = sweeps_of(entry);
  l.file = fs::path("labs") / l.name / (l.name + ".cu");
  l.is_worked = entry.at("is_worked");
  return l;
}

}  // namespace

std::string_view name_of(goal::kind k) { return kind_names[static_cast<std::size_t>(k)]; }

std::vector<std::string> lab_names(const fs::path& build) {
  if (!fs::exists(course_file(build))) return {};
  return from_course(build, [](const nlohmann_value& course) {
    std::vector<std::string> names;
    for (const auto& entry : course.at("labs")) names.push_back(entry.at("name"));
    std::ranges::sort(names);
    return names;
  });
}

lab load_lab(const fs::path& build, const std::string& name) {
  return from_course(build, [&](const nlohmann_value& course) {
    std::vector<std::string> names;
    for (const auto& entry : course.at("labs")) {
      if (entry.at("name") == name) return lab_of(entry);
      names.push_back(entry.at("name"));
    }
    const std::string near = nearest(name, names);
    throw failure(exit_code::usage, "there is no lab \"" + name + "\"" +
                                        (near.empty() ? "" : "; did you mean \"" + near + "\"?") +
                                        "\n`./lab list` shows all labs");
  });
}

std::vector<lab> load_labs(const fs::path& build) {
  return from_course(build, [](const nlohmann_value& course) {
    std::vector<lab> labs;
    for (const auto& entry : course.at("labs")) labs.push_back(lab_of(entry));
    return labs;
  });
}

std::vector<std::pair<std::string, std::string>> coming_labs(const fs::path& build) {
  return from_course(build, [](const nlohmann_value& course) {
    std::vector<std::pair<std::string, std::string>> coming;
    for (const auto& entry : course.at("coming"))
      coming.emplace_back(entry.at("name"), entry.at("opens"));
    return coming;
  });
}

std::vector<term> load_terms(const fs::path& build) {
  return from_course(build, [](const nlohmann_value& course) {
    std::vector<term> terms;
    for (const auto& entry : course.at("terms")) {
      term t{entry.at("name"),   entry.at("group"),   entry.at("aliases"),
             entry.at("text"),   entry.at("picture"), {},
             entry.at("related")};
      for (const auto& place : entry.at("taught"))
        t.taught.push_back({place.at("lab"), place.at("target"), place.at("step")});
      terms.push_back(std::move(t));
    }
    return terms;
  });
}

}  // namespace stepwise
