// Finds a current program in the cache, or compiles and links one. Classifies failures by cause.
#include "grader/judge/compile.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "common/formats/json.hpp"
#include "grader/course/source.hpp"
#include "grader/judge/nvcc_passes.hpp"
#include "grader/judge/outcomes.hpp"
#include "grader/judge/plain_source.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

constexpr std::size_t most_hashed = std::size_t{64} << 20;
constexpr std::size_t most_rule = std::size_t{16} << 20;
constexpr std::size_t most_warnings = 100, longest_warning = 300;
constexpr std::size_t cache_entries = 200;  // per cache: enough for a whole sweep

std::string hash_of_file(const fs::path& file) {
  // A source can name any file that its compiler could see.
  const auto content = read_bounded(file, most_hashed);
  return content ? content_hash().add(*content).hex() : std::string("missing");
}

// Meson's archives are thin. They name their objects, so a new object changes only the time.
std::string time_of(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  return error ? std::string{} : std::to_string(time.time_since_epoch().count());
}

// The prerequisites of a make rule from `nvcc -MMD`, with escaped spaces and continued lines.
std::vector<std::string> prerequisites(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  auto at = rule.find(": ");
  if (at == std::string::npos) return files;
  for (at += 1; at < rule.size(); ++at) {
    const char c = rule[at];
    if (c == '\\' && at + 1 < rule.size() && rule[at + 1] != '\n') {
      word += rule[++at];
    } else if (c == ' ' || c == '\n' || c == '\\' || c == '\t') {
      if (!word.empty()) files.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) files.push_back(std::move(word));
  return files;
}

// Whether the entry is complete and every header is unchanged.
bool is_fresh(const fs::path& entry, const fs::path& root) {
  const auto text = read_if_there(entry / "headers.json");
  if (!text || access((entry / "program").c_str(), X_OK) != 0 ||
      access((entry / "warnings.json").c_str(), R_OK) != 0 ||
      access((entry / "kernels").c_str(), R_OK) != 0)
    return false;
  const auto headers = parse_json_or_null(*text);
  if (!headers.is_object()) return false;
  for (const auto& [file, hash] : headers.items()) {
    if (!hash.is_string() || hash_of_file(root / file) != hash.get<std::string>()) return false;
  }
  return true;
}

// A variable that is not used yet: every file that is being written has some.
bool is_about_unused(const diagnostic& d) {
  return d.message.find("was declared but never referenced") != std::string::npos ||
         d.message.find("was set but never used") != std::string::npos;
}

// Those about the file itself, which messages call `shown`, and that may point to a mistake.
std::vector<compiler_warning> warnings_in(const std::string& log, const std::string& shown,
                                          const std::string& source) {
  std::vector<compiler_warning> warnings;
  const auto lines = split_lines(source);
  const auto clean = [](std::string_view text) {
    const auto escaped = escaped_lines(std::string(text), 1, longest_warning);
    return escaped.empty() ? std::string{} : escaped[0];
  };
  for (const diagnostic& d : parse_warnings(log)) {
    if (d.file != shown || d.line < 1 || is_about_unused(d) || warnings.size() == most_warnings)
      continue;
    const auto index = static_cast<std::size_t>(d.line) - 1;
    compiler_warning w{d.line, clean(d.message),
                       index < lines.size() ? clean(trimmed(lines[index])) : std::string{}};
    const bool known = std::any_of(warnings.begin(), warnings.end(), [&](const auto& other) {
      return other.line == w.line && other.message == w.message;
    });
    if (!known) warnings.push_back(std::move(w));
  }
  return warnings;
}

void remember_warnings(const fs::path& entry, const std::vector<compiler_warning>& warnings) {
  json all = json::array();
  for (const auto& w : warnings)
    all.push_back({{"line", w.line}, {"message", w.message}, {"text", w.text}});
  write_atomically(entry / "warnings.json", json_text(all, 1) + "\n");
}

std::vector<compiler_warning> remembered_warnings(const fs::path& entry) {
  std::vector<compiler_warning> warnings;
  const json all = parse_json_or_null(read_if_there(entry / "warnings.json").value_or(""));
  if (!all.is_array()) return warnings;
  for (const json& w : all) {
    if (!w.is_object()) continue;
    warnings.push_back({w.value("line", 0), w.value("message", ""), w.value("text", "")});
  }
  return warnings;
}

// Records the headers' hashes, except for headers in the temporary folders `passing`.
void remember_headers(const fs::path& entry, const std::vector<fs::path>& rules,
                      const fs::path& root, const std::vector<fs::path>& passing) {
  json headers = json::object();
  const auto remember = [&](const std::string& file) {
    const bool passes = std::any_of(passing.begin(), passing.end(), [&](const fs::path& folder) {
      return file.starts_with(folder.string() + "/");
    });
    if (!passes && !headers.contains(file)) headers[file] = hash_of_file(root / file);
  };
  for (const auto& rule : rules) {
    for (const auto& file : prerequisites(read_bounded(rule, most_rule).value_or("")))
      remember(file);
  }
  // A name that is not UTF-8 becomes one that no file has, so its program is never reused.
  write_atomically(entry / "headers.json", json_text(headers, 1) + "\n");
}

// Removes the least recently used entries (a running program keeps its inode), and entries that a
// killed lab left behind more than a day ago.
void prune(const fs::path& cache) {
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache, ignored)) {
    if (!entry.is_directory(ignored)) continue;  // a lock
    if (fs::exists(entry.path() / "headers.json", ignored)) {
      entries.emplace_back(fs::last_write_time(entry.path() / "headers.json", ignored),
                           entry.path());
    } else if (fs::file_time_type::clock::now() - entry.last_write_time(ignored) >
               std::chrono::hours(24)) {
      fs::remove_all(entry.path(), ignored);
    }
  }
  if (entries.size() <= cache_entries) return;
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i < entries.size() - cache_entries; ++i) {
    fs::remove_all(entries[i].second, ignored);
  }
}

