#include "importers/rpd/reader.h"

#include <array>

#include "core/strings.h"
#include "importers/stream/gpu_names.h"

namespace aaco::importers::rpd {
namespace {

using core::Json;

constexpr const char* kBarrier = "barriers and markers (no work)";

// Columns of the operations' query.
enum Column : int {
  op_id,
  gpu,
  queue,
  start,
  end,
  description,
  type,
  api,
  api_name,
  kernel_stream,
  grid_x,
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  lds,
  scratch,
  copy_stream,
  bytes,
  target,
  source,
  copy_kind,
  process,
};

// hipMemcpyKind; 4 leaves it to the runtime.
constexpr std::array<const char*, 4> kCopyKinds = {"h2h", "h2d", "d2h", "d2d"};

std::optional<std::int64_t> positive(std::optional<std::int64_t> value) { return value && *value > 0 ? value : std::nullopt; }

std::optional<std::int64_t> not_negative(std::optional<std::int64_t> value) {
  return value && *value >= 0 ? value : std::nullopt;
}

// Launches through a module's extension count work-items, all others groups.
std::optional<std::int64_t> groups(std::optional<std::int64_t> grid, std::optional<std::int64_t> block, bool work_items) {
  if (!work_items || !grid || !block) return grid;
  return (*grid + *block - 1) / *block;
}

}  // namespace

Reader::Reader(TableScan& scan, const Processes& processes)
    : scan_(scan),
      sink_(scan.sink()),
      processes_(processes),
      strings_(scan.database(), "rocpd_string", "id", "string"),
      argument_strings_(scan.database(),
                        scan.database().count("rocpd_ustring").value_or(0) > 0 ? "rocpd_ustring" : "rocpd_string", "id",
                        "string"),
      kernels_(scan.sink()),
      arguments_(scan.sink()) {}

core::Status Reader::read() {
  AACO_TRY(read_metadata());
  AACO_TRY(read_calls());
  AACO_TRY(read_operations());
  warn_of_homeless_work();
  AACO_TRY(read_counters());
  AACO_TRY(read_monitors());
  if (arguments_.left_out() > 0)
    scan_.account().notes.push_back("arguments of " + std::to_string(arguments_.left_out()) +
                                    " calls were dropped: too many distinct values");
  return {};
}

core::Status Reader::read_metadata() {
  Json metadata = Json::object();
  AACO_TRY(scan_.table("rocpd_metadata", {"tag", "value"}, [&](const Rows& row) {
    if (metadata.members().size() < 1000) metadata.set(row.text(0), row.text(1));
  }));
  const std::string version(metadata["schema_version"].text());
  if (!version.empty() && version != "1" && version != "2" && version != "3")
    scan_.result().warnings.push_back(
        {"import.newer_schema",
         "the database has schema " + version + "; this version of aaco supports 1 to 3: newer fields are ignored",
         "compare the totals with the 'top' view of the database"});
  scan_.result().facts.set("metadata", std::move(metadata));
  return {};
}

core::Status Reader::read_calls() {
  return scan_.table("rocpd_api", {"id", "pid", "tid", "start", "end", "apiName_id", "args_id", "domain_id", "category_id"},
                     [&](const Rows& row) { add_call(row); });
}

void Reader::add_call(const Rows& row) {
  const auto span = scan_.span(row, 3, 4);
  if (!span) return;
  scan_.account().keep();
  trace::ApiCallRow call;
  call.process_id = row.integer(1).value_or(0);
  call.thread_id = row.integer(2).value_or(0);
  call.start_ns = span->start_ns;
  call.end_ns = span->end_ns;
  call.correlation_id = row.id(0).value_or(0);
  const std::string name = strings_.text(row.integer(5));
  const std::string arguments = argument_strings_.text(row.integer(6));
  const std::string domain = domain_of(row, name);
  call.rank = processes_.ranks.rank(call.process_id);
  call.domain = sink_.name(domain);
  if (domain == "marker" && !arguments.empty()) {
    call.name = sink_.name(arguments);
  } else {
    call.name = strings_.name(row.integer(5), sink_);
    if (arguments.starts_with('{') && Json::parse(arguments))
      call.arguments = arguments_.name(arguments);
    else if (!arguments.empty())
      call.arguments = arguments_.name(Json::object({{"text", arguments}}).dump(-1));
  }
  sink_.add(call);
}

// What PyTorch and other libraries log themselves has a domain of theirs; what the tracer itself took has one, too.
std::string Reader::domain_of(const Rows& row, std::string_view name) {
  const std::string domain = core::to_lower(strings_.text(row.integer(7)));
  for (const char* marks : {"roctx", "nvtx", "marker"})
    if (domain.find(marks) != std::string::npos) return "marker";
  if (name == "UserMarker") return "marker";
  if (domain == "torch") return strings_.text(row.integer(8)) == "user_scope" ? "annotation" : "cpu_op";
  if (domain == "rpd_tracer") return "profiler_overhead";
  if (domain == "cuda") return "cuda_runtime";
  if (!domain.empty()) return domain.substr(0, domain.find('_'));
  if (name.starts_with("hip")) return "hip";
  if (name.starts_with("hsa_")) return "hsa";
  return is_collective_kernel(name) ? "rccl" : "other";
}

std::int32_t Reader::rank(const Rows& row) {
  if (const auto pid = row.integer(Column::process)) return processes_.ranks.rank(*pid);
  const auto known = processes_.rank_of_work(row.integer(Column::op_id).value_or(0), row.integer(Column::gpu).value_or(0));
  if (!known) ++homeless_;
  return known.value_or(0);
}

void Reader::warn_of_homeless_work() {
  if (homeless_ == 0) return;
  scan_.result().warnings.push_back({"import.work_without_process",
                                     "no API call names " + std::to_string(homeless_) +
                                         (homeless_ == 1 ? " operation" : " operations") +
                                         " on a GPU that several processes use: which process did that work is unknown, and it "
                                         "counts for the first, so that the "
                                         "idle time of that one is a lower bound",
                                     "record the API calls of all processes, or use a separate file for each process"});
}

// Each operation once, whatever the joined tables hold: they are made unique first.
core::Status Reader::read_operations() {
  const auto& database = scan_.database();
  if (database.table("rocpd_op") == nullptr) return {};
  const auto column = [&](const char* table, const char* alias, const char* name) {
    return database.has(table, name) ? std::string(alias) + ".\"" + name + '"' : std::string("NULL");
  };
  const bool joined = database.has("rocpd_api_ops", "op_id") && database.has("rocpd_api_ops", "api_id");
  const bool kernels = joined && database.has("rocpd_kernelapi", "api_ptr_id");
  const bool copies = joined && database.has("rocpd_copyapi", "api_ptr_id");
  const bool apis = joined && database.table("rocpd_api") != nullptr && !database.table("rocpd_api")->row_id.empty();
  std::string sql = "SELECT ";
  for (const char* name : {"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"})
    sql += column("rocpd_op", "o", name) + ",";
  sql += joined ? "j.api," : "NULL,";
  sql += apis ? column("rocpd_api", "a", "apiName_id") : "NULL";
  for (const char* name :
       {"stream", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ", "groupSegmentSize", "privateSegmentSize"})
    sql += "," + (kernels ? column("rocpd_kernelapi", "k", name) : "NULL");
  for (const char* name : {"stream", "size", "dstDevice", "srcDevice", "kind"})
    sql += "," + (copies ? column("rocpd_copyapi", "c", name) : "NULL");
  sql += "," + (apis ? column("rocpd_api", "a", "pid") : "NULL");
  sql += " FROM main.rocpd_op o";
  if (joined) sql += " LEFT JOIN (SELECT op_id AS op, min(api_id) AS api FROM main.rocpd_api_ops GROUP BY op_id) j ON j.op=o.id";
  const auto unique = [&](const std::string& table) {
    return database.table(table)->row_id == "api_ptr_id" ? "main." + table
                                                         : "(SELECT * FROM main." + table + " GROUP BY api_ptr_id)";
  };
  if (kernels) sql += " LEFT JOIN " + unique("rocpd_kernelapi") + " k ON k.api_ptr_id=j.api";
  if (copies) sql += " LEFT JOIN " + unique("rocpd_copyapi") + " c ON c.api_ptr_id=j.api";
  if (apis) sql += " LEFT JOIN main.rocpd_api a ON a.\"" + database.table("rocpd_api")->row_id + "\"=j.api";
  return scan_.rows(database.query(sql), [&](const Rows& row) { add_operation(row); });
}

void Reader::add_operation(const Rows& row) {
  const auto type_id = row.integer(Column::type);
  const auto [kind, fresh] = kinds_.try_emplace(type_id.value_or(0), Kind::kernel);
  if (fresh) {
    const std::string text = core::to_lower(strings_.text(type_id));
    const auto says = [&](const char* word) { return text.find(word) != std::string::npos; };
    if (says("copy") || says("memcpy")) kind->second = Kind::copy;
    if (says("fill") || says("memset")) kind->second = Kind::memset;
    if (says("barrier") || says("marker")) kind->second = Kind::marker;
  }
  if (kind->second == Kind::marker) return scan_.account().drop(kBarrier);
  const auto span = scan_.span(row, Column::start, Column::end);
  if (!span) return;
  scan_.account().keep();
  if (kind->second == Kind::kernel) {
    const trace::NameId named = strings_.name(row.integer(Column::description), sink_);
    return add_kernel(row, *span, named == trace::NameId() ? strings_.name(type_id, sink_) : named);
  }
  std::string_view direction = kind->second == Kind::memset ? "memset" : copy_direction_of(strings_.text(type_id));
  if (direction == "unknown") {
    const auto says = row.integer(Column::copy_kind);
    const bool fills = core::to_lower(strings_.text(row.integer(Column::description))) == "fill" ||
                       strings_.text(row.integer(Column::api_name)).find("emset") != std::string::npos;
    if (fills)
      direction = "memset";
    else if (says && *says >= 0 && *says < static_cast<std::int64_t>(kCopyKinds.size()))
      direction = kCopyKinds[static_cast<std::size_t>(*says)];
  }
  add_copy(row, *span, direction);
}

void Reader::add_kernel(const Rows& row, RowSpan span, trace::NameId name) {
  trace::KernelRow kernel;
  kernel.rank = rank(row);
  kernel.device = row.integer(Column::gpu).value_or(0);
  kernel.queue = row.integer(Column::queue).value_or(-1);
  kernel.stream = static_cast<std::int64_t>(row.id(Column::kernel_stream).value_or(0));
  kernel.name = name;
  kernel.start_ns = span.start_ns;
  kernel.end_ns = span.end_ns;
  kernel.correlation_id = row.id(Column::api).value_or(0);
  kernel.dispatch_id = row.id(Column::op_id).value_or(0);
  const auto name_id = row.integer(Column::api_name).value_or(0);
  const auto [api, fresh] = work_items_.try_emplace(name_id, false);
  if (fresh) {
    const std::string& text = strings_.text(name_id);
    api->second = text.find("ExtModuleLaunch") != std::string::npos || text.find("HccModuleLaunch") != std::string::npos;
  }
  kernel.block_x = positive(row.integer(Column::block_x));
  kernel.block_y = positive(row.integer(Column::block_y));
  kernel.block_z = positive(row.integer(Column::block_z));
  kernel.grid_x = groups(positive(row.integer(Column::grid_x)), kernel.block_x, api->second);
  kernel.grid_y = groups(positive(row.integer(Column::grid_y)), kernel.block_y, api->second);
  kernel.grid_z = groups(positive(row.integer(Column::grid_z)), kernel.block_z, api->second);
  kernel.lds_bytes = not_negative(row.integer(Column::lds));
  kernel.scratch_bytes = not_negative(row.integer(Column::scratch));
  const auto description = row.integer(Column::description);
  kernels_.add(kernel, [&] { return strings_.text(description); });
}

// The devices of a copy's API call are only filled in for copies between devices.
void Reader::add_copy(const Rows& row, RowSpan span, std::string_view operation) {
  trace::CopyRow copy;
  copy.rank = rank(row);
  copy.device = row.integer(Column::gpu).value_or(0);
  copy.stream = static_cast<std::int64_t>(row.id(Column::copy_stream).value_or(0));
  copy.kind = sink_.name(operation);
  copy.start_ns = span.start_ns;
  copy.end_ns = span.end_ns;
  copy.bytes = not_negative(row.integer(Column::bytes));
  copy.correlation_id = row.id(Column::api).value_or(0);
  const auto target = row.integer(Column::target);
  const auto source = row.integer(Column::source);
  if (target && source && *target != *source) {
    copy.target_device = not_negative(target);
    copy.source_device = not_negative(source);
  }
  sink_.add(copy);
}

core::Status Reader::read_counters() {
  if (scan_.database().table("rocpd_counter") == nullptr || scan_.database().table("rocpd_op") == nullptr) return {};
  for (const char* name : {"value", "op_id", "name_id"})
    if (!scan_.database().has("rocpd_counter", name)) return {};
  const std::string sql =
      "SELECT c.value,c.op_id,c.name_id,o.gpuId,o.description_id FROM main.rocpd_counter c LEFT JOIN main.rocpd_op o ON "
      "o.id=c.op_id";
  return scan_.rows(scan_.database().query(sql), [&](const Rows& row) {
    const auto value = row.real(0);
    if (!value) return scan_.account().drop("counter without a numeric value");
    scan_.account().keep();
    trace::KernelCounterRow counter;
    counter.device = row.integer(3).value_or(0);
    counter.rank = processes_.rank_of_device(counter.device);
    counter.dispatch_id = row.id(1).value_or(0);
    counter.kernel_name = strings_.name(row.integer(4), sink_);
    counter.counter = strings_.name(row.integer(2), sink_);
    counter.value = *value;
    sink_.add(counter);
  });
}

// What the sampler beside the profiler saw: MHz, W, % and degrees.
core::Status Reader::read_monitors() {
  struct Meaning {
    const char* type;
    const char* metric;
    double factor;
  };
  constexpr Meaning kMeanings[] = {{"sclk", "gpu.clock_hz", 1e6},   {"mclk", "gpu.memory_clock_hz", 1e6},
                                   {"power", "gpu.power_watts", 1}, {"temp", "gpu.temperature_celsius", 1},
                                   {"gpu%", "gpu.use_ratio", 0.01}, {"vram%", "gpu.memory_use_ratio", 0.01}};
  const trace::NameId source = sink_.name("rpd.monitor");
  return scan_.table("rocpd_monitor", {"deviceType", "deviceId", "monitorType", "start", "value"}, [&](const Rows& row) {
    const auto time = row.integer(3);
    const auto value = row.real(4);
    if (core::to_lower(row.text(0)) != "gpu") return scan_.account().drop("monitor row without a GPU");
    if (!time || *time < 0) return scan_.account().drop(kRowWithoutTimes);
    if (!value) return scan_.account().drop("sample without a numeric value");
    for (const Meaning& meaning : kMeanings) {
      if (row.text(2) != meaning.type) continue;
      scan_.account().keep();
      trace::GpuEventRow event;
      event.time_ns = *time;
      event.device = row.integer(1).value_or(0);
      event.rank = processes_.rank_of_device(event.device);
      event.metric = sink_.name(meaning.metric);
      event.source = source;
      event.value = *value * meaning.factor;
      return sink_.add(event);
    }
    scan_.account().drop("unknown monitor type");
  });
}

}  // namespace aaco::importers::rpd
