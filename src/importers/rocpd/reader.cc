#include "importers/rocpd/reader.h"

#include "core/strings.h"
#include "importers/rocm/values.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::rocpd {
namespace {

using core::Json;

constexpr std::size_t kMaxSymbols = 1'000'000;

std::optional<std::int64_t> count(std::optional<std::int64_t> value) { return value && *value >= 0 ? value : std::nullopt; }

}  // namespace

Reader::Reader(TableScan& scan, const TableGroup& group, const ProcessRanks& ranks)
    : scan_(scan),
      sink_(scan.sink()),
      group_(group),
      ranks_(ranks),
      strings_(scan.database(), group.table("rocpd_string"), "id", "string"),
      counters_(scan.database(), group.table("rocpd_info_pmc"), "id", "name"),
      kernels_(scan.sink()),
      arguments_(scan.sink()),
      event_arguments_(arguments_) {
  auto symbols = scan.database().by_row_id(group.table("rocpd_info_kernel_symbol"),
                                           {"display_name", "kernel_name", "sgpr_count", "arch_vgpr_count"});
  if (symbols) symbols_.emplace(std::move(*symbols));
}

core::Status Reader::read() {
  AACO_TRY(event_arguments_.read(scan_, group_.table("rocpd_arg")));
  AACO_TRY(read_kernels());
  AACO_TRY(read_copies());
  AACO_TRY(read_regions());
  AACO_TRY(read_samples());
  AACO_TRY(read_allocations());
  AACO_TRY(read_counters());
  AACO_TRY(read_sampled_counters());
  event_arguments_.finish(scan_.account());
  note_stacks();
  if (arguments_.left_out() > 0)
    scan_.account().notes.push_back("arguments of " + std::to_string(arguments_.left_out()) +
                                    " records were dropped: too many distinct values");
  return {};
}

void Reader::note_stacks() {
  const std::string table = group_.table("rocpd_event");
  for (const auto& [column, what] : {std::pair("call_stack", "call stacks"), std::pair("line_info", "source lines")}) {
    if (!scan_.database().has(table, column)) continue;
    // "null", {} and [] are what stands there without one.
    auto rows = scan_.database().query("SELECT count(*) FROM main." + quoted(table) + " WHERE length(" + column + ")>4");
    const auto any = rows ? rows->next() : core::Result<bool>(false);
    const std::int64_t count = any && *any ? rows->integer(0).value_or(0) : 0;
    if (count > 0) scan_.account().notes.push_back(std::string(what) + " of " + std::to_string(count) + " events are not kept");
  }
}

std::string Reader::column(const char* table, const char* alias, const char* name) const {
  return scan_.database().has(group_.table(table), name) ? std::string(alias) + '.' + quoted(name) : std::string("NULL");
}

std::string Reader::event_query(const char* table, const std::vector<const char*>& columns) const {
  const bool events =
      scan_.database().has(group_.table("rocpd_event"), "id") && scan_.database().has(group_.table(table), "event_id");
  const auto event = [&](const char* name) { return events ? column("rocpd_event", "e", name) : std::string("NULL"); };
  std::string sql = "SELECT " + column(table, "t", "pid") + ',' + column(table, "t", "tid") + ',' + event("stack_id") + ',' +
                    event("correlation_id");
  for (const char* name : columns) sql += ',' + column(table, "t", name);
  sql += ',' + event("category_id") + ',' + event("extdata") + " FROM main." + quoted(group_.table(table)) + " t";
  if (events) sql += " LEFT JOIN main." + quoted(group_.table("rocpd_event")) + " e ON e.id=t.event_id";
  return sql;
}

Reader::Who Reader::who(const Rows& row) const {
  return {row.integer(0).value_or(0), row.integer(1).value_or(0), row.id(2).value_or(0), row.id(3).value_or(0)};
}

std::int64_t Reader::pid(std::int64_t process) const {
  const auto place = group_.processes.find(process);
  return place == group_.processes.end() ? process : place->second.pid;
}

std::int64_t Reader::device(std::optional<std::int64_t> agent) const {
  if (!agent) return 0;
  const auto place = group_.agents.find(*agent);
  return place == group_.agents.end() ? *agent : place->second.number;
}

