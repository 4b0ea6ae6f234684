#include "agent/sender.h"

#include <algorithm>

namespace aaco::agent {
namespace {

constexpr std::int64_t kFirstPauseNs = 5'000'000'000;
constexpr std::int64_t kMaxBatchBytes = 4 << 20;
constexpr std::int64_t kQuestionPeriodNs = 60'000'000'000;
constexpr std::int64_t kNearQuestionNs = 4'000'000'000;  // until the offset is known well
constexpr std::int64_t kWellKnownNs = 20'000'000;

// Each line gets the collector's time at its end.
std::string with_time(const std::string& text, std::int64_t received_unix_ns) {
  const std::string end = "\t" + std::to_string(received_unix_ns) + "\n";
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char c : text) c == '\n' ? out += end : out += c;
  return out;
}

}  // namespace

core::Status Sender::ask_time() {
  const std::int64_t sent = clock_.now_ns(core::ClockId::realtime);
  auto second = receiver_.now_s();
  const std::int64_t received = clock_.now_ns(core::ClockId::realtime);
  if (!second) return tl::unexpected<core::Error>(std::move(second).error());
  const std::lock_guard lock(mutex_);
  if (received >= sent) offset_.add(sent, received, *second);
  const bool well = offset_.uncertainty_ns().value_or(INT64_MAX) <= kWellKnownNs;
  next_question_ns_ = clock_.now_ns(core::ClockId::monotonic) + (well ? kQuestionPeriodNs : kNearQuestionNs) +
                      offset_.best_wait_ns(clock_.now_ns(core::ClockId::realtime));
  return {};
}

core::Status Sender::send_batch() {
  const Spool::Batch batch = spool_.oldest(kMaxBatchBytes);
  if (batch.rows == 0) return {};
  const std::int64_t now = clock_.now_ns(core::ClockId::realtime) - clock_offset_ns().value_or(0);
  AACO_TRY(receiver_.insert(with_time(batch.text, now)));
  spool_.remove(batch);
  const std::lock_guard lock(mutex_);
  counts_.sent_rows += batch.rows;
  return {};
}

void Sender::pause_after(const core::Error& error) {
  pause_ns_ = std::clamp(pause_ns_ * 2, kFirstPauseNs, kMaxPauseNs);
  next_try_ns_ = clock_.now_ns(core::ClockId::monotonic) + pause_ns_;
  const std::lock_guard lock(mutex_);
  ++counts_.failures;
  counts_.last_error = error.message;
}

bool Sender::step() {
  const std::int64_t now = clock_.now_ns(core::ClockId::monotonic);
  if (now < next_try_ns_) return false;
  const bool asks = now >= next_question_ns_;
  if (!asks && spool_.counts().waiting_rows == 0) return false;
  core::Status done;
  if (asks) done = ask_time();
  if (done) done = send_batch();
  if (!done) {
    pause_after(done.error());
    return false;
  }
  pause_ns_ = 0;
  const std::lock_guard lock(mutex_);
  counts_.last_error.clear();
  return spool_.counts().waiting_rows > 0;
}

void Sender::last_try() {
  next_try_ns_ = 0;
  while (step()) {
  }
}

void Sender::forget_clock() {
  const std::lock_guard lock(mutex_);
  offset_.forget();
}

std::optional<std::int64_t> Sender::clock_offset_ns() const {
  const std::lock_guard lock(mutex_);
  return offset_.offset_ns();
}
std::optional<std::int64_t> Sender::clock_uncertainty_ns() const {
  const std::lock_guard lock(mutex_);
  return offset_.uncertainty_ns();
}
SenderCounts Sender::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace aaco::agent
