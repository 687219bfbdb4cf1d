// Parses and checks each of these files, loads labs by folder, and finds steps by name.
#include "grader/course/lab.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <ranges>
#include <sstream>

#include "common/formats/toml.hpp"
#include "grader/course/size.hpp"
#include "grader/course/source.hpp"
#include "grader/course/toml_errors.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

template <class Value>
Value required(const toml_value& table, std::string_view key, const std::string& origin) {
  const toml_value* entry = table.find(key);
  if (entry == nullptr) fail(origin, "missing key `" + std::string(key) + "`");
  if (const auto value = entry->as<Value>()) return *value;
  fail(at_line(origin, *entry), "`" + std::string(key) + "` has the wrong type");
}

lab_size parse_size(const toml_value& entry, const std::string& where) {
  lab_size size;
  if (entry.is_array()) {
    for (const auto& number : entry.items) {
      if (const auto value = number.as<std::int64_t>()) size.push_back(*value);
    }
    if (size.size() != entry.items.size()) size.clear();
  }
  if (size.empty()) fail(where, "a size is a list of integers, like [1023]");
  return size;
}

std::vector<lab_size> parse_sizes(const toml_value& sizes, std::string_view key,
                                  const std::string& origin) {
  const toml_value* list = sizes.array_at(key);
  if (list == nullptr || list->items.empty()) {
    fail(at_line(origin, sizes),
         "sizes." + std::string(key) + " must be a list like [[1], [1023]]");
  }
  std::vector<lab_size> result;
  for (const auto& entry : list->items) result.push_back(parse_size(entry, at_line(origin, entry)));
  return result;
}

// The smallest and the largest of the sizes that are drawn.
std::vector<lab_size> parse_range(const toml_value& sizes, std::string_view key,
                                  const std::string& origin) {
  const auto range = parse_sizes(sizes, key, origin);
  const auto holds = [&](std::size_t d) { return range[0][d] <= range[1][d]; };
  if (range.size() != 2 || range[0].size() != range[1].size() ||
      !std::ranges::all_of(std::views::iota(std::size_t{0}, range[0].size()), holds))
    fail(origin, "sizes." + std::string(key) +
                     " is the smallest and the largest size to draw: [[2], [1000]]");
  return range;
}

// What lab.toml calls the kinds, and the keys that each has beside name, kind and points.
struct goal_form {
  std::string_view name;
  goal::kind what;
  std::vector<std::string> keys;
};
const std::vector<goal_form>& goal_forms() {
  using enum goal::kind;
  static const std::vector<goal_form> forms = {
      {"correct", correct, {}},
      {"checks", checks, {}},
      {"counter", counter, {"counter", "size", "at_most", "at_least", "least_shared", "needs"}},
      {"speedup", speedup, {"over", "at_least", "modelled"}},
      {"reach", reach, {"step", "fraction", "modelled"}},
  };
  return forms;
}

const goal_form& find_form(const std::string& kind, const std::string& where) {
  std::string known;
  for (const auto& form : goal_forms()) {
    if (form.name == kind) return form;
    known += (known.empty() ? "" : ", ") + std::string(form.name);
  }
  fail(where, "unknown kind \"" + kind + "\"; known are " + known);
}

// A misspelt key would else be a goal that is easier than it was meant to be.
void refuse_other_keys(const toml_value& table, const goal_form& form, const std::string& where) {
  std::string known = "name, kind, points, hint";
  for (const auto& key : form.keys) known += ", " + key;
  for (const auto& name : table.keys) {
    if (name == "name" || name == "kind" || name == "points" || name == "hint") continue;
    if (std::count(form.keys.begin(), form.keys.end(), name) == 0) {
      fail(where, "unknown key `" + name + "`; a goal of kind " + std::string(form.name) + " has " +
                      known);
    }
  }
}

