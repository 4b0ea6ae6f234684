#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>

#include "trace/rows.h"

// The published form of each table: its file in the bundle and its columns. The store writes and reads by these descriptions and
// docs/formats/tables/ is checked against them, so a column is declared in exactly one place.
namespace aaco::trace {

template <class Row, class Value>
struct Column {
  std::string_view name;
  Value Row::*member;
  std::string_view meaning;  // with its unit, for the documents
  int since = 1;             // the schema version that brought it; older files do not have it, and rows keep the member's default
  using value_type = Value;
};

template <class Row, class Value>
constexpr Column<Row, Value> column(std::string_view name, Value Row::*member, std::string_view meaning, int since = 1) {
  return {name, member, meaning, since};
}

// Specialised for each row: kName (the table in SQL), kPath (the file in a bundle), kTime (the column it is sorted by, or empty),
// kMeaning, and columns().
template <class Row>
struct TableOf;

#define AACO_TABLE(row, table_name, table_path, table_time, table_meaning) \
  template <>                                                              \
  struct TableOf<row> {                                                    \
    using R = row;                                                         \
    static constexpr std::string_view kName = table_name;                  \
    static constexpr std::string_view kPath = table_path;                  \
    static constexpr std::string_view kTime = table_time;                  \
    static constexpr std::string_view kMeaning = table_meaning;            \
    static constexpr auto columns()

#define AACO_TABLE_END \
  }                    \
  ;

// clang-format off
AACO_TABLE(IterationRow, "inference_iters", "metrics/inference_iters.parquet", "start_ns", "One row per iteration: one call of the model, or one step of an imported trace") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process in a multi-process job"),
      column("iteration", &R::iteration, "index within its phase, starting at 0"),
      column("phase", &R::phase, "warmup, measure, measure_telemetry (blocks with telemetry enabled), profile, step (imported), or device_step: the same steps, timed by the device where the host runs ahead of it"),
      column("block", &R::block, "index of the interleaved block"),
      column("start_ns", &R::start_ns, "start, ns on the session's home clock"),
      column("duration_ns", &R::duration_ns, "duration of the call, ns"),
      column("disturbance", &R::disturbance, "the disturbance that affected the iteration; empty: none"),
      column("caller_run_queue_ns", &R::caller_run_queue_ns, "time the calling thread was runnable but not running, ns", 2),
      column("caller_off_cpu_ns", &R::caller_off_cpu_ns, "time the calling thread was off CPU, sleeping or waiting, ns", 2),
      column("process_run_queue_ns", &R::process_run_queue_ns, "time the process's threads were runnable but not running, summed over threads, ns", 2),
      column("page_faults", &R::page_faults, "page faults of all threads", 2),
      column("interrupt_ns", &R::interrupt_ns, "time all threads lost to interrupts and softirqs, ns", 2),
      column("migrations", &R::migrations, "number of migrations of a thread to another CPU", 2));
} AACO_TABLE_END

