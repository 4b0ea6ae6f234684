#include "importers/kineto/quiet_times.h"

#include <algorithm>
#include <optional>

namespace aaco::importers::kineto {
namespace {

constexpr std::int64_t kBefore = 1000;  // milliseconds: frames of a file come nearly in order, those that began before it last

std::int64_t bucket_of(std::int64_t time_ns) {
  const std::int64_t bucket = time_ns / QuietTimes::kBucketNs;
  return time_ns < 0 && time_ns % QuietTimes::kBucketNs != 0 ? bucket - 1 : bucket;
}

}  // namespace

void QuietTimes::Marks::set(std::int64_t bucket) {
  if (bucket < first || bucket - first >= kMaxBuckets) return;
  const auto place = static_cast<std::size_t>(bucket - first);
  if (place >= later.size()) later.resize(std::max(place + 1, std::min(2 * later.size(), static_cast<std::size_t>(kMaxBuckets))));
  later[place] = true;
}

void QuietTimes::add_frame(std::int64_t process, std::int64_t thread, Span span) {
  if (const Thread key(process, thread); newest_.second == nullptr || newest_.first != key) {
    auto place = threads_.find(key);
    if (place == threads_.end()) {
      if (threads_.size() >= kMaxThreads) return;
      place = threads_.try_emplace(key).first;
      place->second.first = bucket_of(span.start_ns) - kBefore;
    }
    newest_ = {key, &place->second};
  }
  newest_.second->set(bucket_of(span.start_ns));
  newest_.second->set(bucket_of(span.end_ns));
}

void QuietTimes::each(const std::function<void(std::int64_t, std::int64_t, Span)>& visit) const {
  for (const auto& [key, marks] : threads_) {
    std::optional<std::int64_t> before;
    for (std::size_t place = 0; place < marks.later.size(); ++place) {
      if (!marks.later[place]) continue;
      const std::int64_t bucket = marks.first + static_cast<std::int64_t>(place);
      if (before && (bucket - *before - 1) * kBucketNs >= kMinQuietNs)
        visit(key.first, key.second, {(*before + 1) * kBucketNs, bucket * kBucketNs});
      before = bucket;
    }
  }
}

}  // namespace aaco::importers::kineto