std::optional<std::int64_t> Reader::gpu(std::optional<std::int64_t> agent) const {
  if (!agent) return std::nullopt;
  const auto place = group_.agents.find(*agent);
  if (place != group_.agents.end() && !place->second.is_gpu) return std::nullopt;
  return device(agent);
}

const Reader::Symbol& Reader::symbol(std::int64_t id) {
  if (known_symbols_.size() >= kMaxSymbols) known_symbols_.clear();
  const auto [place, fresh] = known_symbols_.try_emplace(id);
  if (!fresh) return place->second;
  std::string name;
  if (symbols_ && symbols_->restart(id))
    if (const auto found = symbols_->next(); found && *found) {
      name = clean_utf8(symbols_->text(symbols_->text(0).empty() ? 1 : 0));
      place->second.sgpr_count = count(symbols_->integer(2));
      place->second.vgpr_count = count(symbols_->integer(3));
    }
  place->second.name = sink_.name(name.empty() ? "kernel " + std::to_string(id) : name);
  return place->second;
}

trace::NameId Reader::domain(std::optional<std::int64_t> category) {
  const auto [place, fresh] = domains_.try_emplace(category.value_or(-1));
  if (fresh) place->second = sink_.name(rocm::domain_of(strings_.text(category)));
  return place->second;
}

core::Status Reader::read_kernels() {
  if (scan_.database().table(group_.table("rocpd_kernel_dispatch")) == nullptr) return {};
  const std::string sql =
      event_query("rocpd_kernel_dispatch", {"start", "end", "agent_id", "kernel_id", "dispatch_id", "queue_id", "stream_id",
                                            "private_segment_size", "group_segment_size", "workgroup_size_x", "workgroup_size_y",
                                            "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z"});
  return scan_.rows(scan_.database().query(sql), [&](const Rows& row) { add_kernel(row); });
}

void Reader::add_kernel(const Rows& row) {
  const auto span = scan_.span(row, kOwn, kOwn + 1);
  if (!span) return;
  scan_.account().keep();
  const auto own = [&](int column) { return row.integer(kOwn + column); };
  const Who event = who(row);
  const std::int64_t kernel_id = own(3).value_or(0);
  const Symbol& known = symbol(kernel_id);
  trace::KernelRow kernel;
  kernel.rank = ranks_.rank(group_.key(event.process));
  kernel.device = device(own(2));
  kernel.queue = own(5).value_or(-1);
  kernel.stream = own(6) ? *own(6) : std::max<std::int64_t>(kernel.queue, 0);
  kernel.name = known.name;
  kernel.start_ns = span->start_ns;
  kernel.end_ns = span->end_ns;
  kernel.correlation_id = ranks_.correlation(group_.key(event.process), event.stack_id);
  kernel.external_id = event.external_id;
  kernel.dispatch_id = row.id(kOwn + 4).value_or(0);
  kernel.scratch_bytes = count(own(7));
  kernel.lds_bytes = count(own(8));
  kernel.block_x = count(own(9));
  kernel.block_y = count(own(10));
  kernel.block_z = count(own(11));
  kernel.grid_x = rocm::groups(count(own(12)), kernel.block_x);
  kernel.grid_y = rocm::groups(count(own(13)), kernel.block_y);
  kernel.grid_z = rocm::groups(count(own(14)), kernel.block_z);
  kernel.sgpr_count = known.sgpr_count;
  kernel.vgpr_count = known.vgpr_count;
  kernels_.add(kernel, [&] {
    if (!symbols_ || !symbols_->restart(kernel_id)) return std::string();
    const auto found = symbols_->next();
    return found && *found ? std::string(symbols_->text(symbols_->text(0).empty() ? 1 : 0)) : std::string();
  });
}