AACO_TABLE(LoopBlockRow, "loop_blocks", "metrics/loop_blocks.parquet", "start_ns", "One row per interleaved block of the measuring loop: kernel accounting, read between blocks") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("phase", &R::phase, "measure or measure_telemetry"),
      column("block", &R::block, "index of the block, as in inference_iters"),
      column("start_ns", &R::start_ns, "start, ns on the session's home clock"),
      column("end_ns", &R::end_ns, "end, ns"),
      column("call_count", &R::call_count, "calls in the block"),
      column("caller_cpu_ns", &R::caller_cpu_ns, "CPU time of the calling thread, ns"),
      column("caller_wait_ns", &R::caller_wait_ns, "time the calling thread was runnable but not running, ns"),
      column("process_cpu_ns", &R::process_cpu_ns, "CPU time of the process and of its children in its session, ns"),
      column("process_wait_ns", &R::process_wait_ns, "time the process's threads were runnable but not running, summed over threads, ns"),
      column("process_system_ns", &R::process_system_ns, "kernel-mode CPU time of all threads of the process, ns"),
      column("minor_faults", &R::minor_faults, "minor page faults (no I/O)"),
      column("major_faults", &R::major_faults, "major page faults (waited for I/O)"),
      column("voluntary_switches", &R::voluntary_switches, "voluntary context switches"),
      column("involuntary_switches", &R::involuntary_switches, "involuntary context switches"),
      column("migrations", &R::migrations, "number of migrations of a thread to another CPU"),
      column("storage_bytes", &R::storage_bytes, "bytes read from and written to storage by the process"),
      column("throttled_ns", &R::throttled_ns, "time the cgroup was throttled by its CPU quota, summed over CPUs, ns"),
      column("machine_busy_ns", &R::machine_busy_ns, "busy time of all CPUs, any process, ns; resolution 10 ms"),
      column("steal_ns", &R::steal_ns, "steal time of all CPUs, ns; resolution 10 ms"),
      column("iowait_ns", &R::iowait_ns, "iowait time of all CPUs, ns; resolution 10 ms"),
      column("interrupts", &R::interrupts, "interrupts, whole machine"),
      column("softirqs", &R::softirqs, "softirqs, whole machine", 2),
      column("cpu_some_ns", &R::cpu_some_ns, "time at least one task of the machine waited for a CPU (PSI cpu some), ns", 2),
      column("memory_some_ns", &R::memory_some_ns, "time at least one task waited for memory (PSI memory some), ns", 2),
      column("memory_full_ns", &R::memory_full_ns, "time all non-idle tasks waited for memory (PSI memory full), ns", 2),
      column("io_some_ns", &R::io_some_ns, "time at least one task waited for I/O (PSI io some), ns", 2),
      column("io_full_ns", &R::io_full_ns, "time all non-idle tasks waited for I/O (PSI io full), ns", 2),
      column("thermal_throttles", &R::thermal_throttles, "number of thermal throttling events of a CPU core or package", 2),
      column("caller_clock_hz", &R::caller_clock_hz, "clock of the calling thread's CPU at the end of the block, Hz", 2),
      column("stops", &R::stops, "number of times the process was stopped (SIGSTOP) and continued", 2),
      column("allowed_busy_ns", &R::allowed_busy_ns, "busy time of the CPUs that the process may use, any process, ns; resolution 10 ms", 2));
} AACO_TABLE_END

AACO_TABLE(NodeExecutionRow, "node_executions", "profiler/node_executions.parquet", "start_ns", "One row per execution of a graph node in the profiled pass") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("iteration", &R::iteration, "iteration of the profiled pass"),
      column("node_index", &R::node_index, "the runtime's node index after optimisation; -1: not reported"),
      column("node_name", &R::node_name, "name after optimisation"),
      column("op_type", &R::op_type, "operator"),
      column("provider", &R::provider, "execution provider that ran it"),
      column("start_ns", &R::start_ns, "start, ns on the session's home clock"),
      column("duration_ns", &R::duration_ns, "duration, ns"),
      column("thread_id", &R::thread_id, "thread that issued it"),
      column("input_shapes", &R::input_shapes, "JSON list of {type: shape}"),
      column("output_shapes", &R::output_shapes, "JSON list of {type: shape}"),
      column("activation_bytes", &R::activation_bytes, "bytes of its activations"),
      column("parameter_bytes", &R::parameter_bytes, "bytes of its weights"),
      column("output_bytes", &R::output_bytes, "bytes of its outputs"),
      column("thread_use_ratio", &R::thread_use_ratio, "share of the thread pool that worked on it, 0..1"));
} AACO_TABLE_END

