#include <algorithm>
#include <utility>

#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/live.h"
#include "workflows/live/latest_values.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kMaxReplayAge_ns = 2'500'000'000;
constexpr std::int64_t kReplayBucket_ns = 250'000'000;

// Calls of the measured pass in buckets of fixed length.
std::vector<report::LiveBucket> buckets_of(std::vector<trace::IterationRow> rows, trace::NameTable& names) {
  std::erase_if(rows, [&](const auto& row) { return names.text(row.phase) != "measure"; });
  std::vector<report::LiveBucket> buckets;
  for (std::size_t begin = 0; begin < rows.size();) {
    std::vector<double> values;
    std::size_t end = begin;
    for (; end < rows.size() && rows[end].start_ns - rows[begin].start_ns < kReplayBucket_ns; ++end)
      values.push_back(static_cast<double>(rows[end].duration_ns));
    std::sort(values.begin(), values.end());
    report::LiveBucket bucket;
    bucket.number = static_cast<std::int64_t>(buckets.size());
    bucket.time_ns = rows[end - 1].start_ns + rows[end - 1].duration_ns;
    bucket.count = static_cast<std::int64_t>(values.size());
    bucket.min_ns = values.front();
    bucket.p50_ns = values[values.size() / 2];
    bucket.max_ns = values.back();
    buckets.push_back(bucket);
    begin = end;
  }
  return buckets;
}

}  // namespace

struct Replay::Impl {
  trace::SessionManifest manifest;
  std::vector<trace::SystemEventRow> host;
  std::vector<trace::GpuEventRow> gpu;
  std::vector<report::LiveBucket> buckets;
  LatestValues values;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::size_t next_host = 0, next_gpu = 0;
};

Replay::Replay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Replay::Replay(Replay&&) noexcept = default;
Replay& Replay::operator=(Replay&&) noexcept = default;
Replay::~Replay() = default;

core::Result<Replay> Replay::open(const std::string& session, const core::Paths& paths) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(paths.sessions, session));
  auto impl = std::make_unique<Impl>();
  AACO_ASSIGN(impl->manifest, tracelake::read_manifest(path));
  trace::NameTable& names = impl->values.names();
  AACO_ASSIGN(impl->host, tracelake::read_table<trace::SystemEventRow>(path, names));
  AACO_ASSIGN(impl->gpu, tracelake::read_table<trace::GpuEventRow>(path, names));
  AACO_ASSIGN(auto calls, tracelake::read_table<trace::IterationRow>(path, names));
  impl->buckets = buckets_of(std::move(calls), names);
  if (impl->host.empty() && impl->gpu.empty() && impl->buckets.empty())
    return core::fail(core::ErrorCode::not_found, "session " + impl->manifest.id.text + " has no telemetry to replay",
                      "measure with --telemetry");
  impl->begin_ns = INT64_MAX;
  const auto cover = [&](std::int64_t time_ns) {
    impl->begin_ns = std::min(impl->begin_ns, time_ns);
    impl->end_ns = std::max(impl->end_ns, time_ns);
  };
  for (const auto& row : impl->host) cover(row.time_ns);
  for (const auto& row : impl->gpu) cover(row.time_ns);
  for (const auto& bucket : impl->buckets) cover(bucket.time_ns);
  return Replay(std::move(impl));
}

double Replay::length_s() const { return static_cast<double>(impl_->end_ns - impl_->begin_ns) / 1e9; }

report::LiveView Replay::at(double seconds) {
  const std::int64_t now_ns = impl_->begin_ns + static_cast<std::int64_t>(seconds * 1e9);
  for (; impl_->next_host < impl_->host.size() && impl_->host[impl_->next_host].time_ns <= now_ns; ++impl_->next_host)
    impl_->values.add(impl_->host[impl_->next_host]);
  for (; impl_->next_gpu < impl_->gpu.size() && impl_->gpu[impl_->next_gpu].time_ns <= now_ns; ++impl_->next_gpu)
    impl_->values.add(impl_->gpu[impl_->next_gpu]);
  report::LiveView view;
  view.title = impl_->manifest.id.text;
  view.machine.time_ns = now_ns;
  impl_->values.fill(view.machine, now_ns, kMaxReplayAge_ns);
  report::LiveSession session;
  session.id = impl_->manifest.id.text;
  session.kind = impl_->manifest.kind;
  session.what = impl_->manifest.outcome.model;
  session.tag = impl_->manifest.tag;
  session.phase = "replay";
  session.started_ns = impl_->begin_ns;
  for (const report::LiveBucket& bucket : impl_->buckets) {
    if (bucket.time_ns > now_ns) break;
    session.buckets.push_back(bucket);
    session.iterations += bucket.count;
  }
  const double length = length_s();
  if (length > 0) session.done_ratio = std::clamp(seconds / length, 0.0, 1.0);
  view.sessions.push_back(std::move(session));
  return view;
}

}  // namespace aaco::workflows
