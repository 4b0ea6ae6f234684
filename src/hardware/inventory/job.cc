#include "hardware/inventory/job.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::hardware::inventory {
namespace {

constexpr std::size_t kContainerIdDigits = 64;

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

struct Found {
  std::optional<std::int64_t> value;
  std::string_view variable;
};

// The first variable that holds a number that is not negative.
Found first_number(const core::Environment& environment, std::initializer_list<std::string_view> variables) {
  for (const std::string_view variable : variables) {
    const auto text = environment.get(variable);
    const auto value = text ? core::parse_i64(*text) : std::nullopt;
    if (value && *value >= 0) return {value, variable};
  }
  return {};
}

std::string first_text(const core::Environment& environment, std::initializer_list<std::string_view> variables) {
  for (const std::string_view variable : variables)
    if (auto text = environment.get(variable)) return *std::move(text);
  return {};
}

// "pod0a1b..._c3d4" or "pod0a1b-..." up to the next separator, underscores read as dashes.
std::string pod_uid(std::string_view text) {
  for (std::size_t at = text.find("pod"); at != std::string_view::npos; at = text.find("pod", at + 3)) {
    std::string_view uid = text.substr(at + 3);
    uid = uid.substr(0, uid.find_first_not_of("0123456789abcdef-_"));
    if (uid.size() == 36) return core::replace_all(std::string(uid), "_", "-");
  }
  return {};
}

// Index of the device an entry names, or empty.
std::optional<std::int64_t> device_named(std::string_view entry, const std::vector<std::int64_t>& choices,
                                         const std::vector<const GpuInfo*>& gpus) {
  if (const auto index = core::parse_i64(entry)) {
    if (*index < 0 || static_cast<std::size_t>(*index) >= choices.size()) return std::nullopt;
    return choices[static_cast<std::size_t>(*index)];
  }
  std::string_view id = entry;
  if (core::to_lower(id).starts_with("gpu-")) id.remove_prefix(4);
  if (id.empty()) return std::nullopt;
  for (const std::int64_t choice : choices) {
    std::string own = core::to_lower(gpus[static_cast<std::size_t>(choice)]->unique_id);
    if (own.starts_with("gpu-")) own.erase(0, 4);
    if (!own.empty() && own.starts_with(core::to_lower(id))) return choice;
  }
  return std::nullopt;
}

// Both runtimes stop at the first entry that names no device.
std::vector<std::int64_t> narrow(const std::vector<std::int64_t>& choices, const std::string& variable, const std::string& value,
                                 const std::vector<const GpuInfo*>& gpus, std::vector<std::string>& problems) {
  std::vector<std::int64_t> kept;
  for (const std::string_view part : core::split(value, ',')) {
    const std::string_view entry = core::trim(part);
    const auto device = device_named(entry, choices, gpus);
    if (!device) {
      problems.push_back(variable + ": \"" + std::string(entry) +
                         "\" matches no device; this entry and all after it are ignored");
      break;
    }
    kept.push_back(*device);
  }
  return kept;
}

std::vector<const GpuInfo*> of_vendor(const std::vector<GpuInfo>& gpus, std::string_view vendor) {
  std::vector<const GpuInfo*> own;
  for (const GpuInfo& gpu : gpus)
    if (gpu.vendor == vendor) own.push_back(&gpu);
  return own;
}

}  // namespace

void parse_container(std::string_view text, JobIdentity& into) {
  if (into.pod_uid.empty()) into.pod_uid = pod_uid(text);
  for (std::size_t begin = 0; begin < text.size() && into.container_id.empty();) {
    std::size_t end = begin;
    while (end < text.size() && is_hex(text.substr(end, 1))) ++end;
    if (end - begin == kContainerIdDigits) into.container_id = text.substr(begin, kContainerIdDigits);
    begin = end + 1;
  }
}

