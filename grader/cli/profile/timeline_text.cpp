// Draws a row for the host and a row per stream. A column shows the activity that fills most of it.
#include "grader/cli/profile/timeline_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "common/report/profile_text.hpp"
#include "common/timeline/transfer_rates.hpp"
#include "grader/cli/text/page.hpp"
#include "grader/report/findings.hpp"

namespace stepwise::cli {
namespace {

using asks = asked::kind;

constexpr std::size_t most_rows_shown = 16;
constexpr char host_asks = '|', host_waits = '~';

const char* words_of(asks what) {
  switch (what) {
    case asks::copy_to_device:
      return "copy to the device";
    case asks::copy_to_host:
      return "copy to the host";
    case asks::copy_on_device:
      return "copy on the device";
    case asks::fill:
      return "fill";
    default:
      return "kernel";
  }
}

char mark_of(asks what) {
  switch (what) {
    case asks::copy_to_device:
      return '>';
    case asks::copy_to_host:
      return '<';
    case asks::copy_on_device:
      return '=';
    default:
      return '-';
  }
}

tone tone_of_mark(char mark) {
  if (mark == host_waits) return tone::dim;
  return mark == '>' || mark == '<' || mark == '=' || mark == '-' ? tone::note : tone::place;
}

std::string name_of_work(const device_work& a) {
  return a.what == asks::kernel ? a.name : words_of(a.what);
}

// The activities that share a mark.
struct marked {
  char mark = '?';
  asks what = asks::kernel;
  std::uint64_t count = 0, bytes = 0;
  double us = 0;
};

// Activities by name. Kernels get letters, the longest kernel the letter A.
std::map<std::string, marked> marks_of(const timeline& t) {
  std::map<std::string, marked> all;
  for (const device_work& a : t.activities) {
    marked& m = all[name_of_work(a)];
    m.what = a.what;
    ++m.count;
    m.us += a.us;
    m.bytes += a.bytes;
  }
  std::vector<marked*> kernels;
  for (auto& [name, m] : all) {
    if (m.what == asks::kernel)
      kernels.push_back(&m);
    else
      m.mark = mark_of(m.what);
  }
  std::ranges::stable_sort(kernels, [](const marked* a, const marked* b) { return a->us > b->us; });
  for (std::size_t n = 0; n < kernels.size(); ++n)
    kernels[n]->mark = n < 26 ? static_cast<char>('A' + n) : '*';
  return all;
}

// One row. A column shows the mark that fills most of its time, or a dot if nothing happens.
class drawn_row {
 public:
  drawn_row(std::size_t columns, double us) : columns_(columns), us_(us) {}

  void add(char mark, double from, double length) {
    const double column_us = us_ / static_cast<double>(columns_.size());
    const auto last = static_cast<double>(columns_.size() - 1);
    const auto first_column = std::min(last, std::floor(from / column_us));
    const auto last_column = std::min(last, std::floor((from + length) / column_us));
    for (double n = first_column; n <= last_column; ++n) {
      const double inside =
          std::min(from + length, (n + 1) * column_us) - std::max(from, n * column_us);
      columns_[static_cast<std::size_t>(n)][mark] += std::max(inside, 0.0);
    }
  }
  std::string text(const terminal_style& style) const {
    std::string line;
    for (const auto& column : columns_) {
      char mark = ' ';
      double most = -1;
      for (const auto& [m, us] : column)
        if (us > most) most = us, mark = m;
      line += mark == ' ' ? style.paint(tone::dim, ".")
                          : style.paint(tone_of_mark(mark), std::string(1, mark));
    }
    return line;
  }

