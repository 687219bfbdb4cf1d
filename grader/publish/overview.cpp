// The page's sections. Every text from outside passes through xml_text().
#include "grader/publish/overview.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "grader/judge/key.hpp"
#include "grader/publish/escape.hpp"
#include "grader/publish/figures.hpp"

namespace stepwise::publish {
namespace {

constexpr std::size_t most_answer_lines = 60;

constexpr const char* style = R"(
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#57606a;--line:#d0d7de;--fill:#f3f5f7;
--good:#1a7f37;--bad:#b3261e;--note:#8a5a00;--bar:#3a6ea5;--link:#0b57a4}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0f1419;--soft:#a3adb8;--line:#3a424c;
--fill:#1a2027;--good:#56d364;--bad:#ff8a80;--note:#e3b341;--bar:#79b0e8;--link:#79b8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);
background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}
a{color:var(--link)}nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;padding:0;list-style:none}
a:focus-visible,summary:focus-visible,.wide:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.wide{overflow-x:auto}table{border-collapse:collapse;min-width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td{max-width:28rem}td.n,th.n{text-align:right;white-space:nowrap}thead th{background:var(--fill)}
td.id{min-width:8rem}td.msg{min-width:16rem}
svg{width:100%;max-width:34rem;height:auto;display:block}svg text{font:13px system-ui,sans-serif;fill:var(--ink)}
svg rect.good{fill:var(--good)}svg rect.bad{fill:var(--bad)}svg rect.note{fill:var(--note)}
svg rect.plain{fill:var(--bar)}svg .axis{stroke:var(--soft)}svg .goal{stroke:var(--bad);stroke-width:2;stroke-dasharray:5 3}
.good{color:var(--good)}.bad{color:var(--bad)}.note{color:var(--note)}.soft{color:var(--soft)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.5rem}
figure{margin:0}figcaption{font-weight:600}details{margin:.4rem 0}summary{cursor:pointer}
pre{white-space:pre-wrap;margin:.3rem 0;padding:.6rem;background:var(--fill);border-radius:4px;font:14px/1.45 ui-monospace,monospace}
.key{border-left:4px solid var(--good)}
@media print{nav{display:none}}
)";

const char* tone_of(const std::string& verdict) {
  if (verdict == "PASS") return "good";
  if (verdict == "SLOW" || verdict == "HELD" || verdict == "INCONCLUSIVE" || verdict == "INFRA" ||
      verdict == "REFUSED")
    return "note";
  return "bad";
}

std::string line(std::string_view text, std::size_t columns = 200) {
  return xml_text(harmless_line(text, columns), 1, columns);
}

std::string who(const entry& e) {
  std::string text = line(e.id, 80);
  if (!e.name.empty() && e.name != e.id)
    text += "<br><span class=\"soft\">" + line(e.name, 80) + "</span>";
  return text;
}

std::string anchor(const std::string& id) { return "s-" + hex_of(sha256(id)).substr(0, 12); }

// A table that scrolls separately if it is too wide, with the keyboard, too.
std::string table(const std::string& name, const std::string& head, const std::string& rows) {
  return fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Table: {}\"><table><thead><tr>{}</tr>"
      "</thead><tbody>\n{}</tbody></table></div>\n",
      name, head, rows);
}

std::string th(const char* text, const char* kind = "") {
  return fmt::format("<th scope=\"col\"{}>{}</th>", *kind ? fmt::format(" class=\"{}\"", kind) : "",
                     text);
}

class page {
 public:
  explicit page(const overview_parts& p) : p_(p) {
    std::vector<std::string> ids;
    for (const auto& e : p.entries) ids.push_back(e.id);
    names_ = pseudonyms(ids, p.salt);
  }

  std::string text() const {
    const std::string title = line(p_.title.empty() ? p_.lab : p_.title) + ": submissions";
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
           "style-src 'unsafe-inline'\">"
           "<title>" +
           title + "</title><style>" + style + "</style></head>\n<body><header><h1>" + title +
           "</h1>" + summary() +
           "<nav aria-label=\"Sections\"><ul><li><a href=\"#classes\">Classes and points</a></li>"
           "<li><a href=\"#speed\">Speed</a></li><li><a href=\"#goals\">Goals</a></li>"
           "<li><a href=\"#submissions\">Submissions</a></li><li><a href=\"#board\">Leaderboard</a>"
           "</li><li><a href=\"#alike\">Similarity</a></li><li><a "
           "href=\"#answers\">Answers</a></li>"
           "</ul></nav></header>\n<main>\n" +
           classes() + speeds() + goals() + submissions() + board() + alike() + answers() +
           "</main></body></html>\n";
  }