// The signal that ended nvcc, or that ended one of its programs as nvcc reports it: "nvcc error   :
// 'cicc' died due to signal 9 (Kill signal)". 0: none.
int signal_of(const child_result& result) {
  if (result.end.how == child_end::cause::signalled) return result.end.signal;
  constexpr std::string_view before = " died due to signal ";
  for (const std::string& line : split_lines(result.err)) {
    const auto at = line.find(before);
    if (line.starts_with("nvcc error") && at != std::string::npos) {
      return std::atoi(line.c_str() + at + before.size());
    }
  }
  return 0;
}

const std::string needed_more_memory = "the compiler needed more memory than its limit";

// The sandbox limit that ended the compiler, in words, since the source is the cause. Else empty.
std::string limit_that_ended(const child_result& result, const compile_guards& guards) {
  if (guards.with == nullptr) return {};
  const auto says = [&](std::string_view text) {
    return result.err.find(text) != std::string::npos || result.out.find(text) != std::string::npos;
  };
  if (signal_of(result) == SIGXCPU || says("CPU time limit exceeded")) {
    return "the compiler took too long";
  }
  if (result.end.how == child_end::cause::flooded) return "the compiler printed too much";
  if (signal_of(result) == SIGXFSZ || says("File size limit exceeded") || says("File too large")) {
    return "the compiled program is too large";
  }
  if (result.end.out_of_memory || says("virtual memory exhausted") ||
      says("out of memory allocating") || says("Cannot allocate memory") ||
      says("Killed signal terminated program") || says("std::bad_alloc")) {
    return needed_more_memory + limit_text(guards.memory_bytes);
  }
  return {};
}

