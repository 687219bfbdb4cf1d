// lab try: runs a file in the judge's sandbox and reports all results: compile errors, correctness,
// findings of the checks, the cost of each line, and the time.
//
// idea    The attempt is the same as that of `lab watch`, but for a file from an unknown author.
//         The playground of `lab dev site --serve` passes on the typed text.
// Tested by cli/tests/check_cli_test.cpp, and by slides/site/tests/.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "grader/cli/context.hpp"
#include "grader/cli/profile/profile_view.hpp"
#include "grader/cli/text/analysis_text.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/cli/watch/attempt.hpp"
#include "grader/judge/diagnostics.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/profile.hpp"
#include "grader/sandbox/trust.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct try_options {
  std::string lab, file;
  bool i_trust_these_files = false;
};

constexpr double longest_call_s = 5;             // a person waits
constexpr std::size_t most_source = 1 << 20;     // the judge's limit
constexpr std::size_t most_printed = 16 * 1024;  // of the program's output

json layers_json(const protections& guards) {
  json layers = json::array();
  for (const auto& layer : guards.layers)
    layers.push_back({{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  return layers;
}

// Saves the text from standard input under the lab's usual file name.
fs::path typed_file(const lab& l, const fs::path& folder) {
  std::string text(most_source + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = read(STDIN_FILENO, text.data() + size, text.size() - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most_source) refuse("the source is longer than 1 MiB");
  text.resize(size);
  const fs::path file = folder / l.file.filename();
  write_atomically(file, text);
  return file;
}

// The lines of the file that the compiler refused, limited to a few.
json errors_json(const std::string& log, const std::string& shown) {
  constexpr std::size_t most = 20;
  json errors = json::array();
  for (const diagnostic& d : parse_diagnostics(log)) {
    if (errors.size() == most) break;
    const bool here = d.file == shown;
    errors.push_back({{"line", here ? d.line : 0}, {"message", d.message}});
  }
  return errors;
}

void show(context& c, const attempt& a, const gpu& model) {
  const check_report& checked = a.report;
  show_findings(c, checked);
  if (checked.correct()) {
    c.say(fmt::format("  {}  {}", c.out.paint(tone::good, "correct"), right_text(c, checked)));
  } else {
    show_finding(c, checked);
  }
  if (a.time.label.empty()) return;  // no call was made
  c.say();
  c.out.paragraph(modelled_phrase(a.time), 2, "  ");
  if (!a.time.timed() || a.time.kernels.empty()) return;
  c.say();
  const profile_view v = view_of(a.time, *ranked(a.time.kernels).front(), model);
  for (const auto& line : limit_lines(v, c.out.style())) c.say(line);
}

int try_file(context& c, const try_options& o) {
  const protections& guards = find_protections();
  if (o.lab.empty()) {
    c.say("protection on this machine: " + guards.text());
    if (c.as_json)
      c.print({{"sandbox", layers_json(guards)}, {"sandbox_complete", guards.complete()}});
    return 0;
  }
  if (c.request == device_request::gpu)
    refuse("`try` runs files only on the emulator; to use a GPU: ./lab run");
  lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  require_protection(guards, o.i_trust_these_files);
  l.time_limit_s = std::min(l.time_limit_s, longest_call_s);
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path source = o.file.empty()  ? c.where.root / l.file
                          : o.file == "-" ? typed_file(l, folder.path())
                                          : fs::absolute(o.file);
  const gpu model = stand_for(c, "");
  attempt_request request{source};
  request.patience_s = longest_call_s;
  request.guards = &guards;
  request.passes = o.file == "-";
  attempts these(c, l, p, model, request);
  const attempt a = these.make();
  const std::string shown = c.where.shown(source);
  json document = {{"lab", l.name},
                   {"subject", shown},
                   {"sandbox", layers_json(guards)},
                   {"compile_errors", errors_json(a.made.log, shown)},
                   {"seconds", {{"compile", a.compile_s}, {"run", nullptr}}}};
  c.say(fmt::format("{} in the sandbox: {}", c.out.paint(tone::strong, shown), guards.text()));
  c.say();
  if (!a.compiles()) {
    document.update(findings_json({}));
    return report_compile_errors(c, {shown, {}, a.made.explanation}, std::move(document));
  }
  const int code = a.report.found.what == verdict::infra
                       ? cli::exit_code_of(verdict::infra)
                       : static_cast<int>(a.clean() ? exit_code::fine : exit_code::student);
  if (!c.as_json) {
    show(c, a, model);
    show_printed(c, a.report.printed);
    return code;
  }
  document["seconds"]["run"] = a.run_s;
  document["device"] = device_json(these.emulator());
  document.update(check_json(a.report));
  document.update(findings_json(a.report.findings));
  document["printed"] = a.report.printed.substr(0, most_printed);
  if (!a.time.label.empty()) {
    document.update(modelled_json(a.time));
    document["rate"] = a.time.timed() ? json(a.time.rate()) : json(nullptr);
    document["kernels"] = profile_document(a.time.kernels);
    if (a.time.timed() && !a.time.kernels.empty())
      document["analysis"] = analysis_json(
          analyse(*ranked(a.time.kernels).front(), 1000 * a.time.time_ms, model.multiprocessors));
  }
  c.print(document);
  return code;
}

const verb try_verb(
    {verb_place::group::more, 10}, "try", "check and time an unknown file in the sandbox",
    "  ./lab try reduction --file theirs.cu   compile and run it isolated from your files\n"
    "  ./lab try reduction --file -           read the file from standard input\n"
    "  ./lab try                              show the protection on this machine",
    [](arguments& takes, try_options& o) {
      takes.add("LAB", o.lab, "the lab's name");
      takes.add("--file", o.file, "a .cu file other than your own; -: standard input");
      takes.flag("--i-trust-these-files", o.i_trust_these_files,
                 "run even if a layer of the sandbox is missing");
    },
    try_file);

}  // namespace
}  // namespace stepwise::cli