 private:
  std::string summary() const {
    std::size_t graded = 0, look = 0;
    for (const auto& e : p_.entries) {
      graded += e.points ? 1 : 0;
      look += e.needs_a_look() ? 1 : 0;
    }
    std::string text = fmt::format(
        "<p>{} submissions, {} with points{}; {} for manual review. For instructors only: this "
        "page contains names and the key.</p>",
        p_.entries.size() + p_.without_verdict, graded,
        p_.without_verdict == 0 ? "" : fmt::format(", {} not graded yet", p_.without_verdict),
        look);
    if (p_.left_out.empty()) return text;
    text += fmt::format("<details><summary>Files without an owner: {}</summary><ul>",
                        p_.left_out.size());
    for (const auto& one : p_.left_out) text += "<li>" + line(one) + "</li>";
    return text + "</ul></details>";
  }

  std::string classes() const {
    std::map<std::string, std::size_t> counts;
    std::vector<double> points;
    double most = 1;
    for (const auto& e : p_.entries) {
      ++counts[e.verdict];
      if (e.points) points.push_back(*e.points);
      most = std::max(most, e.max_points.value_or(0));
    }
    std::vector<bar> bars;
    for (const auto& [name, count] : counts) bars.push_back({line(name, 20), count, tone_of(name)});
    std::sort(bars.begin(), bars.end(),
              [](const bar& a, const bar& b) { return a.count > b.count; });
    return "<section id=\"classes\" aria-labelledby=\"h-classes\"><h2 id=\"h-classes\">Classes and "
           "points</h2><div class=\"figures\"><figure><figcaption>Submissions by "
           "class</figcaption>" +
           bars_svg(bars, "Submissions by class") +
           "</figure><figure><figcaption>Points</figcaption>" +
           distribution_svg(points, 0, "", "Distribution of points", 0, most) +
           "</figure></div></section>\n";
  }

  std::string speeds() const {
    struct figure {
      std::vector<double> ratios;
      double goal = 0;
      bool modelled = false;
    };
    std::vector<std::string> order;
    std::map<std::string, figure> all;
    for (const auto& e : p_.entries) {
      for (const auto& g : e.goals) {
        if (!g.fast || g.fast->ratio <= 0) continue;
        if (all.count(g.name) == 0) order.push_back(g.name);
        figure& f = all[g.name];
        f.ratios.push_back(g.fast->ratio);
        f.goal = g.fast->at_least;
        f.modelled |= !g.fast->modelled_as.empty();
      }
    }
    std::string text =
        "<section id=\"speed\" aria-labelledby=\"h-speed\"><h2 id=\"h-speed\">Speed</h2>\n";
    if (order.empty()) return text + "<p>No speed was measured or modelled.</p></section>\n";
    text +=
        "<p>Speed relative to the step that each goal compares with, for correct "
        "submissions.</p><div class=\"figures\">";
    for (const auto& name : order) {
      const figure& f = all.at(name);
      text += "<figure><figcaption>" + line(name) + (f.modelled ? " (modelled)" : " (measured)") +
              "</figcaption>" +
              distribution_svg(f.ratios, f.goal, "x", "Distribution: " + line(name)) + "</figure>";
    }
    return text + "</div></section>\n";
  }