AACO_TABLE(KernelRow, "rocprof_kernels", "profiler/rocprof_kernels.parquet", "start_ns", "One row per execution of a GPU kernel, from any profiler") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("device", &R::device, "GPU number in the trace"),
      column("queue", &R::queue, "hardware queue; -1: unknown"),
      column("stream", &R::stream, "stream"),
      column("kernel_name", &R::name, "name as written by the profiler"),
      column("start_ns", &R::start_ns, "start, ns on the session's home clock"),
      column("end_ns", &R::end_ns, "end, ns"),
      column("correlation_id", &R::correlation_id, "correlation id of its launch; 0: none"),
      column("external_id", &R::external_id, "external id of the framework operator; 0: none"),
      column("dispatch_id", &R::dispatch_id, "dispatch number; 0: none"),
      column("graph_node_id", &R::graph_node_id, "node of its CUDA/HIP graph; 0: none"),
      column("grid_x", &R::grid_x, "work-groups in x"), column("grid_y", &R::grid_y, "work-groups in y"), column("grid_z", &R::grid_z, "work-groups in z"),
      column("block_x", &R::block_x, "work-items per group in x"), column("block_y", &R::block_y, "work-items per group in y"), column("block_z", &R::block_z, "work-items per group in z"),
      column("lds_bytes", &R::lds_bytes, "LDS (shared memory) per group, bytes"),
      column("scratch_bytes", &R::scratch_bytes, "scratch memory per work-item, bytes"),
      column("vgpr_count", &R::vgpr_count, "vector registers per work-item"), column("sgpr_count", &R::sgpr_count, "scalar registers per wave"));
} AACO_TABLE_END

AACO_TABLE(ApiCallRow, "api_calls", "profiler/api_calls.parquet", "start_ns", "One row per runtime API call, framework operator or marker range on a host thread") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("domain", &R::domain, "hip, hsa, cuda_runtime, cuda_driver, cpu_op, marker, annotation, python, rccl"),
      column("name", &R::name, "function, operator or range"),
      column("process_id", &R::process_id, "process"), column("thread_id", &R::thread_id, "thread"),
      column("start_ns", &R::start_ns, "start, ns on the session's home clock"),
      column("end_ns", &R::end_ns, "end, ns"),
      column("correlation_id", &R::correlation_id, "correlation id of the work it launched; 0: none"),
      column("external_id", &R::external_id, "external id of the framework operator; 0: none"),
      column("arguments", &R::arguments, "JSON, or empty"));
} AACO_TABLE_END

AACO_TABLE(CopyRow, "copies", "profiler/copies.parquet", "start_ns", "One row per copy or memset on a device") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("device", &R::device, "GPU number in the trace"), column("stream", &R::stream, "stream"),
      column("kind", &R::kind, "h2d, d2h, d2d, p2p, h2h, memset, unknown"),
      column("start_ns", &R::start_ns, "start, ns on the session's home clock"), column("end_ns", &R::end_ns, "end, ns"),
      column("bytes", &R::bytes, "bytes moved"),
      column("source_device", &R::source_device, "source device"), column("target_device", &R::target_device, "destination device"),
      column("correlation_id", &R::correlation_id, "correlation id of its API call; 0: none"));
} AACO_TABLE_END

AACO_TABLE(CollectiveRow, "collectives", "profiler/collectives.parquet", "start_ns", "One row per collective operation; its kernel is also in the kernel table") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("device", &R::device, "GPU number in the trace"), column("stream", &R::stream, "stream"),
      column("operation", &R::operation, "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send, recv, barrier"),
      column("data_type", &R::data_type, "element type"), column("process_group", &R::group, "process group"),
      column("start_ns", &R::start_ns, "start, ns on the session's home clock"), column("end_ns", &R::end_ns, "end, ns"),
      column("bytes", &R::bytes, "message size, bytes"), column("group_size", &R::group_size, "number of ranks in the group"),
      column("correlation_id", &R::correlation_id, "correlation id of its kernel; 0: none"));
} AACO_TABLE_END

