// The skeletons and times of a student copy, and the messages for commands that need worked steps.
#include "grader/course/given.hpp"

#include "common/formats/json.hpp"
#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

[[noreturn]] void refuse_copy(const std::string& what, const std::string& advice) {
  throw failure(exit_code::usage,
                what + ",\nbut this is a student copy without worked steps\n" + advice);
}

[[noreturn]] void refuse_command(std::string_view who) {
  refuse_copy("`lab " + std::string(who) + "` needs the worked steps",
              "ask your instructor, who has the whole course");
}

}  // namespace

const step& worked_step(const lab& l, std::string_view name) {
  const step& s = find_step(l, name);
  if (!l.is_worked)
    refuse_copy(s.name + " is a worked step of the " + l.name + " lab",
                "for your own file, leave out the step or type `mine`; for help: `./lab hint " +
                    l.name + "`");
  return s;
}

void need_solutions(const lab& l, std::string_view who) {
  if (!l.is_worked) refuse_command(who);
}

void need_solutions(const fs::path& root, std::string_view who) {
  if (!fs::is_directory(root / "solutions")) refuse_command(who);
}

std::optional<std::string> skeleton_text(const fs::path& root, const lab& l, const step& s) {
  auto text = read_if_there(root / s.file);
  if (!text || !l.is_worked) return text;
  return derive_skeleton(*text, s.file);
}

std::optional<double> given_times::find(const std::string& step_name, std::string_view on_gpu,
                                        const lab_size& at, std::uint64_t with_seed) const {
  if (gpu != on_gpu || size != at || seed != with_seed) return {};
  const auto found = ms.find(step_name);
  return found == ms.end() ? std::nullopt : std::optional(found->second);
}

given_times load_given_times(const fs::path& root, const lab& l) {
  given_times times;
  const fs::path file = l.given() / "times.json";
  const auto text = read_if_there(root / file);
  if (!text) return times;
  try {
    const json document = parse_json(*text);
    times.gpu = document.at("modelled_as");
    times.size = document.at("size").get<lab_size>();
    times.seed = document.at("seed");
    for (const auto& [name, ms] : document.at("steps").items()) times.ms[name] = ms.get<double>();
    if (document.contains("skeletons"))
      for (const auto& [name, hash] : document.at("skeletons").items())
        times.skeletons[name] = hash.get<std::string>();
  } catch (const json_error& error) {
    throw failure(exit_code::ours, file.string() + " is malformed: " + error.what());
  }
  return times;
}

std::string text_of(const given_times& times) {
  json document = {{"modelled_as", times.gpu},
                   {"size", times.size},
                   {"seed", times.seed},
                   {"steps", json::object()}};
  for (const auto& [name, ms] : times.ms) document["steps"][name] = ms;
  for (const auto& [name, hash] : times.skeletons) document["skeletons"][name] = hash;
  return json_text(document, 2) + "\n";
}

std::vector<fs::path> edited_skeletons(const fs::path& root, const lab& l) {
  std::vector<fs::path> edited;
  for (const auto& [name, hash] : load_given_times(root, l).skeletons) {
    const fs::path file = l.given() / (name + ".cu");
    const auto text = read_if_there(root / file);
    if (text && content_hash().add(*text).hex() != hash) edited.push_back(file);
  }
  return edited;
}

}  // namespace stepwise