  std::string goals() const {
    struct count {
      std::size_t met = 0, missed = 0, open = 0;
    };
    std::vector<std::string> order;
    std::map<std::string, count> all;
    for (const auto& e : p_.entries) {
      for (const auto& g : e.goals) {
        if (all.count(g.name) == 0) order.push_back(g.name);
        count& c = all[g.name];
        ++(!g.passed ? c.open : *g.passed ? c.met : c.missed);
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
      return all.at(a).missed > all.at(b).missed;
    });
    std::string rows;
    for (const auto& name : order) {
      const count& c = all.at(name);
      const auto hint = p_.hints.find(name);
      rows += fmt::format(
          "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
          "class=\"n\">{}</td><td>{}</td></tr>\n",
          line(name), c.missed, c.met, c.open, hint == p_.hints.end() ? "" : line(hint->second));
    }
    return "<section id=\"goals\" aria-labelledby=\"h-goals\"><h2 id=\"h-goals\">Most-missed "
           "goals</h2>\n" +
           table("Goals",
                 th("Goal") + th("missed", "n") + th("met", "n") + th("not graded", "n") +
                     th("Helpful hint"),
                 rows) +
           "</section>\n";
  }

  std::string submissions() const {
    std::string rows;
    for (const auto& e : p_.entries) {
      std::string about = xml_text(e.message, 12, 300);
      for (auto at = about.find("&#10;"); at != std::string::npos; at = about.find("&#10;"))
        about.replace(at, 5, "<br>");
      if (!e.remark.empty()) about += "<br><span class=\"note\">" + line(e.remark) + "</span>";
      for (const auto& note : e.notes)
        about += "<br><span class=\"soft\">" + line(note) + "</span>";
      rows += fmt::format(
          "<tr id=\"{}\"><td class=\"id\">{}</td><td class=\"{}\">{}</td><td "
          "class=\"n\">{}</td><td>{}"
          "</td><td class=\"n\">{}</td><td class=\"msg\">{}</td></tr>\n",
          anchor(e.id), who(e), tone_of(e.verdict), line(e.verdict, 20), points_text(e),
          late_text(e),
          e.answered ? fmt::format("{} of {}", *e.answered, e.questions.value_or(0)) : "", about);
    }
    return "<section id=\"submissions\" aria-labelledby=\"h-submissions\"><h2 id=\"h-submissions\">"
           "Submissions</h2>\n" +
           table("Submissions",
                 th("Who") + th("Class") + th("Points", "n") + th("Late") + th("Answers", "n") +
                     th("Why"),
                 rows) +
           "</section>\n";
  }

  static std::string late_text(const entry& e) {
    if (!e.late) return "<span class=\"soft\">unknown</span>";
    if (!*e.late) return "no";
    return e.late_s ? fmt::format("<span class=\"note\">{:.1f} h</span>", *e.late_s / 3600)
                    : "<span class=\"note\">late</span>";
  }

  std::string board() const {
    std::vector<const entry*> fast;
    for (const auto& e : p_.entries)
      if (e.best_ratio() && (e.verdict == "PASS" || e.verdict == "SLOW")) fast.push_back(&e);
    std::stable_sort(fast.begin(), fast.end(), [](const entry* a, const entry* b) {
      return *a->best_ratio() > *b->best_ratio();
    });
    std::string rows;
    for (std::size_t i = 0; i < fast.size() && i < 50; ++i) {
      rows += fmt::format(
          "<tr><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}x</td><td "
          "class=\"n\">{}</td></tr>\n",
          i + 1, names_.at(fast[i]->id),
          number_text(std::round(*fast[i]->best_ratio() * 100) / 100), points_text(*fast[i]));
    }
    return "<section id=\"board\" aria-labelledby=\"h-board\"><h2 "
           "id=\"h-board\">Leaderboard</h2><p>By pseudonym, so that you can show this table to a "
           "class. Real names:</p><details><summary>Pseudonyms</summary>" +
           who_is_who() + "</details>\n" +
           table("Leaderboard",
                 th("Place", "n") + th("Who") + th("Speedup", "n") + th("Points", "n"), rows) +
           "</section>\n";
  }

  std::string who_is_who() const {
    std::string text = "<ul>";
    for (const auto& [id, name] : names_) text += "<li>" + name + ": " + line(id, 80) + "</li>";
    return text + "</ul>";
  }

