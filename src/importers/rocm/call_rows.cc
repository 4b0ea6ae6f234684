#include <map>
#include <set>

#include "importers/rocm/table_reader.h"
#include "importers/rocm/values.h"

namespace aaco::importers::rocm {
namespace {

constexpr std::size_t kMostArguments = 10'000;  // different ones that are kept

class CallReader final : public TableReader {
 public:
  CallReader(const ReaderContext& context, Table table)
      : columns_(context.columns), sink_(context.sink), account_(context.account), table_(table), names_(context.sink) {}

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
    if (left_out_ > 0)
      account_.notes.push_back("arguments of " + std::to_string(left_out_) +
                               " records were left out: more different ones than are kept");
    if (guids_.size() <= 1) return;
    result.warnings.push_back({"import.processes_mixed",
                               "the table holds " + std::to_string(guids_.size()) +
                                   " processes in one: launches may be joined to the wrong one's kernels",
                               "convert each process's database by itself, or import the databases"});
  }

 private:
  void copy(const CsvFields& fields, const TimeSpan& span) {
    trace::CopyRow row;
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
    row.start_ns = span.start_ns;
    row.end_ns = span.end_ns;
    row.process_id = token_i64(columns_.field(fields, Column::process)).value_or(0);
    row.thread_id = token_i64(columns_.field(fields, Column::thread)).value_or(0);
    row.correlation_id = token_u64(columns_.field(fields, Column::correlation)).value_or(0);
    if (columns_.has(Column::guid)) note_guid(columns_.field(fields, Column::guid));
    if (table_ == Table::api) {
      row.domain = domain(columns_.field(fields, Column::domain));
      const std::string_view message = columns_.field(fields, Column::marker_message);
      row.name = names_.name(message.empty() ? columns_.field(fields, Column::function) : message);
    } else {
      row.domain = names_.name(table_ == Table::allocations ? "memory_allocation" : "scratch_memory");
      row.name = names_.name(columns_.field(fields, Column::operation));
      row.arguments = arguments(fields);
    }
    sink_.add(row);
  }

  void note_guid(std::string_view guid) {
    if (!guids_.contains(guid) && guids_.size() < kMostArguments) guids_.emplace(guid);
  }

  trace::NameId domain(std::string_view text) {
    if (const auto known = domains_.find(text); known != domains_.end()) return known->second;
    const trace::NameId id = names_.name(domain_of(text));
    if (domains_.size() < kMostArguments) domains_.emplace(std::string(text), id);
    return id;
  }

  trace::NameId arguments(const CsvFields& fields) {
    std::string text;
    const auto add = [&](std::string_view key, std::optional<std::int64_t> value) {
      if (value) text.append(text.empty() ? "{\"" : ",\"").append(key).append("\":").append(std::to_string(*value));
    };
    add("agent", agent_number(columns_.field(fields, Column::agent)));
    if (const auto bytes = count_of(columns_.field(fields, Column::bytes)); bytes && *bytes > 0) add("bytes", bytes);
    if (text.empty()) return {};
    text += '}';
    if (const auto known = arguments_.find(text); known != arguments_.end()) return known->second;
    if (arguments_.size() >= kMostArguments) {
      ++left_out_;
      return {};
    }
    return arguments_.emplace(text, sink_.name(text)).first->second;
  }

  const Columns& columns_;
  trace::Sink& sink_;
  trace::Account& account_;
  Table table_;
  PlainIds names_;
  std::map<std::string, trace::NameId, std::less<>> domains_, arguments_;
  std::set<std::string, std::less<>> guids_;
  std::int64_t left_out_ = 0;
};

}  // namespace

std::unique_ptr<TableReader> make_call_reader(const ReaderContext& context, Table table) {
  return std::make_unique<CallReader>(context, table);
}

}  // namespace aaco::importers::rocm