compiled refused(const child_result& result, const std::string& log, const lab& l,
                 const installation& where, const quotable& sources, const compile_guards& guards) {
  compiled c;
  c.log = log;
  if (result.end.how == child_end::cause::deadline) {
    c.explanation = {fmt::format("the compiler did not finish within {:g} s", guards.limit_s)};
    return c;
  }
  if (const std::string limit = limit_that_ended(result, guards); !limit.empty()) {
    c.explanation = {limit};
    c.out_of_memory = limit.starts_with(needed_more_memory);
    return c;
  }
  const auto errors = parse_diagnostics(c.log);
  if (!errors.empty()) {
    c.explanation = explain(errors[0], errors.size(), where, sources);
    if (guards.with != nullptr && errors[0].message.find("No such file") != std::string::npos) {
      std::string alone =
          "a graded file is compiled alone: it may include the contract, common/lab/ and what "
          "compiler and toolkit bring";
      if (errors[0].message.find("solutions/") != std::string::npos)
        alone += "; with --practice your own file may include parts of solutions";
      c.explanation.push_back(std::move(alone));
    }
    if (c.log.find("undefined reference") != std::string::npos) {
      c.explanation.push_back("the contract is labs/" + l.name + "/" + l.contract);
    }
    return c;
  }
  c.explanation = escaped_lines(c.log, 12, 200);
  c.explanation.insert(c.explanation.begin(), "the compiler failed and said:");
  return c;
}

// One compilation in a temporary folder, and the entry that it fills.
class compilation {
 public:
  compilation(const installation& where, const fs::path& entry, const compile_progress& progress,
              const std::string& lab_name, const compile_guards& guards)
      : where_(where),
        cache_(entry.parent_path()),
        progress_(progress),
        lab_name_(lab_name),
        guards_(guards),
        work_(cache_) {}

  // Runs `compile`, completed with its files, and links. The first failure ends it. `id` becomes
  // part of the names of static objects.
  child_result run(std::vector<std::string> compile, const plain_source& source,
                   const fs::path& archive, const std::string& id) {
    compile.insert(compile.end(), {"-c", source.path(), "-o", object()});
    if (guards_.with != nullptr) {
      auto extra = guards_.extra;
      extra.push_back(source.path());
      view_ = for_compiler({where_.root, where_.build, where_.nvcc}, lab_name_, work_.path(),
                           std::move(extra));
      view_.memory_bytes = guards_.memory_bytes;
    }
    auto quick = compile;
    quick.push_back(no_special_functions);
    auto outcome = run_halves(std::move(quick), id);
    if (outcome && is_refused(*outcome)) outcome = run_halves(compile, id);
    if (!outcome) {
      const fs::path rule = work_.path() / "headers.d";
      rules_ = {rule};
      compile.insert(compile.end(), {"-MMD", "-MF", rule, "--keep", "--keep-dir", work_.path()});
      kernels_ = work_.path() / fs::path(source.path()).filename().replace_extension(".fatbin");
      outcome = run_one(std::move(compile));
    }
    if (!outcome->end.ok()) return *std::move(outcome);
    said_of_source_ = outcome->err + outcome->out;
    // Moved away, because nvcc removes files with such names after it has linked.
    std::error_code ignored;
    fs::rename(kernels_, kernels(), ignored);
    return link(archive);
  }

  void fill(const fs::path& entry, const plain_source& source) const {
    for (const auto& [made, name] : {std::pair{kernels(), "kernels"}, {program(), "program"}}) {
      std::error_code error;
      if (!fs::is_regular_file(fs::symlink_status(made, error)))
        throw failure(exit_code::environment, "nvcc left no " + std::string(name));
      // Files that the sandbox's user made now belong to us.
      [[maybe_unused]] const int given = lchown(made.c_str(), geteuid(), getegid());
      fs::rename(made, entry / name, error);
      if (error)
        throw failure(exit_code::environment,
                      "cannot write " + entry.string() + ": " + error.message());
    }
    remember_headers(entry, rules_, where_.root,
                     {work_.path(), fs::path(source.path()).parent_path()});
  }

