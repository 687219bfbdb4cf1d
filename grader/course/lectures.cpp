// Reads lectures.toml, and says what is missing.
#include "grader/course/lectures.hpp"

#include "grader/course/toml_errors.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

class lectures_reader {
 public:
  lectures_reader(const std::string& origin, const lab& l) : origin_(origin), lab_(l) {}

  lecture read(const toml_value& table) const {
    lecture one;
    one.gpu = text(table, "gpu");
    one.source = text(table, "source");
    one.unit = text(table, "unit");
    if (one.unit != "ms" && one.unit != "GB/s" && one.unit != "GFLOP/s")
      fail(at_line(origin_, table), "unit: expected ms, GB/s or GFLOP/s");
    const toml_value* const size = table.array_at("size");
    for (const auto& number : size != nullptr ? size->items : std::vector<toml_value>{})
      one.size.push_back(number.as<std::int64_t>().value_or(-1));
    if (one.size.size() != lab_.check.at(0).size())
      fail(at_line(origin_, table), "size: expected a list like those of the lab's sizes");
    const auto told = table.as<bool>("size_told");
    if (!told) fail(at_line(origin_, table), "size_told: expected true or false");
    one.size_told = *told;
    const toml_value* const figures = table.array_at("figures");
    if (figures == nullptr || figures->items.empty())
      fail(at_line(origin_, table), "figures: expected a list");
    for (const auto& figure : figures->items) one.figures.push_back(read_figure(figure));
    return one;
  }

 private:
  std::string text(const toml_value& table, const char* key) const {
    const auto value = table.as<std::string>(key);
    if (!value || value->empty())
      fail(at_line(origin_, table), std::string(key) + ": expected a text");
    return *value;
  }

  published_figure read_figure(const toml_value& table) const {
    published_figure figure;
    figure.line = table.line;
    figure.version = text(table, "version");
    figure.step = text(table, "step");
    bool known = false;
    for (const auto& s : lab_.steps) known = known || s.name == figure.step;
    if (!known) fail(at_line(origin_, table), "there is no step " + figure.step);
    figure.kernel = table.as<std::string>("kernel").value_or("");
    if (const toml_value* const with = table.array_at("with"))
      for (const auto& value : with->items)
        figure.with.push_back(value.as<std::string>().value_or(""));
    figure.value = table.as<double>("value").value_or(0);
    if (!(figure.value > 0)) fail(at_line(origin_, table), "value: expected a positive number");
    return figure;
  }

  const std::string& origin_;
  const lab& lab_;
};

}  // namespace

std::vector<lecture> load_lectures(const fs::path& root, const lab& l) {
  const std::string origin = "solutions/" + l.name + "/lectures.toml";
  const auto text = read_if_there(root / origin);
  if (!text) return {};
  std::vector<lecture> all;
  try {
    const toml_value table = parse_toml(*text);
    const toml_value* const lectures = table.array_at("lectures");
    if (lectures == nullptr) fail(origin, "there is no [[lectures]]");
    for (const auto& one : lectures->items) all.push_back(lectures_reader(origin, l).read(one));
  } catch (const toml_error& error) {
    fail(origin + ":" + std::to_string(error.line), error.what());
  }
  return all;
}

}  // namespace stepwise
