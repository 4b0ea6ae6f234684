#include "tracelake/perfetto/session_timeline.h"

#include <algorithm>
#include <array>
#include <vector>

#include "trace/api_domains.h"
#include "tracelake/lake.h"
#include "tracelake/perfetto/track_set.h"

namespace aaco::tracelake::perfetto {
namespace {

using Overlap = Lanes::Overlap;

std::int64_t end_of(const trace::NodeExecutionRow& row) { return row.start_ns + row.duration_ns; }
std::int64_t end_of(const trace::ApiCallRow& row) { return row.end_ns; }
std::int64_t end_of(const trace::KernelRow& row) { return row.end_ns; }
std::int64_t end_of(const trace::CopyRow& row) { return row.end_ns; }
std::int64_t end_of(const trace::CollectiveRow& row) { return row.end_ns; }
std::int64_t end_of(const trace::GapRow& row) { return row.end_ns; }

// Calls visit(row, names) for each row of a table, by start and, of those that start together, the longest first. Names live for
// one batch, so that a table with ever new texts takes no more memory than one without.
template <class Row, class Visit>
core::Status for_each_row(const std::string& session_path, const Visit& visit) {
  trace::NameTable names;
  return scan_table<Row>(session_path, names, [&](std::span<const Row> rows) -> core::Status {
    std::vector<const Row*> order;
    order.reserve(rows.size());
    for (const Row& row : rows) order.push_back(&row);
    if constexpr (requires(const Row& row) { end_of(row); })
      std::stable_sort(order.begin(), order.end(), [](const Row* a, const Row* b) {
        return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : end_of(*a) > end_of(*b);
      });
    for (const Row* row : order) visit(*row, std::as_const(names));
    names = trace::NameTable();
    return {};
  });
}

// Joins a launch to what it launched.
std::uint64_t flow_of(std::int64_t rank, std::uint64_t correlation_id) {
  return correlation_id == 0 ? 0 : correlation_id + (static_cast<std::uint64_t>(rank) << 48);
}

class Arguments {
 public:
  Arguments& add(std::string_view name, std::optional<std::int64_t> value) {
    if (value) items_.push_back({name, *value});
    return *this;
  }
  Arguments& add(std::string_view name, std::string_view value) {
    if (!value.empty()) items_.push_back({name, value});
    return *this;
  }
  [[nodiscard]] std::span<const Argument> items() const { return items_; }

 private:
  std::vector<Argument> items_;
};

// Where device work ran and which call launched it, so that an import of the export finds both again.
void place(Arguments& arguments, const auto& row) {
  arguments.add("device", row.device).add("stream", row.stream);
  if (row.correlation_id != 0) arguments.add("correlation", static_cast<std::int64_t>(row.correlation_id));
}

class SessionTimeline {
 public:
  SessionTimeline(const std::string& path, const trace::SessionManifest& manifest, TimelineWriter& writer)
      : path_(path), manifest_(manifest), tracks_(writer, account_) {
    account_.source = "export";
  }
  core::Result<trace::Account> write();

 private:
  core::Status model();
  core::Status api_calls();
  core::Status kernels();
  core::Status copies();
  core::Status collectives();
  core::Status gaps();
  core::Status scheduler();
  core::Status telemetry();
  core::Status requests();
  void request(const trace::LlmRequestRow& row, std::int64_t lane, const trace::NameTable& names);
  void queue_depth();
  void iteration(const trace::IterationRow& row, const trace::NameTable& names);
  void node(const trace::NodeExecutionRow& row, const trace::NameTable& names);
  TrackId model_process(std::int64_t rank);
  TrackId device_group(std::int64_t rank, std::int64_t device) { return tracks_.group(TrackSet::Group::device, rank, device); }

