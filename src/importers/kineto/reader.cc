#include "importers/kineto/reader.h"

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "importers/stream/json_skim.h"
#include "trace/silence.h"

namespace aaco::importers::kineto {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::size_t kMaxOpenRanges = 1'000'000;
constexpr std::int64_t kCpuDeviceType = 0;  // c10::DeviceType::CPU

constexpr const char* kNoTime = "no valid timestamp";
constexpr const char* kFlow = "flow events (rows carry their ids)";

}  // namespace

Reader::Reader(trace::Sink& sink, const Options& options, trace::Account& account)
    : sink_(sink),
      options_(options),
      account_(account),
      ids_(sink),
      host_rows_(options.rank, ids_, options.launched_kernels),
      late_(sink),
      links_(sink) {}

core::Status Reader::events(std::span<const TraceEvent> batch) {
  for (const TraceEvent& each : batch) event(each);
  return sink_.status();
}

void Reader::event(const TraceEvent& event) {
  if (event.phase.size() != 1) return drop("no phase");
  switch (event.phase.front()) {
    case 'X': return complete(event);
    case 'B': return begin(event);
    case 'E': return end(event);
    case 's':
    case 't':
    case 'f': return flow(event);
    case 'C': return counter(event);
    case 'i':
    case 'I':
    case 'R': return instant(event);
    case 'M': return metadata(event);
    case 'b':
    case 'e':
    case 'n': return drop("asynchronous ranges");
    default: return drop("unused event phase");
  }
}

void Reader::complete(const TraceEvent& event) {
  const auto start = microseconds_to_ns(event.timestamp);
  if (!start) return drop(kNoTime);
  if (event.duration.empty()) return drop("no duration");
  const auto duration = microseconds_to_ns(event.duration);
  if (!duration) return drop("invalid duration");
  if (*duration < 0) return drop("negative duration");
  Span span{*start, 0};
  if (__builtin_add_overflow(*start, *duration, &span.end_ns)) return drop("timestamp out of range");
  const Category category =
      event.category.empty() && !gpu_processes_.empty() ? category_without_words(event) : category_of(event.category);
  switch (category) {
    case Category::kernel:
    case Category::copy:
    case Category::memset: return device_work(event, category, span);
    case Category::python:
      ++python_frames_;
      quiet_.add_frame(numbers_.number(event.process), numbers_.number(event.thread), span);
      if (!options_.python_functions && *duration < kLongFrameNs) return drop("Python function frames");
      return host_work(event, category, span);
    case Category::gpu_annotation: return drop("GPU annotation ranges (their kernels are kept)");
    case Category::synchronisation: return drop("device synchronisation records");
    case Category::overhead: overhead_ns_ += *duration; return host_work(event, category, span);
    case Category::profiler_span: profiler_span_ = span; return drop("profiler range (in env.json)");
    case Category::flow:
    case Category::other_flow:
    case Category::runtime:
    case Category::driver:
    case Category::operation:
    case Category::annotation:
    case Category::other: return host_work(event, category, span);
  }
}

void Reader::metadata(const TraceEvent& event) {
  constexpr std::size_t kMaxGpus = 4096;
  drop("process and thread names");
  if (event.name != "process_name") return;
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    const std::string_view name = unquoted(raw);
    if (key != "name" || !name.starts_with("GPU") || gpu_processes_.size() >= kMaxGpus) return;
    if (const auto number = token_i64(name.substr(3))) gpu_processes_.insert_or_assign(std::string(event.process), *number);
  });
}

Category Reader::category_without_words(const TraceEvent& event) const {
  if (!gpu_processes_.contains(event.process))
    return event.name.starts_with("hip") || event.name.starts_with("hsa") ? Category::runtime : Category::other;
  std::string_view kind;
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    if (key == "desc") kind = unquoted(raw);
  });
  if (kind.starts_with("Copy")) return Category::copy;
  if (kind.starts_with("Fill")) return Category::memset;
  if (kind.starts_with("Barrier") || kind.starts_with("Marker")) return Category::synchronisation;
  return Category::kernel;
}