AACO_TABLE(KernelCounterRow, "counters", "profiler/counters.parquet", "", "One row per hardware counter of a dispatch") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("device", &R::device, "GPU number in the trace"), column("dispatch_id", &R::dispatch_id, "dispatch number"),
      column("kernel_name", &R::kernel_name, "kernel"), column("counter", &R::counter, "name of the counter"), column("value", &R::value, "value of the counter"));
} AACO_TABLE_END

AACO_TABLE(SystemEventRow, "system_events", "telemetry/system_events.parquet", "time_ns", "One row per telemetry sample of the host") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("time_ns", &R::time_ns, "sample time, ns on the session's home clock"),
      column("metric", &R::metric, "metric, with its unit in the name"), column("entity", &R::entity, "cpu3, pid 4711, cgroup; empty for the machine"),
      column("value", &R::value, "value"));
} AACO_TABLE_END

AACO_TABLE(GpuEventRow, "gpu_events", "telemetry/gpu_events.parquet", "time_ns", "One row per telemetry sample of a GPU") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("time_ns", &R::time_ns, "sample time, ns on the session's home clock"),
      column("device", &R::device, "GPU number"), column("metric", &R::metric, "metric, with its unit in the name"),
      column("source", &R::source, "sensor interface"), column("value", &R::value, "value"));
} AACO_TABLE_END

AACO_TABLE(SchedEventRow, "sched_events", "telemetry/sched_events.parquet", "time_ns", "One row per scheduler, fault, interrupt or I/O event of the process tree under test") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("time_ns", &R::time_ns, "start, ns on the session's home clock"),
      column("kind", &R::kind, "run, run_queue, off_cpu, migrate, page_fault, irq, softirq, block_io, gpu_job, gpu_fence, gpu_buffer, gpu_memory"),
      column("cpu", &R::cpu, "CPU; -1: unknown"), column("process_id", &R::process_id, "process"), column("thread_id", &R::thread_id, "thread"),
      column("duration_ns", &R::duration_ns, "duration, ns; 0: instant event"),
      column("detail", &R::detail, "off_cpu: sleep, disk_sleep, io, stopped, traced, frozen or idle; run_queue: woken, new, preempted or yielded; page_fault: read, write or execute; irq, softirq: its source; block_io: read, write, flush or discard; migrate: previous CPU; gpu_job: queued or running; gpu_fence: pending or waited; gpu_buffer: created or freed; gpu_memory: allocated or freed, and the domain"),
      column("call", &R::call, "off_cpu: the current system call; empty: none or unknown", 2),
      column("thread_name", &R::thread_name, "name of the thread; empty: unknown", 2),
      column("other_thread_id", &R::other_thread_id, "thread that woke it or took its CPU; null: interrupt or unknown", 2),
      column("bytes", &R::bytes, "size of the block I/O or GPU buffer, bytes", 2));
} AACO_TABLE_END

AACO_TABLE(GraphNodeRow, "graph_nodes", "model/graph_nodes.parquet", "", "One row per node of the model's graph") {
  return std::make_tuple(
      column("node_index", &R::node_index, "position in the graph"), column("node_name", &R::node_name, "name"),
      column("op_type", &R::op_type, "operator"), column("domain", &R::domain, "operator set"), column("provider", &R::provider, "execution provider the node is assigned to"),
      column("flops", &R::flops, "floating-point operations of one execution; a multiply-add counts as 2"),
      column("bytes_read", &R::bytes_read, "bytes read; each tensor counted once"), column("bytes_written", &R::bytes_written, "bytes written"),
      column("parameter_count", &R::parameter_count, "number of weight elements"));
} AACO_TABLE_END

