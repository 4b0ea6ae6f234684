#include "hardware/process_jobs.h"

#include <algorithm>

#include "core/environment.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/inventory/job.h"

namespace aaco::hardware {
namespace {

constexpr std::int64_t kMaxEnvironmentBytes = 1 << 20;

core::Environment environment_of(const std::string& text) {
  core::Environment environment;
  for (const std::string_view one : core::split(text, '\0'))
    if (const auto equals = one.find('='); equals != std::string_view::npos)
      environment.set(std::string(one.substr(0, equals)), std::string(one.substr(equals + 1)));
  return environment;
}

}  // namespace

std::vector<ProcessJob> find_process_jobs(const std::string& root) {
  const inventory::MachineFiles files(root);
  std::vector<ProcessJob> out;
  for (const std::string& name : files.names("/proc")) {
    const auto process = core::parse_i64(name);
    if (!process) continue;
    const auto text = core::read_file(core::join_path(root, "proc/" + name + "/environ"), kMaxEnvironmentBytes);
    // Most processes belong to no job: only those with a rank are looked at closely.
    if (!text || (text->find("RANK=") == std::string::npos && text->find("SLURM_PROCID=") == std::string::npos)) continue;
    const core::Environment environment = environment_of(*text);
    const JobIdentity identity = inventory::read_job(files, environment, name);
    ProcessJob one{*process, identity.job_id, identity.rank, identity.local_rank};
    if (one.job.empty()) one.job = environment.get("TORCHELASTIC_RUN_ID").value_or("");
    if (one.job == "none") one.job.clear();  // torchrun's default
    if (one.job.empty()) one.job = identity.pod.empty() ? identity.pod_uid : identity.pod;
    if (!one.job.empty() && one.rank) out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.process_id < b.process_id; });
  return out;
}

}  // namespace aaco::hardware
