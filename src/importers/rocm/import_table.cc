#include <algorithm>
#include <optional>

#include "core/files.h"
#include "core/strings.h"
#include "importers/rocm/table_reader.h"
#include "importers/rocm/values.h"
#include "importers/stream/damage.h"

namespace aaco::importers::rocm {
namespace {

constexpr std::int64_t kStatusEvery = 4096;

std::unique_ptr<TableReader> make_reader(const ReaderContext& context, Table table) {
  switch (table) {
    case Table::kernels:
    case Table::counters: return make_dispatch_reader(context, table);
    case Table::api:
    case Table::copies:
    case Table::allocations:
    case Table::scratch: return make_call_reader(context, table);
    case Table::samples:
    case Table::agents:
    case Table::statistics:
    case Table::system:
    case Table::roofline: return make_facts_reader(context, table);
    case Table::unknown: break;
  }
  return nullptr;
}

class Importing {
 public:
  Importing(const trace::ByteSource& source, trace::Sink& sink, ImportResult& result)
      : source_(source), sink_(sink), result_(result) {}

  core::Status take(const CsvFields& fields, bool terminated) {
    if (!columns_) return header(fields);
    if (is_header(fields)) {
      ++headers_;
      result_.account.drop("repeated header");
    } else if (fields.size() < columns_->size()) {
      cut_ = !terminated;
      result_.account.drop(cut_ ? "truncated record" : kFewFields);
    } else {
      reader_->record(fields);
    }
    return ++records_ % kStatusEvery == 0 ? sink_.status() : core::Status();
  }

  core::Status finish(const CsvEnd& end) {
    if (headers_ > 0)
      result_.warnings.push_back({"import.tables_joined",
                                  source_.name() + " contains its header " + std::to_string(headers_ + 1) +
                                      " times: several tables were joined into one file; if they come from different runs or "
                                      "processes, counts and sums cover all of them",
                                  "import each table as a separate file"});
    if (!reader_) return core::fail(core::ErrorCode::invalid_input, source_.name() + ": header missing");
    reader_->finish(result_);
    if (records_ == 0) result_.account.notes.push_back("the table has a header but no rows");
    if (!end.trouble.empty()) {
      cut(end.trouble);
    } else if (cut_) {
      cut("the text ends mid-line");
    } else if (!end.terminated && records_ > 0) {
      result_.account.notes.push_back("the last line has no newline and may be incomplete");
    }
    return sink_.status();
  }

 private:
  [[nodiscard]] bool is_header(const CsvFields& fields) const {
    const auto& headings = columns_->headings();
    return fields.size() >= headings.size() && core::trim(fields[0]) == headings[0] &&
           std::equal(headings.begin(), headings.end(), fields.begin(),
                      [](std::string_view heading, std::string_view field) { return heading == core::trim(field); });
  }
  core::Status header(const CsvFields& fields) {
    columns_.emplace(fields);
    const Table table = table_of(*columns_);
    reader_ = make_reader({*columns_, sink_, result_.account, core::base_name(source_.name())}, table);
    if (reader_) return {};
    return core::fail(core::ErrorCode::invalid_input, source_.name() + ": the columns match no known ROCm profiler table");
  }
  void cut(const std::string& how) {
    report_cut(result_, source_.name(), how, std::to_string(result_.account.kept) + " lines before the truncation",
               "copy the complete file again");
  }

  const trace::ByteSource& source_;
  trace::Sink& sink_;
  ImportResult& result_;
  std::optional<Columns> columns_;
  std::unique_ptr<TableReader> reader_;
  std::int64_t records_ = 0, headers_ = 0;
  bool cut_ = false;
};

}  // namespace

core::Result<ImportResult> import_table(trace::ByteSource& source, trace::Sink& sink, std::string_view importer_name) {
  ImportResult result;
  result.account.source = importer_name;
  result.facts = core::Json::object();
  Importing importing(source, sink, result);
  AACO_ASSIGN(const CsvEnd end,
              read_csv(source, [&](const CsvFields& fields, bool terminated) { return importing.take(fields, terminated); }));
  AACO_TRY(importing.finish(end));
  return result;
}

}  // namespace aaco::importers::rocm