  double seconds() const { return seconds_; }
  // All that was printed when the source was compiled, before it was linked.
  const std::string& said_of_source() const { return said_of_source_; }

 private:
  fs::path program() const { return work_.path() / "program"; }
  fs::path kernels() const { return work_.path() / "kernels"; }
  fs::path object() const { return work_.path() / "student.o"; }

  static bool is_refused(const child_result& outcome) {
    return outcome.end.how == child_end::cause::exited &&
           outcome.end.exit_code == host_half_refused;
  }

  // Compiles as side_by_side() arranges it: succeeds, or fails with nvcc's own messages. Empty if
  // nvcc itself has to compile or to explain why it cannot.
  std::optional<child_result> run_halves(std::vector<std::string> compile, const std::string& id) {
    compile.push_back("--dryrun");
    const auto planned = start(std::move(compile), {});
    if (!planned.end.ok() || !planned.out.empty()) return std::nullopt;
    auto passes = side_by_side(planned.err, work_.path());
    if (!passes || passes->module_id.parent_path() != work_.path() ||
        passes->stand_in.parent_path() != work_.path())
      return std::nullopt;
    write_atomically(passes->module_id, "_" + id + "_10_student_cu");
    write_atomically(passes->stand_in, passes->stand_in_text);
    auto outcome = start({"/bin/sh", "-c", passes->script}, std::move(passes->environment));
    rules_ = std::move(passes->rules);
    kernels_ = passes->kernels;
    if (outcome.end.ok()) return outcome;
    const bool refused =
        is_refused(outcome) && !parse_diagnostics(outcome.err + outcome.out).empty();
    // A second run with nvcc itself would only use as much time or memory again.
    const bool limited = outcome.end.how == child_end::cause::deadline ||
                         !limit_that_ended(outcome, guards_).empty();
    if (refused || limited) return outcome;
    return std::nullopt;
  }

  // Tries the fastest way first: a linker that starts fast, and no device link, since there is only
  // one device object. If it fails, the usual link reports the error.
  child_result link(const fs::path& archive) {
    if (guards_.with != nullptr) {
      view_ = for_linker({where_.root, where_.build, where_.nvcc}, work_.path());
      view_.memory_bytes = guards_.memory_bytes;
    }
    std::vector<std::string> usual = {where_.nvcc, object(), archive};
    usual.insert(usual.end(), where_.cuda_link.begin(), where_.cuda_link.end());
    usual.insert(usual.end(), {"-o", program()});
    for (const std::string linker : {"lld", "gold"}) {
      if (on_path("ld." + linker).empty()) continue;
      auto quick = usual;
      quick.insert(quick.end(), {"--no-device-link", "-Xcompiler=-fuse-ld=" + linker});
      auto outcome = start(std::move(quick), {});
      if (outcome.end.ok()) return outcome;
      break;
    }
    return run_one(std::move(usual));
  }

  child_result start(std::vector<std::string> command, std::vector<std::string> environment) {
    child_options options;
    options.command = std::move(command);
    options.directory = where_.root;
    options.environment = std::move(environment);
    // PWD is the folder's name in the line tables, if it has several names.
    options.environment.insert(
        options.environment.end(),
        {"TMPDIR=" + work_.path().string(), "PWD=" + where_.root.string(), "LC_ALL=C"});
    options.keep_bytes = 1 << 20;
    options.tick = progress_.tick;
    if (guards_.with != nullptr) {
      // The variables that tell a compiler where its programs and libraries are.
      for (const char* name : {"PATH", "LIBRARY_PATH", "CPLUS_INCLUDE_PATH", "LD_LIBRARY_PATH",
                               "CUDA_HOME", "NVCC_CCBIN", "HOME"}) {
        if (const char* value = std::getenv(name))
          options.environment.push_back(std::string(name) + "=" + value);
      }
      options = confined(std::move(options), view_, *guards_.with);
    }
    // One time limit for all programs that nvcc starts, because a source can make each one slow.
    auto outcome = run_child(std::move(options), std::max(0.0, guards_.limit_s - seconds_));
    seconds_ += outcome.end.wall_s;
    return outcome;
  }