AACO_TABLE(GraphEdgeRow, "graph_edges", "model/graph_edges.parquet", "", "One row per tensor passed from one node to another") {
  return std::make_tuple(
      column("tensor", &R::tensor, "name of the tensor"), column("source_node", &R::source_node, "node that writes it; -1: a graph input"),
      column("target_node", &R::target_node, "node that reads it; -1: a graph output"), column("data_type", &R::data_type, "element type"),
      column("shape", &R::shape, "JSON list; symbolic dimensions are strings"));
} AACO_TABLE_END

AACO_TABLE(AttributionRow, "op_to_kernel_map", "attribution/op_to_kernel_map.parquet", "", "One row per kernel and cause: all its executions, and the attribution method") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"), column("device", &R::device, "GPU number in the trace"),
      column("node_name", &R::node_name, "graph node or innermost marker range; empty: unknown"),
      column("operator_name", &R::operator_name, "framework operator; empty: unknown"),
      column("kernel_name", &R::kernel_name, "kernel"),
      column("launch", &R::launch, "API function that launched it; empty: no launch in the trace"),
      column("method", &R::method, "correlation, external_id, node_name, marker, capture_map, node_order, name_and_shape, name, graph_launch, launch_only, none"),
      column("confidence_ratio", &R::confidence, "confidence in operator and node, 0..1; 0: not attributed"),
      column("kernel_count", &R::kernel_count, "executions"), column("kernel_sum_ns", &R::kernel_sum_ns, "total time of the executions, ns"));
} AACO_TABLE_END

AACO_TABLE(KernelGroupRow, "kernel_groups", "attribution/kernel_groups.parquet", "", "One row per kernel and device: all its executions, and what the kernel name encodes") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"), column("device", &R::device, "GPU number in the trace"),
      column("kernel_name", &R::kernel_name, "kernel"),
      column("family", &R::family, "gemm, convolution, attention, reduction, normalisation, softmax, elementwise, copy_transpose, embedding_gather, sort_scan, rng, collective, optimiser, stencil, delay, other"),
      column("library", &R::library, "library of the kernel; empty: unknown"),
      column("parameters", &R::parameters, "JSON: tile, data types, transposes, split ... as encoded in the name; empty: none"),
      column("kernel_count", &R::kernel_count, "executions"), column("kernel_sum_ns", &R::kernel_sum_ns, "total time of the executions, ns"),
      column("kernel_min_ns", &R::kernel_min_ns, "shortest execution, ns"), column("kernel_max_ns", &R::kernel_max_ns, "longest execution, ns"));
} AACO_TABLE_END

AACO_TABLE(GapRow, "gaps", "attribution/gaps.parquet", "start_ns", "One row per idle gap of a device above the threshold, with its cause") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"), column("device", &R::device, "GPU number in the trace"),
      column("start_ns", &R::start_ns, "start of the gap, ns on the session's home clock"), column("end_ns", &R::end_ns, "end of the gap, ns"),
      column("cause", &R::cause, "host_late, launch_latency, synchronisation, copy, dependency, queue_empty, unknown"),
      column("previous", &R::previous, "last work before the gap"), column("next", &R::next, "first work after the gap"),
      column("evidence", &R::evidence, "host event that is evidence for the cause; empty: none"),
      column("evidence_start_ns", &R::evidence_start_ns, "start of the host event, ns"), column("evidence_end_ns", &R::evidence_end_ns, "end of the host event, ns"),
      column("launch_start_ns", &R::launch_start_ns, "start of the API call that launched the next work, ns"),
      column("launch_end_ns", &R::launch_end_ns, "end of that API call, ns"),
      column("host_run_queue_ns", &R::host_run_queue_ns, "time the launching thread was runnable but not running, from the start of the gap to the launch, ns; null: scheduling not recorded"),
      column("host_off_cpu_ns", &R::host_off_cpu_ns, "time the launching thread slept or waited in that period, ns; null: scheduling not recorded"),
      column("confidence_ratio", &R::confidence, "confidence in the cause, 0..1"),
      column("host_cause", &R::host_cause, "what took most of the gap: data-loading, allocation, framework, first-use ... (data/gaps/causes.yaml)"),
      column("host_cause_ns", &R::host_cause_ns, "time of that cause in the gap, ns"));
} AACO_TABLE_END

