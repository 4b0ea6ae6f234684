#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/environment.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "laboratory/capsule/switch.h"

namespace aaco::laboratory::capsule {
namespace {

using core::ErrorCode;

tl::unexpected<core::Error> refused(int problem, const std::string& what, std::string remedy) {
  return core::fail(problem == EPERM || problem == EACCES ? ErrorCode::permission : ErrorCode::unsupported,
                    what + ": " + std::strerror(problem), std::move(remedy));
}

constexpr const char* kNiceRemedy = "run as root or with CAP_SYS_NICE, or raise the nice and rtprio limits";

bool is_randomised() { return (::personality(0xffffffffU) & ADDR_NO_RANDOMIZE) == 0; }

}  // namespace

core::Result<std::string> set_affinity(const std::string&, Work& work) {
  if (work.inside.empty())
    return core::fail(ErrorCode::unsupported, "the kernel does not report which CPUs this process may use");
  if (!core::pin_to(work.inside)) return core::fail_errno(errno, "setting the CPU affinity");
  work.step_out.emplace_back([before = work.allowed] { (void)core::pin_to(before); });
  return "CPU " + core::cpu_list(work.inside) + ", was " + core::cpu_list(work.allowed);
}

core::Result<std::string> set_nice(const std::string& value, Work& work) {
  errno = 0;
  const int before = ::getpriority(PRIO_PROCESS, 0);
  if (errno != 0) return refused(errno, "reading the nice value", "");
  if (::setpriority(PRIO_PROCESS, 0, static_cast<int>(*core::parse_i64(value))) != 0)
    return refused(errno, "the nice value", kNiceRemedy);
  work.step_out.emplace_back([before] { (void)::setpriority(PRIO_PROCESS, 0, before); });
  // With autogrouping a nice value weighs within its session only, unless the process is in a group of its own.
  const auto autogroup = core::read_file(core::join_path(work.world.root, "proc/sys/kernel/sched_autogroup_enabled"), 4096);
  const bool within = autogroup && core::trim(*autogroup) == "1" && !work.wanted.settings.contains("cpu_weight");
  return "was " + std::to_string(before) +
         (within ? "; only effective within this session (autogroup); use cpu_weight for a system-wide effect" : "");
}

core::Result<std::string> set_fifo(const std::string& value, Work& work) {
  const auto online = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  const std::vector<int>& cpus = work.inside.empty() ? work.allowed : work.inside;
  if (cpus.size() >= online)
    return core::fail(ErrorCode::unsupported, "a real-time priority on every CPU would starve all other processes",
                      "also set affinity=spare");
  if (work.wanted.threads && static_cast<std::size_t>(*work.wanted.threads) > cpus.size())
    return core::fail(ErrorCode::unsupported,
                      std::to_string(*work.wanted.threads) + " threads on " + std::to_string(cpus.size()) +
                          " CPUs would deadlock at a real-time priority",
                      "use --threads " + std::to_string(cpus.size()) + " or fewer, or allow more CPUs");
  sched_param wanted{};
  wanted.sched_priority = static_cast<int>(*core::parse_i64(value));
  const int policy = ::sched_getscheduler(0);
  sched_param before{};
  if (policy < 0 || ::sched_getparam(0, &before) != 0) return refused(errno, "reading the scheduling policy", "");
  if (::sched_setscheduler(0, SCHED_FIFO, &wanted) != 0) return refused(errno, "SCHED_FIFO", kNiceRemedy);
  work.step_out.emplace_back([policy, before] { (void)::sched_setscheduler(0, policy, &before); });
  return std::string("was ") + (policy == SCHED_OTHER ? "SCHED_OTHER" : "policy " + std::to_string(policy));
}

core::Result<std::string> set_aslr(const std::string&, Work& work) {
  const bool randomised = is_randomised();
  if (!randomised) return std::string("already off for this process");
  if (!work.wanted.for_child)
    return core::fail(ErrorCode::unsupported,
                      "this process was started with address randomisation and cannot be restarted without it",
                      "start it as 'setarch -R aaco ...'");
  const auto before = static_cast<unsigned>(::personality(0xffffffffU));
  if (::personality(before | ADDR_NO_RANDOMIZE) == -1 || is_randomised())
    return refused(errno, "disabling address randomisation", "a container's seccomp profile may forbid personality()");
  work.step_out.emplace_back([before] { (void)::personality(before); });
  return std::string("for the started program");
}

core::Result<std::string> lock_memory(const std::string&, Work& work) {
  if (work.wanted.for_child)
    return core::fail(ErrorCode::unsupported, "memory locks are not inherited by a started program",
                      "the program must call mlockall() itself; 'aaco run' does");
  // On fault: what is merely reserved takes no memory.
  if (::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0)
    return refused(errno, "locking memory", "run as root, or raise the locked-memory limit (ulimit -l)");
  work.step_out.emplace_back([] { (void)::munlockall(); });
  return std::string();
}

void restart_without_aslr(const std::vector<std::string>& command_line) {
  if (!is_randomised()) return;
  const auto before = static_cast<unsigned>(::personality(0xffffffffU));
  if (::personality(before | ADDR_NO_RANDOMIZE) == -1 || is_randomised()) return;
  std::vector<std::string> words = command_line;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(core::executable_path().c_str(), arguments.data());
  (void)::personality(before);
}

}  // namespace aaco::laboratory::capsule
