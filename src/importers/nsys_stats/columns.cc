#include "importers/nsys_stats/columns.h"

#include <string>
#include <utility>

#include "core/strings.h"
#include "formats/csv.h"
#include "importers/stream/byte_order_mark.h"

namespace aaco::importers::nsys_stats {
namespace {

constexpr auto kNames = std::to_array<std::pair<std::string_view, Column>>({
    {"start", Column::start},
    {"end", Column::end},
    {"duration", Column::duration},
    {"corrid", Column::correlation},
    {"grdx", Column::grid_x},
    {"grdy", Column::grid_y},
    {"grdz", Column::grid_z},
    {"blkx", Column::block_x},
    {"blky", Column::block_y},
    {"blkz", Column::block_z},
    {"reg/trd", Column::registers},
    {"stcsmem", Column::static_shared},
    {"dymsmem", Column::dynamic_shared},
    {"bytes", Column::bytes},
    {"device", Column::device},
    {"strm", Column::stream},
    {"name", Column::name},
    {"result", Column::result},
    {"pid", Column::process},
    {"tid", Column::thread},
    {"rangeid", Column::range},
});

constexpr auto kTimes = std::to_array<std::pair<std::string_view, int>>({{"ns", 0},
                                                                         {"nsec", 0},
                                                                         {"us", 3},
                                                                         {"usec", 3},
                                                                         {"\xc2\xb5s", 3},
                                                                         {"\xce\xbcs", 3},
                                                                         {"ms", 6},
                                                                         {"msec", 6},
                                                                         {"s", 9},
                                                                         {"sec", 9}});
constexpr auto kSizes = std::to_array<std::pair<std::string_view, double>>({{"b", 1},
                                                                            {"byte", 1},
                                                                            {"bytes", 1},
                                                                            {"kb", 1e3},
                                                                            {"mb", 1e6},
                                                                            {"gb", 1e9},
                                                                            {"kib", 1024.},
                                                                            {"mib", 1048576.},
                                                                            {"gib", 1073741824.}});

template <class Value, std::size_t kSize>
std::optional<Value> find(const std::array<std::pair<std::string_view, Value>, kSize>& table, std::string_view word) {
  for (const auto& [name, value] : table)
    if (name == word) return value;
  return std::nullopt;
}

struct Heading {
  std::string name, unit;  // of "Duration (ns)", in lower case and without blanks
};

Heading heading_of(std::string_view text) {
  const std::string lower = core::to_lower(core::trim(text.substr(0, 64)));
  const auto open = lower.find_first_of("([");
  Heading heading{std::string(core::trim(lower.substr(0, open))), {}};
  if (open != std::string::npos) {
    const auto close = lower.find_first_of(")]", open);
    heading.unit = core::trim(std::string_view(lower).substr(open + 1, close == std::string::npos ? close : close - open - 1));
  }
  return heading;
}

}  // namespace

Columns::Columns(const CsvFields& header) : size_(header.size()) {
  index_.fill(-1);
  bool total = false, share = false, projected = false;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const Heading heading = heading_of(header[i]);
    total = total || ((heading.name == "total time" || heading.name == "total") && !heading.unit.empty());
    share = share || heading.unit == "%" || heading.name == "count" || heading.name == "num calls";
    projected = projected || ((heading.name == "projected start" || heading.name == "kernel start") && !heading.unit.empty());
    const auto column = static_cast<std::size_t>(find(kNames, heading.name).value_or(Column::other));
    if (index_[column] >= 0) continue;
    index_[column] = static_cast<std::int32_t>(i);
    decimals_[column] = find(kTimes, heading.unit);
    bytes_[column] = find(kSizes, heading.unit);
  }
  while (size_ > 0 && core::trim(header[size_ - 1]).empty()) --size_;
  const bool timed = has(Column::start) && has(Column::duration) && has(Column::name);
  if (timed && has(Column::correlation))
    report_ = has(Column::result) || has(Column::thread) ? Report::calls : Report::gpu_work;
  else if (timed && has(Column::range))
    report_ = Report::ranges;
  else if ((total && share) || projected)
    report_ = Report::unusable;
}

std::optional<Report> report_of(std::string_view head) {
  constexpr int kMaxLines = 200;  // that nsys says before the first report
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  for (int line = 0; line < kMaxLines && !head.empty(); ++line) {
    const auto end = head.find('\n');
    const std::string_view text = head.substr(0, end == std::string_view::npos ? end : end + 1);
    formats::csv::Decoder decoder;
    const char* at = text.data();
    if (text.find(',') != std::string_view::npos && text.find('{') == std::string_view::npos &&
        decoder.next(at, at + text.size(), true) == formats::csv::Step::record)
      if (const auto report = Columns(decoder.fields()).report()) return report;
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace aaco::importers::nsys_stats
