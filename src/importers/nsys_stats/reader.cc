#include "importers/nsys_stats/reader.h"

#include <cmath>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::importers::nsys_stats {
namespace {

constexpr const char* kReports =
    "nsys stats --format csv --report cuda_gpu_trace,cuda_api_trace,nvtx_pushpop_trace --output . REPORT";
constexpr std::size_t kMaxDevices = 1000;

// The decimals behind the point of "0.123".
std::size_t decimals_of(std::string_view text) {
  const auto point = text.find('.');
  return point == std::string_view::npos ? 0 : text.size() - point - 1;
}

}  // namespace

Reader::Reader(trace::Sink& sink, ImportResult& result)
    : sink_(sink), result_(result), processes_(sink.processes() != nullptr ? *sink.processes() : own_processes_), names_(sink) {}

core::Status Reader::record(const CsvFields& fields, bool terminated) {
  const std::string_view first = fields.empty() ? std::string_view() : fields[0];
  const bool row_of_table = columns_ && fields.size() == columns_->size() && !first.empty() && first[0] >= '0' && first[0] <= '9';
  if (!row_of_table)
    if (const Columns columns(fields); columns.report()) return begin(columns);
  if (!columns_ || fields.size() < columns_->size()) {
    const bool of_table = columns_ && fields.size() > 1 && core::parse_f64(columns_->field(fields, Column::start));
    if (of_table && !terminated) cut_ = true;
    if (of_table)
      result_.account.drop(cut_ ? "truncated record" : rocm::kFewFields);
    else
      ++messages_;
    return {};
  }
  if (columns_->report() == Report::unusable)
    result_.account.drop("row of a report without event times (summary or projection)");
  else
    row(fields);
  return {};
}

core::Status Reader::begin(const Columns& columns) {
  columns_ = columns;
  if (columns_->report() == Report::unusable) return {};
  ++reports_;
  if (columns_->time_decimals(Column::start) && columns_->time_decimals(Column::duration)) return {};
  return core::fail(core::ErrorCode::invalid_input, "the headings do not state the unit of Start and Duration",
                    "let nsys write the file (with the heading 'Start (ns)'): " + std::string(kReports));
}

std::optional<Reader::Span> Reader::span(const CsvFields& fields, const char*& why_not) {
  const auto start = columns_->field(fields, Column::start), duration = columns_->field(fields, Column::duration);
  const int start_decimals = *columns_->time_decimals(Column::start), decimals = *columns_->time_decimals(Column::duration);
  const auto start_ns = core::parse_fixed(start, start_decimals), duration_ns = core::parse_fixed(duration, decimals);
  why_not = rocm::kNoTime;
  if (!start_ns || !duration_ns) return std::nullopt;
  why_not = rocm::kNegative;
  if (*duration_ns < 0) return std::nullopt;
  Span span{*start_ns, 0};
  why_not = "end time exceeds 64 bits";
  if (__builtin_add_overflow(*start_ns, *duration_ns, &span.end_ns)) return std::nullopt;
  if (decimals_of(duration) < static_cast<std::size_t>(decimals)) ++coarse_times_;
  return span;
}

void Reader::row(const CsvFields& fields) {
  const char* why_not = nullptr;
  const auto times = span(fields, why_not);
  if (!times) return result_.account.drop(why_not);
  result_.account.keep();
  columns_->report() == Report::gpu_work ? gpu_work(fields, *times) : call(fields, *times);
}

void Reader::gpu_work(const CsvFields& fields, Span span) {
  const auto text = [&](Column column) { return columns_->field(fields, column); };
  const std::string_view name = text(Column::name);
  const std::int64_t on = device(text(Column::device));
  const std::uint64_t correlation = token_u64(text(Column::correlation)).value_or(0);
  const bool memset = name.starts_with("[CUDA") && name.find("memset") != std::string_view::npos;
  if (memset || (name.starts_with("[CUDA") && name.find("memcpy") != std::string_view::npos)) {
    trace::CopyRow copy;
    copy.device = on;
    copy.stream = token_i64(text(Column::stream)).value_or(0);
    copy.kind = names_.name(memset ? "memset" : copy_direction_of(name));
    copy.start_ns = span.start_ns;
    copy.end_ns = span.end_ns;
    copy.bytes = bytes(fields, Column::bytes);
    copy.correlation_id = correlation;
    return sink_.add(copy);
  }
  trace::KernelRow kernel;
  kernel.device = on;
  kernel.queue = -1;
  kernel.stream = token_i64(text(Column::stream)).value_or(0);
  kernel.name = names_.name(name.empty() ? "kernel without a name" : name);
  kernel.start_ns = span.start_ns;
  kernel.end_ns = span.end_ns;
  kernel.correlation_id = correlation;
  kernel.grid_x = rocm::count_of(text(Column::grid_x));
  kernel.grid_y = rocm::count_of(text(Column::grid_y));
  kernel.grid_z = rocm::count_of(text(Column::grid_z));
  kernel.block_x = rocm::count_of(text(Column::block_x));
  kernel.block_y = rocm::count_of(text(Column::block_y));
  kernel.block_z = rocm::count_of(text(Column::block_z));
  kernel.vgpr_count = rocm::count_of(text(Column::registers));
  // Shared memory in MB of three decimals says nothing of a kernel's some kB.
  if (columns_->unit_bytes(Column::static_shared) == 1. && columns_->unit_bytes(Column::dynamic_shared) == 1.) {
    const auto fixed = rocm::count_of(text(Column::static_shared)), more = rocm::count_of(text(Column::dynamic_shared));
    std::int64_t both = 0;
    if (fixed && more && !__builtin_add_overflow(*fixed, *more, &both)) kernel.lds_bytes = both;
  }
  rocm::add_kernel(sink_, names_, kernel, name);
}