AACO_TABLE(WorkRateRow, "work_rates", "metrics/work_rates.parquet", "", "One row per kernel, and per operator and data type, whose FLOPs or bytes are known from one source (shapes or counters)") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"), column("device", &R::device, "GPU number in the trace"),
      column("subject", &R::subject, "kernel or operator"), column("name", &R::name, "kernel or operator"),
      column("family", &R::family, "family of the kernel, or of the kernels that do the operator's work"),
      column("data_type", &R::data_type, "data type, as in the hardware registry; empty: unknown"),
      column("source", &R::source, "where FLOPs and bytes are from: shapes, or the counters"),
      column("count", &R::count, "executions of the kernel, or calls of the operator, with known work"),
      column("total_ns", &R::time_ns, "device time of these, ns; of kernels with counters their mean time per execution"),
      column("flops", &R::flops, "floating-point operations; a multiply-add counts as two"),
      column("bytes", &R::bytes, "bytes: by shapes every operand once, by counters the memory traffic"),
      column("flops_per_second", &R::flops_per_s, "flops / time, 1/s"), column("bytes_per_second", &R::bytes_per_s, "bytes / time, bytes/s"),
      column("hardware", &R::hardware, "hardware id; empty: the device of the trace is unknown"),
      column("peak_flops_per_second", &R::peak_flops_per_s, "stated dense peak of the device for the data type, 1/s"),
      column("peak_bytes_per_second", &R::peak_bytes_per_s, "stated memory bandwidth of the device, bytes/s"),
      column("flops_ratio", &R::flops_ratio, "flops_per_second / peak_flops_per_second"),
      column("bytes_ratio", &R::bytes_ratio, "bytes_per_second / peak_bytes_per_second; above 1 where caches served part of the bytes"));
} AACO_TABLE_END

AACO_TABLE(CollectiveCallRow, "collective_calls", "metrics/collective_calls.parquet", "start_ns", "One row per collective operation and rank: bandwidths, and the wait for the last rank") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"), column("device", &R::device, "GPU number in the trace"),
      column("instance", &R::instance, "number of the operation, the same on all its ranks; -1: not matched between ranks"),
      column("operation", &R::operation, "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send, recv, barrier"),
      column("process_group", &R::group, "process group"), column("group_size", &R::group_size, "number of ranks in the group"),
      column("rank_count", &R::rank_count, "ranks of the session that took part"),
      column("start_ns", &R::start_ns, "start, ns on the session's home clock"), column("end_ns", &R::end_ns, "end, ns"),
      column("data_bytes", &R::data_bytes, "size S as nccl-tests defines it, bytes: the message; of all_gather and gather the gathered whole"),
      column("wait_ns", &R::wait_ns, "time from this rank's arrival to the last arrival, ns"),
      column("wait_method", &R::wait_method, "arrival (start times on one clock) or duration (above the shortest: clocks differ); empty: no wait known"),
      column("time_method", &R::time_method, "time t of the bandwidths: transfer (since the last arrival) or duration (includes waiting: bandwidths are lower bounds)"),
      column("algorithm_bytes_per_second", &R::algorithm_bytes_per_s, "S / t, bytes/s"),
      column("bus_bytes_per_second", &R::bus_bytes_per_s, "algorithm bandwidth x bus factor of the operation and group size, bytes/s"));
} AACO_TABLE_END

