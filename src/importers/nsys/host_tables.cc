#include <array>

#include "importers/nsys/reader.h"
#include "importers/stream/tokens.h"

// What happened on host threads.
namespace aaco::importers::nsys {
namespace {

constexpr std::size_t kMostThreads = 100'000;
constexpr std::size_t kMostNodes = 1'000'000;  // of graphs
constexpr int kMostCopies = 16;                // of a copy of a copy

// Of NVTX_EVENTS.eventType.
constexpr std::int64_t kMark = 34;
constexpr std::int64_t kPushPopRange = 59;
constexpr std::int64_t kStartEndRange = 60;

// "cudaLaunchKernel_v7000" is cudaLaunchKernel of CUDA 7; the 2 of "cuMemFree_v2" belongs to the name.
std::string_view without_version(std::string_view name) {
  const auto digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits < 1 || name.size() - digits < 5) return name;
  return name[digits] == 'v' && name[digits - 1] == '_' ? name.substr(0, digits - 1) : name;
}

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
  for (const auto& [table, domain] :
       {std::pair("CUDNN_EVENTS", "cudnn"), std::pair("CUBLAS_EVENTS", "cublas"), std::pair("NCCL_EVENTS", "nccl"),
        std::pair("OSRT_API", "os"), std::pair("PROFILER_OVERHEAD", "profiler_overhead")})
    AACO_TRY(read_library_calls(table, domain));
  AACO_TRY(read_graph_nodes());
  AACO_TRY(read_schedule());
  note_unread_tables();
  return {};
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
      const auto [api, fresh] = apis_.try_emplace(row.integer(4).value_or(-1));
      if (fresh) {
        const std::string& text = strings_.text(row.integer(4));
        api->second = {sink_.name(text.starts_with("cuda") ? "cuda_runtime" : "cuda_driver"), sink_.name(without_version(text))};
      }
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

core::Status Reader::read_library_calls(const char* table, const char* domain) {
  const trace::NameId domain_name = sink_.name(domain);
  return scan_.table(table, {"start", "end", "globalTid", "nameId"}, [&](const Rows& row) {
    const auto span = scan_.span(row, 0, 1);
    if (!span) return;
    trace::ApiCallRow call;
    call.start_ns = span->start_ns;
    call.end_ns = span->end_ns;
    call.domain = domain_name;
    call.name = strings_.name(row.integer(3), sink_);
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
    return scan_.account().drop("an NVTX event that is no range or mark");
  const auto span = scan_.span(row, 0, type == kMark ? 0 : 1);
  if (!span) return;
  std::string text = row.text(4).empty() ? strings_.text(row.integer(5)) : clean_utf8(row.text(4));
  const bool is_operator = text.starts_with("aten::");
  if (is_operator) text.resize(std::min(text.size(), text.find(',')));
  trace::ApiCallRow range;
  range.domain = sink_.name(is_operator ? "cpu_op" : "marker");
  range.name = sink_.name(text);
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
        if (!number || *number == 0) return scan_.account().drop("a graph node without a number");
        if (nodes.size() >= kMostNodes) return scan_.account().drop("more graph nodes than are kept");
        const auto span = scan_.span(row, 0, 1);
        if (!span) return;
        const auto [place, fresh] = nodes.try_emplace(*number);
        if (!fresh) return scan_.account().drop("a graph node that was made twice");
        place->second = {span->start_ns, span->end_ns, row.integer(3).value_or(-1), row.integer(2), row.id(5).value_or(0)};
      }));
  const trace::NameId domain = sink_.name("graph_node");
  for (const auto& [number, node] : nodes) {
    const Node* root = &node;
    for (int step = 0; step < kMostCopies && root->original != 0; ++step) {
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
      else if (running.size() < kMostThreads)
        running.emplace(*thread, Run{*time, row.integer(1).value_or(-1)});
      return;
    }
    if (place == running.end() || place->second.start_ns > *time) return scan_.account().drop("scheduled out, and never in");
    scan_.account().keep();
    trace::SchedEventRow event;
    event.rank = rank(thread);
    event.time_ns = place->second.start_ns;
    event.duration_ns = *time - place->second.start_ns;
    event.kind = run;
    event.cpu = place->second.cpu;
    event.process_id = process_of(*thread);
    event.thread_id = thread_of(*thread);
    sink_.add(event);
    running.erase(place);
  }));
  return {};
}

void Reader::note_unread_tables() {
  constexpr std::array<const char*, 7> kUnread = {"GPU_METRICS",
                                                  "COMPOSITE_EVENTS",
                                                  "GENERIC_EVENTS",
                                                  "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                                  "SAMPLING_CALLCHAINS",
                                                  "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                                  "CUDA_UM_GPU_PAGE_FAULT_EVENTS"};
  std::string list;
  for (const char* table : kUnread)
    if (const auto count = scan_.database().count(table); count && *count > 0)
      list.append(list.empty() ? "" : ", ").append(table).append(" (").append(std::to_string(*count)).append(" rows)");
  if (!list.empty()) scan_.account().notes.push_back("not read: " + list);
}

}  // namespace aaco::importers::nsys
