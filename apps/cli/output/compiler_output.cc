#include "cli/output/compiler_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/output/compiler_text.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/terminal.h"

namespace aaco::cli {
namespace {

using core::Json;

void print_levels(const Context& context, const Json& document) {
  context.print(fmt::format("{:<9} {}, opset {}\n{:<9} ONNX Runtime {}, {}\n\n", shown(document["model"]),
                            counted(static_cast<std::size_t>(whole(document["nodes"])), "node"),
                            document["opset"].is_null() ? "unknown" : document["opset"].dump(-1), "runtime",
                            document["runtime"]["version"].text(), document["runtime"]["provider"].text()));
  if (const auto asked = document["runtime"]["requested_provider"].text(); !asked.empty())
    context.print(fmt::format(
        "{:<9} {}\n\n", "shown",
        document["runtime"]["provider_absent"].as_bool().value_or(false)
            ? fmt::format("{}: this build of ONNX Runtime does not have {}", document["runtime"]["provider"].text(), asked)
            : fmt::format("{}; the graph that {} compiles cannot be written, what it takes is listed at the end",
                          document["runtime"]["provider"].text(), asked)));
  if (const Json& sizes = document["fixed_dimensions"]; sizes.is_object()) {
    std::string text;
    for (const auto& [symbol, size] : sizes.members())
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", report::printable(symbol), whole(size));
    context.print(fmt::format("{:<9} {}\n\n", "fixed", text));
  }
  if (const auto call = document["timed"]["call_ns"].as_f64())
    context.print(fmt::format("{:<9} {} with the profiler on, median of {} calls\n\n", "call", core::format_duration(*call),
                              whole(document["timed"]["calls"])));
  context.print(fmt::format("{:<10}{:>8}{:>8}{:>11}{:>8}{:>8}{:>9}{:>10}\n", "LEVEL", "KERNELS", "KEPT", "REWRITTEN", "FUSED",
                            "FOLDED", "REMOVED", "INSERTED"));
  for (const Json& level : document["levels"].items())
    context.print(fmt::format("{:<10}{:>8}{:>8}{:>11}{:>8}{:>8}{:>9}{:>10}\n", level["level"].text(), whole(level["kernels"]),
                              whole(level["kept"]), whole(level["rewritten"]), whole(level["fused"]), whole(level["folded"]),
                              whole(level["removed"]), whole(level["inserted"])));
}

// Counted rows, most first: "  33  FusedConv <- Conv+Relu".
void print_counted(const Context& context, std::string_view title, const std::map<std::string, std::int64_t>& rows) {
  if (rows.empty()) return;
  std::vector<std::pair<std::string, std::int64_t>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  context.print(fmt::format("\n{}\n", title));
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxShown); ++i)
    context.print(fmt::format("{:>5}  {}\n", sorted[i].second, sorted[i].first));
  if (sorted.size() > kMaxShown) context.print(fmt::format("       {} more (--json lists them)\n", sorted.size() - kMaxShown));
}

// "  33   1.2 ms  FusedConv <- Conv+Relu"; times where they were measured.
void print_counted(const Context& context, std::string_view title, const Json& list,
                   const std::function<std::string(const Json&)>& label) {
  std::map<std::string, std::int64_t> rows;
  std::map<std::string, double> times, changes;
  for (const Json& one : list.items()) {
    ++rows[label(one)];
    if (const auto time = one["time_ns"].as_f64()) times[label(one)] += *time;
    if (const auto change = one["change_ns"].as_f64()) changes[label(one)] += *change;
  }
  std::map<std::string, std::int64_t> said;
  for (const auto& [text, count] : rows) {
    std::string line = text;
    if (times.contains(text)) line += ", " + core::format_duration(times[text]);
    if (changes.contains(text))
      line += fmt::format(" ({} against the same nodes on the other side)", core::format_signed_duration(changes[text]));
    said[line] = count;
  }
  print_counted(context, title, said);
}

void print_fused(const Context& context, std::string_view title, const Json& fused) {
  print_counted(context, title, fused, [](const Json& one) { return shown(one["op_type"]) + " <- " + shown(one["pattern"]); });
}

// What stays apart for one reason in one place of every layer.
struct MissedGroup {
  std::vector<const Json*> places;
  std::string pair, condition;  // with '*' for numbers that differ
  double both_ns = 0;
};

