#include <cmath>
#include <map>

#include "core/numbers.h"
#include "core/seen_set.h"
#include "importers/rocm/row_processes.h"
#include "importers/rocm/table_reader.h"
#include "importers/rocm/values.h"

namespace aaco::importers::rocm {
namespace {

constexpr const char* kNothing = "dispatch without times or counters";

// What both tables say of a dispatch.
class DispatchFields {
 public:
  DispatchFields(const Columns& columns, trace::Sink& sink)
      : columns_(columns), sink_(sink), names_(sink), processes_(columns, sink) {}

  trace::KernelRow row(const CsvFields& fields) {
    const auto text = [&](Column column) { return columns_.field(fields, column); };
    trace::KernelRow row;
    row.rank = processes_.of_work(fields).rank;
    row.device = agent_number(text(Column::agent)).value_or(0);
    row.queue = agent_number(text(Column::queue)).value_or(-1);
    row.stream =
        columns_.has(Column::stream) ? token_i64(text(Column::stream)).value_or(0) : std::max<std::int64_t>(row.queue, 0);
    row.name = kernel_name(fields);
    row.correlation_id = token_u64(text(Column::correlation)).value_or(0);
    row.dispatch_id = token_u64(text(Column::dispatch)).value_or(0);
    shape(fields, row);
    row.lds_bytes = count_of(text(Column::lds));
    row.scratch_bytes = count_of(text(Column::scratch));
    row.vgpr_count = count_of(text(Column::vgpr));
    row.sgpr_count = count_of(text(Column::sgpr));
    return row;
  }
  trace::NameId kernel_name(const CsvFields& fields) {
    if (columns_.has(Column::kernel_name)) return names_.name(columns_.field(fields, Column::kernel_name));
    return names_.name("kernel " + std::string(columns_.field(fields, Column::kernel_id)));
  }
  [[nodiscard]] std::string_view process(const CsvFields& fields) const { return processes_.process(fields); }
  trace::NameId name(std::string_view text) { return names_.name(text); }

  void report(ImportResult& result) const { processes_.report(result); }

  void add(const trace::KernelRow& row, std::string_view name) { add_kernel(sink_, names_, row, name); }

 private:
  // Profilers count work-items; the table has groups.
  void shape(const CsvFields& fields, trace::KernelRow& row) const {
    const auto count = [&](Column column) { return count_of(columns_.field(fields, column)); };
    if (!columns_.has(Column::grid_x)) {
      row.block_x = count(Column::group_size);
      row.grid_x = groups(count(Column::grid_size), row.block_x);
      return;
    }
    row.block_x = count(Column::group_x);
    row.block_y = count(Column::group_y);
    row.block_z = count(Column::group_z);
    row.grid_x = groups(count(Column::grid_x), row.block_x);
    row.grid_y = groups(count(Column::grid_y), row.block_y);
    row.grid_z = groups(count(Column::grid_z), row.block_z);
  }

  const Columns& columns_;
  trace::Sink& sink_;
  PlainIds names_;
  RowProcesses processes_;
};

trace::KernelCounterRow counter_row(const trace::KernelRow& kernel, trace::NameId counter, double value) {
  trace::KernelCounterRow row;
  row.rank = kernel.rank;
  row.device = kernel.device;
  row.dispatch_id = kernel.dispatch_id;
  row.kernel_name = kernel.name;
  row.counter = counter;
  row.value = value;
  return row;
}

class KernelReader final : public TableReader {
 public:
  explicit KernelReader(const ReaderContext& context)
      : columns_(context.columns),
        sink_(context.sink),
        account_(context.account),
        fields_(context.columns, context.sink),
        pass_(context.file_name.substr(0, context.file_name.find('.'))) {
    for (const std::size_t index : columns_.others()) counters_.push_back({index, {}, false});
    timed_ = columns_.has(Column::start) && columns_.has(Column::end);
  }

  void record(const CsvFields& fields) override {
    trace::KernelRow row = fields_.row(fields);
    bool any = false;
    const char* why_not = kNothing;
    if (timed_) {
      if (const auto span = time_span(columns_.field(fields, Column::start), columns_.field(fields, Column::end), why_not)) {
        row.start_ns = span->start_ns;
        row.end_ns = span->end_ns;
        fields_.add(row, columns_.field(fields, Column::kernel_name));
        any = true;
      }
    }
    const bool lost_time = timed_ && !any;
    for (Counter& counter : counters_) any = add_counter(fields, row, counter) || any;
    if (!any) return account_.drop(why_not);
    account_.keep();
    if (lost_time) ++times_lost_;
  }

  void finish(ImportResult& result) override {
    fields_.report(result);
    core::Json list = core::Json::array();
    for (const Counter& counter : counters_)
      if (counter.used) list.push(clean_utf8(counter_name(counter.index)));
    if (!list.items().empty()) result.facts.set("counters", std::move(list));
    if (times_lost_ > 0)
      result.warnings.push_back(
          {"import.times_lost",
           std::to_string(times_lost_) + " dispatches have no valid timestamps: their counters are kept, their times are dropped",
           "usually caused by a spreadsheet that rounds large numbers; import the original profiler file"});
  }

