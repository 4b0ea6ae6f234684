#include <fmt/format.h>

#include <algorithm>

#include "core/numbers.h"
#include "report/llm_section.h"
#include "report/model.h"
#include "report/quantity.h"
#include "report/terminal.h"
#include "report/text/markdown.h"
#include "report/text/markdown_page.h"
#include "report/text/page.h"

namespace aaco::report {
namespace {

constexpr int kColumn = 12;

struct LevelColumn {
  const char* title;
  const char* id;
  int width;  // of the page from which it is shown
};
constexpr LevelColumn kLevelColumns[] = {{"requests/s", "llm.requests_per_second", 0},
                                         {"tokens/s", "llm.output_tokens_per_second", 92},
                                         {"TTFT P50", "llm.ttft_p50_ns", 0},
                                         {"TTFT P99", "llm.ttft_p99_ns", 0},
                                         {"TPOT P50", "llm.tpot_p50_ns", 70},
                                         {"E2EL P50", "llm.e2el_p50_ns", 112},
                                         {"good", "llm.good_ratio", 92}};

std::string rate_text(double per_second) {
  return per_second < 1000 ? fmt::format("{:.3g}", per_second) : core::format_count(per_second);
}

std::int64_t failed(const Llm::Level& level) { return level.requests - level.complete; }

void write_levels(TextPage& page, const Llm& section) {
  std::vector<LevelColumn> columns;
  for (const LevelColumn& shown : kLevelColumns) {
    const bool measured = std::any_of(section.levels.begin(), section.levels.end(),
                                      [&](const auto& level) { return find_metric(level.metrics, shown.id); });
    if (measured && page.width() >= shown.width) columns.push_back(shown);
  }
  const int name_room = std::max(8, std::min(24, page.width() - 2 - kColumn * static_cast<int>(columns.size()) - 8));
  std::string head = "  " + fit_left("load", name_room, page.ascii());
  for (const LevelColumn& column : columns) head += fit_right(column.title, kColumn, page.ascii());
  page.line(page.styled(head + fit_right("failed", 8, page.ascii()), Style::dim));
  for (const Llm::Level& level : section.levels) {
    std::string row = "  " + fit_left(page.clean(level.load), name_room, page.ascii());
    for (const LevelColumn& column : columns) {
      const auto* metric = find_metric(level.metrics, column.id);
      const bool rate = metric != nullptr && metric->unit == "1/s";
      row += fit_right(metric == nullptr ? "-"
                       : rate            ? rate_text(metric->value)
                                         : page.quantity(metric->value, metric->unit),
                       kColumn, page.ascii());
    }
    page.line(row + fit_right(failed(level) == 0 ? "-" : std::to_string(failed(level)), 8, page.ascii()));
    if (!level.partly_judged.empty()) page.paragraph(page.clean(level.partly_judged), 4, Style::warning);
    if (!level.client_limit.empty()) page.paragraph(page.clean(level.client_verdict), 4, Style::warning);
    for (const std::string& wait : level.connection_waits) page.paragraph(page.clean(wait), 4, Style::warning);
    if (!level.handshakes.empty()) page.paragraph(page.clean(level.handshakes), 4, Style::dim);
    if (level.retries > 0) page.paragraph(fmt::format("{} retries", level.retries), 4, Style::dim);
    if (level.usage_rejected > 0)
      page.paragraph(fmt::format("impossible usage in {} responses, not used", level.usage_rejected), 4, Style::warning);
    for (const auto& [kind, count] : level.failures)
      page.paragraph(page.clean(fmt::format("{} failed: {}", count, kind)), 4, Style::warning);
  }
}

void write_slow(TextPage& page, const Llm& section) {
  if (section.slow.empty()) return;
  page.heading("Slowest requests");
  page.line(page.styled("  " + fit_left("request", 16, page.ascii()) + fit_right("E2EL", kColumn, page.ascii()) +
                            fit_right("until sent", kColumn + 2, page.ascii()) +
                            fit_right("sent to TTFT", kColumn + 2, page.ascii()) +
                            fit_right("longest gap", kColumn + 2, page.ascii()),
                        Style::dim));
  for (const Llm::SlowRequest& slow : section.slow) {
    const auto time = [&](const std::optional<double>& value, int room) {
      return fit_right(value ? page.quantity(*value, "ns") : "-", room, page.ascii());
    };
    page.line(fmt::format("  {:<16}", slow.request) + time(slow.e2el_ns, kColumn) + time(slow.client_queue_ns, kColumn + 2) +
              time(slow.first_token_ns, kColumn + 2) + time(slow.longest_gap_ns, kColumn + 2));
    if (slow.resent > 0)
      page.paragraph(fmt::format("sent again after {} failed attempt{}", slow.resent, slow.resent == 1 ? "" : "s"), 4,
                     Style::dim);
    if (!slow.cause.empty()) page.paragraph(page.clean(slow.cause), 4, Style::dim);
  }
}

void write_slow_tokens(TextPage& page, const Llm& section) {
  if (std::none_of(section.levels.begin(), section.levels.end(), [](const auto& level) { return level.slow_tokens > 0; })) return;
  page.heading("Slow tokens", "more than three times the usual time");
  for (const Llm::Level& level : section.levels) {
    if (level.slow_tokens == 0) continue;
    std::string causes;
    for (const auto& [cause, count] : level.slow_causes)
      causes += fmt::format("{}{} ({})", causes.empty() ? "" : ", ", cause, count);
    page.paragraph(page.clean(fmt::format("{}: {}", level.load, causes)), 2);
  }
}

}  // namespace

void write_text(TextPage& page, const Llm& section, const ReportModel&) {
  if (section.levels.empty()) return;
  page.heading("Load", section.slo.empty() ? "" : page.clean("SLO " + section.slo));
  write_levels(page, section);
  write_slow(page, section);
  write_slow_tokens(page, section);
}

void write_markdown(MarkdownPage& page, const Llm& section) {
  if (section.levels.empty()) return;
  page.heading("Load");
  page.out += "| load | requests/s | TTFT P50 | TTFT P99 | TPOT P50 | failed |\n|---|---:|---:|---:|---:|---:|\n";
  for (const Llm::Level& level : section.levels) {
    const auto cell = [&](const char* id) {
      const auto* metric = find_metric(level.metrics, id);
      return metric == nullptr       ? std::string()
             : metric->unit == "1/s" ? markdown_text(rate_text(metric->value))
                                     : markdown_quantity(metric->value, metric->unit);
    };
    page.row({markdown_code(level.load), cell("llm.requests_per_second"), cell("llm.ttft_p50_ns"), cell("llm.ttft_p99_ns"),
              cell("llm.tpot_p50_ns"), std::to_string(failed(level))});
  }
}

}  // namespace aaco::report
