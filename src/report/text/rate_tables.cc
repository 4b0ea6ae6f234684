#include <algorithm>
#include <string>
#include <vector>

#include "core/numbers.h"
#include "report/collectives_section.h"
#include "report/model.h"
#include "report/quantity.h"
#include "report/text/page.h"
#include "report/time_shares.h"
#include "report/work_rates_section.h"

// Tables of rates: work of kernels and operators, bandwidths and waits of collectives.
namespace aaco::report {
namespace {

constexpr std::size_t kRateRows = 8;
constexpr int kRateWidth = 14, kRatioWidth = 8, kTimeWidth = 10, kTableWidth = 72;

std::string rate_cell(const TextPage& page, const std::optional<double>& value, std::string_view unit,
                      const std::optional<double>& ratio) {
  if (!value) return fit_right("-", kRateWidth + kRatioWidth, page.ascii());
  return fit_right(page.quantity(*value, unit), kRateWidth, page.ascii()) +
         fit_right(ratio ? core::format_percent(*ratio) : "", kRatioWidth, page.ascii());
}

void write_rates(TextPage& page, std::string_view title, const std::vector<WorkRates::Rate>& rates, std::int64_t count) {
  if (rates.empty()) return;
  const bool sources = page.width() >= 110;
  const int name_room = std::max(8, page.width() - 4 - kTimeWidth - 2 * (kRateWidth + kRatioWidth) - (sources ? 26 : 0));
  const std::size_t shown = std::min(kRateRows, rates.size());
  page.line();
  std::string head = "  " + fit_left(std::string(title) + ", " + std::to_string(shown) + " of " + std::to_string(count),
                                     name_room + 2, page.ascii());
  head += fit_right("time", kTimeWidth, page.ascii());
  for (const char* rate : {"FLOP/s", "bytes/s"})
    head += fit_right(rate, kRateWidth, page.ascii()) + fit_right("of peak", kRatioWidth, page.ascii());
  page.line(page.styled(fit(head + (sources ? "  source" : ""), page.width(), page.ascii()), Style::dim));
  std::vector<std::string> names;
  for (const auto& rate : rates) names.push_back(page.clean(rate.short_name.empty() ? rate.name : rate.short_name));
  names = names_for(names, name_room);
  for (std::size_t i = 0; i < shown; ++i) {
    const WorkRates::Rate& rate = rates[i];
    std::string row = "    " + fit_left(names[i], name_room, page.ascii()) +
                      fit_right(page.quantity(static_cast<double>(rate.time_ns), "ns"), kTimeWidth, page.ascii()) +
                      rate_cell(page, rate.flops_per_s, "flop/s", rate.flops_ratio) +
                      rate_cell(page, rate.bytes_per_s, "bytes/s", rate.bytes_ratio);
    if (sources) row += "  " + fit_left(page.clean(rate.source), 24, page.ascii());
    page.line(row);
  }
}

std::string bandwidth(const TextPage& page, const std::optional<double>& value) {
  return fit_right(value ? page.quantity(*value, "bytes/s") : "-", kRateWidth, page.ascii());
}

std::string time_cell(const TextPage& page, std::optional<std::int64_t> ns) {
  return fit_right(ns ? page.quantity(static_cast<double>(*ns), "ns") : "-", kTimeWidth, page.ascii());
}

void write_kinds(TextPage& page, const Collectives& section) {
  const int name_room = std::max(8, std::min(28, page.width() - 4 - 8 - 2 * kTimeWidth - 2 * kRateWidth));
  page.line();
  page.line(page.styled("  " + fit_left("operation", name_room + 2, page.ascii()) + fit_right("count", 8, page.ascii()) +
                            fit_right("time", kTimeWidth, page.ascii()) + fit_right("waiting", kTimeWidth, page.ascii()) +
                            fit_right("algorithm", kRateWidth, page.ascii()) + fit_right("bus", kRateWidth, page.ascii()),
                        Style::dim));
  for (std::size_t i = 0; i < std::min(kRateRows, section.kinds.size()); ++i) {
    const Collectives::Kind& kind = section.kinds[i];
    const std::string name = kind.operation.empty() ? "unknown operation" : kind.operation;
    page.line("    " +
              fit_left(page.clean(name) + (kind.group_size ? " over " + std::to_string(*kind.group_size) : ""), name_room,
                       page.ascii()) +
              fit_right(core::format_count(static_cast<double>(kind.count)), 8, page.ascii()) + time_cell(page, kind.time_ns) +
              time_cell(page, kind.wait_ns) + bandwidth(page, kind.algorithm_bytes_per_s) +
              bandwidth(page, kind.bus_bytes_per_s));
  }
}

void write_ranks(TextPage& page, const Collectives& section) {
  if (section.ranks.empty()) return;
  page.line();
  page.line(page.styled("  " + fit_left("rank", 8, page.ascii()) + fit_left("operation", 18, page.ascii()) +
                            fit_right("count", 8, page.ascii()) + fit_right("waiting", kTimeWidth, page.ascii()) +
                            fit_right("last", 8, page.ascii()),
                        Style::dim));
  for (std::size_t i = 0; i < std::min(2 * kRateRows, section.ranks.size()); ++i) {
    const Collectives::Rank& rank = section.ranks[i];
    page.line("    " + fit_left(std::to_string(rank.rank), 6, page.ascii()) +
              fit_left(page.clean(rank.operation), 18, page.ascii()) +
              fit_right(core::format_count(static_cast<double>(rank.count)), 8, page.ascii()) + time_cell(page, rank.wait_ns) +
              fit_right(core::format_count(static_cast<double>(rank.last_count)), 8, page.ascii()));
  }
}

void write_worst(TextPage& page, const Collectives& section) {
  constexpr std::size_t kWorst = 3;
  for (std::size_t i = 0; i < std::min(kWorst, section.worst.size()); ++i) {
    const Collectives::Call& call = section.worst[i];
    page.paragraph("Longest waits: " + page.clean(call.operation) + " " + std::to_string(call.instance) + ": " +
                       std::to_string(call.rank_count) + " ranks waited " +
                       page.quantity(static_cast<double>(call.wait_sum_ns), "ns") + " in total (longest " +
                       page.quantity(static_cast<double>(call.longest_wait_ns), "ns") + ") for rank " +
                       std::to_string(call.last_rank) + ".",
                   2, Style::dim);
  }
}

}  // namespace

void write_text(TextPage& page, const WorkRates& section, const ReportModel&) {
  if (page.width() < kTableWidth) return;  // the table would not fit
  page.heading("Rates", section.hardware.empty() ? "device unknown: no peaks" : "peaks of " + page.clean(section.hardware));
  write_rates(page, "Kernels", section.kernels, section.kernel_count);
  write_rates(page, "Operators", section.operators, section.operator_count);
}

void write_text(TextPage& page, const Collectives& section, const ReportModel&) {
  if (page.width() < kTableWidth) return;
  page.heading("Collectives", section.matched_count > 0 ? std::to_string(section.matched_count) + " of " +
                                                              std::to_string(section.call_count) + " matched between ranks"
                                                        : "not matched between ranks");
  write_kinds(page, section);
  const bool waits = std::any_of(section.kinds.begin(), section.kinds.end(),
                                 [](const auto& kind) { return !kind.time_method.empty() && kind.time_method != "transfer"; });
  if (waits) page.paragraph("Where no wait is known, bandwidths include waiting for other ranks: lower bounds.", 2, Style::dim);
  write_ranks(page, section);
  write_worst(page, section);
}

}  // namespace aaco::report