  std::string alike() const {
    std::string text =
        "<section id=\"alike\" aria-labelledby=\"h-alike\"><h2 "
        "id=\"h-alike\">Similarity</h2><p>Shared runs of words, excluding names and code from the "
        "lab's handout; between submissions, the published steps are excluded as well. Short "
        "kernels for the same exercise are naturally similar: this list is only for review, and no "
        "points depend on it.</p>\n";
    const auto rows = [&](const std::vector<publish::alike>& all, bool steps) {
      std::string lines;
      for (const auto& one : all) {
        lines += fmt::format(
            "<tr><td><a href=\"#{}\">{}</a></td><td>{}</td><td class=\"n\">{:.0f} %</td><td "
            "class=\"n\">{}</td><td>{}</td></tr>\n",
            anchor(one.a), line(one.a, 80),
            steps ? line(one.b, 80)
                  : fmt::format("<a href=\"#{}\">{}</a>", anchor(one.b), line(one.b, 80)),
            100 * one.share, one.common, one.same_text ? "the same file" : "");
      }
      return lines;
    };
    text +=
        "<h3>Between submissions</h3>" +
        (p_.alike.pairs.empty()
             ? std::string("<p>None.</p>")
             : table("Similar submissions",
                     th("One") + th("Other") + th("In common", "n") + th("Runs", "n") + th("Note"),
                     rows(p_.alike.pairs, false)));
    text +=
        "<h3>With a published step</h3>" +
        (p_.alike.to_steps.empty() ? std::string("<p>None.</p>")
                                   : table("Similar to published steps",
                                           th("Submission") + th("Step") + th("In common", "n") +
                                               th("Runs", "n") + th("Note"),
                                           rows(p_.alike.to_steps, true)));
    return text + "</section>\n";
  }

  std::string answers() const {
    std::string text =
        "<section id=\"answers\" aria-labelledby=\"h-answers\"><h2 id=\"h-answers\">Answers and "
        "the key</h2>\n";
    if (p_.questions.empty()) return text + "<p>The handout has no questions.</p></section>\n";
    for (const auto& q : p_.questions) {
      text += fmt::format(
          "<details><summary><strong>{}</strong> {} <span class=\"soft\">({} answered)"
          "</span></summary>\n<h3>The key</h3><pre class=\"key\">{}</pre>\n",
          line(q.id, 20), line(q.text, 300), q.answers.size(),
          xml_text(q.key, most_answer_lines, 400));
      for (const auto& a : q.answers) {
        text += fmt::format("<h4><a href=\"#{}\">{}</a></h4><pre>{}</pre>\n", anchor(a.who),
                            line(a.who, 80), xml_text(a.text, most_answer_lines, 400));
      }
      text += "</details>\n";
    }
    return text + "</section>\n";
  }

  const overview_parts& p_;
  std::map<std::string, std::string> names_;
};

constexpr const char* first_words[] = {"quiet",  "swift",  "amber",  "brave", "calm",  "clever",
                                       "bright", "early",  "gentle", "green", "happy", "keen",
                                       "light",  "merry",  "noble",  "plain", "proud", "quick",
                                       "silver", "steady", "sunny",  "warm",  "wise",  "blue"};
constexpr const char* second_words[] = {"heron",  "otter",  "badger",  "finch", "lynx", "marten",
                                        "raven",  "salmon", "sparrow", "stork", "tern", "wren",
                                        "beaver", "crane",  "falcon",  "hare",  "ibex", "kestrel",
                                        "newt",   "owl",    "plover",  "robin", "swan", "vole"};

}  // namespace

std::map<std::string, std::string> pseudonyms(const std::vector<std::string>& ids,
                                              const std::string& salt) {
  std::map<std::string, std::string> names;
  std::set<std::string> taken;
  // Sorted by hash, so that a number after a name reveals nothing about the ids.
  std::map<std::string, std::string> by_hash;
  for (const auto& id : ids) by_hash[hex_of(hmac_sha256(salt, id))] = id;
  for (const auto& [hash, id] : by_hash) {
    const auto number = static_cast<std::size_t>(std::stoul(hash.substr(0, 8), nullptr, 16));
    const std::string name = std::string(first_words[number % std::size(first_words)]) + " " +
                             second_words[number / 1000 % std::size(second_words)];
    std::string full = name;
    for (int i = 2; !taken.insert(full).second; ++i) full = name + " " + std::to_string(i);
    names[id] = full;
  }
  return names;
}

std::string overview(const overview_parts& p) { return page(p).text(); }

}  // namespace stepwise::publish
