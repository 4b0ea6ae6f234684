#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/numbers.h"
#include "report/decoder_section.h"
#include "report/model.h"
#include "report/quantity.h"
#include "report/terminal.h"
#include "report/text/markdown.h"
#include "report/text/markdown_page.h"
#include "report/text/page.h"

namespace aaco::report {
namespace {

constexpr int kDecoderColumn = 11;

struct DecoderCell {
  const char* title;
  int width;  // of the page from which it is shown
  std::string (*text)(const TextPage& page, const Decoder::Level& level);
};

std::string tokens_text(const std::optional<Decoder::Value>& rate) {
  if (!rate) return "-";
  return rate->value < 100 ? fmt::format("{:.1f}", rate->value) : core::format_count(rate->value);
}
std::string time_text(const TextPage& page, const std::optional<Decoder::Value>& time) {
  return time ? page.quantity(time->value, "ns") : "-";
}
std::string predicted_text(const TextPage& page, const std::optional<Decoder::Predicted>& predicted) {
  return predicted ? page.quantity(predicted->value, "ns") : "-";
}
std::string bytes_text(const TextPage& page, const std::optional<double>& bytes) {
  return bytes ? page.quantity(*bytes, "bytes") : "-";
}

constexpr DecoderCell kDecoderCells[] = {
    {"prefill", 0, [](const TextPage& page, const Decoder::Level& level) { return time_text(page, level.prefill_ns); }},
    {"predicted", 96,
     [](const TextPage& page, const Decoder::Level& level) { return predicted_text(page, level.predicted_prefill_ns); }},
    {"tokens/s", 0, [](const TextPage&, const Decoder::Level& level) { return tokens_text(level.prefill_tokens_per_second); }},
    {"per token", 0, [](const TextPage& page, const Decoder::Level& level) { return time_text(page, level.token_ns); }},
    {"predicted", 96,
     [](const TextPage& page, const Decoder::Level& level) { return predicted_text(page, level.predicted_token_ns); }},
    {"tokens/s", 72, [](const TextPage&, const Decoder::Level& level) { return tokens_text(level.decode_tokens_per_second); }},
    {"KV cache", 84, [](const TextPage& page, const Decoder::Level& level) { return bytes_text(page, level.cache_bytes); }}};

// By batch and prompt, not in the order they ran.
std::vector<Decoder::Level> sorted_levels(const Decoder& section) {
  std::vector<Decoder::Level> levels = section.levels;
  std::stable_sort(levels.begin(), levels.end(), [](const auto& a, const auto& b) {
    return std::pair(a.batch, a.prompt_tokens) < std::pair(b.batch, b.prompt_tokens);
  });
  return levels;
}

void write_decoder_levels(TextPage& page, const Decoder& section) {
  std::vector<DecoderCell> cells;
  for (const DecoderCell& cell : kDecoderCells) {
    const bool known = std::any_of(section.levels.begin(), section.levels.end(),
                                   [&](const auto& level) { return cell.text(page, level) != "-"; });
    if (known && page.width() >= cell.width) cells.push_back(cell);
  }
  const int room = std::clamp(page.width() - 2 - kDecoderColumn * static_cast<int>(cells.size()), 8, 26);
  std::string head = "  " + fit_left("", room, page.ascii());
  for (const DecoderCell& cell : cells) head += fit_right(cell.title, kDecoderColumn, page.ascii());
  page.line(page.styled(head, Style::dim));
  for (const Decoder::Level& level : sorted_levels(section)) {
    std::string row = "  " + fit_left(page.clean(level.load), room, page.ascii());
    for (const DecoderCell& cell : cells) row += fit_right(cell.text(page, level), kDecoderColumn, page.ascii());
    page.line(row);
  }
}

void write_limit(TextPage& page, const Decoder::Limit& limit) {
  page.heading("Decode and memory bandwidth");
  page.paragraph(page.clean(limit.text), 2);
  for (const std::string& line : limit.evidence) page.paragraph(page.clean("- " + line), 4);
}

void write_predicted_nodes(TextPage& page, const Decoder& section) {
  if (section.nodes.empty() || !section.profiled.empty()) return;
  page.heading("Longest predicted nodes", "share of the phase, predicted time, limit");
  for (const Decoder::Node& node : section.nodes)
    page.line("  " + fit_left(node.phase, 9, page.ascii()) +
              fit_left(page.clean(node.name), std::max(16, page.width() - 50), page.ascii()) +
              fit_right(page.clean(core::format_percent(node.share_ratio)), 10, page.ascii()) +
              fit_right(page.quantity(node.predicted_ns, "ns"), 12, page.ascii()) + fit_right(node.limit, 10, page.ascii()));
}

void write_profiled_nodes(TextPage& page, const Decoder& section) {
  if (section.profiled.empty()) return;
  page.heading("Longest nodes", "time per call of the phase under the runtime's profiler");
  const bool predicted = std::any_of(section.profiled.begin(), section.profiled.end(),
                                     [](const auto& node) { return node.predicted_ns.has_value(); });
  const int name_room = std::max(16, page.width() - (predicted ? 58 : 46));
  page.line(page.styled("  " + fit_left("phase", 9, page.ascii()) + fit_left("node", name_room, page.ascii()) +
                            fit_left("type", 12, page.ascii()) + fit_right("share", 9, page.ascii()) +
                            fit_right("measured", 12, page.ascii()) + (predicted ? fit_right("predicted", 12, page.ascii()) : ""),
                        Style::dim));
  for (const Decoder::ProfiledNode& node : section.profiled) {
    std::string row = "  " + fit_left(node.phase, 9, page.ascii()) +
                      fit_left(page.clean(node.name), name_room - 1, page.ascii()) + " " +
                      fit_left(page.clean(node.op_type), 12, page.ascii()) +
                      fit_right(page.clean(core::format_percent(node.share_ratio)), 9, page.ascii()) +
                      fit_right(page.quantity(node.ns, "ns"), 12, page.ascii());
    if (predicted) row += fit_right(node.predicted_ns ? page.quantity(*node.predicted_ns, "ns") : "-", 12, page.ascii());
    page.line(row);
  }
}

}  // namespace

void write_text(TextPage& page, const Decoder& section, const ReportModel&) {
  if (section.levels.empty()) return;
  page.heading("Prefill and decode", page.clean(section.layout));
  write_decoder_levels(page, section);
  if (section.limit) write_limit(page, *section.limit);
  write_profiled_nodes(page, section);
  write_predicted_nodes(page, section);
}

void write_markdown(MarkdownPage& page, const Decoder& section) {
  if (section.levels.empty()) return;
  page.heading("Prefill and decode");
  page.out += "| level | prefill | tokens/s | per token | tokens/s | KV cache |\n|---|---:|---:|---:|---:|---:|\n";
  const auto time = [](const std::optional<Decoder::Value>& value) {
    return value ? markdown_quantity(value->value, "ns") : std::string();
  };
  for (const Decoder::Level& level : sorted_levels(section))
    page.row({markdown_code(level.load), time(level.prefill_ns), markdown_text(tokens_text(level.prefill_tokens_per_second)),
              time(level.token_ns), markdown_text(tokens_text(level.decode_tokens_per_second)),
              level.cache_bytes ? markdown_quantity(*level.cache_bytes, "bytes") : ""});
  if (section.limit) page.out += "\n" + markdown_text(section.limit->text) + "\n";
}

}  // namespace aaco::report
