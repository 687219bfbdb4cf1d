// Uses a current program from the cache, or compiles and links one in a temporary folder.
#include "grader/judge/compile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "grader/judge/compile_cache.hpp"
#include "grader/judge/compiler_messages.hpp"
#include "grader/judge/diagnostics.hpp"
#include "grader/judge/nvcc_passes.hpp"
#include "grader/judge/plain_source.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

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

  // Runs `compile`, completed with its files, and links with `archive`, which may be followed by
  // flags. The first failure ends it. `id` becomes part of the names of static objects.
  child_result run(std::vector<std::string> compile, const plain_source& source,
                   const std::vector<std::string>& archive, const std::string& id) {
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
    // These files are moved away, because nvcc removes files with such names after it has linked.
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

  // Tries the fastest way first: a linker that starts fast, and no device link, because there is
  // only one device object. If this way fails, the usual link reports the error.
  child_result link(const std::vector<std::string>& archive) {
    if (guards_.with != nullptr) {
      view_ = for_linker({where_.root, where_.build, where_.nvcc}, work_.path());
      view_.memory_bytes = guards_.memory_bytes;
    }
    std::vector<std::string> usual = {where_.nvcc, object()};
    usual.insert(usual.end(), archive.begin(), archive.end());
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

void require_compiler(const installation& where, const std::string& shown) {
  if (!where.nvcc.empty() && access(where.nvcc.c_str(), X_OK) == 0) return;
  throw failure(exit_code::environment,
                "there is no CUDA compiler to compile " + shown +
                    (where.nvcc.empty() ? std::string{} : " (" + where.nvcc + " is gone)") +
                    "; `./lab doctor` shows how to get one");
}

// `variant` is null for the unchanged file. `cache_name` is a folder of the build.
compiled compile_text(const lab& l, const fs::path& file, const std::string& source,
                      const file_variant* variant, const char* cache_name,
                      const installation& where, const compile_progress& progress,
                      const compile_guards& guards = {}) {
  const fs::path archive = where.runner_archive(l.name);
  const std::string shown = where.shown(file);
  std::vector<std::string> command = {where.nvcc};
  const auto architectures = l.hopper.empty() ? where.cuda_args : for_hopper(where.cuda_args);
  command.insert(command.end(), architectures.begin(), architectures.end());
  command.push_back("-UNDEBUG");         // a student's assert() must fire
  command.push_back("-diag-warn=1813");  // `if (condition);`, which is only a remark otherwise
  command.insert(command.end(), {"-I.", "-I" + ("labs/" + l.name)});
  if (variant != nullptr) {
    command.insert(command.end(), variant->flags.begin(), variant->flags.end());
  } else {
    command.push_back("--split-compile=0");  // one thread per core; the code is the same
  }
  content_hash hash;
  hash.add(guards.hides_name ? hidden_name : shown).add(source);
  add_archive(hash, archive);
  for (const auto& part : command) hash.add(part);
  hash.add(guards.with == nullptr ? "" : "in a sandbox");
  for (const auto& path : guards.extra) hash.add(path.string());
  const fs::path cache = where.build / cache_name;
  const fs::path entry = cache / hash.hex();
  // All entries share a few locks. A lock file cannot be removed safely, so entries have no lock
  // files of their own. A sweep, which compiles on all cores, has more locks.
  const file_lock lock(cache / ("lock-" + hash.hex().substr(0, variant == nullptr ? 1 : 2)),
                       [&] { progress.doing("waiting for another lab that compiles " + shown); });
  const fs::path known_as = guards.hides_name ? entry / hidden_name : file;
  compiled result;
  result.known_as = known_as;
  if (is_fresh(entry, where.root)) {
    mark_as_used(entry);
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
  std::vector<std::string> linked = {archive};
  if (l.is_program()) linked.push_back("-Xlinker=--wrap=main");  // common/runner/program_main.cpp
  const auto outcome = work.run(std::move(command), plain, linked, hash.hex().substr(0, 8));
  if (outcome.end.ok()) {
    if (guards.hides_name) write_atomically(known_as, source);
    const std::string name = escaped_lines(shown, 1, shown.size()).at(0);
    result.warnings = warnings_in(plain.as_typed(work.said_of_source()), name, source);
    remember_warnings(entry, result.warnings);
    work.fill(entry, plain);
    filling.keep();
    prune_cache(cache);
    result.program = entry / "program";
  } else {
    std::vector<fs::path> readable = guards.extra;
    readable.push_back(where.root / "labs" / l.name / l.contract);
    if (guards.with == nullptr) {
      readable.insert(readable.end(), {file.parent_path(), where.root / "solutions" / l.name});
    }
    result = explain_failure(outcome, plain.as_typed(outcome.err + outcome.out), l, where,
                             quotable_for(file, where, readable), guards);
  }
  result.seconds = work.seconds();
  return result;
}

}  // namespace

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