template <class Value>
Value of_goal(const toml_value& table, std::string_view key, const std::string& where) {
  if (const auto value = table.as<Value>(key)) return *value;
  const std::string quoted = "`" + std::string(key) + "`";
  fail(where, table.contains(key) ? quoted + " has the wrong type" : "missing key " + quoted);
}

void parse_counter_goal(goal& g, const toml_value& table, std::size_t dimensions,
                        const std::string& where) {
  g.counter = &counter_named(of_goal<std::string>(table, "counter", where),
                             where + ": unknown counter", exit_code::ours);
  if (table.contains("at_most") == table.contains("at_least")) {
    fail(where, "needs one of `at_most` and `at_least`");
  }
  g.side = table.contains("at_most") ? bound::at_most : bound::at_least;
  g.limit = of_goal<double>(table, g.side == bound::at_most ? "at_most" : "at_least", where);
  if (!(g.limit >= 0) || std::isinf(g.limit)) fail(where, "a counter's limit must not be negative");
  if (table.contains("least_shared")) {
    g.least_shared = of_goal<double>(table, "least_shared", where);
    if (!(g.least_shared > 0 && g.least_shared <= 1))
      fail(where, "`least_shared` must lie in (0, 1]");
  }
  if (table.contains("needs")) g.needs = of_goal<std::string>(table, "needs", where);
  const toml_value* size = table.find("size");
  if (size == nullptr) fail(where, "missing key `size`");
  g.size = parse_size(*size, where);
  if (g.size.size() != dimensions) {
    fail(where, "size has " + std::to_string(g.size.size()) + " numbers, the lab's sizes have " +
                    std::to_string(dimensions));
  }
}

goal parse_goal(const toml_value& table, std::size_t dimensions, const std::string& origin) {
  goal g;
  g.name = required<std::string>(table, "name", at_line(origin, table));
  const std::string where = at_line(origin, table) + ": goal \"" + g.name + "\"";
  g.points = of_goal<double>(table, "points", where);
  if (!(g.points > 0) || std::isinf(g.points)) fail(where, "a goal's points must be positive");
  if (table.contains("hint")) g.hint = of_goal<std::string>(table, "hint", where);
  const goal_form& form = find_form(of_goal<std::string>(table, "kind", where), where);
  refuse_other_keys(table, form, where);
  g.what = form.what;
  if (g.what == goal::kind::counter) parse_counter_goal(g, table, dimensions, where);
  if (g.what == goal::kind::speedup) {
    g.over = of_goal<std::string>(table, "over", where);
    g.limit = of_goal<double>(table, "at_least", where);
    if (!(g.limit > 0) || std::isinf(g.limit)) fail(where, "`at_least` must be positive");
  }
  if (g.what == goal::kind::reach) {
    g.over = of_goal<std::string>(table, "step", where);
    g.limit = of_goal<double>(table, "fraction", where);
    // More than the step's own speed may be asked for, but then a little more.
    if (!(g.limit > 0 && g.limit <= 1.5)) fail(where, "`fraction` must lie in (0, 1.5]");
  }
  if (g.is_speed() && table.contains("modelled")) {
    g.modelled = of_goal<double>(table, "modelled", where);
    if (!(g.modelled > 0) || std::isinf(g.modelled)) fail(where, "`modelled` must be positive");
  }
  return g;
}

// The column at_least of steps.txt.
void parse_promise(step& s, const std::string& text, const std::string& where) {
  const auto refuse = [&] {
    fail(where,
         "at_least is a positive number, as 1.5 or 1.5@1024,2048 (sizes), or - or ?, found \"" +
             text + "\"");
  };
  const std::string_view number = std::string_view(text).substr(0, text.find('@'));
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size() || !(value > 0)) refuse();
  s.at_least = value;
  if (number.size() == text.size()) return;
  std::istringstream sizes(text.substr(number.size() + 1));
  for (std::string size; std::getline(sizes, size, ',');) {
    const auto numbers = parse_numbers(size);
    if (!numbers) refuse();
    s.promised.push_back(*numbers);
  }
  if (s.promised.empty()) refuse();
}