core::Status Reader::read_copies() {
  if (scan_.database().table(group_.table("rocpd_memory_copy")) == nullptr) return {};
  const std::string sql = event_query(
      "rocpd_memory_copy", {"start", "end", "name_id", "dst_agent_id", "src_agent_id", "size", "queue_id", "stream_id"});
  return scan_.rows(scan_.database().query(sql), [&](const Rows& row) {
    const auto span = scan_.span(row, kOwn, kOwn + 1);
    if (!span) return;
    scan_.account().keep();
    const Who event = who(row);
    const auto source = gpu(row.integer(kOwn + 4));
    const auto target = gpu(row.integer(kOwn + 3));
    std::string_view kind = rocm::copy_kind(strings_.text(row.integer(kOwn + 2)));
    if (kind == "unknown" && row.integer(kOwn + 3) && row.integer(kOwn + 4))
      kind = source ? (target ? "d2d" : "d2h") : (target ? "h2d" : "h2h");
    trace::CopyRow copy;
    copy.rank = ranks_.rank(group_.key(event.process));
    copy.kind = sink_.name(kind);
    copy.start_ns = span->start_ns;
    copy.end_ns = span->end_ns;
    copy.bytes = count(row.integer(kOwn + 5));
    const auto queue = row.integer(kOwn + 6);
    copy.stream = row.integer(kOwn + 7).value_or(queue.value_or(0));
    copy.correlation_id = ranks_.correlation(group_.key(event.process), event.stack_id);
    rocm::set_devices(copy, kind, source, target);
    sink_.add(copy);
  });
}

void Reader::add_call(const Rows& row, trace::ApiCallRow call) {
  const Who event = who(row);
  call.rank = ranks_.rank(group_.key(event.process));
  call.process_id = pid(event.process);
  const auto thread = group_.threads.find(event.thread);
  call.thread_id = thread == group_.threads.end() ? event.thread : thread->second;
  call.correlation_id = ranks_.correlation(group_.key(event.process), event.stack_id);
  call.external_id = event.external_id;
  scan_.account().keep();
  sink_.add(call);
}

// A range's own text lies in the event's data.
core::Status Reader::read_regions() {
  if (scan_.database().table(group_.table("rocpd_region")) == nullptr) return {};
  const trace::NameId marker = sink_.name("marker");
  const std::string sql = event_query("rocpd_region", {"start", "end", "name_id", "event_id"});
  return scan_.rows(scan_.database().query(sql), [&](const Rows& row) {
    const auto span = scan_.span(row, kOwn, kOwn + 1);
    if (!span) return;
    trace::ApiCallRow call;
    call.start_ns = span->start_ns;
    call.end_ns = span->end_ns;
    call.domain = domain(row.integer(kOwn + 4));
    call.name = strings_.name(row.integer(kOwn + 2), sink_);
    call.arguments = event_arguments_.of(row.integer(kOwn + 3));
    if (call.domain == marker)
      if (const auto data = Json::parse(row.text(kOwn + 5)))
        if (const auto message = (*data)["message"].as_string(); message && !message->empty())
          call.name = sink_.name(clean_utf8(*message));
    add_call(row, call);
  });
}

core::Status Reader::read_allocations() {
  if (scan_.database().table(group_.table("rocpd_memory_allocate")) == nullptr) return {};
  const std::string sql = event_query("rocpd_memory_allocate", {"start", "end", "type", "level", "agent_id", "size"});
  return scan_.rows(scan_.database().query(sql), [&](const Rows& row) {
    const auto span = scan_.span(row, kOwn, kOwn + 1);
    if (!span) return;
    trace::ApiCallRow call;
    call.start_ns = span->start_ns;
    call.end_ns = span->end_ns;
    call.domain = sink_.name(row.text(kOwn + 3) == "SCRATCH" ? "scratch_memory" : "memory_allocation");
    call.name = sink_.name(clean_utf8(row.text(kOwn + 2).substr(0, 64)));
    Json arguments = Json::object();
    if (const auto agent = gpu(row.integer(kOwn + 4))) arguments.set("agent", *agent);
    if (const auto bytes = count(row.integer(kOwn + 5)); bytes && *bytes > 0) arguments.set("bytes", *bytes);
    if (!arguments.members().empty()) call.arguments = arguments_.name(arguments.dump(-1));
    add_call(row, call);
  });
}

}  // namespace aaco::importers::rocpd