// Names that differ in numbers alone are one group. What is part of another fusion is noise, and counted in `hidden`.
std::vector<MissedGroup> missed_groups(const Json& missed, std::size_t& hidden) {
  std::map<std::vector<std::string>, MissedGroup> rows;
  for (const Json& one : missed.items()) {
    if (one["reason"].text() == "other_fusion") {
      ++hidden;
      continue;
    }
    const std::string pair = place_of(one, "first") + " and " + place_of(one, "second");
    auto& row = rows[{std::string(one["reason"].text()), std::string(one["pattern"].text()), without_numbers(pair),
                      without_numbers(one["condition"].text())}];
    row.pair = merged(row.pair, pair);
    row.condition = merged(row.condition, shown(one["condition"]));
    row.both_ns += one["both_ns"].as_f64().value_or(0);
    row.places.push_back(&one);
  }
  std::vector<MissedGroup> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  const auto order = [](const MissedGroup& row) {
    return std::pair((*row.places.front())["reason"].text() == "unexplained", row.places.size());
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return sorted;
}

// The rarest first: what differs from all other layers is what was looked for. What has no reason comes last.
void print_missed(const Context& context, const Json& missed) {
  std::size_t hidden = 0;
  const auto groups = missed_groups(missed, hidden);
  if (groups.empty()) return;
  context.print("\nNot fused, rarest first ('*': any number)\n");
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxShown); ++i) {
    const MissedGroup& row = groups[i];
    const Json& one = *row.places.front();
    context.print(
        fmt::format("{:>5}  {:<21} {}: {}\n", row.places.size(), one["reason"].text(), one["pattern"].text(), row.pair));
    if (!row.condition.empty()) context.print(fmt::format("         {}\n", row.condition));
    if (row.both_ns > 0)
      context.print(fmt::format("         both take {}{}\n", core::format_duration(row.both_ns),
                                row.places.size() > 1 ? " in all places" : " together"));
  }
  if (groups.size() > kMaxShown) context.print(fmt::format("       {} more (--json lists them)\n", groups.size() - kMaxShown));
  if (hidden > 0)
    context.print(
        fmt::format("       {} more where one of the two is part of another fused kernel (--json lists them)\n", hidden));
}

// "    3  Identity: a, b, c"; names that differ in numbers alone stand once.
void print_gone(const Context& context, std::string_view title, const Json& nodes, std::string_view fate) {
  struct Row {
    std::size_t count = 0;
    std::map<std::string, std::pair<std::string, std::size_t>> names;
  };
  std::map<std::string, Row> rows;
  for (const Json& one : nodes.items()) {
    if (one["fate"].text() != fate) continue;
    Row& row = rows[shown(one["op_type"])];
    ++row.count;
    const std::string name = place_of(one, "node");
    auto& [text, count] = row.names[without_numbers(name)];
    text = merged(text, name);
    ++count;
  }
  if (rows.empty()) return;
  context.print(fmt::format("\n{}\n", title));
  for (const auto& [op_type, row] : rows) {
    std::vector<std::string> names;
    for (const auto& [key, name] : row.names)
      names.push_back(name.second > 1 ? fmt::format("{} ({})", name.first, name.second) : name.first);
    const std::size_t more = names.size() > kMaxShown ? names.size() - kMaxShown : 0;
    names.resize(names.size() - more);
    context.print(fmt::format("{:>5}  {}: {}{}\n", row.count, op_type, core::join(names, ", "),
                              more > 0 ? fmt::format(" and {} more", more) : ""));
  }
}

// Names that differ in numbers alone are one row, the rarest first.
void print_refused(const Context& context, const Json& refused) {
  struct Row {
    std::size_t count = 0;
    std::string text, splits;
    std::string_view reason;
  };
  std::map<std::string, Row> rows;
  for (const Json& one : refused.items()) {
    const std::string text = fmt::format("{} ({}): {}", place_of(one, "node"), shown(one["op_type"]), shown(one["condition"]));
    const Json& splits = one["splits"];
    const std::string broken = splits.is_object() ? fmt::format("breaks the partition between {} and {}", shown(splits["before"]),
                                                                shown(splits["behind"]))
                                                  : std::string();
    Row& row = rows[std::string(one["reason"].text()) + without_numbers(text) + "\n" + without_numbers(broken)];
    ++row.count;
    row.reason = one["reason"].text();
    row.text = merged(row.text, text);
    row.splits = merged(row.splits, broken);
  }
  std::vector<Row> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) { return a.count < b.count; });
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxShown); ++i) {
    context.print(fmt::format("{:>5}  {:<20} {}\n", sorted[i].count, sorted[i].reason, sorted[i].text));
    if (!sorted[i].splits.empty()) context.print(fmt::format("{:>5}  {:<20} {}\n", "", "", sorted[i].splits));
  }
  if (sorted.size() > kMaxShown) context.print(fmt::format("       {} more (--json lists them)\n", sorted.size() - kMaxShown));
}

