#include "collectors/probe/source.h"

#include <algorithm>
#include <optional>

namespace aaco::collectors::probe {
namespace {

// A deadline that is this near counts as reached: the loop wakes up for many sources at once.
constexpr std::int64_t kDeadlineTolerance = 1'000'000;
// A source is idle for at least this many times what a reading costs.
constexpr std::int64_t kIdleFactor = 50;
constexpr std::int64_t kShortestPeriodNs = 5'000'000;  // of the sampling loop

}  // namespace

void SourceSet::add(std::unique_ptr<Source> source, std::int64_t period_ns) {
  entries_.push_back({std::move(source), period_ns, 0});
}

core::Status SourceSet::open(const SysRoot& root, const Target& target) {
  std::optional<core::Error> first;
  std::vector<Entry> opened;
  for (Entry& entry : entries_) {
    core::Status status = entry.source->open(root, target);
    if (status) {
      opened.push_back(std::move(entry));
      continue;
    }
    account_.notes.push_back(entry.source->name() + ": " + status.error().text());
    const bool absent = status.error().code == core::ErrorCode::unsupported;
    if (!absent && account_.state == trace::Account::State::ok) {
      account_.state = trace::Account::State::partial;
      account_.reason = account_.notes.back();
    }
    if (!first) first = std::move(status).error();
  }
  entries_ = std::move(opened);
  if (entries_.empty() && first) return tl::unexpected<core::Error>(*std::move(first));
  return {};
}

void SourceSet::sample(trace::Sink& sink, const core::Clock& clock) {
  if (interned_for_ != &sink) {
    for (const Entry& entry : entries_) entry.source->intern(sink);
    interned_for_ = &sink;
  }
  Emitter out(sink, account_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const std::int64_t now = clock.now_ns(core::ClockId::monotonic);
    if (now + kDeadlineTolerance < entry.due_ns) continue;
    out.stamp(now);
    entry.source->sample(out);
    account_cost(entry, clock.now_ns(core::ClockId::monotonic) - now);
    entry.due_ns = next_due(entry, i, now);
  }
}

void SourceSet::account_cost(Entry& entry, std::int64_t took_ns) {
  entry.cost_ns = std::min(took_ns, entry.cost_ns + entry.cost_ns / 2 + 1000);
  if (entry.slowed || entry.cost_ns * kIdleFactor <= std::max(entry.period_ns, kShortestPeriodNs)) return;
  entry.slowed = true;
  account_.notes.push_back(entry.source->name() + ": a reading takes " + std::to_string(entry.cost_ns / 1000) +
                           " µs, so it is sampled less often");
}

// A period after the deadline, not after the reading, so that the rate holds. After the first sample and after gaps the sources
// are spread over their period, so that they do not fall due all at once.
std::int64_t SourceSet::next_due(const Entry& entry, std::size_t index, std::int64_t now) const {
  if (entry.cost_ns * kIdleFactor > std::max(entry.period_ns, kShortestPeriodNs)) return now + entry.cost_ns * kIdleFactor;
  if (entry.due_ns + entry.period_ns > now) return entry.due_ns + entry.period_ns;
  return now + entry.period_ns * static_cast<std::int64_t>(index + 1) / static_cast<std::int64_t>(entries_.size());
}

void SourceSet::forget() {
  for (Entry& entry : entries_) {
    entry.source->forget();
    entry.due_ns = 0;
  }
}

}  // namespace aaco::collectors::probe
