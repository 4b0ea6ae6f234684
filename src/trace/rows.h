#pragma once

#include <cstdint>
#include <optional>

#include "trace/names.h"

// The facts AACO keeps, one struct a table. Times are integer nanoseconds on the session's home clock (CLOCK_MONOTONIC for
// what AACO ran itself, the trace's own clock for imported traces; session.json says which). Sizes are bytes. Not measured is an
// empty optional, or the empty name. trace/tables.h gives each column's published name and meaning.
namespace aaco::trace {

// One call of the model, or one step of an imported trace.
struct IterationRow {
  std::int32_t rank = 0;
  std::int64_t iteration = 0;  // from 0 within its phase
  NameId phase;                // warmup, measure, measure_telemetry, profile, step
  std::int64_t block = 0;      // interleaved blocks with and without telemetry have a number each
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId disturbance;  // empty, or what disturbed it
  // What the operating system did meanwhile, by its scheduler's events: of the thread that calls the model, and of all threads
  // of its process together. Empty where nobody watched the scheduler.
  std::optional<std::int64_t> caller_run_queue_ns, caller_off_cpu_ns, process_run_queue_ns;
  std::optional<std::int64_t> page_faults, interrupt_ns, migrations;
  bool operator==(const IterationRow&) const = default;
};

// An interleaved block of the measuring loop as the kernel accounts for it: sums over the block, read between blocks, so that
// no call pays for it. `caller` is the thread that calls the model, `process` all threads of its process.
struct LoopBlockRow {
  std::int32_t rank = 0;
  NameId phase;  // measure, measure_telemetry
  std::int64_t block = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t call_count = 0;
  std::optional<std::int64_t> caller_cpu_ns, caller_wait_ns, process_cpu_ns, process_wait_ns, process_system_ns;
  std::optional<std::int64_t> minor_faults, major_faults, voluntary_switches, involuntary_switches, migrations;
  std::optional<std::int64_t> storage_bytes, throttled_ns, machine_busy_ns, allowed_busy_ns, steal_ns, iowait_ns, interrupts;
  std::optional<std::int64_t> softirqs, cpu_some_ns, memory_some_ns, memory_full_ns, io_some_ns, io_full_ns;
  std::optional<std::int64_t> thermal_throttles, caller_clock_hz, stops;
  bool operator==(const LoopBlockRow&) const = default;
};

// One execution of one graph node in the profiled pass.
struct NodeExecutionRow {
  std::int32_t rank = 0;
  std::int64_t iteration = 0;
  std::int64_t node_index = -1;  // ORT's index after optimisation, -1 unknown
  NameId node_name;
  NameId op_type;
  NameId provider;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t thread_id = 0;
  NameId input_shapes;   // JSON: [{"float":[1,3,224,224]}]
  NameId output_shapes;  // JSON
  std::optional<std::int64_t> activation_bytes;
  std::optional<std::int64_t> parameter_bytes;
  std::optional<std::int64_t> output_bytes;
  std::optional<double> thread_use_ratio;  // share of the pool's threads that worked in it
  bool operator==(const NodeExecutionRow&) const = default;
};

// One execution of a GPU kernel, whichever profiler saw it.
struct KernelRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t queue = 0;  // hardware queue, or -1
  std::int64_t stream = 0;
  NameId name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t correlation_id = 0;  // 0: none
  std::uint64_t external_id = 0;     // 0: none
  std::uint64_t dispatch_id = 0;
  std::uint64_t graph_node_id = 0;                        // CUDA/HIP graph node, 0: none
  std::optional<std::int64_t> grid_x, grid_y, grid_z;     // work-groups (blocks) in each direction
  std::optional<std::int64_t> block_x, block_y, block_z;  // work-items (threads) in a group
  std::optional<std::int64_t> lds_bytes, scratch_bytes, vgpr_count, sgpr_count;
  bool operator==(const KernelRow&) const = default;
};

// A call of a runtime API (HIP, HSA, CUDA), an operator of the framework, or a marker range, on a host thread.
struct ApiCallRow {
  std::int32_t rank = 0;
  NameId domain;  // hip, hsa, cuda_runtime, cuda_driver, cpu_op, marker, annotation, python, rccl
  NameId name;
  std::int64_t process_id = 0;
  std::int64_t thread_id = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t correlation_id = 0;
  std::uint64_t external_id = 0;
  NameId arguments;  // JSON, or empty
  bool operator==(const ApiCallRow&) const = default;
};