  child_result run_one(std::vector<std::string> command) {
    auto outcome = start(std::move(command), {});
    if (!outcome.end.ok() && limit_that_ended(outcome, guards_).empty()) {
      refuse_what_is_not_the_students_fault(outcome, cache_);
    }
    return outcome;
  }

  const installation& where_;
  const fs::path cache_;
  const compile_progress& progress_;
  const std::string& lab_name_;
  const compile_guards& guards_;
  confinement view_;
  temporary_folder work_;
  std::vector<fs::path> rules_;  // with the headers
  fs::path kernels_;             // fatbinary's output
  std::string said_of_source_;
  double seconds_ = 0;
};

// Removes a cache entry that was not filled, for example because the compiler was interrupted.
class unfinished_entry {
 public:
  explicit unfinished_entry(const fs::path& entry) : entry_(entry) { make_folder(entry); }
  ~unfinished_entry() {
    std::error_code ignored;
    if (!filled_) fs::remove_all(entry_, ignored);
  }
  unfinished_entry(const unfinished_entry&) = delete;
  unfinished_entry& operator=(const unfinished_entry&) = delete;
  void keep() { filled_ = true; }

 private:
  const fs::path entry_;
  bool filled_ = false;
};

void require_compiler(const installation& where, const std::string& shown) {
  if (!where.nvcc.empty() && access(where.nvcc.c_str(), X_OK) == 0) return;
  throw failure(exit_code::environment,
                "there is no CUDA compiler to compile " + shown +
                    (where.nvcc.empty() ? std::string{} : " (" + where.nvcc + " is gone)") +
                    "; `./lab doctor` says how to get one");
}

// `variant` is null for the unchanged file. `cache_name` is a folder of the build.
compiled compile_text(const lab& l, const fs::path& file, const std::string& source,
                      const file_variant* variant, const char* cache_name,
                      const installation& where, const compile_progress& progress,
                      const compile_guards& guards = {}) {
  const fs::path archive = where.runner_archive(l.name);
  const std::string shown = where.shown(file);
  std::vector<std::string> command = {where.nvcc};
  command.insert(command.end(), where.cuda_args.begin(), where.cuda_args.end());
  command.push_back("-diag-warn=1813");  // `if (condition);`, which is only a remark otherwise
  command.insert(command.end(), {"-I.", "-I" + ("labs/" + l.name)});
  if (variant != nullptr) {
    command.insert(command.end(), variant->flags.begin(), variant->flags.end());
  } else {
    command.push_back("--split-compile=0");  // one thread per core; the code is the same
  }
  content_hash hash;
  hash.add(guards.hides_name ? hidden_name : shown)
      .add(source)
      .add(hash_of_file(archive))
      .add(time_of(archive));
  for (const auto& part : command) hash.add(part);
  hash.add(guards.with == nullptr ? "" : "in a sandbox");
  for (const auto& path : guards.extra) hash.add(path.string());
  const fs::path cache = where.build / cache_name;
  const fs::path entry = cache / hash.hex();
  // A few locks for all entries: a lock file cannot be removed safely, so entries have no lock
  // files of their own. A sweep, which compiles on all cores, has more.
  const file_lock lock(cache / ("lock-" + hash.hex().substr(0, variant == nullptr ? 1 : 2)),
                       [&] { progress.doing("waiting for another lab that compiles " + shown); });
  const fs::path known_as = guards.hides_name ? entry / hidden_name : file;
  compiled result;
  result.known_as = known_as;
  if (is_fresh(entry, where.root)) {
    std::error_code ignored;
    fs::last_write_time(entry / "headers.json", fs::file_time_type::clock::now(), ignored);
    result.program = entry / "program";
    result.cached = true;
    result.warnings = remembered_warnings(entry);
    return result;
  }
  if (is_utf16(source)) {
    result.explanation = {utf16_refusal(shown)};
    return result;
  }
  require_compiler(where, shown);
  progress.doing("compiling " + shown);
  compilation work(where, entry, progress, l.name, guards);
  unfinished_entry filling(entry);
  const plain_source plain(file, shown, source, entry, known_as, where.shown(known_as));
  if (guards.with == nullptr) {
    for (const auto& flag : plain.flags()) command.push_back(flag);
  }
  const auto outcome = work.run(std::move(command), plain, archive, hash.hex().substr(0, 8));
  if (outcome.end.ok()) {
    if (guards.hides_name) write_atomically(known_as, source);
    const std::string name = escaped_lines(shown, 1, shown.size()).at(0);
    result.warnings = warnings_in(plain.as_typed(work.said_of_source()), name, source);
    remember_warnings(entry, result.warnings);
    work.fill(entry, plain);
    filling.keep();
    prune(cache);
    result.program = entry / "program";
  } else {
    std::vector<fs::path> readable = guards.extra;
    readable.push_back(where.root / "labs" / l.name / l.contract);
    if (guards.with == nullptr) {
      readable.insert(readable.end(), {file.parent_path(), where.root / "solutions" / l.name});
    }
    result = refused(outcome, plain.as_typed(outcome.err + outcome.out), l, where,
                     quotable_for(file, where, readable), guards);
  }
  result.seconds = work.seconds();
  return result;
}

}  // namespace

