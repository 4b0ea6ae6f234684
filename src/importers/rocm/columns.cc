#include "importers/rocm/columns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/strings.h"
#include "formats/csv.h"
#include "importers/stream/byte_order_mark.h"

namespace aaco::importers::rocm {
namespace {

constexpr auto kNames = std::to_array<std::pair<std::string_view, Column>>({
    {"kernelname", Column::kernel_name},
    {"kernelid", Column::kernel_id},
    {"starttimestamp", Column::start},
    {"beginns", Column::start},
    {"startns", Column::start},
    {"endtimestamp", Column::end},
    {"endns", Column::end},
    {"agentid", Column::agent},
    {"gpuid", Column::agent},
    {"devid", Column::agent},
    {"queueid", Column::queue},
    {"streamid", Column::stream},
    {"processid", Column::process},
    {"pid", Column::process},
    {"threadid", Column::thread},
    {"tid", Column::thread},
    {"dispatchid", Column::dispatch},
    {"index", Column::dispatch},
    {"correlationid", Column::correlation},
    {"gridsize", Column::grid_size},
    {"grd", Column::grid_size},
    {"gridsizex", Column::grid_x},
    {"gridsizey", Column::grid_y},
    {"gridsizez", Column::grid_z},
    {"workgroupsize", Column::group_size},
    {"wgr", Column::group_size},
    {"workgroupsizex", Column::group_x},
    {"workgroupsizey", Column::group_y},
    {"workgroupsizez", Column::group_z},
    {"ldsblocksize", Column::lds},
    {"lds", Column::lds},
    {"ldsperworkgroup", Column::lds},
    {"groupsegmentsize", Column::lds},
    {"scratchsize", Column::scratch},
    {"scr", Column::scratch},
    {"scratchperworkitem", Column::scratch},
    {"privatesegmentsize", Column::scratch},
    {"vgprcount", Column::vgpr},
    {"archvgprcount", Column::vgpr},
    {"archvgpr", Column::vgpr},
    {"vgpr", Column::vgpr},
    {"sgprcount", Column::sgpr},
    {"sgpr", Column::sgpr},
    {"domain", Column::domain},
    {"kind", Column::domain},
    {"function", Column::function},
    {"operation", Column::operation},
    {"direction", Column::direction},
    {"sourceagentid", Column::source_agent},
    {"destinationagentid", Column::target_agent},
    {"allocationsize", Column::bytes},
    {"size", Column::bytes},
    {"bytes", Column::bytes},
    {"address", Column::address},
    {"countername", Column::counter_name},
    {"countervalue", Column::counter_value},
    {"guid", Column::guid},
    {"name", Column::name},
    {"calls", Column::calls},
    {"count", Column::calls},
    {"totaldurationns", Column::total_ns},
    {"sumns", Column::total_ns},
    {"minns", Column::minimum_ns},
    {"maxns", Column::maximum_ns},
    {"nodeid", Column::node_id},
    {"logicalnodeid", Column::logical_node_id},
    {"agenttype", Column::agent_type},
    {"sampletimestamp", Column::sample_time},
    {"instruction", Column::instruction},
    {"instructioncomment", Column::instruction_comment},
    {"instructiontype", Column::instruction_type},
    {"stallreason", Column::stall_reason},
    {"roctxmessage", Column::marker_message},
    {"workloadname", Column::workload_name},
    {"hbmbw", Column::roofline_device},
    {"accumvgprcount", Column::ignored},
    {"accumvgpr", Column::ignored},
    {"accvgpr", Column::ignored},
    {"wavesize", Column::ignored},
    {"wavefrontsize", Column::ignored},
    {"queueindex", Column::ignored},
    {"sig", Column::ignored},
    {"obj", Column::ignored},
    {"dispatchns", Column::ignored},
    {"completens", Column::ignored},
    {"durationns", Column::ignored},
    {"averagens", Column::ignored},
    {"meanns", Column::ignored},
    {"medianns", Column::ignored},
    {"pct", Column::ignored},
    {"percentage", Column::ignored},
    {"stddev", Column::ignored},
    {"allocflags", Column::ignored},
    {"execmask", Column::ignored},
    {"wavecount", Column::ignored},
    {"waveissuedinstruction", Column::ignored},
    {"roctxid", Column::ignored},
    {"xccindex", Column::ignored},
    {"flags", Column::ignored},
});

std::string plain(std::string_view heading) {
  std::string letters;
  for (const char c : heading.substr(0, 64)) {
    if (c >= 'A' && c <= 'Z')
      letters += static_cast<char>(c + ('a' - 'A'));
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      letters += c;
    else if (c == '[')
      return {};  // an instance of a counter
  }
  return letters;
}

}  // namespace

Column column_of(std::string_view heading) {
  const std::string letters = plain(heading);
  for (const auto& [name, column] : kNames)
    if (name == letters) return column;
  // "Correlation_ID_3": the column of a further pass that was put beside the first.
  const auto stem = heading.find_last_not_of("0123456789");
  if (stem == std::string_view::npos || stem + 1 == heading.size() || heading[stem] != '_') return Column::other;
  return column_of(heading.substr(0, stem)) == Column::other ? Column::other : Column::ignored;
}

Columns::Columns(const CsvFields& header) {
  index_.fill(-1);
  std::set<std::string_view> seen;
  for (const std::string_view raw : header) headings_.emplace_back(core::trim(raw));
  while (!headings_.empty() && headings_.back().empty()) headings_.pop_back();
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    const Column column = column_of(headings_[i]);
    if (!seen.insert(headings_[i]).second) continue;
    if (column == Column::other) {
      if (!headings_[i].empty()) others_.push_back(i);
      continue;
    }
    auto& index = index_[static_cast<std::size_t>(column)];
    if (index < 0) index = static_cast<std::int32_t>(i);
  }
}

