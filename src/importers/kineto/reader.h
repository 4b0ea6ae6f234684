#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "importers/kineto.h"
#include "importers/kineto/host_memory.h"
#include "importers/kineto/host_rows.h"
#include "importers/kineto/late_ids.h"
#include "importers/kineto/quiet_times.h"
#include "importers/kineto/span_links.h"
#include "trace/account.h"

namespace aaco::importers::kineto {

// Turns events into rows. Call events() with each batch, then finish() once.
class Reader {
 public:
  Reader(trace::Sink& sink, const Options& options, trace::Account& account);

  core::Status events(std::span<const TraceEvent> batch);
  void finish(core::Json& facts);

 private:
  struct Step {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };

  void event(const TraceEvent& event);
  void complete(const TraceEvent& event);
  void device_work(const TraceEvent& event, Category category, Span span);
  void host_work(const TraceEvent& event, Category category, Span span);
  void begin(const TraceEvent& event);
  void end(const TraceEvent& event);
  void counter(const TraceEvent& event);
  void instant(const TraceEvent& event);
  void flow(const TraceEvent& event);
  void step(std::string_view name, Span span);
  void drop(const char* reason) { ++dropped_[reason]; }
  void keep() { ++kept_; }
  void write_steps();
  void write_quiet_times();
  void metadata(const TraceEvent& event);
  // Where processes are named after GPUs, events say nothing else of what they are (rocmProfileData).
  Category category_without_words(const TraceEvent& event) const;

  trace::Sink& sink_;
  Options options_;
  trace::Account& account_;
  TextIds ids_;
  HostRows host_rows_;
  LateIds late_;
  SpanLinks links_;
  std::map<std::string, std::int64_t, std::less<>> gpu_processes_;  // named "GPU2"
  ThreadNumbers numbers_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<trace::ApiCallRow>>
      open_;  // "B" events that wait for their "E", by thread
  std::size_t open_count_ = 0;
  std::map<std::int64_t, Step> steps_;                     // by ProfilerStep's number
  std::unordered_map<const char*, std::int64_t> dropped_;  // by literal
  std::int64_t kept_ = 0;
  std::int64_t overhead_ns_ = 0;
  HostMemory host_memory_;
  std::int64_t python_frames_ = 0;
  QuietTimes quiet_;  // of threads with Python frames
  std::optional<Span> profiler_span_;
};

}  // namespace aaco::importers::kineto
