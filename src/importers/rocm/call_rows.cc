#include <map>

#include "importers/rocm/allocation_arguments.h"
#include "importers/rocm/row_processes.h"
#include "importers/rocm/table_reader.h"
#include "importers/rocm/values.h"

namespace aaco::importers::rocm {
namespace {

constexpr std::size_t kMaxNames = 10'000;

class CallReader final : public TableReader {
 public:
  CallReader(const ReaderContext& context, Table table)
      : columns_(context.columns),
        sink_(context.sink),
        account_(context.account),
        table_(table),
        names_(context.sink),
        processes_(context.columns, context.sink),
        arguments_(context.sink) {}

  void record(const CsvFields& fields) override {
    const char* why_not = nullptr;
    const auto span = time_span(columns_.field(fields, Column::start), columns_.field(fields, Column::end), why_not);
    if (!span) return account_.drop(why_not);
    account_.keep();
    if (table_ == Table::copies)
      copy(fields, *span);
    else
      call(fields, *span);
  }

  void finish(ImportResult& result) override {
    arguments_.report(account_);
    processes_.report(result);
  }

 private:
  void copy(const CsvFields& fields, const TimeSpan& span) {
    trace::CopyRow row;
    const trace::ProcessPlace place = processes_.of_work(fields);
    row.rank = place.rank;
    const std::string_view kind = copy_kind(columns_.field(fields, Column::direction));
    row.kind = names_.name(kind);
    row.start_ns = span.start_ns;
    row.end_ns = span.end_ns;
    row.stream = token_i64(columns_.field(fields, Column::stream)).value_or(0);
    row.bytes = count_of(columns_.field(fields, Column::bytes));
    row.correlation_id = token_u64(columns_.field(fields, Column::correlation)).value_or(0);
    set_devices(row, kind, agent_number(columns_.field(fields, Column::source_agent)),
                agent_number(columns_.field(fields, Column::target_agent)));
    sink_.add(row);
  }

  void call(const CsvFields& fields, const TimeSpan& span) {
    trace::ApiCallRow row;
    const trace::ProcessPlace place = processes_.of_call(fields);
    row.rank = place.rank;
    row.start_ns = span.start_ns;
    row.end_ns = span.end_ns;
    row.process_id = token_i64(columns_.field(fields, Column::process)).value_or(0);
    row.thread_id = token_i64(columns_.field(fields, Column::thread)).value_or(0);
    if (place.owns_ids) row.correlation_id = token_u64(columns_.field(fields, Column::correlation)).value_or(0);
    if (table_ == Table::api) {
      row.domain = domain(columns_.field(fields, Column::domain));
      const std::string_view message = columns_.field(fields, Column::marker_message);
      row.name = names_.name(message.empty() ? columns_.field(fields, Column::function) : message);
    } else {
      row.domain = names_.name(table_ == Table::allocations ? "memory_allocation" : "scratch_memory");
      row.name = names_.name(columns_.field(fields, Column::operation));
      row.arguments =
          arguments_.of(agent_number(columns_.field(fields, Column::agent)), count_of(columns_.field(fields, Column::bytes)));
    }
    sink_.add(row);
  }

  trace::NameId domain(std::string_view text) {
    if (const auto known = domains_.find(text); known != domains_.end()) return known->second;
    const trace::NameId id = names_.name(domain_of(text));
    if (domains_.size() < kMaxNames) domains_.emplace(std::string(text), id);
    return id;
  }

  const Columns& columns_;
  trace::Sink& sink_;
  trace::Account& account_;
  Table table_;
  PlainIds names_;
  RowProcesses processes_;
  AllocationArguments arguments_;
  std::map<std::string, trace::NameId, std::less<>> domains_;
};

}  // namespace

std::unique_ptr<TableReader> make_call_reader(const ReaderContext& context, Table table) {
  return std::make_unique<CallReader>(context, table);
}

}  // namespace aaco::importers::rocm