void check_references(const lab& l, const std::string& toml_origin) {
  const auto known = [&](const std::string& name) {
    return std::any_of(l.steps.begin(), l.steps.end(),
                       [&](const step& s) { return s.name == name; });
  };
  if (!known(l.skeleton)) {
    fail(toml_origin, "skeleton = \"" + l.skeleton + "\" is not a step of steps.txt");
  }
  std::vector<std::string> names;
  for (const auto& s : l.steps) names.push_back(s.name);
  if (l.sweeps.standard && !known(l.sweeps.standard->step)) {
    fail(toml_origin,
         "[sweep]: step = \"" + l.sweeps.standard->step + "\" is not a step of steps.txt");
  }
  for (const auto& g : l.goals) {
    if (!g.is_speed() || known(g.over)) continue;
    const std::string near = nearest(g.over, names);
    fail(toml_origin, "goal \"" + g.name +
                          "\": " + (g.what == goal::kind::reach ? "step" : "over") + " = \"" +
                          g.over + "\" is not a step of steps.txt" +
                          (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
  }
  for (const auto& p : l.parts) {
    if (!known(p.step)) fail(p.file, "step \"" + p.step + "\" is not a step of steps.txt");
  }
}

}  // namespace

double lab::points() const {
  return std::accumulate(goals.begin(), goals.end(), 0.0,
                         [](double sum, const goal& g) { return sum + g.points; });
}

bool lab::has(goal::kind k) const {
  return std::any_of(goals.begin(), goals.end(), [&](const goal& g) { return g.what == k; });
}

std::string_view name_of(goal::kind k) { return goal_forms()[static_cast<std::size_t>(k)].name; }

std::vector<step> parse_steps(std::string_view text, const std::string& origin,
                              const fs::path& folder) {
  std::vector<step> steps;
  int number = 0;
  for (const auto& line : split_lines(text)) {
    ++number;
    const std::string where = origin + ":" + std::to_string(number);
    std::istringstream words(line);
    step s;
    std::string at_least;
    if (!(words >> s.name) || s.name.starts_with('#')) continue;
    if (!(words >> s.over >> at_least >> std::ws) || !std::getline(words, s.idea)) {
      fail(where, "expected four columns: name over at_least idea");
    }
    const auto known = [&](const std::string& name) {
      return std::any_of(steps.begin(), steps.end(),
                         [&](const step& other) { return other.name == name; });
    };
    if (known(s.name)) fail(where, "step " + s.name + " is listed twice");
    if (s.over == "-") {
      s.over.clear();
    } else if (!known(s.over)) {
      fail(where, "step " + s.name + " is over " + s.over + ", which is not listed before it");
    }
    if (at_least != "-" && at_least != "?") parse_promise(s, at_least, where);
    s.file = folder / (s.name + ".cu");
    steps.push_back(std::move(s));
  }
  if (steps.empty()) fail(origin, "lists no step");
  return steps;
}

std::vector<peer> parse_peers(std::string_view text, const std::string& origin) {
  std::vector<peer> peers;
  int number = 0;
  for (const auto& line : split_lines(text)) {
    ++number;
    std::istringstream words(line);
    peer p;
    std::string on, libraries, result;
    if (!(words >> p.name) || p.name.starts_with('#')) continue;
    if (!(words >> on >> libraries >> result >> std::ws) || !std::getline(words, p.what) ||
        (on != "gpu" && on != "cpu") || (result != "right" && result != "other")) {
      fail(origin + ":" + std::to_string(number),
           "expected five columns: name gpu|cpu libraries right|other what");
    }
    p.on_cpu = on == "cpu";
    p.is_right = result == "right";
    peers.push_back(std::move(p));
  }
  return peers;
}

std::vector<limit_part> parse_limits(std::string_view text, const std::string& origin,
                                     const fs::path& folder) {
  std::vector<limit_part> parts;
  int number = 0;
  for (const auto& line : split_lines(text)) {
    ++number;
    std::istringstream words(line);
    limit_part p;
    if (!(words >> p.step) || p.step.starts_with('#')) continue;
    if (!(words >> p.part >> std::ws) || !std::getline(words, p.what)) {
      fail(origin + ":" + std::to_string(number), "expected three columns: step part what");
    }
    p.file = folder / (p.step + "." + p.part + ".cu");
    parts.push_back(std::move(p));
  }
  return parts;
}

lab parse_lab(std::string_view text, const std::string& origin, const std::string& name) {
  try {
    const toml_value table = parse_toml(text);
    lab l;
    l.name = name;
    l.title = required<std::string>(table, "title", origin);
    l.order = required<std::int64_t>(table, "order", origin);
    l.function = required<std::string>(table, "function", origin);
    l.contract = required<std::string>(table, "contract", origin);
    l.skeleton = required<std::string>(table, "skeleton", origin);
    l.host_bytes = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, table.as<std::int64_t>("host_bytes").value_or(0)));
    l.time_limit_s = table.as<double>("time_limit_s").value_or(l.time_limit_s);
    l.timing_s = table.as<double>("timing_s").value_or(l.timing_s);
    for (const auto& [key, truth] : {std::pair{"published_steps_earn", &l.published_steps_earn},
                                     {"library_kernels_earn", &l.library_kernels_earn},
                                     {"tensor_cores", &l.tensor_cores}}) {
      const toml_value* const found = table.find(key);
      if (found == nullptr) continue;
      const auto value = found->as<bool>();
      if (!value) fail(at_line(origin, *found), fmt::format("`{}` is true or false", key));
      *truth = *value;
    }
    l.own_input = table.as<std::string>("own_input").value_or("");
    if (!l.own_input.empty() && l.own_input != "image" && l.own_input != "points")
      fail(origin, "`own_input` is \"image\" or \"points\", not \"" + l.own_input + "\"");
    const toml_value* sizes = table.table_at("sizes");
    if (sizes == nullptr) fail(origin, "missing table `sizes`");
    l.check = parse_sizes(*sizes, "check", origin);
    l.bench = parse_sizes(*sizes, "bench", origin);
    l.emulated = parse_sizes(*sizes, "emulated", origin);
    l.modelled = sizes->contains("modelled") ? parse_sizes(*sizes, "modelled", origin) : l.emulated;
    if (sizes->contains("hidden")) l.hidden = parse_range(*sizes, "hidden", origin);
    if (sizes->contains("ragged")) l.ragged = parse_range(*sizes, "ragged", origin);
    for (const auto* const range : {&l.hidden, &l.ragged})
      if (!range->empty() && range->front().size() != l.check[0].size())
        fail(origin, "sizes.hidden and sizes.ragged have as many numbers as sizes.check");
    l.promised = sizes->contains("promised") ? parse_sizes(*sizes, "promised", origin)
                                             : std::vector<lab_size>{l.bench.back()};
    const toml_value* goals = table.array_at("goals");
    if (goals == nullptr || goals->items.empty()) fail(origin, "needs at least one [[goals]]");
    for (const auto& entry : goals->items) {
      if (!entry.is_table()) fail(at_line(origin, entry), "a goal is a table: [[goals]]");
      l.goals.push_back(parse_goal(entry, l.check[0].size(), origin));
    }
    for (const goal& g : l.goals) {
      if (g.needs.empty()) continue;
      const auto other = std::find_if(l.goals.begin(), l.goals.end(),
                                      [&](const goal& o) { return o.name == g.needs; });
      if (other == l.goals.end() || other->what != goal::kind::counter || !other->needs.empty())
        fail(origin, "goal \"" + g.name + "\" needs \"" + g.needs +
                         "\", which must be a counter goal without `needs`");
    }
    std::stable_sort(l.goals.begin(), l.goals.end(),
                     [](const goal& a, const goal& b) { return a.what < b.what; });
    return l;
  } catch (const toml_error& error) {
    fail(origin + ":" + std::to_string(error.line), error.what());
  }
}

