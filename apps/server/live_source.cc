#include "server/live_source.h"

#include <algorithm>

#include "core/clock.h"

namespace aaco::server {
namespace {

using core::Json;

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::size_t kSecondsKept = 120;
constexpr std::int64_t kBucketsPerTick = 4;  // a second of them: a lost event loses no bucket

Json sessions_json(const std::vector<report::LiveSession>& sessions, std::int64_t newest) {
  Json list = Json::array();
  for (const report::LiveSession& session : sessions)
    list.push(to_json(session, session.buckets.empty() ? 0 : session.buckets.back().number + 1 - newest));
  return list;
}

}  // namespace

void LiveSource::remember() {
  if (!now_.cpu_use_ratio) return;
  const double use = *now_.cpu_use_ratio;
  if (seconds_.empty() || now_.time_ns - seconds_.back().time_ns >= kSecond_ns)
    seconds_.push_back({now_.time_ns, use, use, 0, 0});
  Second& second = seconds_.back();
  second.min = std::min(second.min, use);
  second.max = std::max(second.max, use);
  second.sum += use;
  ++second.count;
  if (seconds_.size() > kSecondsKept) seconds_.pop_front();
}

std::string LiveSource::tick() {
  const std::int64_t now_ns = core::monotonic_ns();
  if (!machine_) machine_.emplace();
  now_ = machine_->sample();
  remember();
  running_ = sessions_.read();
  if (now_ns - looked_ns_ >= kSecond_ns) {
    std::vector<std::int64_t> roots;
    for (const report::LiveSession& session : running_) roots.push_back(session.process_id);
    tree_ = processes_.look(roots);
    looked_ns_ = now_ns;
  }
  Json processes = Json::array();
  for (const report::LiveProcess& process : tree_) processes.push(to_json(process));
  const core::SystemClock clock;
  return Json::object({{"number", ++number_},
                       {"time_ms", clock.now_ns(core::ClockId::realtime) / 1'000'000},
                       {"machine", to_json(now_)},
                       {"sessions", sessions_json(running_, kBucketsPerTick)},
                       {"processes", std::move(processes)},
                       {"jobs_revision", jobs_ != nullptr ? Json(jobs_->revision()) : Json()}})
      .dump(-1);
}

std::string LiveSource::history() const {
  Json seconds = Json::array();
  for (const Second& one : seconds_)
    seconds.push(Json::object({{"time_ns", one.time_ns},
                               {"count", one.count},
                               {"min", one.min},
                               {"mean", one.sum / std::max(1, one.count)},
                               {"max", one.max}}));
  constexpr auto kAll = static_cast<std::int64_t>(workflows::LiveSessions::kMaxBuckets);
  return Json::object({{"schema_version", 1}, {"cpu_use", std::move(seconds)}, {"sessions", sessions_json(running_, kAll)}})
      .dump(-1);
}

}  // namespace aaco::server
