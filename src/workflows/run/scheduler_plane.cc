#include "workflows/run/scheduler_plane.h"

#include <array>
#include <unordered_map>
#include <utility>

#include "trace/partial_sink.h"

namespace aaco::workflows {
namespace {

// Hands rows on to another sink, and scheduler events to the joins as well.
class JoiningSink final : public trace::PartialSink {
 public:
  using PartialSink::add;
  JoiningSink(trace::Sink& target, const SchedulerPlane::Joins& joins) : target_(target), joins_(joins) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) kinds_.at(i) = target.name(kKinds.at(i));
    for (const std::string_view detail : analytics::scheduling::known_details()) details_.emplace(target.name(detail), detail);
    for (const std::string_view call : analytics::scheduling::known_calls()) calls_.emplace(target.name(call), call);
  }
  void add(const trace::SchedEventRow& row) override {
    target_.add(row);
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (kinds_.at(i) != row.kind) continue;
      joins_.iterations.add(row, kKinds.at(i));
      joins_.sleep.add(row, kKinds.at(i), analytics::scheduling::sleep_reason(text(details_, row.detail), call_of(row)));
      return;
    }
  }
  trace::NameId name(std::string_view text) override { return target_.name(text); }
  [[nodiscard]] core::Status status() const override { return target_.status(); }

 private:
  using Texts = std::unordered_map<trace::NameId, std::string_view>;
  static std::string_view text(const Texts& texts, trace::NameId id) {
    const auto found = texts.find(id);
    return found == texts.end() ? std::string_view() : found->second;
  }
  // A call of no meaning here is not the same as none.
  [[nodiscard]] std::string_view call_of(const trace::SchedEventRow& row) const {
    return row.call == trace::NameId{} ? std::string_view() : calls_.contains(row.call) ? calls_.at(row.call) : "other";
  }

  static constexpr std::array<std::string_view, 7> kKinds = {"run",     "run_queue", "off_cpu", "page_fault",
                                                             "migrate", "irq",       "softirq"};
  trace::Sink& target_;
  const SchedulerPlane::Joins& joins_;
  std::array<trace::NameId, kKinds.size()> kinds_{};
  Texts details_, calls_;
};

// A line per stack, as the tools for flame graphs read it: THREAD;FRAME;FRAME NANOSECONDS.
std::string folded(const std::vector<collectors::OffCpuStack>& stacks) {
  std::string text;
  for (const collectors::OffCpuStack& stack : stacks) {
    std::string thread = stack.thread.empty() ? "thread" : stack.thread;
    for (char& c : thread)
      if (c == ';' || static_cast<unsigned char>(c) < 0x20) c = ':';
    text += thread;
    for (const std::string& frame : stack.frames) text += ";" + frame;
    text += " " + std::to_string(stack.total_ns) + "\n";
  }
  return text;
}

}  // namespace

SchedulerPlane::SchedulerPlane(std::int64_t process_id, bool with_itself) {
  collectors::WatchOptions options;
  options.process_id = process_id;
  options.with_itself = with_itself;
  auto watch = collectors::SchedulerWatch::open(options);
  if (watch)
    watch_ = std::move(*watch);
  else
    refusal_ = std::move(watch.error());
}

void SchedulerPlane::resume() {
  if (watch_) watch_->resume();
}
void SchedulerPlane::pause() {
  if (watch_) watch_->pause();
}
void SchedulerPlane::stop_adopting() {
  if (watch_) watch_->stop_adopting();
}
void SchedulerPlane::drain(trace::Sink& sink) {
  if (watch_) watch_->drain(sink);
}

void SchedulerPlane::finish(trace::Sink& sink, trace::SessionManifest& manifest, const Joins* joins) {
  if (refusal_) {
    trace::Account account;
    account.source = "ebpf";
    account.state = trace::Account::State::unsupported;
    account.reason = refusal_->message + (refusal_->remedy.empty() ? "" : "; " + refusal_->remedy);
    manifest.accounts.push_back(std::move(account));
    manifest.warnings.push_back(
        {"ebpf.unavailable", "scheduler events were not recorded: " + refusal_->message, refusal_->remedy});
    refusal_.reset();
  }
  if (!watch_) return;
  if (joins != nullptr) {
    JoiningSink joining(sink, *joins);
    watch_->finish(joining);
  } else {
    watch_->finish(sink);
  }
  folded_stacks_ = folded(watch_->off_cpu_stacks());
  trace::Account account = watch_->account();
  if (account.state != trace::Account::State::ok) {
    std::string what = account.dropped_total() > 0 ? std::to_string(account.dropped_total()) + " of " +
                                                         std::to_string(account.read) + " scheduler events were lost"
                                                   : "some scheduler event probes could not be attached";
    manifest.warnings.push_back({"ebpf.partial", what + ": total wait times and fault counts are underestimated",
                                 "see the account 'ebpf' in session.json for the kinds and reasons"});
  }
  manifest.accounts.push_back(std::move(account));
  watch_.reset();
}

core::Status store_stacks(const SchedulerPlane& plane, tracelake::BundleWriter& writer) {
  return plane.folded_stacks().empty() ? core::Status() : writer.write(kOffCpuFile, plane.folded_stacks());
}

WatchedCalls finish_with_calls(SchedulerPlane& plane, std::span<const runner::TimedCall> calls, std::int64_t process_id,
                               std::int64_t caller, trace::Sink& sink, trace::SessionManifest& manifest) {
  std::vector<analytics::scheduling::Span> spans;
  spans.reserve(calls.size());
  for (const runner::TimedCall& call : calls) spans.push_back({call.start_ns, call.start_ns + call.duration_ns});
  analytics::scheduling::SleepCauses sleep(spans, process_id, caller);
  analytics::scheduling::IterationJoin join(std::move(spans), process_id, caller);
  const SchedulerPlane::Joins joins{join, sleep};
  const bool watched = plane.watches();
  plane.finish(sink, manifest, &joins);
  return watched ? WatchedCalls{join.sums(), sleep.metrics()} : WatchedCalls{};
}

}  // namespace aaco::workflows