AACO_TABLE(EstimateRow, "estimates", "predict/estimates.parquet", "", "One row per node of the model's graph with work on the device: the estimated cost of one execution") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"), column("hardware", &R::hardware, "device id in the hardware registry"),
      column("node_name", &R::node_name, "node of the model's graph"),
      column("aliases", &R::aliases, "JSON list of tensors a fused kernel may be named after"),
      column("op_type", &R::op_type, "operator"), column("fused", &R::fused, "JSON list of operators fused into the same kernel"),
      column("operator_class", &R::operator_class, "gemm, convolution, depthwise, attention, elementwise, normalisation ..."),
      column("shape", &R::shape, "its sizes, human-readable"), column("data_type", &R::data_type, "compute data type"),
      column("repeat_count", &R::repeat_count, "executions in one run of the graph"),
      column("flops", &R::flops, "operations; a multiply-add counts as 2"), column("bytes", &R::bytes, "bytes read and written"),
      column("compute_ns", &R::compute_ns, "time for the operations at the peak rate of the data type, ns"),
      column("memory_ns", &R::memory_ns, "time for the bytes at the peak bandwidth of the memory that feeds it, ns"),
      column("floor_ns", &R::floor_ns, "fixed launch and drain time, ns"),
      column("tile_ratio", &R::tile_ratio, "tile efficiency: useful share of the tile area, 0..1"),
      column("wave_ratio", &R::wave_ratio, "wave efficiency: useful share of the units over all waves of tiles, 0..1"),
      column("efficiency_ratio", &R::efficiency_ratio, "(roofline + floor) / predicted_ns"),
      column("limit", &R::limit, "compute, memory or floor"),
      column("attainable_ns", &R::attainable_ns, "lower bound: the larger of compute_ns and memory_ns, ns"),
      column("theoretical_ns", &R::theoretical_ns, "estimate from specifications only, ns"),
      column("predicted_ns", &R::predicted_ns, "best estimate, from a calibration if available, ns"),
      column("predicted_lower_ns", &R::predicted_lower_ns, "lower end of its 90 % interval, ns"),
      column("predicted_upper_ns", &R::predicted_upper_ns, "upper end of its 90 % interval, ns"),
      column("level", &R::level, "derivation of predicted_ns: CALIBRATED, INTERPOLATED or THEORETICAL"),
      column("source", &R::source, "the calibration used, or the specification"),
      column("method", &R::method, "estimation method, one line"),
      column("energy_joules", &R::energy_joules, "energy, J; from the device's calibration if it covers the class, otherwise from specifications"));
} AACO_TABLE_END
AACO_TABLE(LlmRequestRow, "llm_requests", "metrics/llm_requests.parquet", "scheduled_ns", "One row per request to a language-model server, as the client saw it") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("request", &R::request, "index of the request, starting at 0, warm-up included"),
      column("phase", &R::phase, "warmup or measure"),
      column("load", &R::load, "load level the request belongs to, e.g. concurrency 4 or rate 12.5/s"),
      column("conversation", &R::conversation, "conversation the request is a turn of"),
      column("scheduled_ns", &R::scheduled_ns, "time the request was due, ns on the session's home clock"),
      column("dispatched_ns", &R::dispatched_ns, "time the client's event loop handled it, ns"),
      column("admitted_ns", &R::admitted_ns, "time the cap on open requests admitted it, ns"),
      column("sent_ns", &R::sent_ns, "time its first byte was written, ns; empty: never sent"),
      column("headers_ns", &R::headers_ns, "time the response header was complete, ns"),
      column("first_chunk_ns", &R::first_chunk_ns, "time of the first event of the stream, which may carry only the role, ns"),
      column("first_token_ns", &R::first_token_ns, "time of the first chunk with content, reasoning or a tool call's argument, ns"),
      column("last_token_ns", &R::last_token_ns, "time of the last such chunk, ns"),
      column("end_ns", &R::end_ns, "end: the last token or finish reason of a complete response ([DONE] where it has neither), otherwise the failure, ns"),
      column("connect_ns", &R::connect_ns, "time to open the connection, ns; empty: a connection was reused"),
      column("tls_ns", &R::tls_ns, "time of the TLS handshake, ns"),
      column("outcome", &R::outcome, "ok, or the kind of failure: http_429, http_4xx, http_5xx, timeout, refused, reset, truncated, stream_error, protocol, tls, cancelled"),
      column("detail", &R::detail, "message of the failure; of a complete response: why its usage is impossible and not used"),
      column("http_status", &R::http_status, "status code of the response"),
      column("finish_reason", &R::finish_reason, "finish reason as the server states it"),
      column("prompt_tokens_asked", &R::prompt_tokens_asked, "planned prompt length, tokens"),
      column("output_tokens_asked", &R::output_tokens_asked, "requested response length, tokens"),
      column("prompt_tokens", &R::prompt_tokens, "prompt tokens, as counted by token_source"),
      column("output_tokens", &R::output_tokens, "output tokens, as counted by token_source; empty: unknown"),
      column("cached_tokens", &R::cached_tokens, "prompt tokens the server took from its cache"),
      column("token_source", &R::token_source, "source of the token counts: usage, tokenize or tokenizer; empty: unknown"),
      column("content_chunks", &R::content_chunks, "chunks with content"), column("content_bytes", &R::content_bytes, "bytes of content"),
      column("retries", &R::retries, "retries of the request"), column("reconnects", &R::reconnects, "reused connections the server had closed"),
      column("server_prompt_ns", &R::server_prompt_ns, "prefill time as the server states it, ns"),
      column("server_decode_ns", &R::server_decode_ns, "decode time as the server states it, ns"));
} AACO_TABLE_END

