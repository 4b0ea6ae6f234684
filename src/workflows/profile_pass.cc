#include "workflows/profile_pass.h"

#include <algorithm>
#include <vector>

#include "core/clock.h"
#include "core/files.h"
#include "importers/file_source.h"
#include "importers/ort_profile.h"
#include "stats/robust.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kWarmupCalls = 3;
constexpr std::int64_t kMinimumCalls = 5;
constexpr std::int64_t kMaximumCalls = 100;
constexpr std::string_view kOfWarmup = "warm-up of the profiled pass";  // meant to be left out (importers/ort)

std::int64_t calls_within_budget(double expected_call_ns, double budget_ns) {
  const double fit = budget_ns / std::max(1.0, expected_call_ns);
  return std::clamp(static_cast<std::int64_t>(std::min(fit, 1e9)), kMinimumCalls, kMaximumCalls);
}

// The runtime writes names as they are: a quote or a backslash in one breaks the record it stands in.
void warn_of_lost_records(const trace::Account& account, trace::SessionManifest& manifest) {
  std::int64_t lost = 0;
  for (const auto& [reason, count] : account.dropped)
    if (reason != kOfWarmup) lost += count;
  if (lost == 0) return;
  manifest.warnings.push_back({"profile.records_lost",
                               std::to_string(lost) + " of " + std::to_string(account.read) +
                                   " records of the runtime's profile could not be read: the time of their nodes stands as time "
                                   "outside the nodes",
                               "'aaco show' has the reasons; where names of nodes hold quotes or backslashes, rename them"});
}

core::Status import_profile(const runner::Backend::Profile& profile, trace::Sink& sink, trace::SessionManifest& manifest) {
  AACO_ASSIGN(const auto start,
              manifest.clocks.convert({core::ClockId::realtime, profile.start_realtime_ns}, core::ClockId::monotonic));
  AACO_ASSIGN(const auto source, importers::open_file_source(profile.path));
  AACO_ASSIGN(importers::ImportResult result, importers::ort::make_importer({start.ns, kWarmupCalls})->import(*source, sink));
  warn_of_lost_records(result.account, manifest);
  manifest.accounts.push_back(std::move(result.account));
  for (auto& warning : result.warnings) manifest.warnings.push_back(std::move(warning));
  return core::remove_tree(profile.path);
}

}  // namespace

core::Result<ProfilePass> profile_pass(runner::Backend& backend, double expected_call_ns, double budget_ns,
                                       const std::function<void()>& before_call, trace::Sink& sink,
                                       trace::SessionManifest& manifest, const Services& services) {
  const std::int64_t begin = core::monotonic_ns();
  const std::int64_t calls = calls_within_budget(expected_call_ns, budget_ns);
  std::vector<double> durations;
  for (std::int64_t i = 0; i < kWarmupCalls + calls && !services.stopping(); ++i) {
    const std::int64_t start = core::monotonic_ns();
    if (before_call) before_call();
    AACO_TRY(backend.run_once());
    if (i >= kWarmupCalls) durations.push_back(static_cast<double>(core::monotonic_ns() - start));
  }
  AACO_ASSIGN(const auto profile, backend.end_profile());
  manifest.phases.push_back({"profile", begin, core::monotonic_ns()});
  manifest.clocks.add(trace::read_clock_pair(core::SystemClock(), core::ClockId::realtime));
  AACO_TRY(import_profile(profile, sink, manifest));
  if (durations.empty()) return ProfilePass{};
  return ProfilePass{static_cast<std::int64_t>(durations.size()), stats::median(durations)};
}

}  // namespace aaco::workflows