 private:
  std::vector<std::map<char, double>> columns_;
  double us_;
};

std::string us_text(double us) { return time_text(us / 1000); }

void draw(page& p, const timeline& t, const std::map<std::string, marked>& marks) {
  std::size_t label = 5;
  const std::size_t rows = std::min(t.rows.size(), most_rows_shown);
  for (std::size_t n = 0; n < rows; ++n) label = std::max(label, t.rows[n].size());
  const std::size_t columns = static_cast<std::size_t>(p.style().width) - label - 4;
  const std::string end = us_text(t.us);
  p.line(fmt::format("  {:<{}}  0{:>{}}", "", label, end, columns - 1));
  const auto add_row = [&](const std::string& name, const drawn_row& row) {
    p.line(fmt::format("  {:<{}}  ", name, label) + row.text(p.style()));
  };
  drawn_row host(columns, t.us);
  for (const host_call& c : t.calls)
    if (c.us > 0) host.add(c.waits ? host_waits : host_asks, c.start_us, c.us);
  add_row("host", host);
  for (std::size_t n = 0; n < rows; ++n) {
    drawn_row row(columns, t.us);
    for (const device_work& a : t.activities)
      if (a.row == n) row.add(marks.at(name_of_work(a)).mark, a.start_us, a.us);
    add_row(t.rows[n], row);
  }
  if (t.rows.size() > rows)
    p.line(p.style().paint(tone::dim, fmt::format("  and {} more streams", t.rows.size() - rows)));
}

void legend(page& p, const std::map<std::string, marked>& marks) {
  std::vector<std::pair<std::string, marked>> sorted(marks.begin(), marks.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second.us > b.second.us; });
  std::vector<std::vector<cell>> rows;
  for (const auto& [name, m] : sorted) {
    if (rows.size() == 12) break;
    rows.push_back({{std::string(1, m.mark), tone_of_mark(m.mark)},
                    {name},
                    {grouped(m.count)},
                    {us_text(m.us)},
                    {m.bytes > 0 ? bytes_text(static_cast<double>(m.bytes)) : ""}});
  }
  p.table({{""}, {"", false, true}, {"count", true}, {"time", true}, {"bytes", true}}, rows);
  p.line(p.style().paint(tone::dim,
                         fmt::format("  {} host call   {} host waits", host_asks, host_waits)));
}

std::string summary(const timeline& t) {
  std::string text = fmt::format("Total {}: kernels run for {}, copies for {}", us_text(t.us),
                                 us_text(t.kernels_us), us_text(t.copies_us));
  if (t.kernels_us > 0 && t.copies_us > 0)
    text += t.overlap_us > 0.005 * t.us ? fmt::format(", overlapping for {}", us_text(t.overlap_us))
                                        : ", never overlapping";
  return text + fmt::format("; the device is idle for {:.0f} % of the time.",
                            t.us > 0 ? 100 * (t.us - t.busy_us) / t.us : 0);
}

std::string assumptions(const shown_timeline& of) {
  const transfer_rates& r = of.rates;
  return fmt::format(
      "modelled, {}: kernel times come from the time model, averaged over the launches. {}: copies "
      "to and from the host at {:.1f} GB/s{}, {:.1f} and {:.1f} for memory that is not pinned. "
      "Copies on the device run at {:.0f} GB/s ({}). The host's own work between calls takes no "
      "time here.",
      of.gpu, r.link_measured ? "Measured" : "Estimated", r.link.bytes_per_s / 1e9,
      r.link_measured ? ""
                      : " (four fifths of " + std::string(r.link.name) +
                            "; the next two were measured with an H100)",
      r.pageable_to_device / 1e9, r.pageable_to_host / 1e9, r.copy_bytes_per_s / 1e9,
      r.measured ? "measured" : "half of the published memory bandwidth");
}

}  // namespace

shown_timeline read_timeline(const std::filesystem::path& file, const std::string& title,
                             const gpu& model) {
  shown_timeline shown;
  shown.title = title;
  shown.gpu = model.name;
  shown.rates = rates_of(model);
  asked_list first;
  std::ifstream in(file);
  // Only the first process that used the device is shown: the processes' clocks do not agree.
  for (std::string line; std::getline(in, line);) {
    auto list = parse_asked(line);
    if (!list) continue;
    timeline t = lay_out(*list, shown.rates);
    shown.dropped = list->dropped;
    shown.t = std::move(t);
    if (!shown.t.activities.empty()) break;
  }
  for (device_work& a : shown.t.activities) escape_name(a.name);
  for (host_call& c : shown.t.calls) escape_name(c.name);
  return shown;
}