AACO_TABLE(LlmChunkRow, "llm_chunks", "metrics/llm_chunks.parquet", "time_ns", "One row per chunk of a streamed response") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"), column("request", &R::request, "index of the request, as in llm_requests"),
      column("chunk", &R::chunk, "index within the request, starting at 0"),
      column("time_ns", &R::time_ns, "time its bytes arrived, before parsing, ns on the session's home clock"),
      column("kind", &R::kind, "role, content, reasoning, tool_call, usage, error, done or other"),
      column("bytes", &R::bytes, "bytes of content"),
      column("tokens", &R::tokens, "tokens in this chunk; empty: the server does not state them per chunk"));
} AACO_TABLE_END

AACO_TABLE(TimelineLevelRow, "timeline_levels", "profiler/timeline_levels.parquet", "resolution_ns", "One row per event, or group of short neighbouring events, of a track at one resolution: the levels of detail of a large trace's timeline") {
  return std::make_tuple(
      column("rank", &R::rank, "rank of the process"),
      column("kind", &R::kind, "python, operator, range, runtime, launch, kernel, copy or collective"),
      column("place", &R::place, "process id of host events, GPU number of GPU work"),
      column("lane", &R::lane, "thread id of host events, stream of GPU work"),
      column("depth", &R::depth, "nesting depth of host events; row of GPU work that overlaps other work of its stream"),
      column("resolution_ns", &R::resolution_ns, "events of at least this duration have their own row, shorter neighbours share one, ns"),
      column("start_ns", &R::start_ns, "start of the first event, ns on the session's home clock"),
      column("end_ns", &R::end_ns, "end of the last event, ns"),
      column("busy_ns", &R::busy_ns, "time covered by the events, ns"), column("event_count", &R::event_count, "events in the row"),
      column("name", &R::name, "name of the longest event"),
      column("longest_start_ns", &R::longest_start_ns, "start of the longest event, ns"),
      column("longest_ns", &R::longest_ns, "duration of the longest event, ns"));
} AACO_TABLE_END
// clang-format on

// Calls f.template operator()<Row>() for each table, in a fixed order.
template <class F>
constexpr void for_each_table(F&& f) {
#define AACO_CALL(Row) f.template operator()<Row>();
  AACO_TRACE_ROWS(AACO_CALL)
#undef AACO_CALL
}

}  // namespace aaco::trace
