#include "importers/stream/csv_records.h"

#include <deque>
#include <functional>

#include "formats/csv.h"
#include "importers/stream/byte_order_mark.h"
#include "importers/stream/text_window.h"
#include "importers/stream/work_ahead.h"

namespace aaco::importers {
namespace {

constexpr std::size_t kFirstWindow = std::size_t{1} << 20;

// A piece of text and the records found in it.
struct RecordBatch : TextWindow {
  struct Record {
    std::size_t first = 0;  // of the fields
    std::size_t count = 0;
    bool terminated = false;
  };
  std::vector<Record> records;
  std::vector<std::string_view> fields;
  std::deque<std::string> texts;  // of fields that are no views of the text

  void clear() {
    records.clear();
    fields.clear();
    texts.clear();
  }
  void add(const formats::csv::Decoder& decoder) {
    records.push_back({fields.size(), decoder.fields().size(), decoder.terminated()});
    for (const std::string_view field : decoder.fields()) {
      const bool is_view = std::greater_equal<>()(field.data(), begin()) && std::less_equal<>()(field.data(), end());
      fields.push_back(is_view ? field : texts.emplace_back(field));
    }
  }
};

class RecordSplitter {
 public:
  RecordSplitter(trace::ByteSource& source, const ReadLimits& limits, CsvEnd& end)
      : source_(source), limits_(limits), end_(end) {}

  // Fills the batch with the next window; false at the end. The rest behind its last whole record goes to the next one.
  core::Result<bool> fill(RecordBatch& batch) {
    if (ended_) return false;
    batch.begin_with(rest_, std::min(kFirstWindow, limits_.window_bytes));
    for (;;) {
      AACO_ASSIGN(const bool more, batch.read(source_, end_.bytes));
      batch.clear();
      const char* at = batch.begin();
      if (first_ && std::string_view(at, batch.size).starts_with(kByteOrderMark)) at += kByteOrderMark.size();
      while (decoder_.next(at, batch.end(), !more) == formats::csv::Step::record) batch.add(decoder_);
      if (!more || at > batch.begin()) {
        rest_.assign(at, batch.end());
        first_ = false;
        ended_ = !more;
        return true;
      }
      if (batch.size >= limits_.value_bytes) {
        end_.trouble = "a single record is larger than " + std::to_string(limits_.value_bytes) + " bytes";
        ended_ = true;
        return true;
      }
      batch.reserve(2 * batch.size);
    }
  }

 private:
  trace::ByteSource& source_;
  const ReadLimits& limits_;
  CsvEnd& end_;
  formats::csv::Decoder decoder_;
  std::string rest_;
  bool first_ = true;
  bool ended_ = false;
};

}  // namespace

core::Result<CsvEnd> read_csv(trace::ByteSource& source,
                              const std::function<core::Status(const CsvFields& fields, bool terminated)>& visit,
                              const ReadLimits& limits) {
  CsvEnd end;
  std::int64_t records = 0;  // the end is the splitter's own while it works
  bool terminated = true;
  RecordSplitter splitter(source, limits, end);
  const auto use = [&](const RecordBatch& batch) -> core::Status {
    for (const RecordBatch::Record& record : batch.records) {
      ++records;
      terminated = record.terminated;
      AACO_TRY(visit(CsvFields(batch.fields).subspan(record.first, record.count), terminated));
    }
    return {};
  };
  AACO_TRY(work_ahead<RecordBatch>([&](RecordBatch& batch) { return splitter.fill(batch); }, use));
  end.records = records;
  end.terminated = terminated;
  if (end.bytes == 0) return core::fail(core::ErrorCode::invalid_input, source.name() + ": the file is empty");
  return end;
}

}  // namespace aaco::importers
