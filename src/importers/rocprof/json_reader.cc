#include "importers/rocprof/json_reader.h"

#include <array>
#include <cmath>

#include "core/numbers.h"
#include "importers/rocm/values.h"
#include "importers/stream/json_skim.h"

namespace aaco::importers::rocprof {
namespace {

using rocm::Column;

constexpr std::size_t kMaxKeys = 4096;  // arguments of different names
constexpr const char* kArrows = "flow events (rows carry their ids)";

}  // namespace

// The arguments of an event, as they stand.
struct JsonReader::Fields {
  std::array<std::string_view, rocm::kColumns> values = {};
  bool has_counters = false;
  [[nodiscard]] std::string_view operator[](Column column) const { return values[static_cast<std::size_t>(column)]; }
};

JsonReader::JsonReader(trace::Sink& sink, trace::Account& account)
    : sink_(sink), account_(account), ids_(sink), links_(sink, ids_) {}

core::Status JsonReader::events(std::span<const TraceEvent> batch) {
  for (const TraceEvent& each : batch) event(each);
  return sink_.status();
}

void JsonReader::event(const TraceEvent& event) {
  if (event.phase.empty() && event.name.empty() && event.args.empty()) return drop("empty events");
  if (event.phase == "M") return section_name(event);
  if (event.phase == "X") return complete(event);
  if (event.phase != "s" && event.phase != "t" && event.phase != "f") return drop("unused event phase");
  const auto id = token_i64(event.id);
  const auto section = token_i64(event.process);
  const auto lane = token_i64(event.thread);
  const auto time_us = token_i64(event.timestamp);
  if (id && section && lane && time_us) {
    if (event.phase == "s")
      links_.arrow_start(*id, {*section, *lane, *time_us});
    else
      links_.arrow_end(*id, {*section, *lane, *time_us});
  }
  drop(kArrows);
}

void JsonReader::section_name(const TraceEvent& event) {
  drop("section names");
  const auto number = token_i64(event.process);
  if (!number || event.name != "process_name" || sections_.size() > kMaxKeys) return;
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    if (key != "name") return;
    const std::string_view name = unquoted(raw);
    Section section = Section::unknown;
    if (name.find("HIP") != std::string_view::npos) section = Section::hip;
    if (name.find("HSA") != std::string_view::npos) section = Section::hsa;
    if (name.find("KFD") != std::string_view::npos) section = Section::kfd;
    if (name.starts_with("Markers")) section = Section::marker;
    if (name == "COPY") section = Section::copy;
    if (name.starts_with("GPU")) section = name.find("Barrier") == std::string_view::npos ? Section::gpu : Section::barriers;
    sections_[*number] = section;
  });
}

rocm::Column JsonReader::column(std::string_view key) {
  if (const auto known = columns_.find(key); known != columns_.end()) return known->second;
  const Column column = rocm::column_of(key);
  if (columns_.size() < kMaxKeys) columns_.emplace(std::string(key), column);
  return column;
}

JsonReader::Fields JsonReader::read_fields(const TraceEvent& event) {
  Fields fields;
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    const Column which = column(key);
    if (which == Column::other) fields.has_counters = true;
    std::string_view& value = fields.values[static_cast<std::size_t>(which)];
    if (value.empty()) value = unquoted(raw);
  });
  return fields;
}

void JsonReader::complete(const TraceEvent& event) {
  const auto number = token_i64(event.process);
  const auto known = number ? sections_.find(*number) : sections_.end();
  Section section = known == sections_.end() ? Section::unknown : known->second;
  const Fields fields = read_fields(event);
  if (!fields[Column::kernel_name].empty() && section != Section::barriers) section = Section::gpu;
  if (section == Section::barriers || event.name.starts_with("<barrier")) return drop("queue barrier packets");
  if (section == Section::unknown) return drop("events of an unnamed section");
  const Place place{number.value_or(0), token_i64(event.thread).value_or(0), token_i64(event.timestamp).value_or(0)};
  if (section == Section::gpu) return kernel(fields, event, place);
  if (section == Section::copy) return copy(fields, event, place);
  call(fields, event, section, place, token_i64(event.duration).value_or(0));
}