void print_source(const Context& context, const Json& against) {
  if (!against["source"].text().empty()) context.print(fmt::format("  by {}\n", shown(against["source"])));
}

void print_provider(const Context& context, const Json& against) {
  context.print(fmt::format("\n{}: {}, {} not supported, {} copied between parts\n", against["there"].text(),
                            counted(against["parts"].items().size(), "part"), counted(against["refused"].items().size(), "node"),
                            counted(against["seams"].items().size(), "tensor")));
  print_source(context, against);
  print_refused(context, against["refused"]);
  for (std::size_t i = 0; i < std::min(against["seams"].items().size(), kMaxShown); ++i) {
    const Json& one = against["seams"].items()[i];
    const auto least = one["least_ns"].as_f64();
    context.print(fmt::format("  seam: {} -> {}, {} ({} to {}{})\n", shown(one["first"]), shown(one["second"]),
                              one["bytes"].is_null() ? "size unknown" : core::format_bytes(one["bytes"].as_f64().value_or(0)),
                              one["from"].text(), one["to"].text(), least ? ", at least " + core::format_duration(*least) : ""));
  }
  if (against["seams"].items().size() > 0 && against["link"].is_object())
    context.print(fmt::format("  times of seams are estimates, at the rate of {}; the start of each copy comes on top\n",
                              shown(against["link"]["name"])));
}

// Changes of provider, the costliest first.
void print_seams(const Context& context, const Json& seams, const Json& timed) {
  const auto total = timed["total_ns"].as_f64(), call = timed["call_ns"].as_f64(), usual = timed["usual_ns"].as_f64();
  if (!total || !call) return;
  context.print(fmt::format("  {} between providers, {} per call of {} (profiled{})\n", counted(seams.items().size(), "change"),
                            *total > 0 ? core::format_duration(*total) : std::string("no measurable cost"),
                            core::format_duration(*call),
                            usual ? "; the usual " + core::format_duration(*usual) + " between two nodes not counted" : ""));
  std::vector<const Json*> costly;
  for (const Json& one : seams.items())
    if (one["time_ns"].as_f64().value_or(0) > 0) costly.push_back(&one);
  std::stable_sort(costly.begin(), costly.end(),
                   [](const Json* a, const Json* b) { return (*a)["time_ns"].as_f64() > (*b)["time_ns"].as_f64(); });
  for (std::size_t i = 0; *total > 0 && i < std::min(costly.size(), kMaxShown); ++i) {
    const Json& one = *costly[i];
    context.print(fmt::format("  seam: {} -> {}, {} ({} to {})\n", shown(one["first"]), shown(one["second"]),
                              core::format_duration(one["time_ns"].as_f64().value_or(0)), one["from"].text(), one["to"].text()));
  }
}

void print_backend(const Context& context, const Json& against) {
  context.print(fmt::format("\n{}: ONNX Runtime {}\n", against["there"].text(), shown(against["version"])));
  for (const auto& [provider, nodes] : against["nodes_by_provider"].members())
    context.print(fmt::format("{:>5}  nodes on {}\n", whole(nodes), provider));
  if (!against["refused"].items().empty()) print_source(context, against);
  print_refused(context, against["refused"]);
  print_seams(context, against["seams"], against["seams_timed"]);
}

}  // namespace

void print_compiler(const Context& context, const Json& document) {
  if (document["against"]["kind"].text() == "model") return print_model_difference(context, document["against"]);
  print_levels(context, document);
  print_fused(context, fmt::format("Fused at level {}", document["level"].text()), document["fused"]);
  print_counted(context, "Inserted", document["inserted"], [](const Json& one) {
    return shown(one["op_type"]) + " (" +
           (one["part_of"].is_null() ? std::string(one["kind"].text()) : "part of " + shown(one["part_of"])) + ")";
  });
  print_gone(context, "Removed", document["compiler_nodes"], "removed");
  print_gone(context, "Folded", document["compiler_nodes"], "folded");
  print_missed(context, document["not_fused"]);
  const Json& against = document["against"];
  if (against.is_null()) return;
  if (against["kind"].text() == "backend") return print_backend(context, against);
  if (against["kind"].text() == "provider") return print_provider(context, against);
  print_fused_differences(context, against);
}

}  // namespace aaco::cli