void Reader::device_work(const TraceEvent& event, Category category, Span span) {
  keep();
  if (category == Category::copy) host_memory_.add(event.name, span.end_ns - span.start_ns);
  const auto gpu = gpu_processes_.empty() ? gpu_processes_.end() : gpu_processes_.find(event.process);
  if (event.category.empty() && gpu != gpu_processes_.end()) {
    if (category != Category::kernel) {
      trace::CopyRow row = copy_row(event, span, options_.rank, category == Category::memset, ids_);
      row.device = gpu->second;
      return links_.add(event, row);
    }
    trace::KernelRow row = kernel_row(event, span, options_.rank, ids_);
    row.device = gpu->second;
    if (const auto collective = collective_row(event, row, ids_)) sink_.add(*collective);
    return links_.add(event, row);
  }
  if (category != Category::kernel) {
    sink_.add(copy_row(event, span, options_.rank, category == Category::memset, ids_));
    return;
  }
  const trace::KernelRow row = kernel_row(event, span, options_.rank, ids_);
  if (row.correlation_id == 0)
    late_.add(event, row);
  else
    sink_.add(row);
  if (const auto collective = collective_row(event, row, ids_)) sink_.add(*collective);
}

void Reader::host_work(const TraceEvent& event, Category category, Span span) {
  keep();
  if (event.name.starts_with(kStepPrefix)) {
    category = Category::annotation;  // an operator in the traces of 2021
    step(event.name, span);
  }
  const trace::ApiCallRow row = host_rows_.row(event, category, span);
  const bool launches = category == Category::runtime || category == Category::driver;
  if (launches && event.category.empty()) return links_.add(row);
  if (launches && row.correlation_id == 0)
    late_.add(event, row);
  else
    sink_.add(row);
}

void Reader::step(std::string_view name, Span span) {
  const auto number = token_i64(name.substr(kStepPrefix.size()));
  if (!number) return;
  const auto [known, added] = steps_.try_emplace(*number, Step{span.start_ns, span.end_ns});
  if (!added && span.end_ns - span.start_ns > known->second.end_ns - known->second.start_ns)
    known->second = {span.start_ns, span.end_ns};
}

void Reader::begin(const TraceEvent& event) {
  const auto start = microseconds_to_ns(event.timestamp);
  if (!start) return drop(kNoTime);
  if (open_count_ >= kMaxOpenRanges) return drop("too many open ranges");
  const trace::ApiCallRow row = host_rows_.row(event, category_of(event.category), {*start, *start});
  open_[{row.process_id, row.thread_id}].push_back(row);
  ++open_count_;
}

void Reader::end(const TraceEvent& event) {
  const auto end_ns = microseconds_to_ns(event.timestamp);
  if (!end_ns) return drop(kNoTime);
  const trace::ApiCallRow place = host_rows_.row(event, Category::other, {*end_ns, *end_ns});
  const auto open = open_.find({place.process_id, place.thread_id});
  if (open == open_.end() || open->second.empty()) return drop("end event without begin event");
  trace::ApiCallRow row = open->second.back();
  open->second.pop_back();
  --open_count_;
  if (*end_ns < row.start_ns) {
    drop("negative duration");
    return drop("negative duration");
  }
  row.end_ns = *end_ns;
  sink_.add(row);
  keep();  // the begin
  keep();  // and the end
}

void Reader::counter(const TraceEvent& event) {
  const auto time = microseconds_to_ns(event.timestamp);
  if (!time) return drop(kNoTime);
  bool any = false;
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    const auto value = core::parse_f64(unquoted(raw));
    if (!value || !std::isfinite(*value)) return;
    trace::SystemEventRow row;
    row.rank = options_.rank;
    row.time_ns = *time;
    row.metric = ids_.name(event.name);
    row.entity = ids_.name(key);
    row.value = *value;
    sink_.add(row);
    any = true;
  });
  if (any)
    keep();
  else
    drop("counter without a numeric value");
}