void Reader::call(const CsvFields& fields, Span span) {
  const auto text = [&](Column column) { return columns_->field(fields, column); };
  std::string_view name = text(Column::name);
  const bool range = columns_->report() == Report::ranges;
  if (range && name.starts_with(":")) name.remove_prefix(1);     // of the default domain
  const bool is_operator = range && name.starts_with("aten::");  // that PyTorch emits: "aten::mm, seq = 3, op_id = 7"
  if (is_operator) name = name.substr(0, name.find(','));
  trace::ApiCallRow call;
  const trace::ProcessPlace place = processes_.of_call(text(Column::process));
  call.rank = place.rank;
  call.domain = names_.name(is_operator                ? "cpu_op"
                            : range                    ? "marker"
                            : name.starts_with("cuda") ? "cuda_runtime"
                                                       : "cuda_driver");
  call.name = names_.name(range ? name : call_without_version(name));
  call.process_id = token_i64(text(Column::process)).value_or(0);
  call.thread_id = token_i64(text(Column::thread)).value_or(0);
  call.start_ns = span.start_ns;
  call.end_ns = span.end_ns;
  if (!range && place.owns_ids) call.correlation_id = token_u64(text(Column::correlation)).value_or(0);
  sink_.add(call);
}

// "NVIDIA A10G (0)" has a number; others are numbered as they come.
std::int64_t Reader::device(std::string_view text) {
  if (const auto known = devices_.find(text); known != devices_.end()) return known->second;
  const auto open = text.rfind('(');
  auto number = open != std::string_view::npos && text.ends_with(")") ? token_i64(text.substr(open + 1, text.size() - open - 2))
                                                                      : std::optional<std::int64_t>();
  if (!number || *number < 0) number = static_cast<std::int64_t>(devices_.size());
  if (devices_.size() < kMaxDevices) devices_.emplace(std::string(text), *number);
  return *number;
}

// Rounded as the report rounds; what it rounds to 0 is not known.
std::optional<std::int64_t> Reader::bytes(const CsvFields& fields, Column column) {
  const auto unit = columns_->unit_bytes(column);
  const auto value = core::parse_f64(columns_->field(fields, column));
  constexpr double kMax = 9e18;
  if (!unit || !value || !std::isfinite(*value) || *value < 0 || *value * *unit > kMax) return std::nullopt;
  if (*unit == 1.) return static_cast<std::int64_t>(std::llround(*value));
  ++coarse_sizes_;
  if (*value == 0) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*value * *unit));
}

core::Status Reader::finish(std::string_view source_name) {
  if (reports_ == 0)
    return core::fail(core::ErrorCode::invalid_input,
                      std::string(source_name) + ": contains only nsys summaries or projections, no individual kernel times",
                      std::string(kReports) + ", or nsys export --type sqlite REPORT");
  core::Json gpus = core::Json::array();
  for (const auto& [text, number] : devices_) {
    const std::string_view name = core::trim(std::string_view(text).substr(0, text.rfind('(')));
    if (!name.empty()) gpus.push(core::Json::object({{"id", number}, {"name", clean_utf8(name)}}));
  }
  if (!gpus.items().empty()) result_.facts.set("devices", std::move(gpus));
  const auto note = [&](std::int64_t count, const char* what) {
    if (count > 0) result_.account.notes.push_back(std::to_string(count) + what);
  };
  note(messages_, " lines are nsys messages, not report rows");
  note(coarse_times_, " durations are rounded by the report to coarser than 1 ns");
  note(coarse_sizes_, " sizes are rounded by the report (use nsys export --type sqlite for exact bytes)");
  if (processes_.early_callers() > 1)
    result_.warnings.push_back({"import.processes_mixed",
                                "the calls come from " + std::to_string(processes_.early_callers()) +
                                    " processes, but nsys reports do not state which process a kernel belongs to: launches may "
                                    "be matched to kernels of the wrong process",
                                "run nsys export --type sqlite REPORT and import the result"});
  return sink_.status();
}

}  // namespace aaco::importers::nsys_stats