void refuse_what_is_not_the_students_fault(const child_result& result, const fs::path& output) {
  const auto says = [&](std::string_view text) {
    return result.err.find(text) != std::string::npos || result.out.find(text) != std::string::npos;
  };
  if (says("No space left on device") || says("Disk quota exceeded")) {
    throw failure(exit_code::environment, "the disk is full: the compiler cannot write below " +
                                              output.string() +
                                              "; free some space and run it again");
  }
  const int signal = signal_of(result);
  if (signal == SIGKILL || says("Killed signal terminated program") ||
      says("virtual memory exhausted") || says("out of memory allocating") ||
      says("Cannot allocate memory")) {
    throw failure(
        exit_code::environment,
        std::string(
            signal == SIGKILL
                ? "the compiler was killed, which happens when the system runs out of memory"
                : "the compiler ran out of memory") +
            "; close other programs and run it again");
  }
  const bool sent = signal == SIGTERM || signal == SIGHUP || signal == SIGINT || signal == SIGXCPU;
  if (sent || result.end.how == child_end::cause::signalled) {
    throw failure(exit_code::environment,
                  "the compiler was ended by " + signal_text(signal) + "; run it again");
  }
  if (says("gcc: No such file or directory") || says("cc1plus: No such file")) {
    throw failure(exit_code::environment, "nvcc finds no host compiler; install g++");
  }
}

compiled compile_submission(const lab& l, const fs::path& file, const installation& where,
                            const compile_progress& progress, const compile_guards& guards) {
  return compile_text(l, file, read_handed_in(file), nullptr, "submissions", where, progress,
                      guards);
}

compiled compile_step(const lab& l, const fs::path& file, const installation& where,
                      const compile_progress& progress) {
  return compile_text(l, file, read_file(file, static_cast<int>(exit_code::ours)), nullptr,
                      "other-gpus", where, progress);
}

compiled compile_variant(const lab& l, const fs::path& file, const file_variant& variant,
                         const installation& where, const compile_progress& progress) {
  return compile_text(l, file, variant.source, &variant, "sweeps", where, progress);
}

}  // namespace stepwise
