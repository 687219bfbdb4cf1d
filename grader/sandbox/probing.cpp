// Finds out which sandbox this machine can provide, by trying to escape from it.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "common/formats/json.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/system_calls.hpp"

namespace stepwise {
namespace {

// Searches this program's folder and its parents, because tests are elsewhere in the build folder.
fs::path probe_program() {
  std::error_code error;
  for (fs::path at = fs::read_symlink("/proc/self/exe", error).parent_path();
       !error && at.has_relative_path(); at = at.parent_path()) {
    const fs::path program = at / "grader" / "sandbox-probe";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

// Resources that a sandbox must hide from a program.
class bait {
 public:
  bait() : folder_(fs::temp_directory_path()) {
    write_atomically(folder_.path() / "hidden", "");
    name_ = "stepwise-" + folder_.path().filename().string();
    sockaddr_in host{};
    host.sin_family = AF_INET;
    host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen_at(port_, AF_INET, host, sizeof host);
    socklen_t bytes = sizeof host;
    if (getsockname(port_, reinterpret_cast<sockaddr*>(&host), &bytes) == 0)
      port_number_ = ntohs(host.sin_port);
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    name_.copy(local.sun_path + 1, sizeof local.sun_path - 1);
    listen_at(local_, AF_UNIX, local,
              static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size()));
  }
  ~bait() { close(port_), close(local_); }
  bait(const bait&) = delete;
  bait& operator=(const bait&) = delete;

  std::vector<std::string> words() const {
    std::vector<std::string> all = {(folder_.path() / "hidden").string(),
                                    std::to_string(port_number_), name_};
    for (const std::string space : {"cgroup", "ipc", "mnt", "net", "pid", "uts"}) {
      std::error_code error;
      all.push_back(space + "=" + fs::read_symlink("/proc/self/ns/" + space, error).string());
    }
    return all;
  }

 private:
  template <class Address>
  static void listen_at(int& socket_number, int family, const Address& address, socklen_t bytes) {
    socket_number = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(socket_number, reinterpret_cast<const sockaddr*>(&address), bytes) == 0)
      listen(socket_number, 8);
  }

  const temporary_folder folder_;
  std::string name_;
  int port_ = -1, local_ = -1;
  unsigned port_number_ = 0;
};

std::vector<escape_attempt> attempts_in(const std::string& printed) {
  std::vector<escape_attempt> all;
  std::istringstream lines(printed);
  escape_attempt one;
  while (std::getline(lines, one.layer, '\t') && std::getline(lines, one.attempt, '\t') &&
         std::getline(lines, one.result))
    all.push_back(one);
  return all;
}

confinement narrow(const fs::path& probe) {
  confinement c;
  c.read = {probe};
  c.starts_programs = true;
  c.address_bytes = std::uint64_t{4} << 30;
  c.file_bytes = 1 << 20;
  c.open_files = 64;
  c.cpu_s = 10;
  return c;
}

// Returns false, with a reason, if the sandbox does not start.
bool try_to_escape(protections& from, const fs::path& probe, const bait& outside,
                   std::string& why_not) {
  child_options options;
  options.command = {probe.string(), "escape"};
  for (auto& word : outside.words()) options.command.push_back(std::move(word));
  options.directory = "/";
  try {
    const auto ran = run_child(confined(std::move(options), narrow(probe), from), 10);
    from.attempts = attempts_in(ran.out);
    if (ran.end.ok() && !from.attempts.empty()) return true;
    why_not = ran.err.substr(0, ran.err.find('\n'));
    if (why_not.empty()) why_not = "the sandbox ended before its test did";
  } catch (const failure& error) {
    why_not = error.what();
  }
  return false;
}

void try_to_outgrow(protections& with, const fs::path& probe, std::string& why_not) {
  if (control_group::make({1 << 20, 64}, why_not) == nullptr) return;
  with.groups = true;
  confinement c = narrow(probe);
  c.proc = false;
  c.memory_bytes = 16 << 20;
  c.processes = 16;
  child_options options;
  options.command = {probe.string(), "grow", "64", "32"};
  options.directory = "/";
  const auto ran = run_child(confined(std::move(options), c, with), 10);
  auto attempts = attempts_in(ran.out);
  if (attempts.size() == 1) attempts.push_back({"control group", "take 64 MB", "refused: killed"});
  with.attempts.insert(with.attempts.end(), attempts.begin(), attempts.end());
}

// How many of the two layers that depend on the choice of the sandbox have held: the user and the
// namespaces.
int strength(const protections& p) {
  int held = 0;
  for (const char* layer : {"user", "namespaces"})
    held += std::ranges::none_of(
        p.attempts, [&](const escape_attempt& a) { return a.layer == layer && !a.refused(); });
  return held;
}

// The reason with a remedy, if one is known.
std::string advice(const std::string& why_not) {
  const auto restricted = read_if_there("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  if (restricted && restricted->starts_with("1")) {
    return why_not +
           " (Ubuntu lets only programs with an AppArmor profile create user namespaces: install "
           "the package apparmor-profiles and load bwrap-userns-restrict)";
  }
  const auto most = read_if_there("/proc/sys/user/max_user_namespaces");
  if (most && most->starts_with("0")) {
    return why_not + " (user.max_user_namespaces is 0)";
  }
  return why_not + " (containers often forbid user namespaces)";
}

// The strongest sandbox that starts. If it is one without bubblewrap, `why_not` gets the reason.
protections strongest(const fs::path& probe, const bait& outside, std::string& why_not) {
  const std::string bubblewrap = on_path("bwrap"), setpriv = on_path("setpriv");
  const std::vector<std::string> apart = {
      "--unshare-ipc",        "--unshare-pid",     "--unshare-net", "--unshare-uts",
      "--unshare-cgroup-try", "--die-with-parent", "--hostname",    "sandbox"};
  const auto with = [&](std::initializer_list<std::string> more) {
    auto all = apart;
    all.insert(all.end(), more);
    return all;
  };
  std::vector<std::string> become;
  if (geteuid() == 0 && !setpriv.empty()) {
    const std::string number = std::to_string(sandbox_user);
    std::error_code error;
    become = {fs::canonical(setpriv, error).string(),
              "--reuid=" + number,
              "--regid=" + number,
              "--clear-groups",
              "--inh-caps=-all",
              "--bounding-set=-all",
              "--no-new-privs",
              "--pdeathsig=KILL"};
  }
  protections best;
  best.filters = has_system_call_filters();
  bool found = false;
  std::string no_start;
  const auto consider = [&](const std::string& program, std::vector<std::string> begin,
                            const std::vector<std::string>& as) {
    if (found && strength(best) == 2) return;
    protections one;
    one.filters = best.filters;
    one.bubblewrap = program;
    one.begin = std::move(begin);
    one.become = as;
    if (!try_to_escape(one, probe, outside, no_start)) return;
    if (!found || strength(one) > strength(best)) best = std::move(one);
    found = true;
  };
  if (!bubblewrap.empty()) {
    if (!become.empty())
      consider(bubblewrap,
               with({"--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID",
                     "--cap-add", "CAP_SETPCAP"}),
               become);
    consider(bubblewrap, with({"--unshare-user", "--uid", "1000", "--gid", "1000"}), {});
    if (!found) why_not = advice(no_start);
    if (geteuid() == 0) consider(bubblewrap, with({"--cap-drop", "ALL"}), {});
  } else {
    why_not = "bubblewrap is not installed (Debian package bubblewrap)";
  }
  consider("", {}, {});
  if (!best.bubblewrap.empty()) {
    child_options asked;
    asked.command = {bubblewrap, "--help"};
    best.sizes_folders = run_child(asked, 10).out.find("--size BYTES") != std::string::npos;
  }
  return best;
}

// `why_not`, if not empty, gives more detail than the attempt that succeeded.
protection layer_of(const protections& found, const std::string& name, const std::string& active,
                    const std::string& why_not, const std::string& missing) {
  protection layer{name, false, why_not};
  for (const auto& one : found.attempts) {
    if (one.layer != name) continue;
    layer.active = true;
    if (one.refused()) continue;
    layer.active = false;
    if (why_not.empty()) layer.detail = "a test program could " + one.attempt;
    break;
  }
  if (layer.detail.empty()) layer.detail = "it could not be tested";
  layer.detail = layer.active ? active : layer.detail + ": " + missing;
  return layer;
}

protections probe_all() {
  const fs::path probe = probe_program();
  if (probe.empty()) {
    protections none;
    for (const char* layer : {"user", "namespaces", "system calls", "limits", "control group"})
      none.layers.push_back(
          {layer, false, "build/grader/sandbox-probe is missing: run ./lab setup"});
    return none;
  }
  std::string why_not_apart, why_not_together;
  protections found = strongest(probe, bait(), why_not_apart);
  if (!found.bubblewrap.empty()) why_not_apart.clear();
  try_to_outgrow(found, probe, why_not_together);
  found.layers = {
      layer_of(found, "user", "the program is not root and has no privileges", "",
               "the program can change files that belong to root, such as /proc/sys"),
      layer_of(found, "namespaces",
               "the program has its own files, processes and network (bubblewrap)", why_not_apart,
               "the program can reach this machine's files, network and processes"),
      layer_of(found, "system calls",
               "system calls that a computation never needs are refused (seccomp)",
               found.filters ? "" : "this kernel has no seccomp filters",
               "the program can reach more of the kernel"),
      layer_of(found, "limits", "time, memory, files per process and output are limited", "",
               "the program can use more than its share"),
      layer_of(found, "control group", "memory and processes are limited in total",
               why_not_together,
               "memory and processes are checked ten times a second instead of being limited")};
  found.groups = found.layers.back().active;
  return found;
}

constexpr const char* variable = "STEPWISE_PROTECTIONS";

protections protections_of(const json& found) {
  protections p;
  p.bubblewrap = found.at("bubblewrap").get<std::string>();
  found.at("begin").get_to(p.begin);
  found.at("become").get_to(p.become);
  found.at("sizes_folders").get_to(p.sizes_folders);
  found.at("filters").get_to(p.filters);
  found.at("groups").get_to(p.groups);
  for (const json& l : found.at("layers"))
    p.layers.push_back(
        {l.at(0).get<std::string>(), l.at(1).get<bool>(), l.at(2).get<std::string>()});
  return p;
}

protections found_by_parent_or_probe() {
  const char* const set = std::getenv(variable);
  if (set == nullptr) return probe_all();
  try {
    return protections_of(parse_json(set));
  } catch (const json_error&) {
    return probe_all();
  }
}

}  // namespace

std::string protections::environment() const {
  json all = {{"bubblewrap", bubblewrap.string()},
              {"begin", begin},
              {"become", become},
              {"sizes_folders", sizes_folders},
              {"filters", filters},
              {"groups", groups},
              {"layers", json::array()}};
  for (const protection& l : layers) all["layers"].push_back({l.name, l.active, l.detail});
  return std::string(variable) + "=" + json_text(all);
}

const protections& find_protections() {
  static const protections known = found_by_parent_or_probe();
  return known;
}

}  // namespace stepwise