// "[memory]" events carry what the framework's allocator holds on a device after each call.
void Reader::instant(const TraceEvent& event) {
  if (event.name != "[memory]") return drop("instant events");
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> type;
  std::optional<double> allocated;
  std::optional<double> reserved;
  for_each_member(event.args, [&](std::string_view key, std::string_view value) {
    if (key == "Device Id")
      device = token_i64(value);
    else if (key == "Device Type")
      type = token_i64(value);
    else if (key == "Total Allocated")
      allocated = core::parse_f64(value);
    else if (key == "Total Reserved")
      reserved = core::parse_f64(value);
  });
  const auto time = microseconds_to_ns(event.timestamp);
  if (!time) return drop(kNoTime);
  if (!device || *device < 0 || !type || *type == kCpuDeviceType) return drop("host memory events");
  const auto add = [&](std::string_view metric, std::optional<double> value) {
    if (value && std::isfinite(*value))
      sink_.add(trace::GpuEventRow{options_.rank, *time, *device, ids_.name(metric), ids_.name("kineto.memory"), *value});
  };
  add("gpu.allocator_used_bytes", allocated);
  add("gpu.allocator_reserved_bytes", reserved);
  keep();
}

void Reader::flow(const TraceEvent& event) {
  if (event.category == "api_op" && !links_.empty()) {
    const auto time = microseconds_to_ns(event.timestamp);
    const trace::ApiCallRow place = host_rows_.row(event, Category::other, {0, 0});
    return time && links_.arrow(event, *time, place.process_id, place.thread_id) ? keep() : drop(kFlow);
  }
  if (category_of(event.category) == Category::flow && late_.arrow(event)) return keep();
  drop(kFlow);
}

void Reader::write_steps() {
  std::vector<std::pair<std::int64_t, Step>> steps(steps_.begin(), steps_.end());
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second.start_ns < b.second.start_ns; });
  // Numbers that are missing are steps that were not recorded.
  std::int64_t iteration = 0, before = steps.empty() ? 0 : steps.front().first;
  for (const auto& [number, step] : steps) {
    if (number != before) iteration += std::max<std::int64_t>(1, number - before);
    before = number;
    trace::IterationRow row;
    row.rank = options_.rank;
    row.iteration = iteration;
    row.phase = ids_.name("step");
    row.start_ns = step.start_ns;
    row.duration_ns = step.end_ns - step.start_ns;
    sink_.add(row);
  }
}

void Reader::write_quiet_times() {
  quiet_.each([&](std::int64_t process, std::int64_t thread, Span span) {
    trace::ApiCallRow row;
    row.rank = options_.rank;
    row.domain = ids_.name("python");
    row.name = ids_.name(trace::kNoPythonFrame);
    row.process_id = process;
    row.thread_id = thread;
    row.start_ns = span.start_ns;
    row.end_ns = span.end_ns;
    sink_.add(row);
  });
}

void Reader::finish(core::Json& facts) {
  late_.flush();
  links_.flush();
  write_steps();
  write_quiet_times();
  if (open_count_ > 0) dropped_["unterminated begin event"] += static_cast<std::int64_t>(open_count_);
  account_.keep(kept_);
  for (const auto& [reason, count] : dropped_) account_.drop(reason, count);
  if (late_.given() > 0)
    account_.notes.push_back(std::to_string(late_.given()) + " rows took their correlation id from a flow event");
  if (host_rows_.arguments_left_out() > 0)
    account_.notes.push_back("arguments of " + std::to_string(host_rows_.arguments_left_out()) +
                             " calls were dropped: too many distinct values");
  host_memory_.write(facts);
  if (overhead_ns_ > 0) facts.set("profiler_overhead_ns", overhead_ns_);
  if (python_frames_ > 0) facts.set("python_frames", python_frames_);
  if (profiler_span_) {
    facts.set("profiler_start_ns", profiler_span_->start_ns);
    facts.set("profiler_end_ns", profiler_span_->end_ns);
  }
}

}  // namespace aaco::importers::kineto