void JsonReader::kernel(const Fields& fields, const TraceEvent& event, const Place& place) {
  const char* why_not = nullptr;
  const auto span = rocm::time_span(fields[Column::start], fields[Column::end], why_not);
  if (!span) return drop(why_not);
  const bool dispatch = !fields[Column::kernel_name].empty();
  const std::string_view name = dispatch ? fields[Column::kernel_name] : event.name;
  trace::KernelRow row;
  row.rank = processes().of_work(fields[Column::process]).rank;
  row.name = ids_.name(name);
  row.start_ns = span->start_ns;
  row.end_ns = span->end_ns;
  row.device = rocm::agent_number(fields[Column::agent]).value_or(0);
  row.queue = rocm::agent_number(fields[Column::queue]).value_or(-1);
  row.stream = token_i64(fields[Column::stream]).value_or(std::max<std::int64_t>(row.queue, 0));
  row.block_x = rocm::count_of(fields[Column::group_size]);
  row.grid_x = rocm::groups(rocm::count_of(fields[Column::grid_size]), row.block_x);
  row.lds_bytes = rocm::count_of(fields[Column::lds]);
  row.scratch_bytes = rocm::count_of(fields[Column::scratch]);
  row.vgpr_count = rocm::count_of(fields[Column::vgpr]);
  row.sgpr_count = rocm::count_of(fields[Column::sgpr]);
  if (dispatch) row.dispatch_id = static_cast<std::uint64_t>(dispatches_++);  // as the Index of the table beside it
  ++kept_;
  links_.add(row, place, dispatch ? Tracer::hsa : Tracer::hip, name);
  if (dispatch && fields.has_counters) counters(event, row);
}

void JsonReader::counters(const TraceEvent& event, const trace::KernelRow& kernel) {
  for_each_member(event.args, [&](std::string_view key, std::string_view raw) {
    if (column(key) != Column::other) return;
    const auto value = core::parse_f64(unquoted(raw));
    if (!value || !std::isfinite(*value)) return;
    trace::KernelCounterRow row;
    row.rank = kernel.rank;
    row.device = kernel.device;
    row.dispatch_id = kernel.dispatch_id;
    row.kernel_name = kernel.name;
    row.counter = ids_.name(key);
    row.value = *value;
    sink_.add(row);
    if (counters_.size() < kMaxKeys || counters_.contains(std::string(key))) ++counters_[std::string(key)];
  });
}

void JsonReader::copy(const Fields& fields, const TraceEvent& event, const Place& place) {
  const char* why_not = nullptr;
  const auto span = rocm::time_span(fields[Column::start], fields[Column::end], why_not);
  if (!span) return drop(why_not);
  trace::CopyRow row;
  row.rank = processes().of_work(fields[Column::process]).rank;
  row.kind = ids_.name(rocm::copy_kind(event.name));
  row.start_ns = span->start_ns;
  row.end_ns = span->end_ns;
  row.device = rocm::agent_number(fields[Column::agent]).value_or(0);
  row.stream = token_i64(fields[Column::stream]).value_or(0);
  ++kept_;
  links_.add(row, place);
}

void JsonReader::call(const Fields& fields, const TraceEvent& event, Section section, const Place& place,
                      std::int64_t duration_us) {
  const char* why_not = nullptr;
  const auto span = rocm::time_span(fields[Column::start], fields[Column::end], why_not);
  if (!span) return drop(why_not);
  trace::ApiCallRow row;
  row.rank = processes().of_call(fields[Column::process]).rank;  // its id is its arrow's: none is taken for another's
  row.domain = ids_.name(section == Section::hip   ? "hip"
                         : section == Section::hsa ? "hsa"
                         : section == Section::kfd ? "kfd"
                                                   : "marker");
  row.name = ids_.name(event.name);
  row.process_id = token_i64(fields[Column::process]).value_or(0);
  row.thread_id = token_i64(fields[Column::thread]).value_or(0);
  row.start_ns = span->start_ns;
  row.end_ns = span->end_ns;
  ++kept_;
  if (section == Section::marker)
    sink_.add(row);
  else
    links_.add(row, place, duration_us);
}

void JsonReader::finish(ImportResult& result) {
  const FlowLinks::Outcome outcome = links_.flush();
  account_.keep(kept_);
  for (const auto& [reason, count] : dropped_) account_.drop(reason, count);
  const auto note = [&](std::int64_t count, const char* what) {
    if (count > 0) account_.notes.push_back(std::to_string(count) + what);
  };
  note(outcome.linked, " launches were matched to their work by flow events");
  note(outcome.merged, " kernels were recorded by both the HIP and the HSA tracer and merged into one row each");
  note(outcome.passed_on, " rows were written before their flow events arrived (buffer full)");
  const std::size_t working = processes().working();
  note(working > 1 ? static_cast<std::int64_t>(working) : 0, " processes with GPU work, each treated as a rank");
  if (working > 1 && processes().early_callers() > 0)
    result.warnings.push_back({"import.processes_mixed",
                               "calls precede the kernels that identify their process: the calls of " +
                                   std::to_string(processes().early_callers()) + " processes are all assigned to rank 0",
                               "import the database (results.db) or the CSV tables of the same run instead"});
  if (counters_.empty()) return;
  core::Json list = core::Json::array();
  for (const auto& [name, count] : counters_) list.push(clean_utf8(name));
  result.facts.set("counters", std::move(list));
}

}  // namespace aaco::importers::rocprof