std::vector<std::string> lab_names(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "labs", error)) {
    if (fs::exists(entry.path() / "lab.toml")) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

lab load_lab(const fs::path& root, const std::string& name) {
  const auto names = lab_names(root);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string near = nearest(name, names);
    throw failure(exit_code::usage, "there is no lab \"" + name + "\"" +
                                        (near.empty() ? "" : "; did you mean \"" + near + "\"?") +
                                        "\n`./lab list` shows all labs");
  }
  const fs::path toml_file = fs::path("labs") / name / "lab.toml";
  const fs::path given = fs::path("labs") / name / "given";
  const bool is_copy = fs::exists(root / given / "steps.txt");
  const fs::path folder = is_copy ? given : fs::path("solutions") / name;
  const int ours = static_cast<int>(exit_code::ours);
  const std::string text = read_file(root / toml_file, ours);
  lab l = parse_lab(text, toml_file, name);
  l.sweeps = parse_sweeps(text, toml_file);
  l.steps = parse_steps(read_file(root / folder / "steps.txt", ours), folder / "steps.txt", folder);
  if (const fs::path peers = folder / "peers.txt"; fs::exists(root / peers))
    l.peers = parse_peers(read_file(root / peers, ours), peers);
  if (const fs::path limits = folder / "limits.txt"; fs::exists(root / limits))
    l.parts = parse_limits(read_file(root / limits, ours), limits, folder / "limits");
  l.file = fs::path("labs") / name / (name + ".cu");
  l.is_worked = !is_copy;
  check_references(l, toml_file);
  return l;
}