// A copy or a memset on a device.
struct CopyRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  NameId kind;  // h2d, d2h, d2d, p2p, h2h, memset, unknown
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> source_device, target_device;
  std::uint64_t correlation_id = 0;
  bool operator==(const CopyRow&) const = default;
};

// A collective operation; its kernel stands in the kernel table too.
struct CollectiveRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  NameId operation;  // all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send, recv, barrier
  NameId data_type;
  NameId group;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> group_size;
  std::uint64_t correlation_id = 0;
  bool operator==(const CollectiveRow&) const = default;
};

// A hardware counter's value for one dispatch.
struct KernelCounterRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::uint64_t dispatch_id = 0;
  NameId kernel_name;
  NameId counter;
  double value = 0;
  bool operator==(const KernelCounterRow&) const = default;
};

// A telemetry sample of the host: stamped when it was read.
struct SystemEventRow {
  std::int32_t rank = 0;
  std::int64_t time_ns = 0;
  NameId metric;  // "cpu.use_ratio", "process.rss_bytes": the units are in the name
  NameId entity;  // "cpu3", "pid 4711", "cgroup", or empty for the machine
  double value = 0;
  bool operator==(const SystemEventRow&) const = default;
};

// A telemetry sample of a GPU.
struct GpuEventRow {
  std::int32_t rank = 0;
  std::int64_t time_ns = 0;
  std::int64_t device = 0;
  NameId metric;  // "gpu.power_watts", "gpu.clock_hz"
  NameId source;  // "amdgpu.hwmon", "amdgpu.gpu_metrics", "nvml"
  double value = 0;
  bool operator==(const GpuEventRow&) const = default;
};

// A scheduler (or fault, interrupt, block I/O) event of the process tree under test.
struct SchedEventRow {
  std::int32_t rank = 0;
  std::int64_t time_ns = 0;
  NameId kind;  // run, run_queue, off_cpu, migrate, page_fault, irq, softirq, block_io, gpu_job, gpu_fence, gpu_buffer ...
  std::int64_t cpu = -1;
  std::int64_t process_id = 0;
  std::int64_t thread_id = 0;
  std::int64_t duration_ns = 0;
  NameId detail;
  NameId call;                                  // system call it was off its CPU in; empty: none, or unknown
  NameId thread_name;                           // empty: unknown
  std::optional<std::int64_t> other_thread_id;  // who woke it, or who took its CPU
  std::optional<std::int64_t> bytes;            // of block I/O
  bool operator==(const SchedEventRow&) const = default;
};

// A node of the model's graph as the runtime would execute it.
struct GraphNodeRow {
  std::int64_t node_index = 0;
  NameId node_name;
  NameId op_type;
  NameId domain;
  NameId provider;
  std::optional<double> flops;
  std::optional<std::int64_t> bytes_read;
  std::optional<std::int64_t> bytes_written;
  std::optional<std::int64_t> parameter_count;
  bool operator==(const GraphNodeRow&) const = default;
};

struct GraphEdgeRow {
  NameId tensor;
  std::int64_t source_node = -1;  // -1: a graph input
  std::int64_t target_node = -1;  // -1: a graph output
  NameId data_type;
  NameId shape;  // JSON
  bool operator==(const GraphEdgeRow&) const = default;
};

// What caused kernels: all executions of one kernel that one operator (or node) launched by one call, and how that is known.
struct AttributionRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  NameId node_name;      // graph node or innermost marker range; empty: unknown
  NameId operator_name;  // framework operator; empty: unknown
  NameId kernel_name;
  NameId launch;          // API function that launched it; empty: no launch in the trace
  NameId method;          // correlation, external_id, marker, capture_map, name_and_shape, name, graph_launch, launch_only, none
  double confidence = 0;  // that the operator or node is the cause, 0..1
  std::int64_t kernel_count = 0;
  std::int64_t kernel_sum_ns = 0;
  bool operator==(const AttributionRow&) const = default;
};

