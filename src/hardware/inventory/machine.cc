#include "hardware/inventory/machine.h"

#include <algorithm>
#include <set>

#include "core/cpu_set.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/thread_cpus.h"

namespace aaco::hardware::inventory {
namespace {

constexpr std::int64_t kKibibyte = 1024;

// Instruction sets that decide which kernels a runtime picks.
constexpr std::string_view kSimd[] = {"sse4_2",   "avx",      "avx2",     "fma",         "f16c",        "avx_vnni",
                                      "avx512f",  "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16",
                                      "amx_tile", "amx_int8", "amx_bf16", "amx_fp16",    "asimd",       "asimddp",
                                      "asimdhp",  "sve",      "sve2",     "i8mm",        "bf16",        "svebf16"};
// Prefixes of kernel options that change timing.
constexpr std::string_view kTimingOptions[] = {"isolcpus",
                                               "nohz",
                                               "nohz_full",
                                               "rcu_nocbs",
                                               "mitigations",
                                               "transparent_hugepage",
                                               "hugepages",
                                               "hugepagesz",
                                               "intel_pstate",
                                               "amd_pstate",
                                               "cpufreq",
                                               "intel_idle.max_cstate",
                                               "processor.max_cstate",
                                               "idle",
                                               "nosmt",
                                               "psi",
                                               "preempt",
                                               "threadirqs",
                                               "iommu",
                                               "amd_iommu",
                                               "intel_iommu",
                                               "numa_balancing",
                                               "clocksource",
                                               "tsc"};

// "key : value" of a line.
std::pair<std::string_view, std::string_view> key_and_value(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  return {core::trim(line.substr(0, colon)), core::trim(line.substr(colon + 1))};
}

std::optional<std::int64_t> meminfo(std::string_view text, std::string_view key, std::int64_t unit) {
  for (const std::string_view line : core::split_lines(text)) {
    const auto [name, value] = key_and_value(line);
    if (name != key) continue;
    const auto words = core::split_words(value);
    const auto number = words.empty() ? std::nullopt : core::parse_i64(words[0]);
    if (!number || *number < 0 || *number > INT64_MAX / unit) return std::nullopt;
    return *number * unit;
  }
  return std::nullopt;
}

void read_topology(const MachineFiles& files, CpuInfo& cpu) {
  std::set<std::pair<std::int64_t, std::int64_t>> cores;
  std::set<std::int64_t> sockets;
  std::int64_t logical = 0;
  for (const std::int64_t number : core::parse_cpu_list(files.text_or_empty("/sys/devices/system/cpu/online"))) {
    ++logical;
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/";
    const auto socket = files.integer(folder + "physical_package_id");
    const auto core = files.integer(folder + "core_id");
    if (!socket || !core) continue;
    sockets.insert(*socket);
    cores.emplace(*socket, *core);
  }
  if (logical > 0) cpu.logical_cpus = logical;
  if (!cores.empty()) cpu.physical_cores = static_cast<std::int64_t>(cores.size());
  if (!sockets.empty()) cpu.sockets = static_cast<std::int64_t>(sockets.size());
  if (const auto nodes = core::parse_cpu_list(files.text_or_empty("/sys/devices/system/node/online")); !nodes.empty())
    cpu.numa_nodes = static_cast<std::int64_t>(nodes.size());
}

void read_caches(const MachineFiles& files, CpuInfo& cpu) {
  const std::string base = "/sys/devices/system/cpu/cpu0/cache";
  for (const std::string& name : files.names(base)) {
    if (!number_after(name, "index")) continue;
    const std::string folder = base + "/" + name + "/";
    const auto level = files.integer(folder + "level");
    const auto size = parse_cache_size(files.text_or_empty(folder + "size"));
    if (!level || !size || *level < 1 || *level > 9) continue;
    cpu.caches.push_back(
        {static_cast<int>(*level), files.text_or_empty(folder + "type"), *size, files.text_or_empty(folder + "shared_cpu_list")});
  }
}

}  // namespace

void parse_cpuinfo(std::string_view text, CpuInfo& into) {
  std::int64_t processors = 0;
  for (const std::string_view line : core::split_lines(text)) {
    const auto [key, value] = key_and_value(line);
    if (key == "processor") ++processors;
    if (processors > 1) continue;
    if (key == "vendor_id" || key == "CPU implementer") into.vendor = value;
    if (key == "model name") into.model = value;
    if (key == "microcode") into.microcode = value;
    if (key == "cpu family") into.family = core::parse_i64(value);
    if (key == "model") into.model_number = core::parse_i64(value);
    if (key == "stepping") into.stepping = core::parse_i64(value);
    if (key == "CPU part" && into.model.empty()) into.model = "Arm part " + std::string(value);
    if (key != "flags" && key != "Features") continue;
    const auto flags = core::split_words(value);
    for (const std::string_view name : kSimd)
      if (std::find(flags.begin(), flags.end(), name) != flags.end()) into.simd.emplace_back(name);
    into.hypervisor = std::find(flags.begin(), flags.end(), "hypervisor") != flags.end();
  }
  if (processors > 0) into.logical_cpus = processors;
}

std::optional<std::int64_t> parse_cache_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t unit = 1;
  if (text.back() == 'K') unit = kKibibyte;
  if (text.back() == 'M') unit = kKibibyte * kKibibyte;
  if (unit > 1) text.remove_suffix(1);
  const auto number = core::parse_i64(text);
  if (!number || *number <= 0 || *number > INT64_MAX / unit) return std::nullopt;
  return *number * unit;
}

