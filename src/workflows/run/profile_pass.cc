#include "workflows/run/profile_pass.h"

#include <algorithm>
#include <vector>

#include "core/clock.h"
#include "core/files.h"
#include "importers/file_source.h"
#include "importers/ort_profile.h"
#include "stats/robust.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kRecordsKept = 1'000'000;                        // ONNX Runtime's profiler drops what comes after
constexpr std::string_view kOfWarmup = "warm-up of the profiled pass";  // meant to be left out (importers/ort)
constexpr std::string_view kWithoutEnd = "node of an unfinished run";

// The runtime writes names as they are: a quote or a backslash in one breaks the record it stands in.
void warn_of_lost_records(const trace::Account& account, trace::SessionManifest& manifest) {
  std::int64_t lost = 0;
  for (const auto& [reason, count] : account.dropped)
    if (reason != kOfWarmup && reason != kWithoutEnd) lost += count;
  if (lost == 0) return;
  manifest.warnings.push_back(
      {"profile.records_lost",
       std::to_string(lost) + " of " + std::to_string(account.read) +
           " records of the runtime's profile could not be read: the time of their nodes is counted as time outside nodes",
       "'aaco show' lists the reasons; rename nodes whose names contain quotes or backslashes"});
}

void warn_of_full_profiler(const trace::Account& account, trace::SessionManifest& manifest) {
  if (account.read < kRecordsKept) return;
  manifest.warnings.push_back(
      {"profile.full",
       "the runtime's profiler keeps " + std::to_string(kRecordsKept) +
           " records and was full before the profiled pass ended: node shares are based on completely recorded calls only",
       "a smaller model or fewer loop iterations leave room for more calls"});
}

}  // namespace

core::Status import_profile(const runner::Backend::Profile& profile, std::int64_t warmup_calls, trace::Sink& sink,
                            trace::SessionManifest& manifest) {
  manifest.clocks.add(trace::read_clock_pair(core::SystemClock(), core::ClockId::realtime));
  AACO_ASSIGN(const auto start,
              manifest.clocks.convert({core::ClockId::realtime, profile.start_realtime_ns}, core::ClockId::monotonic));
  AACO_ASSIGN(const auto source, importers::open_file_source(profile.path));
  const importers::ort::Options options{.start_ns = start.ns, .skip_runs = warmup_calls, .whole_runs_only = true};
  AACO_ASSIGN(importers::ImportResult result, importers::ort::make_importer(options)->import(*source, sink));
  warn_of_lost_records(result.account, manifest);
  warn_of_full_profiler(result.account, manifest);
  manifest.accounts.push_back(std::move(result.account));
  for (auto& warning : result.warnings) manifest.warnings.push_back(std::move(warning));
  return core::remove_tree(profile.path);
}

std::int64_t profiled_calls_at_most(std::size_t nodes) {
  constexpr std::int64_t kBesides = 2;  // records of a call that are not of a node
  return std::max<std::int64_t>(1, kRecordsKept / (static_cast<std::int64_t>(nodes) + kBesides));
}

ProfileCalls profile_calls(std::size_t nodes) {
  constexpr ProfileCalls kUsual{.warmup = 3, .least = 5, .most = 100};
  const std::int64_t fit = profiled_calls_at_most(nodes);
  const std::int64_t warmup = std::min(kUsual.warmup, fit / 2);
  const std::int64_t most = std::min(kUsual.most, fit - warmup);
  return {warmup, std::min(kUsual.least, most), most};
}

core::Result<ProfilePass> profile_pass(runner::Backend& backend, ProfileCalls calls, double budget_ns,
                                       const std::function<void()>& before_call, trace::Sink& sink,
                                       trace::SessionManifest& manifest, const Services& services) {
  const std::int64_t begin = core::monotonic_ns();
  std::vector<double> durations;
  const auto enough = [&](std::int64_t measured) {
    const bool spent = static_cast<double>(core::monotonic_ns() - begin) > budget_ns;
    return measured >= calls.most || (measured >= calls.least && spent);
  };
  for (std::int64_t i = 0; !enough(i - calls.warmup) && !services.stopping(); ++i) {
    const std::int64_t start = core::monotonic_ns();
    if (before_call) before_call();
    AACO_TRY(backend.run_once());
    if (i >= calls.warmup) durations.push_back(static_cast<double>(core::monotonic_ns() - start));
  }
  AACO_ASSIGN(const auto profile, backend.end_profile());
  manifest.phases.push_back({"profile", begin, core::monotonic_ns()});
  AACO_TRY(import_profile(profile, calls.warmup, sink, manifest));
  if (durations.empty()) return ProfilePass{};
  return ProfilePass{static_cast<std::int64_t>(durations.size()), stats::median(durations)};
}

}  // namespace aaco::workflows