Table table_of(const Columns& columns) {
  const auto has = [&](Column column) { return columns.has(column); };
  if (has(Column::sample_time) || (has(Column::instruction) && has(Column::dispatch))) return Table::samples;
  if (has(Column::node_id) && has(Column::agent_type)) return Table::agents;
  if ((has(Column::name) || has(Column::kernel_name)) && has(Column::calls) && has(Column::total_ns)) return Table::statistics;
  if (has(Column::counter_name) && has(Column::counter_value)) return Table::counters;
  if (has(Column::workload_name)) return Table::system;
  if (has(Column::roofline_device) && !columns.headings().empty() && plain(columns.headings().front()) == "device")
    return Table::roofline;
  const bool timed = has(Column::start) && has(Column::end);
  if (timed && has(Column::direction)) return Table::copies;
  if (timed && has(Column::function)) return Table::api;
  if (timed && has(Column::domain) && has(Column::marker_message) && !has(Column::kernel_name)) return Table::api;
  if (has(Column::kernel_name) && (has(Column::dispatch) || timed)) return Table::kernels;
  if (timed && has(Column::kernel_id) && has(Column::agent)) return Table::kernels;
  if (timed && has(Column::bytes) && has(Column::operation)) return Table::allocations;
  if (timed && has(Column::operation) && has(Column::domain)) return Table::scratch;
  return Table::unknown;
}

Table table_of_head(std::string_view head, std::vector<std::string>* header) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const auto first = head.find_first_not_of("\r\n");
  if (first == std::string_view::npos) return Table::unknown;
  const auto line_end = head.find('\n', first);
  const std::string_view line = head.substr(first, line_end == std::string_view::npos ? line_end : line_end - first + 1);
  if (line.find(',') == std::string_view::npos || line.find('{') != std::string_view::npos) return Table::unknown;
  formats::csv::Decoder decoder;
  const char* at = line.data();
  if (decoder.next(at, at + line.size(), true) != formats::csv::Step::record) return Table::unknown;
  const Columns columns(decoder.fields());
  if (header != nullptr) *header = columns.headings();
  return table_of(columns);
}

}  // namespace aaco::importers::rocm