std::vector<std::string> timeline_lines(const shown_timeline& of, const terminal_style& style) {
  page p(style);
  p.title("Timeline of " + of.title);
  const timeline& t = of.t;
  if (t.activities.empty() || t.us <= 0) {
    p.paragraph("The program made no device requests, so there is no timeline.");
    return p.take();
  }
  const auto marks = marks_of(t);
  draw(p, t, marks);
  p.line();
  legend(p, marks);
  p.line();
  p.paragraph(summary(t), tone::strong);
  if (t.pageable_copies > 0)
    p.paragraph(fmt::format("{} asynchronous cop{} memory of the host that is not pinned: the host "
                            "waits for {}. Allocate pinned memory with cudaMallocHost.",
                            t.pageable_copies, t.pageable_copies == 1 ? "y uses" : "ies use",
                            t.pageable_copies == 1 ? "it" : "them"),
                tone::note);
  if (t.untimed > 0)
    p.paragraph(fmt::format("{} launch{} no modelled time and {} drawn with zero length.",
                            grouped(t.untimed), t.untimed == 1 ? " has" : "es have",
                            t.untimed == 1 ? "is" : "are"),
                tone::note);
  if (of.dropped > 0)
    p.paragraph(fmt::format("The timeline is truncated here: {} later request{} left out.",
                            grouped(of.dropped), of.dropped == 1 ? " is" : "s are"),
                tone::note);
  p.line();
  p.paragraph(assumptions(of), tone::dim);
  return p.take();
}

json timeline_json(const shown_timeline& of) {
  const timeline& t = of.t;
  json activities = json::array(), calls = json::array();
  for (const device_work& a : t.activities)
    activities.push_back({{"what", name_of(a.what)},
                          {"name", name_of_work(a)},
                          {"stream", t.rows[a.row]},
                          {"start_us", a.start_us},
                          {"us", a.us},
                          {"bytes", a.bytes},
                          {"pageable", a.pageable}});
  for (const host_call& c : t.calls)
    calls.push_back({{"name", c.name}, {"start_us", c.start_us}, {"us", c.us}, {"waits", c.waits}});
  return {{"total_us", t.us},
          {"kernels_us", t.kernels_us},
          {"copies_us", t.copies_us},
          {"overlap_us", t.overlap_us},
          {"busy_us", t.busy_us},
          {"link", of.rates.link.name},
          {"link_gb_per_s", of.rates.link.bytes_per_s / 1e9},
          {"link_estimated", true},
          {"untimed", t.untimed},
          {"dropped", of.dropped},
          {"activities", std::move(activities)},
          {"calls", std::move(calls)}};
}

std::string trace_text(const shown_timeline& of) {
  constexpr int process = 1, host_row = 0;
  json events = json::array();
  const auto name_row = [&](const char* what, std::size_t row, const std::string& name) {
    events.push_back({{"name", what},
                      {"ph", "M"},
                      {"pid", process},
                      {"tid", row},
                      {"args", json{{"name", name}}}});
  };
  name_row("process_name", host_row, of.title + " (modelled, " + of.gpu + ")");
  name_row("thread_name", host_row, "host");
  for (std::size_t n = 0; n < of.t.rows.size(); ++n) name_row("thread_name", n + 1, of.t.rows[n]);
  const auto add = [&](const std::string& name, const char* kind, std::size_t row, double start,
                       double us, json more) {
    events.push_back({{"name", name},
                      {"cat", kind},
                      {"ph", "X"},
                      {"pid", process},
                      {"tid", row},
                      {"ts", start},
                      {"dur", us},
                      {"args", std::move(more)}});
  };
  for (const host_call& c : of.t.calls)
    add(c.name, c.waits ? "wait" : "call", host_row, c.start_us, c.us, json::object());
  for (const device_work& a : of.t.activities) {
    json more = json::object();
    if (a.what != asks::kernel) {
      more["bytes"] = a.bytes;
      more["pageable"] = a.pageable;
    }
    add(name_of_work(a), name_of(a.what), a.row + 1, a.start_us, a.us, std::move(more));
  }
  return json_text(json{{"traceEvents", std::move(events)},
                        {"displayTimeUnit", "ns"},
                        {"otherData", json{{"times", "modelled, " + of.gpu},
                                           {"copies", "estimated, " + of.rates.link.name}}}}) +
         "\n";
}

}  // namespace stepwise::cli
