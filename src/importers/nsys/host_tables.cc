#include <algorithm>
#include <array>

#include "importers/database/unread_tables.h"
#include "importers/nsys/reader.h"
#include "importers/stream/gpu_names.h"
#include "importers/stream/tokens.h"

// What happened on host threads.
namespace aaco::importers::nsys {
namespace {

constexpr std::size_t kMaxThreads = 100'000;
constexpr std::size_t kMaxNodes = 1'000'000;  // of graphs
constexpr int kMaxCopies = 16;                // of a copy of a copy

// Of NVTX_EVENTS.eventType.
constexpr std::int64_t kMark = 34;
constexpr std::int64_t kPushPopRange = 59;
constexpr std::int64_t kStartEndRange = 60;

// Tables of calls, and the domain of each.
constexpr std::array<std::pair<const char*, const char*>, 5> kLibraries = {{{"CUDNN_EVENTS", "cudnn"},
                                                                            {"CUBLAS_EVENTS", "cublas"},
                                                                            {"NCCL_EVENTS", "nccl"},
                                                                            {"OSRT_API", "os"},
                                                                            {"PROFILER_OVERHEAD", "profiler_overhead"}}};
constexpr std::array<const char*, 4> kMpi = {"MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS",
                                             "MPI_OTHER_EVENTS"};

}  // namespace

Reader::Reader(TableScan& scan, const ProcessRanks& ranks)
    : scan_(scan),
      sink_(scan.sink()),
      ranks_(ranks),
      strings_(scan.database(), "StringIds", "id", "value"),
      kernels_(scan.sink()) {}

core::Status Reader::read() {
  AACO_TRY(read_kernels());
  AACO_TRY(read_graphs());
  AACO_TRY(read_copies(false));
  AACO_TRY(read_copies(true));
  AACO_TRY(read_calls());
  AACO_TRY(read_ranges());
  for (const auto& [table, domain] : kLibraries) AACO_TRY(read_library_calls(table, domain, "nameId"));
  for (const char* table : kMpi) AACO_TRY(read_library_calls(table, "mpi", "textId"));
  AACO_TRY(read_graph_nodes());
  AACO_TRY(read_schedule());
  AACO_TRY(read_allocations());
  AACO_TRY(read_metrics());
  drop_unread();
  return {};
}

trace::NameId Reader::name(std::optional<std::int64_t> id, std::string_view what) {
  const trace::NameId known = strings_.name(id, sink_);
  if (known != trace::NameId()) return known;
  return sink_.name(id ? std::string(what) + ' ' + std::to_string(*id) : std::string(what));
}

std::int32_t Reader::rank(std::optional<std::int64_t> global_process) const {
  return global_process ? ranks_.rank(process_of(*global_process)) : 0;
}

std::uint64_t Reader::correlation(std::optional<std::int64_t> global_process, std::optional<std::uint64_t> id) const {
  if (!id) return 0;
  return global_process ? ranks_.correlation(process_of(*global_process), *id) : *id;
}

void Reader::add_call(trace::ApiCallRow call, std::optional<std::int64_t> global_thread) {
  call.rank = rank(global_thread);
  if (global_thread) {
    call.process_id = process_of(*global_thread);
    call.thread_id = thread_of(*global_thread);
  }
  scan_.account().keep();
  sink_.add(call);
}

core::Status Reader::read_calls() {
  for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"})
    AACO_TRY(scan_.table(table, {"start", "end", "globalTid", "correlationId", "nameId"}, [&](const Rows& row) {
      const auto span = scan_.span(row, 0, 1);
      if (!span) return;
      const bool driver_table = std::string_view(table).ends_with("DRIVER");
      const auto [api, fresh] = apis_.try_emplace({row.integer(4).value_or(-1), driver_table});
      if (fresh) {
        const std::string& text = strings_.text(row.integer(4));
        const bool driver = text.empty() ? driver_table : !text.starts_with("cuda");
        api->second = {sink_.name(driver ? "cuda_driver" : "cuda_runtime"),
                       text.empty() ? name(row.integer(4), "call") : sink_.name(call_without_version(text))};
      }
      ++call_count_;
      trace::ApiCallRow call;
      call.start_ns = span->start_ns;
      call.end_ns = span->end_ns;
      call.domain = api->second.first;
      call.name = api->second.second;
      call.correlation_id = correlation(row.integer(2), row.id(3));
      add_call(call, row.integer(2));
    }));
  return {};
}

core::Status Reader::read_library_calls(const char* table, const char* domain, const char* name_column) {
  const trace::NameId domain_name = sink_.name(domain);
  return scan_.table(table, {"start", "end", "globalTid", name_column}, [&](const Rows& row) {
    const auto span = scan_.span(row, 0, 1);
    if (!span) return;
    trace::ApiCallRow call;
    call.start_ns = span->start_ns;
    call.end_ns = span->end_ns;
    call.domain = domain_name;
    call.name = name(row.integer(3), "call");
    add_call(call, row.integer(2));
  });
}

core::Status Reader::read_ranges() {
  return scan_.table("NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "text", "textId"},
                     [&](const Rows& row) { add_range(row); });
}

// Ranges that PyTorch emits for its operators ("aten::mm, seq = 3, op_id = 7") are operators.
void Reader::add_range(const Rows& row) {
  const auto type = row.integer(2).value_or(kPushPopRange);
  if (type != kMark && type != kPushPopRange && type != kStartEndRange)
    return scan_.account().drop("NVTX event that is neither a range nor a mark");
  const auto span = scan_.span(row, 0, type == kMark ? 0 : 1);
  if (!span) return;
  std::string text = row.text(4).empty() ? strings_.text(row.integer(5)) : clean_utf8(row.text(4));
  const bool is_operator = text.starts_with("aten::");
  if (is_operator) text.resize(std::min(text.size(), text.find(',')));
  trace::ApiCallRow range;
  range.domain = sink_.name(is_operator ? "cpu_op" : "marker");
  range.name = text.empty() ? name(row.integer(5), "range") : sink_.name(text);
  range.start_ns = span->start_ns;
  range.end_ns = span->end_ns;
  add_call(range, row.integer(3));
}

// Where the kernels of graphs come from: a node is made within the range and on the thread that captured it. A copy of a node (of
// an instantiated graph) gets the time and thread of the node it was made from. external_id holds the node's number.
core::Status Reader::read_graph_nodes() {
  struct Node {
    std::int64_t start_ns = 0, end_ns = 0, name = 0;
    std::optional<std::int64_t> thread;
    std::uint64_t original = 0;
  };
  std::unordered_map<std::uint64_t, Node> nodes;
  AACO_TRY(scan_.table(
      "CUDA_GRAPH_NODE_EVENTS", {"start", "end", "globalTid", "nameId", "graphNodeId", "originalGraphNodeId"},
      [&](const Rows& row) {
        const auto number = row.id(4);
        if (!number || *number == 0) return scan_.account().drop("graph node without an id");
        if (nodes.size() >= kMaxNodes) return scan_.account().drop("graph node limit reached");
        const auto span = scan_.span(row, 0, 1);
        if (!span) return;
        const auto [place, fresh] = nodes.try_emplace(*number);
        if (!fresh) return scan_.account().drop("duplicate graph node");
        place->second = {span->start_ns, span->end_ns, row.integer(3).value_or(-1), row.integer(2), row.id(5).value_or(0)};
      }));
  const trace::NameId domain = sink_.name("graph_node");
  for (const auto& [number, node] : nodes) {
    const Node* root = &node;
    for (int step = 0; step < kMaxCopies && root->original != 0; ++step) {
      const auto original = nodes.find(root->original);
      if (original == nodes.end()) break;
      root = &original->second;
    }
    trace::ApiCallRow call;
    call.start_ns = root->start_ns;
    call.end_ns = root->end_ns;
    call.domain = domain;
    call.name = strings_.name(root->name, sink_);
    call.external_id = number;
    add_call(call, root->thread);
  }
  return {};
}

// A thread runs from where it is scheduled in to where it is scheduled out.
core::Status Reader::read_schedule() {
  struct Run {
    std::int64_t start_ns = 0, cpu = 0;
  };
  std::unordered_map<std::int64_t, Run> running;
  std::unordered_map<std::int64_t, std::int64_t> names;  // of threads
  if (scan_.database().has("SCHED_EVENTS", "start"))
    AACO_TRY(scan_.table("ThreadNames", {"globalTid", "nameId"}, [&](const Rows& row) {
      if (row.integer(0) && row.integer(1) && names.size() < kMaxThreads) names.try_emplace(*row.integer(0), *row.integer(1));
    }));
  const trace::NameId run = sink_.name("run");
  AACO_TRY(scan_.table("SCHED_EVENTS", {"start", "cpu", "isSchedIn", "globalTid"}, [&](const Rows& row) {
    const auto time = row.integer(0);
    const auto thread = row.integer(3);
    if (!time || *time < 0 || !thread) return scan_.account().drop(kRowWithoutTimes);
    const auto place = running.find(*thread);
    if (row.integer(2).value_or(0) != 0) {
      scan_.account().keep();
      if (place != running.end())
        place->second = {*time, row.integer(1).value_or(-1)};
      else if (running.size() < kMaxThreads)
        running.emplace(*thread, Run{*time, row.integer(1).value_or(-1)});
      return;
    }
    if (place == running.end() || place->second.start_ns > *time)
      return scan_.account().drop("scheduled-out event without a scheduled-in event");
    scan_.account().keep();
    trace::SchedEventRow event;
    event.rank = rank(thread);
    event.time_ns = place->second.start_ns;
    event.duration_ns = *time - place->second.start_ns;
    event.kind = run;
    event.cpu = place->second.cpu;
    event.process_id = process_of(*thread);
    event.thread_id = thread_of(*thread);
    if (const auto own = names.find(*thread); own != names.end()) event.thread_name = strings_.name(own->second, sink_);
    sink_.add(event);
    running.erase(place);
  }));
  return {};
}

void Reader::drop_unread() {
  constexpr const char* kSynchronisation = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
  if (const auto count = scan_.database().count(kSynchronisation); count && *count > 0)
    scan_.account().drop("device synchronisation records (the waiting calls are kept)", *count);
  constexpr std::array<std::string_view, 22> kRead = {"StringIds",
                                                      "PROCESSES",
                                                      "ProcessStreams",
                                                      "ThreadNames",
                                                      "DIAGNOSTIC_EVENT",
                                                      "MPI_RANKS",
                                                      "MPI_COMMUNICATORS",
                                                      "UCP_WORKERS",
                                                      "NVTX_EVENTS",
                                                      "SCHED_EVENTS",
                                                      "GPU_METRICS",
                                                      "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                                      "CUDA_GRAPH_NODE_EVENTS",
                                                      "CUPTI_ACTIVITY_KIND_KERNEL",
                                                      "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                      "CUPTI_ACTIVITY_KIND_MEMSET",
                                                      "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                      "CUPTI_ACTIVITY_KIND_DRIVER",
                                                      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                      kSynchronisation,
                                                      "GENERIC_EVENT_SOURCES",
                                                      "GENERIC_EVENT_TYPES"};
  drop_unread_tables(scan_, [&](std::string_view name) {
    for (const char* prefix : {"ENUM_", "TARGET_INFO_", "META_DATA_", "ANALYSIS_", "sqlite_"})
      if (name.starts_with(prefix)) return true;
    return std::find(kRead.begin(), kRead.end(), name) != kRead.end() ||
           std::any_of(kLibraries.begin(), kLibraries.end(), [&](const auto& each) { return name == each.first; }) ||
           std::find(kMpi.begin(), kMpi.end(), name) != kMpi.end();
  });
}

}  // namespace aaco::importers::nsys