std::map<std::string, std::string> timing_options(std::string_view command_line) {
  std::map<std::string, std::string> options;
  for (const std::string_view word : core::split_words(command_line)) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    if (std::find(std::begin(kTimingOptions), std::end(kTimingOptions), name) == std::end(kTimingOptions)) continue;
    options[std::string(name)] = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  }
  return options;
}

std::string os_release_value(std::string_view text, std::string_view key) {
  for (const std::string_view line : core::split_lines(text)) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') continue;
    std::string_view value = core::trim(line.substr(key.size() + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

void read_allowed_cpus(const MachineFiles& files, CpuInfo& cpu) {
  const auto cpus = cpus_of_threads(files.root(), "self");
  if (cpus.empty()) return;
  cpu.allowed_cpus = static_cast<std::int64_t>(cpus.size());
  cpu.allowed_cpu_list = core::cpu_list({cpus.begin(), cpus.end()});
}

CpuInfo read_cpu_info(const MachineFiles& files) {
  CpuInfo cpu;
  parse_cpuinfo(files.text_or_empty("/proc/cpuinfo"), cpu);
  read_topology(files, cpu);
  read_caches(files, cpu);
  read_allowed_cpus(files, cpu);
  return cpu;
}

OsInfo read_os_info(const MachineFiles& files) {
  OsInfo os;
  os.host = files.text_or_empty("/proc/sys/kernel/hostname");
  os.kernel = files.text_or_empty("/proc/sys/kernel/osrelease");
  os.kernel_version = files.text_or_empty("/proc/sys/kernel/version");
  os.distribution = os_release_value(files.text_or_empty("/etc/os-release"), "PRETTY_NAME");
  os.kernel_options = timing_options(files.text_or_empty("/proc/cmdline"));
  if (const auto choices = files.text("/sys/kernel/mm/transparent_hugepage/enabled")) {
    const std::size_t open = choices->find('['), close = choices->find(']');
    if (open != std::string::npos && close != std::string::npos && close > open)
      os.transparent_hugepages = choices->substr(open + 1, close - open - 1);
  }
  os.aslr = files.integer("/proc/sys/kernel/randomize_va_space");
  os.perf_event_paranoid = files.integer("/proc/sys/kernel/perf_event_paranoid");
  return os;
}

MemoryInfo read_memory_info(const MachineFiles& files) {
  const std::string text = files.text_or_empty("/proc/meminfo");
  return {meminfo(text, "MemTotal", kKibibyte), meminfo(text, "MemAvailable", kKibibyte), meminfo(text, "SwapTotal", kKibibyte),
          meminfo(text, "HugePages_Total", 1), meminfo(text, "Hugepagesize", kKibibyte)};
}

}  // namespace aaco::hardware::inventory
