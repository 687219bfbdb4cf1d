// Reads entries, contents, answers, steps, hints and the key.
#include "grader/publish/gather.hpp"

#include "grader/course/answers.hpp"
#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise::publish {
namespace {

given_code given_by(const lab& l, const fs::path& root) {
  given_code given;
  const auto hand_out = [&](const std::string& text) {
    given.handed_out.merge(fingerprints_of(text));
  };
  hand_out(read_if_there(root / l.file.parent_path() / l.contract).value_or(""));
  for (const auto& s : l.steps) {
    const auto text = read_if_there(root / s.file);
    if (!text) continue;
    hand_out(derive_skeleton(*text, s.file));
    given.published.push_back({s.name, fingerprints_of(*text)});
  }
  return given;
}

std::vector<question_answers> questions_with(const batch::results& from, const lab& l,
                                             const fs::path& root,
                                             const std::vector<entry>& entries) {
  std::vector<question_answers> all;
  const auto handout = whole_handout(root, l);
  if (!handout) return all;
  const auto key_text = read_if_there(root / "solutions" / l.name / "answers.md");
  const auto key = answers_by_id(key_text.value_or(""), false);
  const char* const none =
      key_text ? "The key has no answer to this question." : "The key is not available here.";
  std::map<std::string, std::size_t> places;
  for (const auto& q : questions_of(*handout)) {
    question_answers one{q.id, joined(q.lines, " "), none, {}};
    if (const auto found = key.find(q.id); found != key.end()) one.key = found->second;
    places[q.id] = all.size();
    all.push_back(std::move(one));
  }
  for (const auto& e : entries) {
    if (e.answers.empty()) continue;
    const auto text = read_if_there(from.content_of(e.answers, "answers.md"));
    if (!text) continue;
    for (const auto& [id, body] : answers_by_id(*text, true)) {
      const auto place = places.find(id);
      if (place != places.end() && !body.empty())
        all[place->second].answers.push_back({e.id, body});
    }
  }
  return all;
}

}  // namespace

overview_parts gather(const batch::results& from, const lab& l, const fs::path& root) {
  overview_parts p;
  p.lab = l.name;
  p.title = l.title;
  p.source = from.info().source;
  p.left_out = from.info().left_out;
  p.salt = from.info().salt;
  p.entries = read_entries(from.entries());
  p.without_verdict = from.submissions().size() - p.entries.size();
  for (const auto& g : l.goals)
    if (!g.hint.empty()) p.hints[g.name] = g.hint;
  std::vector<work> works;
  for (const auto& e : p.entries) {
    if (e.submission.empty()) continue;
    if (auto text = read_if_there(from.content_of(e.submission, l.name + ".cu")))
      works.push_back({e.id, *std::move(text)});
  }
  p.alike = compare_works(works, given_by(l, root));
  p.questions = questions_with(from, l, root, p.entries);
  return p;
}

}  // namespace stepwise::publish