  const std::string& path_;
  const trace::SessionManifest& manifest_;
  trace::Account account_;
  TrackSet tracks_;
};

core::Result<trace::Account> SessionTimeline::write() {
  for (const auto part : {&SessionTimeline::model, &SessionTimeline::api_calls, &SessionTimeline::kernels,
                          &SessionTimeline::copies, &SessionTimeline::collectives, &SessionTimeline::gaps,
                          &SessionTimeline::scheduler, &SessionTimeline::telemetry, &SessionTimeline::requests})
    AACO_TRY((this->*part)());
  queue_depth();
  tracks_.close();
  return account_;
}

// The process that ran the model has no number in the tables; the rank gives it one.
TrackId SessionTimeline::model_process(std::int64_t rank) {
  return tracks_.process(rank, 1, [this] {
    const std::string_view model = manifest_.outcome.model;
    return manifest_.kind + (model.empty() ? "" : ": " + std::string(model));
  });
}

void SessionTimeline::iteration(const trace::IterationRow& row, const trace::NameTable& names) {
  Arguments arguments;
  arguments.add("iteration", row.iteration).add("block", row.block).add("disturbance", names.text(row.disturbance));
  const std::string_view phase = names.text(row.phase);
  const Slice slice{row.start_ns, row.start_ns + row.duration_ns, phase.empty() ? "iteration" : phase, "iteration",
                    arguments.items()};
  tracks_.thread_slice(row.rank, 1, 1, model_process(row.rank), "iterations", slice);
}

void SessionTimeline::node(const trace::NodeExecutionRow& row, const trace::NameTable& names) {
  Arguments arguments;
  arguments.add("op_type", names.text(row.op_type)).add("provider", names.text(row.provider)).add("thread", row.thread_id);
  arguments.add("input_shapes", names.text(row.input_shapes)).add("output_shapes", names.text(row.output_shapes));
  const std::string_view name = names.text(row.node_name);
  const Slice slice{row.start_ns, end_of(row), name.empty() ? names.text(row.op_type) : name, "node", arguments.items()};
  tracks_.thread_slice(row.rank, 1, 1, model_process(row.rank), "iterations", slice);
}

// Iterations are few and are held; the nodes of the profiled ones come in between, so that they nest.
core::Status SessionTimeline::model() {
  if (manifest_.kind == "llm") return {};  // its iterations are its requests
  trace::NameTable names;
  AACO_ASSIGN(const auto iterations, read_table<trace::IterationRow>(path_, names));
  auto next = iterations.begin();
  AACO_TRY(for_each_row<trace::NodeExecutionRow>(path_, [&](const trace::NodeExecutionRow& row, const trace::NameTable& texts) {
    for (; next != iterations.end() && next->start_ns <= row.start_ns; ++next) iteration(*next, names);
    node(row, texts);
  }));
  for (; next != iterations.end(); ++next) iteration(*next, names);
  return {};
}

core::Status SessionTimeline::api_calls() {
  return for_each_row<trace::ApiCallRow>(path_, [&](const trace::ApiCallRow& row, const trace::NameTable& names) {
    Arguments arguments;
    arguments.add("arguments", names.text(row.arguments));
    if (row.correlation_id != 0) arguments.add("correlation", static_cast<std::int64_t>(row.correlation_id));
    const std::string_view domain = names.text(row.domain);
    Slice slice{row.start_ns, row.end_ns, names.text(row.name), domain, arguments.items()};
    if (trace::is_gpu_runtime(domain)) slice.flow = flow_of(row.rank, row.correlation_id);
    const TrackId process =
        tracks_.process(row.rank, row.process_id, [&row] { return "process " + std::to_string(row.process_id); });
    tracks_.thread_slice(row.rank, row.process_id, row.thread_id, process, "thread " + std::to_string(row.thread_id), slice);
  });
}

core::Status SessionTimeline::kernels() {
  return for_each_row<trace::KernelRow>(path_, [&](const trace::KernelRow& row, const trace::NameTable& names) {
    Arguments arguments;
    arguments.add("grid_x", row.grid_x).add("grid_y", row.grid_y).add("grid_z", row.grid_z);
    arguments.add("block_x", row.block_x).add("block_y", row.block_y).add("block_z", row.block_z);
    arguments.add("lds_bytes", row.lds_bytes).add("vgpr_count", row.vgpr_count);
    place(arguments, row);
    const Slice slice{
        row.start_ns, row.end_ns, names.text(row.name), "kernel", arguments.items(), flow_of(row.rank, row.correlation_id), true};
    tracks_.slice(device_group(row.rank, row.device), row.stream * 4, Overlap::spread, slice,
                  [&row] { return "stream " + std::to_string(row.stream); });
  });
}

core::Status SessionTimeline::copies() {
  return for_each_row<trace::CopyRow>(path_, [&](const trace::CopyRow& row, const trace::NameTable& names) {
    Arguments arguments;
    arguments.add("bytes", row.bytes).add("source_device", row.source_device).add("target_device", row.target_device);
    place(arguments, row);
    const Slice slice{
        row.start_ns, row.end_ns, names.text(row.kind), "copy", arguments.items(), flow_of(row.rank, row.correlation_id), true};
    tracks_.slice(device_group(row.rank, row.device), row.stream * 4 + 1, Overlap::spread, slice,
                  [&row] { return "stream " + std::to_string(row.stream) + ": copies"; });
  });
}

core::Status SessionTimeline::collectives() {
  return for_each_row<trace::CollectiveRow>(path_, [&](const trace::CollectiveRow& row, const trace::NameTable& names) {
    Arguments arguments;
    arguments.add("bytes", row.bytes)
        .add("group_size", row.group_size)
        .add("data_type", names.text(row.data_type))
        .add("group", names.text(row.group));
    const Slice slice{row.start_ns, row.end_ns, names.text(row.operation), "collective", arguments.items()};
    tracks_.slice(device_group(row.rank, row.device), row.stream * 4 + 2, Overlap::spread, slice,
                  [&row] { return "stream " + std::to_string(row.stream) + ": collectives"; });
  });
}

core::Status SessionTimeline::gaps() {
  constexpr std::int64_t kTrack = 3;  // streams take four numbers each, the fourth is free
  return for_each_row<trace::GapRow>(path_, [&](const trace::GapRow& row, const trace::NameTable& names) {
    Arguments arguments;
    arguments.add("evidence", names.text(row.evidence))
        .add("previous", names.text(row.previous))
        .add("next", names.text(row.next));
    const Slice slice{row.start_ns, row.end_ns, names.text(row.cause), "idle", arguments.items()};
    tracks_.slice(device_group(row.rank, row.device), kTrack, Overlap::spread, slice, [] { return "idle time by cause"; });
  });
}

core::Status SessionTimeline::scheduler() {
  return for_each_row<trace::SchedEventRow>(path_, [&](const trace::SchedEventRow& row, const trace::NameTable& names) {
    Arguments arguments;
    arguments.add("call", names.text(row.call)).add("other_thread_id", row.other_thread_id).add("bytes", row.bytes);
    if (row.cpu >= 0) arguments.add("cpu", row.cpu);
    // A row shows the states of its thread one after another: "run", "run_queue: preempted", "off_cpu: sleep".
    std::string title(names.text(row.kind));
    if (const auto detail = names.text(row.detail); !detail.empty()) title += ": " + std::string(detail);
    const Slice slice{row.time_ns, row.time_ns + row.duration_ns, title, "scheduler", arguments.items()};
    tracks_.slice(tracks_.group(TrackSet::Group::scheduler, row.rank), row.thread_id, Overlap::nest, slice, [&row, &names] {
      const auto name = names.text(row.thread_name);
      return (name.empty() ? "thread" : std::string(name)) + " " + std::to_string(row.thread_id);
    });
  });
}

core::Status SessionTimeline::telemetry() {
  AACO_TRY(for_each_row<trace::SystemEventRow>(path_, [&](const trace::SystemEventRow& row, const trace::NameTable& names) {
    const std::string_view metric = names.text(row.metric);
    const std::string_view entity = names.text(row.entity);
    const std::string name = std::string(metric) + (entity.empty() ? "" : " " + std::string(entity));
    tracks_.counter(tracks_.group(TrackSet::Group::host, row.rank), name, metric, row.time_ns, row.value);
  }));
  return for_each_row<trace::GpuEventRow>(path_, [&](const trace::GpuEventRow& row, const trace::NameTable& names) {
    const std::string_view metric = names.text(row.metric);
    tracks_.counter(device_group(row.rank, row.device), std::string(metric) + " " + std::string(names.text(row.source)), metric,
                    row.time_ns, row.value);
  });
}

// A request and its parts: the client's own queue, then until the first token, then the tokens.
void SessionTimeline::request(const trace::LlmRequestRow& row, std::int64_t lane, const trace::NameTable& names) {
  const TrackId group = tracks_.group(TrackSet::Group::requests, row.rank);
  const auto add = [&](std::int64_t start_ns, std::int64_t end_ns, std::string_view name, const Arguments& arguments) {
    tracks_.slice(group, lane, Overlap::nest, {start_ns, end_ns, name, "request", arguments.items()},
                  [lane] { return "open request " + std::to_string(lane + 1); });
  };
  Arguments arguments;
  arguments.add("request", row.request).add("load", names.text(row.load)).add("phase", names.text(row.phase));
  arguments.add("outcome", names.text(row.outcome)).add("detail", names.text(row.detail));
  arguments.add("prompt_tokens", row.prompt_tokens).add("output_tokens", row.output_tokens).add("conversation", row.conversation);
  const std::string_view outcome = names.text(row.outcome);
  const std::string title = "request " + std::to_string(row.request) + (outcome == "ok" ? "" : ": " + std::string(outcome));
  add(row.scheduled_ns, row.end_ns, title, arguments);
  const Arguments none;
  if (row.sent_ns && *row.sent_ns > row.scheduled_ns) {
    const bool resent = row.retries > 0 || row.reconnects > 0;
    add(row.scheduled_ns, *row.sent_ns, resent ? "client queue and failed attempts" : "client queue", none);
  }
  if (row.sent_ns && row.first_token_ns) add(*row.sent_ns, *row.first_token_ns, "to first token", none);
  if (row.first_token_ns && row.last_token_ns && *row.last_token_ns > *row.first_token_ns)
    add(*row.first_token_ns, *row.last_token_ns, "tokens", none);
}

// Each request gets the lowest row that is free when it is due.
core::Status SessionTimeline::requests() {
  constexpr std::size_t kMaxOpen = 1024;
  std::vector<std::int64_t> free_from;  // of each row
  return for_each_row<trace::LlmRequestRow>(path_, [&](const trace::LlmRequestRow& row, const trace::NameTable& names) {
    auto lane = std::find_if(free_from.begin(), free_from.end(), [&](std::int64_t time) { return time <= row.scheduled_ns; });
    if (lane == free_from.end()) {
      if (free_from.size() == kMaxOpen) return account_.drop("more than " + std::to_string(kMaxOpen) + " open requests");
      lane = free_from.insert(free_from.end(), 0);
    }
    *lane = row.end_ns;
    request(row, lane - free_from.begin(), names);
  });
}

// How many kernels a device had been given and not finished: the analysis keeps the series in the manifest.
void SessionTimeline::queue_depth() {
  for (const core::Json& gpu : manifest_.outcome.gpu["gpus"].items()) {
    const auto origin = gpu["queue_depth"]["origin_ns"].as_i64(), bucket = gpu["queue_depth"]["bucket_ns"].as_i64();
    const auto rank = gpu["rank"].as_i64(), device = gpu["device"].as_i64();
    if (!origin || !bucket || !rank || !device) continue;
    std::int64_t time = *origin;
    for (const core::Json& depth : gpu["queue_depth"]["depth"].items()) {
      if (const auto value = depth.as_f64())
        tracks_.counter(device_group(*rank, *device), "launched kernels not yet finished", "launch.queue_depth_mean", time,
                        *value);
      if (__builtin_add_overflow(time, *bucket, &time)) break;
    }
  }
}

}  // namespace

core::Result<trace::Account> write_session(const std::string& session_path, const trace::SessionManifest& manifest,
                                           TimelineWriter& writer) {
  return SessionTimeline(session_path, manifest, writer).write();
}

}  // namespace aaco::tracelake::perfetto
