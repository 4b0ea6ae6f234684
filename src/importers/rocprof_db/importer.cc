#include <algorithm>

#include "core/strings.h"
#include "importers/database/gpu_work.h"
#include "importers/database/open_database.h"
#include "importers/database/table_scan.h"
#include "importers/database/unread_tables.h"
#include "importers/rocm/table_reader.h"
#include "importers/rocm/values.h"
#include "importers/rocm_tables.h"
#include "importers/rocprof_db.h"

namespace aaco::importers::rocprof_db {
namespace {

using formats::sqlite::Rows;
using formats::sqlite::Table;

std::string_view unquoted(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

bool has(const Table& table, std::string_view column) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const std::string& name) { return core::to_lower(name) == core::to_lower(column); });
}

bool is_dispatches(const Table& table) { return has(table, "KernelName") && has(table, "Index"); }
bool is_activity(const Table& table) { return has(table, "BeginNs") && has(table, "EndNs") && has(table, "Name"); }

bool is_on_device(const Table& table) {
  const std::string kind = core::to_lower(table.name);
  return has(table, "dev-id") || kind.starts_with("ops") || kind.starts_with("copy");
}

class Reader {
 public:
  explicit Reader(TableScan& scan) : scan_(scan), sink_(scan.sink()), names_(scan.sink()), kernels_(scan.sink()) {}

  core::Status read() {
    for (const Table& table : scan_.database().tables())
      if (is_dispatches(table)) AACO_TRY(read_dispatches(table));
    for (const bool device : {true, false})  // calls are placed by the processes of the device's work
      for (const Table& table : scan_.database().tables())
        if (!is_dispatches(table) && is_activity(table) && is_on_device(table) == device) AACO_TRY(read_activity(table));
    note_processes();
    return {};
  }

 private:
  // Its columns are those of rocprof's CSV.
  core::Status read_dispatches(const Table& table) {
    const std::vector<std::string_view> headings(table.columns.begin(), table.columns.end());
    const rocm::Columns columns(headings);
    const auto reader = rocm::make_dispatch_reader({columns, sink_, scan_.account(), table.name}, rocm::Table::kernels);
    std::vector<std::string> texts(headings.size());
    std::vector<std::string_view> fields(headings.size());
    AACO_TRY(scan_.table(table.name, headings, [&](const Rows& row) {
      for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = unquoted(row.text(static_cast<int>(i)));
      std::copy(texts.begin(), texts.end(), fields.begin());
      reader->record(fields);
      ++dispatches_;
    }));
    reader->finish(scan_.result());
    return {};
  }

  core::Status read_activity(const Table& table) {
    const std::string kind = core::to_lower(table.name);
    const bool on_device = is_on_device(table);
    const bool copies = kind.starts_with("copy");
    const std::string domain = kind.substr(0, std::min(kind.find('_'), kind.find("_api")));
    return scan_.table(table.name, {"BeginNs", "EndNs", "Name", "pid", "tid", "Index", "dev-id", "queue-id"},
                       [&](const Rows& row) {
                         const auto span = scan_.span(row, 0, 1);
                         if (!span) return;
                         const std::string name(unquoted(row.text(2)));
                         const std::string_view direction = rocm::copy_kind(name);
                         if (copies || (on_device && direction != "unknown")) return add_copy(row, *span, direction);
                         if (on_device) return add_kernel(row, *span, name);
                         scan_.account().keep();
                         trace::ApiCallRow call;
                         const trace::ProcessPlace place = processes().of_call(row.text(3));
                         call.rank = place.rank;
                         call.domain = names_.name(domain == "roctx" ? "marker" : domain);
                         call.name = names_.name(name);
                         call.process_id = row.integer(3).value_or(0);
                         call.thread_id = row.integer(4).value_or(0);
                         call.start_ns = span->start_ns;
                         call.end_ns = span->end_ns;
                         call.correlation_id = place.owns_ids ? row.id(5).value_or(0) : 0;
                         sink_.add(call);
                       });
  }

  // The process that a row of pid and other columns names.
  trace::ProcessBook& processes() { return sink_.processes() != nullptr ? *sink_.processes() : own_processes_; }

  void note_processes() {
    if (const std::size_t count = processes().working(); count > 1)
      scan_.account().notes.push_back(std::to_string(count) + " processes with GPU work, each treated as a rank");
  }

  void add_kernel(const Rows& row, RowSpan span, const std::string& name) {
    if (dispatches_ > 0) return scan_.account().drop("also in the dispatch table");
    scan_.account().keep();
    trace::KernelRow kernel;
    kernel.rank = processes().of_work(row.text(3)).rank;
    kernel.device = row.integer(6).value_or(0);
    kernel.queue = row.integer(7).value_or(-1);
    kernel.stream = std::max<std::int64_t>(kernel.queue, 0);
    kernel.name = names_.name(name);
    kernel.start_ns = span.start_ns;
    kernel.end_ns = span.end_ns;
    kernel.correlation_id = row.id(5).value_or(0);
    kernels_.add(kernel, [&] { return name; });
  }

  void add_copy(const Rows& row, RowSpan span, std::string_view kind) {
    scan_.account().keep();
    trace::CopyRow copy;
    copy.rank = processes().of_work(row.text(3)).rank;
    copy.device = row.integer(6).value_or(0);
    copy.stream = row.integer(7).value_or(0);
    copy.kind = names_.name(kind);
    copy.start_ns = span.start_ns;
    copy.end_ns = span.end_ns;
    copy.correlation_id = row.id(5).value_or(0);
    sink_.add(copy);
  }

  TableScan& scan_;
  trace::Sink& sink_;
  rocm::PlainIds names_;
  KernelSink kernels_;
  trace::ProcessBook own_processes_;
  std::int64_t dispatches_ = 0;
};

class RocprofDatabase final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override { return rocm_info("rocprof", "rocprof database (SQLite)", true); }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    return formats::sqlite::is_database(head) && head.find("\"BeginNs\"") != std::string_view::npos;
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    AACO_ASSIGN(const OpenDatabase open, open_database(source));
    const auto& tables = open.database.tables();
    if (std::none_of(tables.begin(), tables.end(), [](const Table& table) { return is_dispatches(table) || is_activity(table); }))
      return core::fail(core::ErrorCode::invalid_input, source.name() + ": no rocprof table (KERN, HIP, OPS, ...)");
    ImportResult result;
    result.account.source = "rocprof";
    result.facts = core::Json::object();
    TableScan scan(open.database, source, sink, result);
    AACO_TRY(Reader(scan).read());
    drop_unread_tables(scan, [&](std::string_view name) {
      const Table& table = *open.database.table(name);
      return name.starts_with("sqlite_") || is_dispatches(table) || is_activity(table);
    });
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<RocprofDatabase>(); }

}  // namespace aaco::importers::rocprof_db
