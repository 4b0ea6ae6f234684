#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "tracelake/lake.h"
#include "workflows/session_report/report_rates.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kListedRates = 60;  // of each list; the table has all

report::WorkRates::Rate rate_of_row(const trace::WorkRateRow& row, const trace::NameTable& names) {
  const auto text = [&](trace::NameId id) { return std::string(names.text(id)); };
  report::WorkRates::Rate rate;
  rate.rank = row.rank;
  rate.device = row.device;
  rate.name = text(row.name);
  rate.family = text(row.family);
  rate.data_type = text(row.data_type);
  rate.source = text(row.source);
  rate.count = row.count;
  rate.time_ns = row.time_ns;
  rate.flops = row.flops;
  if (row.bytes) rate.bytes = static_cast<double>(*row.bytes);
  rate.flops_per_s = row.flops_per_s;
  rate.bytes_per_s = row.bytes_per_s;
  rate.peak_flops_per_s = row.peak_flops_per_s;
  rate.peak_bytes_per_s = row.peak_bytes_per_s;
  rate.flops_ratio = row.flops_ratio;
  rate.bytes_ratio = row.bytes_ratio;
  return rate;
}

void longest_first(std::vector<report::WorkRates::Rate>& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  if (list.size() > kListedRates) list.resize(kListedRates);
}

// Those of the report's list of kernels, so that a kernel has one.
void take_short_names(const std::vector<report::TimeShare>& kernels, std::vector<report::WorkRates::Rate>& rates) {
  std::map<std::string_view, std::string_view> known;
  for (const report::TimeShare& kernel : kernels) known.emplace(kernel.name, kernel.short_name);
  for (auto& rate : rates)
    if (const auto found = known.find(rate.name); found != known.end()) rate.short_name = found->second;
}

}  // namespace

core::Status fill_work_rates(report::ReportModel& model, const std::string& session_path) {
  trace::NameTable names;
  AACO_ASSIGN(const auto rows, tracelake::read_table<trace::WorkRateRow>(session_path, names));
  if (rows.empty()) return {};
  report::WorkRates section;
  std::set<std::uint32_t> devices;
  for (const trace::WorkRateRow& row : rows) {
    devices.insert(row.hardware.value);
    (names.text(row.subject) == "kernel" ? section.kernels : section.operators).push_back(rate_of_row(row, names));
  }
  if (devices.size() == 1) section.hardware = names.text({*devices.begin()});
  section.kernel_count = static_cast<std::int64_t>(section.kernels.size());
  section.operator_count = static_cast<std::int64_t>(section.operators.size());
  longest_first(section.kernels);
  longest_first(section.operators);
  take_short_names(model.kernels, section.kernels);
  model.sections.work_rates = std::move(section);
  return {};
}

}  // namespace aaco::workflows