std::optional<std::string> whole_handout(const fs::path& root, const lab& l) {
  auto text = read_if_there(root / l.handout());
  if (!text) return text;
  return *text + "\n" + read_if_there(root / l.deeper()).value_or("");
}

std::vector<lab> load_labs(const fs::path& root) {
  std::vector<lab> labs;
  for (const auto& name : lab_names(root)) labs.push_back(load_lab(root, name));
  std::sort(labs.begin(), labs.end(), [](const lab& a, const lab& b) {
    return std::pair(a.order, a.name) < std::pair(b.order, b.name);
  });
  return labs;
}

const step& find_step(const lab& l, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& s : l.steps) {
    // "03_sequential", and for short "03" or "sequential"
    const auto split = s.name.find('_');
    if (s.name == name || s.name.substr(0, split) == name) return s;
    if (split != std::string::npos && s.name.substr(split + 1) == name) return s;
    names.push_back(s.name);
  }
  const std::string near = nearest(name, names);
  std::string message = "the " + l.name + " lab has no step \"" + std::string(name) + "\"";
  if (!near.empty()) message += "; did you mean \"" + near + "\"?";
  message += "\nits steps are";
  for (const auto& n : names) message += " " + n;
  throw failure(exit_code::usage, message);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1,
                              least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return least[a.size()][b.size()];
}

std::string nearest(std::string_view given, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::string::npos;
  int containing = 0;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(given, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (best_distance <= std::max<std::size_t>(1, best.size() / 3)) return best;
  if (given.size() < 2) return {};
  // "sequential" or "03" for "03_sequential"
  for (const auto& candidate : candidates) {
    if (candidate.find(given) != std::string::npos) {
      best = candidate;
      ++containing;
    }
  }
  return containing == 1 ? best : std::string{};
}

std::string size_text(const lab_size& size) {
  std::string text;
  for (const auto n : size) text += (text.empty() ? "" : "x") + std::to_string(n);
  return text;
}

}  // namespace stepwise
