#include "workflows/run/scheduler_plane.h"

#include <array>
#include <utility>

#include "trace/partial_sink.h"

namespace aaco::workflows {
namespace {

// Hands rows on to another sink, and scheduler events to a join as well.
class JoiningSink final : public trace::PartialSink {
 public:
  using PartialSink::add;
  JoiningSink(trace::Sink& target, analytics::scheduling::IterationJoin& join) : target_(target), join_(join) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) kinds_.at(i) = target.name(kKinds.at(i));
  }
  void add(const trace::SchedEventRow& row) override {
    target_.add(row);
    for (std::size_t i = 0; i < kKinds.size(); ++i)
      if (kinds_.at(i) == row.kind) return join_.add(row, kKinds.at(i));
  }
  trace::NameId name(std::string_view text) override { return target_.name(text); }
  [[nodiscard]] core::Status status() const override { return target_.status(); }

 private:
  static constexpr std::array<std::string_view, 6> kKinds = {"run_queue", "off_cpu", "page_fault", "migrate", "irq", "softirq"};
  trace::Sink& target_;
  analytics::scheduling::IterationJoin& join_;
  std::array<trace::NameId, kKinds.size()> kinds_{};
};

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

void SchedulerPlane::finish(trace::Sink& sink, trace::SessionManifest& manifest, analytics::scheduling::IterationJoin* join) {
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
  if (join != nullptr) {
    JoiningSink joining(sink, *join);
    watch_->finish(joining);
  } else {
    watch_->finish(sink);
  }
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

std::vector<analytics::scheduling::IterationSums> finish_with_calls(SchedulerPlane& plane,
                                                                    std::span<const runner::TimedCall> calls,
                                                                    std::int64_t process_id, std::int64_t caller,
                                                                    trace::Sink& sink, trace::SessionManifest& manifest) {
  std::vector<analytics::scheduling::Span> spans;
  spans.reserve(calls.size());
  for (const runner::TimedCall& call : calls) spans.push_back({call.start_ns, call.start_ns + call.duration_ns});
  analytics::scheduling::IterationJoin join(std::move(spans), process_id, caller);
  const bool watched = plane.watches();
  plane.finish(sink, manifest, &join);
  return watched ? join.sums() : std::vector<analytics::scheduling::IterationSums>();
}

}  // namespace aaco::workflows