// All executions of one kernel on one device, with what its name says.
struct KernelGroupRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  NameId kernel_name;
  NameId family;
  NameId library;
  NameId parameters;  // JSON: what the name encodes, or empty
  std::int64_t kernel_count = 0;
  std::int64_t kernel_sum_ns = 0;
  std::int64_t kernel_min_ns = 0;
  std::int64_t kernel_max_ns = 0;
  bool operator==(const KernelGroupRow&) const = default;
};

// A time in which a device did nothing between two pieces of work, and why.
struct GapRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  NameId cause;     // host_late, launch_latency, synchronisation, copy, dependency, queue_empty, unknown
  NameId previous;  // work that ended last before it
  NameId next;      // work that ends it
  NameId evidence;  // host event that says so: a call, an operator; empty: none
  std::optional<std::int64_t> evidence_start_ns, evidence_end_ns;
  std::optional<std::int64_t> launch_start_ns, launch_end_ns;  // of the work that ends it
  // Of the thread that launched it, between the gap's beginning and the launch; empty: its scheduling was not recorded.
  std::optional<std::int64_t> host_run_queue_ns, host_off_cpu_ns;
  double confidence = 0;                      // 0..1
  NameId host_cause;                          // of data/gaps: what took most of the gap; empty: not looked for
  std::optional<std::int64_t> host_cause_ns;  // its part of the gap
  bool operator==(const GapRow&) const = default;
};

// Work of a kernel, or of an operator in one data type, by one source, and the rates it reached. No source, no row.
struct WorkRateRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  NameId subject, name, family;         // subject: kernel, operator
  NameId data_type, source;             // source: shapes, or the counters joined by " + "
  std::int64_t count = 0, time_ns = 0;  // executions of the kernel, or calls of the operator, with known work
  std::optional<double> flops, flops_per_s, bytes_per_s;
  std::optional<std::int64_t> bytes;
  NameId hardware;  // id of the hardware registry; empty: the trace's device is unknown
  std::optional<double> peak_flops_per_s, peak_bytes_per_s, flops_ratio, bytes_ratio;
  bool operator==(const WorkRateRow&) const = default;
};

// What follows from a collective operation on one rank: its bandwidths, and how long the rank waited for the last one.
struct CollectiveCallRow {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t instance = -1;  // of the operation over all ranks; -1: not matched between ranks
  NameId operation, group;
  std::optional<std::int64_t> group_size;
  std::int64_t rank_count = 1;  // ranks of this session that took part
  std::int64_t start_ns = 0, end_ns = 0;
  std::optional<std::int64_t> data_bytes, wait_ns;  // S of nccl-tests; from its arrival to the last arrival
  NameId wait_method, time_method;                  // arrival, duration; of the bandwidths: transfer, duration
  std::optional<double> algorithm_bytes_per_s, bus_bytes_per_s;
  bool operator==(const CollectiveCallRow&) const = default;
};

// What a node of the model's graph, with what runs in its kernel, should take on a device: of one execution.
struct EstimateRow {
  std::int32_t rank = 0;
  NameId hardware;   // id of the hardware registry
  NameId node_name;  // of the model's graph
  NameId aliases;    // JSON list: tensors that a kernel of it may be named after
  NameId op_type;
  NameId fused;  // JSON list: operators that run in its kernel
  NameId operator_class;
  NameId shape;  // for people
  NameId data_type;
  double repeat_count = 1;  // executions in one run of the graph
  double flops = 0;
  std::int64_t bytes = 0;
  std::int64_t compute_ns = 0, memory_ns = 0, floor_ns = 0;
  double tile_ratio = 1, wave_ratio = 1, efficiency_ratio = 1;
  NameId limit;                     // compute, memory, floor
  std::int64_t attainable_ns = 0;   // the longer of compute_ns and memory_ns
  std::int64_t theoretical_ns = 0;  // from specifications alone
  std::int64_t predicted_ns = 0, predicted_lower_ns = 0, predicted_upper_ns = 0;
  NameId level;   // of predicted_ns: CALIBRATED, INTERPOLATED, THEORETICAL
  NameId source;  // the calibration, or the specification
  NameId method;
  std::optional<double> energy_joules;
  bool operator==(const EstimateRow&) const = default;
};

