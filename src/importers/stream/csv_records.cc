#include "importers/stream/csv_records.h"

#include <cstring>

#include "formats/csv.h"

namespace aaco::importers {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kFirstWindow = std::size_t{1} << 20;

}  // namespace

core::Result<CsvEnd> read_csv(trace::ByteSource& source,
                              const std::function<core::Status(const CsvFields& fields, bool terminated)>& visit,
                              const ReadLimits& limits) {
  CsvEnd end;
  formats::csv::Decoder decoder;
  std::string window(std::min(kFirstWindow, limits.window_bytes), '\0');
  std::size_t size = 0;
  bool first = true;
  for (bool more = true; more;) {
    while (more && size < window.size()) {
      AACO_ASSIGN(const std::size_t count, source.read({window.data() + size, window.size() - size}));
      size += count;
      end.bytes += static_cast<std::int64_t>(count);
      more = count > 0;
    }
    const char* at = window.data();
    const char* const stop = at + size;
    if (first && std::string_view(at, size).starts_with(kByteOrderMark)) at += kByteOrderMark.size();
    first = false;
    while (decoder.next(at, stop, !more) == formats::csv::Step::record) {
      ++end.records;
      end.terminated = decoder.terminated();
      AACO_TRY(visit(decoder.fields(), end.terminated));
    }
    const auto rest = static_cast<std::size_t>(stop - at);
    if (rest == window.size()) {
      if (window.size() >= limits.value_bytes) {
        end.trouble = "a single record is larger than " + std::to_string(limits.value_bytes) + " bytes";
        return end;
      }
      window.resize(2 * window.size());
      continue;
    }
    std::memmove(window.data(), at, rest);
    size = rest;
  }
  if (end.bytes == 0) return core::fail(core::ErrorCode::invalid_input, source.name() + ": the file is empty");
  return end;
}

}  // namespace aaco::importers