JobIdentity read_job(const MachineFiles& files, const core::Environment& environment, const std::string& process) {
  JobIdentity job;
  // A launcher inside an allocation numbers its own processes, so Slurm's numbers come after the launchers'.
  const Found rank =
      first_number(environment, {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "RANK", "SLURM_PROCID"});
  job.rank = rank.value;
  job.rank_source = rank.variable;
  job.world_size =
      first_number(environment, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "WORLD_SIZE", "SLURM_NTASKS"}).value;
  job.local_rank =
      first_number(environment, {"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "LOCAL_RANK", "SLURM_LOCALID"}).value;
  job.node_rank = first_number(environment, {"OMPI_COMM_WORLD_NODE_RANK", "GROUP_RANK", "NODE_RANK", "SLURM_NODEID"}).value;
  for (const auto& [variable, scheduler] :
       {std::pair{"SLURM_JOB_ID", "slurm"}, {"PBS_JOBID", "pbs"}, {"LSB_JOBID", "lsf"}, {"FLUX_JOB_ID", "flux"}})
    if (const auto id = environment.get(variable); id && job.job_id.empty()) {
      job.job_id = *id;
      job.scheduler = scheduler;
    }
  job.job_name = first_text(environment, {"SLURM_JOB_NAME", "PBS_JOBNAME", "LSB_JOBNAME"});
  job.cluster = first_text(environment, {"SLURM_CLUSTER_NAME"});
  job.nodes = first_text(environment, {"SLURM_JOB_NODELIST", "LSB_HOSTS"});
  parse_container(files.text_or_empty("/proc/" + process + "/cgroup"), job);
  if (job.container_id.empty()) {
    // With a cgroup namespace the path says nothing; the runtime's own mounts still carry the id.
    const std::string mounts = files.text_or_empty("/proc/" + process + "/mountinfo");
    for (const std::string_view line : core::split_lines(mounts))
      if (line.find("/containers/") != std::string_view::npos) parse_container(line, job);
  }
  const bool in_pod = environment.get("KUBERNETES_SERVICE_HOST").has_value() || !job.pod_uid.empty();
  job.pod = first_text(environment, {"POD_NAME"});
  if (job.pod.empty() && in_pod) job.pod = first_text(environment, {"HOSTNAME"});
  job.pod_namespace = first_text(environment, {"POD_NAMESPACE"});
  if (job.pod_namespace.empty() && process == "self")
    job.pod_namespace = files.text_or_empty("/var/run/secrets/kubernetes.io/serviceaccount/namespace");
  return job;
}

VisibleDevices visible_devices(const core::Environment& environment, const std::vector<GpuInfo>& gpus) {
  VisibleDevices visible;
  for (const char* variable : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"})
    if (environment.all().contains(variable)) visible.variables[variable] = environment.all().at(variable);
  const auto amd = of_vendor(gpus, "amd");
  const auto nvidia = of_vendor(gpus, "nvidia");
  visible.amd.resize(amd.size());
  visible.nvidia.resize(nvidia.size());
  std::iota(visible.amd.begin(), visible.amd.end(), 0);
  std::iota(visible.nvidia.begin(), visible.nvidia.end(), 0);
  const auto apply = [&](const char* variable, std::vector<std::int64_t>& devices, const std::vector<const GpuInfo*>& own) {
    const auto found = visible.variables.find(variable);
    if (found == visible.variables.end() || own.empty()) return false;
    // Set and empty hides every device.
    devices =
        found->second.empty() ? std::vector<std::int64_t>{} : narrow(devices, variable, found->second, own, visible.problems);
    return true;
  };
  apply("ROCR_VISIBLE_DEVICES", visible.amd, amd);
  if (!apply("HIP_VISIBLE_DEVICES", visible.amd, amd)) apply("CUDA_VISIBLE_DEVICES", visible.amd, amd);
  apply("CUDA_VISIBLE_DEVICES", visible.nvidia, nvidia);
  return visible;
}

}  // namespace aaco::hardware::inventory
