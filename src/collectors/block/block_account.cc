#include "collectors/block_account.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "collectors/block/descendants.h"
#include "collectors/probe/probe_file.h"
#include "collectors/probe/scanner.h"
#include "collectors/proc/cgroup_source.h"
#include "collectors/proc/cpu_stat.h"
#include "collectors/proc/machine_sources.h"
#include "collectors/proc/process_files.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/cgroup.h"
#include "hardware/thread_cpus.h"

namespace aaco::collectors {
namespace {

using Count = std::optional<std::int64_t>;

constexpr std::int64_t kTickNs = 10'000'000;
constexpr const char* kCpuFolder = "/sys/devices/system/cpu";
constexpr std::size_t kMaxThermalFiles = 512;
constexpr std::int64_t kMaxKhz = 100'000'000;
constexpr std::size_t kMaxThreads = 256;  // read one by one; a process with more is not accounted by thread

Count signed_count(std::optional<std::uint64_t> value) {
  if (!value || *value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::int64_t nanoseconds(const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_usec * 1000; }

Count grown(Count before, Count after) {
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

Count stalled_ns(std::optional<std::uint64_t> us) {
  const Count count = signed_count(us);
  if (!count || *count > INT64_MAX / 1000) return std::nullopt;
  return *count * 1000;
}

// The CPU a thread was on last: the 37th word after the command's name in /proc/PID/task/TID/stat (proc(5)).
Count processor_of(std::string_view text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const auto words = core::split_words(text.substr(name_end + 1));
  constexpr std::size_t kProcessor = 36;
  return words.size() > kProcessor ? core::parse_i64(words[kProcessor]) : std::nullopt;
}

std::int64_t busy_ns(const proc::CpuTimes& times) {
  return static_cast<std::int64_t>(times.user + times.nice + times.system + times.irq + times.softirq) * kTickNs;
}

// CPU time of a thread of this process up to now. schedstat has that of a running thread up to the last tick only, 4 ms that a
// block of one short call would miss. The clock's number is that of pthread_getcpuclockid, from the kernel's id of the thread.
Count thread_cpu_ns(std::int64_t thread) {
  constexpr unsigned kPerThread = 4, kScheduled = 2, kKindBits = 3;
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << kKindBits) | kPerThread | kScheduled);
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

struct ThreadCounts {
  Count run_ns, wait_ns, migrations;
};

struct Snapshot {
  std::map<std::int64_t, ThreadCounts> threads;
  Count cpu_ns, children_cpu_ns, system_ns, minor_faults, major_faults, voluntary, involuntary;
  Count storage_bytes, throttled_ns, busy_ns, allowed_busy_ns, steal_ns, iowait_ns, interrupts, softirqs;
  Count cpu_some_ns, memory_some_ns, memory_full_ns, io_some_ns, io_full_ns, thermal_throttles;
};

// "nr_switches   :   12" of /proc/PID/sched.
Count sched_value(std::string_view text, std::string_view key) {
  probe::Scanner lines(text);
  while (const auto line = lines.next_line()) {
    if (!line->starts_with(key)) continue;
    const auto colon = line->find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return probe::Scanner(line->substr(colon + 1)).next_i64();
  }
  return std::nullopt;
}

class ProcBlockAccount final : public BlockAccount {
 public:
  ProcBlockAccount(SysRoot root, std::int64_t process_id, std::int64_t caller)
      : root_(std::move(root)),
        process_id_(process_id),
        folder_("/proc/" + std::to_string(process_id)),
        caller_(caller != 0 ? caller : process_id),
        own_(root_.is_real() && process_id == ::getpid()),
        buffer_(std::size_t{64} << 10) {
    const hardware::Cgroup group = hardware::find_cgroup(root_.path, process_id);
    if (!group.cpu_folder.empty())
      if (auto file = probe::ProbeFile::open(root_.at(group.cpu_folder + "/cpu.stat"))) cgroup_ = std::move(*file);
    if (auto file = probe::ProbeFile::open(root_.at("/proc/stat"))) machine_ = std::move(*file);
    if (auto file = probe::ProbeFile::open(root_.at(folder_ + "/io"))) io_ = std::move(*file);
    if (auto file = probe::ProbeFile::open(root_.at(folder_ + "/stat"))) stat_ = std::move(*file);
    if (auto file = probe::ProbeFile::open(root_.at("/proc/pressure/cpu"))) cpu_pressure_ = std::move(*file);
    if (auto file = probe::ProbeFile::open(root_.at("/proc/pressure/memory"))) memory_pressure_ = std::move(*file);
    if (auto file = probe::ProbeFile::open(root_.at("/proc/pressure/io"))) io_pressure_ = std::move(*file);
    open_thermal();
    allowed_ = hardware::cpus_of_threads(root_.path, std::to_string(process_id));
  }

  void begin() override { before_ = read(); }
  void end(trace::LoopBlockRow& row) override {
    const Snapshot after = read();
    add_threads(after, row);
    row.process_cpu_ns = grown(before_.cpu_ns, after.cpu_ns);
    // The time of a descendant that nobody waited for vanishes with it, and the sum falls: no growth then.
    if (row.process_cpu_ns) *row.process_cpu_ns += grown(before_.children_cpu_ns, after.children_cpu_ns).value_or(0);
    row.process_system_ns = grown(before_.system_ns, after.system_ns);
    row.minor_faults = grown(before_.minor_faults, after.minor_faults);
    row.major_faults = grown(before_.major_faults, after.major_faults);
    row.voluntary_switches = grown(before_.voluntary, after.voluntary);
    row.involuntary_switches = grown(before_.involuntary, after.involuntary);
    row.storage_bytes = grown(before_.storage_bytes, after.storage_bytes);
    row.throttled_ns = grown(before_.throttled_ns, after.throttled_ns);
    row.machine_busy_ns = grown(before_.busy_ns, after.busy_ns);
    row.allowed_busy_ns = grown(before_.allowed_busy_ns, after.allowed_busy_ns);
    row.steal_ns = grown(before_.steal_ns, after.steal_ns);
    row.iowait_ns = grown(before_.iowait_ns, after.iowait_ns);
    row.interrupts = grown(before_.interrupts, after.interrupts);
    row.softirqs = grown(before_.softirqs, after.softirqs);
    row.cpu_some_ns = grown(before_.cpu_some_ns, after.cpu_some_ns);
    row.memory_some_ns = grown(before_.memory_some_ns, after.memory_some_ns);
    row.memory_full_ns = grown(before_.memory_full_ns, after.memory_full_ns);
    row.io_some_ns = grown(before_.io_some_ns, after.io_some_ns);
    row.io_full_ns = grown(before_.io_full_ns, after.io_full_ns);
    row.thermal_throttles = grown(before_.thermal_throttles, after.thermal_throttles);
    row.caller_clock_hz = caller_clock_hz();
  }

 private:
  Snapshot read() {
    Snapshot now;
    read_threads(now);
    if (own_)
      read_usage(now);
    else
      read_stat(now);
    if (now.children_cpu_ns) *now.children_cpu_ns += descendants_cpu_ns(root_, process_id_);
    if (cgroup_.valid())
      if (const auto text = cgroup_.read(buffer_))
        now.throttled_ns = signed_count(proc::parse_cgroup_cpu_stat(*text).throttled_ns);
    if (io_.valid())
      if (const auto text = io_.read(buffer_)) {
        const auto read = signed_count(probe::keyed_u64(*text, "read_bytes"));
        const auto written = signed_count(probe::keyed_u64(*text, "write_bytes"));
        if (read && written) now.storage_bytes = *read + *written;
      }
    read_machine(now);
    read_pressure(now);
    read_thermal(now);
    return now;
  }

  void read_machine(Snapshot& now) {
    if (!machine_.valid()) return;
    const auto text = machine_.read(buffer_);
    if (!text || !proc::parse_system_stat(*text, system_)) return;
    const proc::CpuTimes& t = system_.machine;
    now.busy_ns = busy_ns(t);
    std::size_t known = 0;
    std::int64_t allowed_ns = 0;
    for (const proc::SystemStat::Core& core : system_.cores)
      if (allowed_.contains(core.number)) {
        allowed_ns += busy_ns(core.times);
        ++known;
      }
    if (known > 0 && known == allowed_.size()) now.allowed_busy_ns = allowed_ns;
    now.steal_ns = static_cast<std::int64_t>(t.steal) * kTickNs;
    now.iowait_ns = static_cast<std::int64_t>(t.iowait) * kTickNs;
    now.interrupts = signed_count(system_.interrupts);
    now.softirqs = signed_count(system_.soft_interrupts);
  }

  void read_pressure(Snapshot& now) {
    const auto of = [this](probe::ProbeFile& file) {
      const auto text = file.valid() ? file.read(buffer_) : std::nullopt;
      return text ? proc::parse_pressure(*text) : proc::Pressure{};
    };
    const proc::Pressure cpu = of(cpu_pressure_), memory = of(memory_pressure_), io = of(io_pressure_);
    now.cpu_some_ns = stalled_ns(cpu.some_us);
    now.memory_some_ns = stalled_ns(memory.some_us);
    now.memory_full_ns = stalled_ns(memory.full_us);
    now.io_some_ns = stalled_ns(io.some_us);
    now.io_full_ns = stalled_ns(io.full_us);
  }

  void read_thermal(Snapshot& now) {
    std::int64_t sum = 0;
    for (probe::ProbeFile& file : thermal_) {
      const auto count = file.read_i64();
      if (!count) return;
      sum += *count;
    }
    if (!thermal_.empty()) now.thermal_throttles = sum;
  }

  // Throttling is counted by core and by package; the kernels of virtual machines and of AMD's processors do not.
  void open_thermal() {
    const auto cpus = core::list_directory(root_.at(kCpuFolder));
    if (!cpus) return;
    for (const std::string& cpu : *cpus)
      for (const char* count : {"/thermal_throttle/core_throttle_count", "/thermal_throttle/package_throttle_count"})
        if (cpu.starts_with("cpu") && thermal_.size() < kMaxThermalFiles)
          if (auto file = probe::ProbeFile::open(root_.at(std::string(kCpuFolder) + "/" + cpu + count)))
            thermal_.push_back(std::move(*file));
  }

  [[nodiscard]] Count caller_clock_hz() const {
    const auto text = probe::read_small(root_.at(folder_ + "/task/" + std::to_string(caller_) + "/stat"));
    const auto cpu = text ? processor_of(*text) : std::nullopt;
    if (!cpu) return std::nullopt;
    const auto khz =
        probe::read_small_i64(root_.at(std::string(kCpuFolder) + "/cpu" + std::to_string(*cpu) + "/cpufreq/scaling_cur_freq"));
    if (!khz || *khz <= 0 || *khz > kMaxKhz) return std::nullopt;
    return *khz * 1000;
  }

  void read_threads(Snapshot& now) {
    const auto names = core::list_directory(root_.at(folder_ + "/task"));
    if (!names || names->size() > kMaxThreads) return;
    for (const std::string& name : *names) {
      const auto id = core::parse_i64(name);
      if (!id) continue;
      const std::string task = folder_ + "/task/" + name;
      ThreadCounts counts;
      if (const auto text = probe::read_small(root_.at(task + "/schedstat")))
        if (const auto stat = proc::parse_sched_stat(*text)) {
          counts.run_ns = signed_count(stat->run_ns);
          counts.wait_ns = signed_count(stat->wait_ns);
          if (const Count exact = own_ ? thread_cpu_ns(*id) : std::nullopt) counts.run_ns = exact;
        }
      if (const auto text = probe::read_small(root_.at(task + "/sched")))
        counts.migrations = sched_value(*text, "se.nr_migrations");
      now.threads.emplace(*id, counts);
    }
  }

  static void read_usage(Snapshot& now) {
    struct rusage usage {};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return;
    now.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
    now.system_ns = nanoseconds(usage.ru_stime);
    now.minor_faults = usage.ru_minflt;
    now.major_faults = usage.ru_majflt;
    now.voluntary = usage.ru_nvcsw;
    now.involuntary = usage.ru_nivcsw;
    if (::getrusage(RUSAGE_CHILDREN, &usage) == 0)
      now.children_cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  }

  void read_stat(Snapshot& now) {
    if (!stat_.valid()) return;
    const auto text = stat_.read(buffer_);
    if (!text) return;
    const auto stat = proc::parse_process_stat(*text);
    if (!stat) return;
    now.cpu_ns = static_cast<std::int64_t>(stat->user_ticks + stat->system_ticks) * kTickNs;
    now.children_cpu_ns = static_cast<std::int64_t>(stat->waited_user_ticks + stat->waited_system_ticks) * kTickNs;
    now.system_ns = static_cast<std::int64_t>(stat->system_ticks) * kTickNs;
    now.minor_faults = signed_count(stat->minor_faults);
    now.major_faults = signed_count(stat->major_faults);
  }

  // A thread that began within the block counts from 0; one that ended takes what it did in it along.
  void add_threads(const Snapshot& after, trace::LoopBlockRow& row) const {
    const auto add = [](std::optional<std::int64_t>& sum, Count part) {
      if (part) sum = sum.value_or(0) + *part;
    };
    for (const auto& [id, counts] : after.threads) {
      const auto known = before_.threads.find(id);
      const ThreadCounts start = known != before_.threads.end() ? known->second : ThreadCounts{0, 0, 0};
      const Count wait = grown(start.wait_ns, counts.wait_ns);
      add(row.process_wait_ns, wait);
      add(row.migrations, grown(start.migrations, counts.migrations));
      if (id != caller_) continue;
      row.caller_cpu_ns = grown(start.run_ns, counts.run_ns);
      row.caller_wait_ns = wait;
    }
  }

  SysRoot root_;
  std::int64_t process_id_;
  std::string folder_;
  std::int64_t caller_;
  bool own_;
  std::vector<char> buffer_;
  probe::ProbeFile cgroup_, machine_, io_, stat_, cpu_pressure_, memory_pressure_, io_pressure_;
  std::vector<probe::ProbeFile> thermal_;
  std::set<std::int64_t> allowed_;  // CPUs that the process could use when the account was opened
  proc::SystemStat system_;
  Snapshot before_;
};

}  // namespace

std::unique_ptr<BlockAccount> BlockAccount::open(const SysRoot& root, std::int64_t process_id, std::int64_t caller_thread) {
  return std::make_unique<ProcBlockAccount>(root, process_id, caller_thread);
}

}  // namespace aaco::collectors
