// Makes the call through a file, as `lab dev validate` does, and reads ncu's counters.
#include "grader/cli/profile/hardware.hpp"

#include <map>
#include <stdexcept>

#include "grader/course/source.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/system/files.hpp"
#include "grader/validation/hardware_profile.hpp"

namespace stepwise::cli {
namespace {

constexpr const char* falls_back = "\nTo use the time model instead: --source ncu,model";

call_outcome made_call(const problem& p, const call_file& file) {
  const auto record = file.record(0);
  if (record.state != runner::call_state::done)
    return {verdict::crash, record.message[0] != '\0' ? record.message : "the call was not made"};
  const auto wrong = check_outputs(p, file.call(0), file.outputs(0));
  return wrong ? call_outcome{verdict::wrong, *wrong} : call_outcome{};
}

}  // namespace

profile_sources profile_sources::parse(const std::string& text) {
  if (text.empty() || text == "model") return {false, true};
  if (text == "ncu") return {true, false};
  if (text == "ncu,model") return {true, true};
  refuse("--source " + text +
         ": expected model, ncu, or ncu,model (the model where ncu does not work)");
}

std::string id_of_own_gpu(const device_choice& device) {
  if (!device.gpu) return {};
  const std::string id = gpu_file_name(device.name);
  if (find_gpu(id).ok()) return id;
  throw failure(exit_code::environment, "--source ncu: the course has no description of an " +
                                            device.name + ": common/gpus/" + id +
                                            ".toml is missing" + falls_back);
}

namespace {

// Reads the text of lines from their files, because ncu does not import every file.
void add_source_text(std::vector<kernel_profile>& kernels) {
  std::map<std::string, std::vector<std::string>> files;
  for (kernel_profile& k : kernels)
    for (line_profile& l : k.lines) {
      if (!l.at.text.empty() || l.at.line <= 0) continue;
      const auto [at, is_new] = files.try_emplace(l.path);
      if (is_new) at->second = split_lines(read_if_there(l.path).value_or(""));
      if (static_cast<std::size_t>(l.at.line) <= at->second.size())
        l.at.text = trimmed(at->second[static_cast<std::size_t>(l.at.line) - 1]);
    }
}

}  // namespace

measured_call call_under_ncu(context& c, const problem& p, const fs::path& program,
                             const lab_size& size, std::uint64_t seed, const device_choice& device,
                             const gpu& model, ncu_lines lines) {
  measured_call result;
  result.device = device;
  result.m.size = size;
  result.m.gpu = model.name;
  result.m.work = p.work(size);
  std::vector<problem_call> calls;
  try {
    calls.push_back(p.make_call(size, seed));
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
  result.m.label = calls[0].label;
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path path = folder.path() / "calls";
  call_file file(calls, {planned_call{}}, path);
  c.now().doing(program.filename().string() + " under ncu");
  try {
    result.launches = profile_under_ncu({program.string(), path.string()}, device, c.now(), lines);
    result.counted_by = "ncu " + ncu_version(find_ncu());
  } catch (const interrupted&) {
    throw;
  } catch (const failure& why) {
    if (why.code() != exit_code::environment) throw;
    // A user without permission still has a GPU, even if the driver's library reported none.
    const std::string words = why.what();
    const bool has_gpu = device.gpu || words.find("ERR_NVGPUCTRPERM") != words.npos;
    const std::string missing = has_gpu ? words : "there is no GPU: " + device.state.missing;
    throw failure(exit_code::environment, "--source ncu: " + missing + falls_back);
  }
  if (!file.load(path)) throw failure(exit_code::ours, "the call file changed its size");
  result.m.found = made_call(p, file);
  if (!result.m.found.ok()) return result;
  result.m.kernels = profile_of(result.launches, model);
  add_source_text(result.m.kernels);
  for (const kernel_profile& k : result.m.kernels) result.m.time_ms += k.timing.us / 1000;
  return result;
}

}  // namespace stepwise::cli