// A request to a language-model server as the client saw it. Times are of the client's monotonic clock.
struct LlmRequestRow {
  std::int32_t rank = 0;
  std::int64_t request = 0;  // from 0, warm-up included, in the order of the schedule
  NameId phase;              // warmup, measure
  NameId load;               // the load it belongs to: "concurrency 4", "rate 12.5/s", "replay"
  std::int64_t conversation = 0;
  std::int64_t scheduled_ns = 0;   // when it was due
  std::int64_t dispatched_ns = 0;  // when the client acted on that
  std::int64_t admitted_ns = 0;    // when the cap on open requests let it through
  std::optional<std::int64_t> sent_ns, headers_ns, first_chunk_ns, first_token_ns, last_token_ns;
  std::int64_t end_ns = 0;                         // [DONE], the last content where there is none, or the failure
  std::optional<std::int64_t> connect_ns, tls_ns;  // durations; empty: an open connection was reused
  NameId outcome;                                  // ok, or the kind of failure
  NameId detail;                                   // what was said about the failure; with ok: why the usage is not used
  std::optional<std::int64_t> http_status;
  NameId finish_reason;
  std::int64_t prompt_tokens_asked = 0, output_tokens_asked = 0;
  std::optional<std::int64_t> prompt_tokens, output_tokens, cached_tokens;
  NameId token_source;  // usage, tokenize, tokenizer; empty: unknown
  std::int64_t content_chunks = 0, content_bytes = 0;
  std::int64_t retries = 0, reconnects = 0;
  std::optional<std::int64_t> server_prompt_ns, server_decode_ns;  // as the server states them (llama.cpp: timings)
  bool operator==(const LlmRequestRow&) const = default;
};

// A chunk of a streamed answer.
struct LlmChunkRow {
  std::int32_t rank = 0;
  std::int64_t request = 0;
  std::int64_t chunk = 0;              // from 0 within its request
  std::int64_t time_ns = 0;            // when its bytes arrived, before they were parsed
  NameId kind;                         // role, content, reasoning, tool_call, usage, error, done, other
  std::int64_t bytes = 0;              // of content
  std::optional<std::int64_t> tokens;  // in this chunk, by continuous usage
  bool operator==(const LlmChunkRow&) const = default;
};

// Events of one track of a trace's timeline at one resolution: an event that lasts at least as long stands alone, shorter
// neighbours are one row (analytics/levels.h).
struct TimelineLevelRow {
  std::int32_t rank = 0;
  NameId kind;             // python, operator, range, runtime, launch, kernel, copy, collective
  std::int64_t place = 0;  // process of host events, device of GPU work
  std::int64_t lane = 0;   // thread of host events, stream of GPU work
  std::int64_t depth = 0;  // nesting of host events; row of GPU work that overlaps other work of its stream
  std::int64_t resolution_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;
  std::int64_t event_count = 1;
  NameId name;  // of the longest event
  std::int64_t longest_start_ns = 0, longest_ns = 0;
  bool operator==(const TimelineLevelRow&) const = default;
};

// Every row type, in the order of the tables. A new table is its struct above, its line here, and its columns in trace/tables.h.
#define AACO_TRACE_ROWS(X) \
  X(IterationRow)          \
  X(LoopBlockRow)          \
  X(NodeExecutionRow)      \
  X(KernelRow)             \
  X(ApiCallRow)            \
  X(CopyRow)               \
  X(CollectiveRow)         \
  X(KernelCounterRow)      \
  X(SystemEventRow)        \
  X(GpuEventRow)           \
  X(SchedEventRow)         \
  X(GraphNodeRow)          \
  X(GraphEdgeRow)          \
  X(AttributionRow)        \
  X(KernelGroupRow)        \
  X(GapRow)                \
  X(WorkRateRow)           \
  X(CollectiveCallRow)     \
  X(EstimateRow)           \
  X(LlmRequestRow)         \
  X(LlmChunkRow)           \
  X(TimelineLevelRow)

template <class... Rows>
struct RowList {};
namespace detail {
struct RowListEnd {};
template <class... Rows>
RowList<Rows...> without_end(RowList<RowListEnd, Rows...>);
}  // namespace detail
#define AACO_ROW_TYPE(Row) , Row
using AllRows = decltype(detail::without_end(RowList<detail::RowListEnd AACO_TRACE_ROWS(AACO_ROW_TYPE)>()));
#undef AACO_ROW_TYPE

}  // namespace aaco::trace
