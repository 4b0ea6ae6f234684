#include <array>

#include "importers/nsys/reader.h"

// Work on the devices.
namespace aaco::importers::nsys {
namespace {

// CUpti_ActivityMemcpyKind, 0 to 13; those of unified memory are 11 to 13.
constexpr std::array<const char*, 14> kCopyKinds = {"unknown", "h2d", "d2h", "h2d", "d2h", "d2d", "d2d",
                                                    "d2d",     "d2d", "h2h", "p2p", "h2d", "d2h", "d2d"};

std::optional<std::int64_t> count(std::optional<std::int64_t> value) { return value && *value >= 0 ? value : std::nullopt; }

std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!count(a) || !count(b)) return count(a) ? a : count(b);
  std::int64_t total = 0;
  return __builtin_add_overflow(*a, *b, &total) ? std::nullopt : std::optional(total);
}

}  // namespace

core::Status Reader::read_kernels() {
  return scan_.table("CUPTI_ACTIVITY_KIND_KERNEL",
                     {"start",
                      "end",
                      "deviceId",
                      "streamId",
                      "correlationId",
                      "globalPid",
                      "demangledName",
                      "shortName",
                      "mangledName",
                      "registersPerThread",
                      "gridX",
                      "gridY",
                      "gridZ",
                      "blockX",
                      "blockY",
                      "blockZ",
                      "staticSharedMemory",
                      "dynamicSharedMemory",
                      "localMemoryPerThread",
                      "gridId",
                      "graphNodeId"},
                     [&](const Rows& row) {
                       const auto span = scan_.span(row, 0, 1);
                       if (!span) return;
                       scan_.account().keep();
                       trace::KernelRow kernel;
                       const auto process = row.integer(5);
                       kernel.rank = rank(process);
                       kernel.device = row.integer(2).value_or(0);
                       kernel.queue = -1;
                       kernel.stream = row.integer(3).value_or(0);
                       std::optional<std::int64_t> named;
                       for (const int column : {6, 7, 8}) {
                         named = row.integer(column);
                         kernel.name = strings_.name(named, sink_);
                         if (kernel.name != trace::NameId()) break;
                       }
                       if (kernel.name == trace::NameId()) {
                         for (const int column : {8, 7, 6}) named = row.integer(column) ? row.integer(column) : named;
                         kernel.name = name(named, "kernel");
                       }
                       ++kernel_count_;
                       kernel.start_ns = span->start_ns;
                       kernel.end_ns = span->end_ns;
                       kernel.correlation_id = correlation(process, row.id(4));
                       kernel.vgpr_count = count(row.integer(9));
                       kernel.grid_x = count(row.integer(10));
                       kernel.grid_y = count(row.integer(11));
                       kernel.grid_z = count(row.integer(12));
                       kernel.block_x = count(row.integer(13));
                       kernel.block_y = count(row.integer(14));
                       kernel.block_z = count(row.integer(15));
                       kernel.lds_bytes = sum(row.integer(16), row.integer(17));
                       kernel.scratch_bytes = count(row.integer(18));
                       kernel.dispatch_id = row.id(19).value_or(0);
                       kernel.graph_node_id = row.id(20).value_or(0);
                       kernels_.add(kernel, [&] { return strings_.text(named); });
                     });
}

// With --cuda-graph-trace=graph a graph is one piece of work, and its kernels are not seen.
core::Status Reader::read_graphs() {
  std::int64_t graphs = 0;
  AACO_TRY(scan_.table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                       {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId", "graphExecId"},
                       [&](const Rows& row) {
                         const auto span = scan_.span(row, 0, 1);
                         if (!span) return;
                         scan_.account().keep();
                         ++graphs, ++kernel_count_;
                         const auto process = row.integer(5);
                         const auto graph = row.id(6);
                         trace::KernelRow work;
                         work.rank = rank(process);
                         work.device = row.integer(2).value_or(0);
                         work.queue = -1;
                         work.stream = row.integer(3).value_or(0);
                         work.name = sink_.name("CUDA graph " + std::to_string(graph ? *graph : row.id(7).value_or(0)));
                         work.start_ns = span->start_ns;
                         work.end_ns = span->end_ns;
                         work.correlation_id = correlation(process, row.id(4));
                         sink_.add(work);
                       }));
  if (graphs > 0)
    scan_.result().warnings.push_back({"import.graphs_opaque",
                                       std::to_string(graphs) + " CUDA graph executions were traced without their kernels",
                                       "profile with --cuda-graph-trace=node"});
  return {};
}

core::Status Reader::read_copies(bool memsets) {
  const trace::NameId memset = sink_.name("memset");
  return scan_.table(
      memsets ? "CUPTI_ACTIVITY_KIND_MEMSET" : "CUPTI_ACTIVITY_KIND_MEMCPY",
      {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind", "srcDeviceId", "dstDeviceId"},
      [&](const Rows& row) {
        const auto span = scan_.span(row, 0, 1);
        if (!span) return;
        scan_.account().keep();
        trace::CopyRow copy;
        const auto process = row.integer(5);
        const auto kind = static_cast<std::size_t>(row.integer(7).value_or(0));
        copy.rank = rank(process);
        copy.device = row.integer(2).value_or(0);
        copy.stream = row.integer(3).value_or(0);
        copy.kind = memsets ? memset : sink_.name(kCopyKinds[kind < kCopyKinds.size() ? kind : 0]);
        copy.start_ns = span->start_ns;
        copy.end_ns = span->end_ns;
        copy.correlation_id = correlation(process, row.id(4));
        copy.bytes = count(row.integer(6));
        copy.source_device = count(row.integer(8));
        copy.target_device = count(row.integer(9));
        sink_.add(copy);
      });
}

}  // namespace aaco::importers::nsys