 private:
  struct Counter {
    std::size_t index = 0;
    trace::NameId name;
    bool used = false;
  };
  // rocprof-compute accumulates another level counter in each pass under one name: the pass tells them apart.
  [[nodiscard]] std::string counter_name(std::size_t index) const {
    const std::string& heading = columns_.headings()[index];
    return heading == "SQ_ACCUM_PREV_HIRES" && pass_.starts_with("SQ_") ? heading + "@" + pass_ : heading;
  }
  bool add_counter(const CsvFields& fields, const trace::KernelRow& row, Counter& counter) {
    if (counter.index >= fields.size()) return false;
    const auto value = core::parse_f64(fields[counter.index]);
    if (!value || !std::isfinite(*value)) return false;
    if (!counter.used) counter.name = fields_.name(counter_name(counter.index));
    counter.used = true;
    sink_.add(counter_row(row, counter.name, *value));
    return true;
  }

  const Columns& columns_;
  trace::Sink& sink_;
  trace::Account& account_;
  DispatchFields fields_;
  std::string pass_;  // the file's name before its first dot
  std::vector<Counter> counters_;
  bool timed_ = false;
  std::int64_t times_lost_ = 0;
};

// Lines of one dispatch follow each other in most files; its counters are added up over their instances.
class CounterReader final : public TableReader {
 public:
  explicit CounterReader(const ReaderContext& context)
      : columns_(context.columns), sink_(context.sink), account_(context.account), fields_(context.columns, context.sink) {}

  void record(const CsvFields& fields) override {
    const auto value = core::parse_f64(columns_.field(fields, Column::counter_value));
    const std::string_view counter = columns_.field(fields, Column::counter_name);
    if (!value || !std::isfinite(*value)) return account_.drop("counter without a numeric value");
    if (counter.empty()) return account_.drop("counter without a name");
    const Key key{token_u64(columns_.field(fields, Column::dispatch)).value_or(0), fields_.process(fields),
                  columns_.field(fields, Column::start)};
    if (!open_ || !key.is(dispatch_, process_, start_)) {
      flush();
      open_ = true;
      kernel_ = fields_.row(fields);
      dispatch_ = key.dispatch;
      process_ = key.process;
      start_ = key.start;
      add_kernel(fields);
    }
    const trace::NameId name = fields_.name(counter);
    used_.try_emplace(name.value, std::string(counter));
    for (auto& [known, sum] : values_)
      if (known == name) {
        sum += *value;
        return account_.keep();
      }
    values_.emplace_back(name, *value);
    account_.keep();
  }

  void finish(ImportResult& result) override {
    flush();
    fields_.report(result);
    core::Json list = core::Json::array();
    for (const auto& [id, name] : used_) list.push(clean_utf8(name));
    if (!list.items().empty()) result.facts.set("counters", std::move(list));
    if (odd_times_ > 0)
      account_.notes.push_back(std::to_string(odd_times_) + " dispatches have no usable times; only their counters are kept");
    if (seen_.overflowed())
      account_.notes.push_back("more than " + std::to_string(core::SeenSet::kMax) +
                               " dispatches: those whose counter rows are not adjacent in the file may be counted twice");
  }

 private:
  struct Key {
    std::uint64_t dispatch = 0;
    std::string_view process, start;
    [[nodiscard]] bool is(std::uint64_t other, std::string_view other_process, std::string_view other_start) const {
      return dispatch == other && process == other_process && start == other_start;
    }
  };

  // The kernel itself, where the file has times: once, wherever its other counters stand.
  void add_kernel(const CsvFields& fields) {
    if (!columns_.has(Column::start) || !columns_.has(Column::end)) return;
    const char* why_not = nullptr;
    const auto span = time_span(columns_.field(fields, Column::start), columns_.field(fields, Column::end), why_not);
    if (!span) {
      ++odd_times_;
      return;
    }
    if (!seen_.insert(dispatch_, static_cast<std::uint64_t>(kernel_.rank), static_cast<std::uint64_t>(span->start_ns))) return;
    kernel_.start_ns = span->start_ns;
    kernel_.end_ns = span->end_ns;
    fields_.add(kernel_, columns_.field(fields, Column::kernel_name));
  }
  void flush() {
    for (const auto& [name, sum] : values_) sink_.add(counter_row(kernel_, name, sum));
    values_.clear();
    open_ = false;
  }

  const Columns& columns_;
  trace::Sink& sink_;
  trace::Account& account_;
  DispatchFields fields_;
  core::SeenSet seen_;
  bool open_ = false;
  trace::KernelRow kernel_;
  std::uint64_t dispatch_ = 0;
  std::string process_, start_;
  std::vector<std::pair<trace::NameId, double>> values_;
  std::map<std::uint32_t, std::string> used_;
  std::int64_t odd_times_ = 0;
};

}  // namespace

std::unique_ptr<TableReader> make_dispatch_reader(const ReaderContext& context, Table table) {
  if (table == Table::counters) return std::make_unique<CounterReader>(context);
  return std::make_unique<KernelReader>(context);
}

}  // namespace aaco::importers::rocm
