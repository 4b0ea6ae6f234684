#include "workflows/own_recording.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/json.h"
#include "hardware/fingerprint.h"
#include "importers/grouping.h"
#include "workflows/gpu/gpu_analysis_json.h"
#include "workflows/gpu_analysis.h"
#include "workflows/import/import_read.h"
#include "workflows/live_record.h"
#include "workflows/run/marked_ranges.h"
#include "workflows/run/python_watch.h"
#include "workflows/session/table_metrics.h"
#include "workflows/session_draft.h"
#include "workflows/telemetry.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::chrono::milliseconds kDrainPeriod{500};

struct NamedRange {
  std::string name;
  std::int64_t thread_id = 0, start_ns = 0, end_ns = 0;
};

class Recording final : public OwnRecording {
 public:
  Recording(OwnRecordingRequest request, std::unique_ptr<const Services> services, SessionDraft draft)
      : request_(std::move(request)),
        services_(std::move(services)),
        draft_(std::move(draft)),
        live_(services_->paths.sessions, draft_.manifest(), request_.name),
        telemetry_(::getpid(), request_.telemetry_period),
        python_(::getpid()) {
    live_.phase("recording");
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() override { stop_draining(); }

  core::Status start() {
    AACO_TRY(telemetry_.start());
    telemetry_.resume();
    begin_ns_ = core::monotonic_ns();
    drainer_ = std::thread([this] { drain_until_stopped(); });
    return {};
  }

  [[nodiscard]] const std::string& session_id() const override { return id_; }
  void range(std::string_view name, std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) override {
    const std::lock_guard lock(mutex_);
    ranges_.push_back({std::string(name), thread_id, start_ns, end_ns});
  }
  core::Result<SessionOutcome> finish(bool interrupted, const std::optional<OwnTrace>& trace) override;

 private:
  void drain_until_stopped();
  void stop_draining();
  void store_ranges();
  core::Result<trace::Metrics> take_trace(const OwnTrace& trace);
  core::Result<SessionOutcome> close(bool interrupted, std::int64_t end_ns, trace::Metrics metrics);

  OwnRecordingRequest request_;
  std::unique_ptr<const Services> services_;  // the draft keeps its address
  SessionDraft draft_;
  std::string id_ = draft_.manifest().id.text;
  LiveRecord live_;
  Telemetry telemetry_;
  PythonWatch python_;
  std::int64_t begin_ns_ = 0, range_count_ = 0;
  std::mutex mutex_;  // of ranges_ and stopping_
  std::condition_variable changed_;
  std::vector<NamedRange> ranges_;
  bool stopping_ = false;
  std::thread drainer_;  // the only one that uses the sink, until it is joined
};

void Recording::drain_until_stopped() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kDrainPeriod, [this] { return stopping_; })) {
    lock.unlock();
    telemetry_.drain(draft_.sink());
    store_ranges();
    python_.look();
    lock.lock();
  }
}

void Recording::stop_draining() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (drainer_.joinable()) drainer_.join();
}

void Recording::store_ranges() {
  std::vector<NamedRange> ranges;
  {
    const std::lock_guard lock(mutex_);
    ranges.swap(ranges_);
  }
  trace::Sink& sink = draft_.sink();
  for (const NamedRange& range : ranges)
    add_marker({::getpid(), range.thread_id, range.start_ns, range.end_ns, range.name}, sink);
  range_count_ += static_cast<std::int64_t>(ranges.size());
}

// The rows of the trace, and what follows from its GPU work.
core::Result<trace::Metrics> Recording::take_trace(const OwnTrace& trace) {
  AACO_ASSIGN(const auto inputs, importers::grouping::find_inputs({trace.path}));
  ImportSink sink(draft_.sink(), trace.shift_ns);
  AACO_ASSIGN(const Read read, read_files(inputs, sink, draft_, *services_));
  draft_.manifest().outcome.files = read.files;
  if (sink.counts().kernels + sink.counts().copies == 0) return trace::Metrics();
  AACO_TRY(draft_.writer().flush());
  GpuAnalysisOptions options;
  options.find_steps = sink.counts().iterations == 0;
  options.devices = read.devices;
  AACO_ASSIGN(GpuAnalysis analysis, analyse_gpu(draft_.writer().path(), options, draft_.sink(), *services_));
  draft_.manifest().outcome.gpu = to_json(analysis, options);
  return std::move(analysis.metrics);
}

core::Result<SessionOutcome> Recording::finish(bool interrupted, const std::optional<OwnTrace>& trace) {
  const std::int64_t end_ns = core::monotonic_ns();
  stop_draining();
  live_.phase("writing the session");
  trace::Metrics metrics;
  if (trace) {
    if (auto taken = take_trace(*trace))
      metrics = *std::move(taken);
    else
      draft_.warn("record.trace", "the profiler's trace is missing: " + taken.error().message, taken.error().remedy);
  }
  return close(interrupted, end_ns, std::move(metrics));
}

core::Result<SessionOutcome> Recording::close(bool interrupted, std::int64_t end_ns, trace::Metrics metrics) {
  telemetry_.finish(draft_.sink(), draft_.manifest(), kLongerPeriod);
  store_ranges();
  python_.look();
  draft_.phase("record", begin_ns_, end_ns);
  if (range_count_ > 0) {
    trace::Account account;
    account.source = "ranges";
    account.read = account.kept = range_count_;
    draft_.manifest().accounts.push_back(std::move(account));
  }
  trace::Outcome& what = draft_.manifest().outcome;
  what.model = request_.name;
  what.process_id = ::getpid();
  what.wall_ns = end_ns - begin_ns_;
  AACO_TRY(draft_.write_lockbox({{"mode", "record"}, {"command", request_.name}}, python_.libraries()));
  AACO_TRY(draft_.writer().flush());
  LoadedSession loaded(draft_.writer().path());
  AACO_ASSIGN(trace::Metrics more, table_metrics(draft_, loaded, 1));
  metrics.insert(metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return draft_.finish(std::move(metrics), interrupted);
}

}  // namespace

core::Result<std::unique_ptr<OwnRecording>> OwnRecording::begin(const OwnRecordingRequest& request, const Services& services) {
  const Json asked = Json::object({{"command", Json::texts(std::vector<std::string>{request.name})},
                                   {"process_id", static_cast<long long>(::getpid())},
                                   {"telemetry_period_ns", static_cast<long long>(request.telemetry_period.count())}});
  auto kept = std::make_unique<const Services>(services);
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("record", request.tag, asked, *kept));
  auto recording = std::make_unique<Recording>(request, std::move(kept), std::move(draft));
  AACO_TRY(recording->start());
  return std::unique_ptr<OwnRecording>(std::move(recording));
}

}  // namespace aaco::workflows
