#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/output/compiler_output.h"
#include "cli/output/compiler_text.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::cli {
namespace {

using core::Json;

// "level basic", "ONNX Runtime 1.20.1".
std::string side_name(const Json& against, std::string_view side) {
  return (against["kind"].text() == "level" ? "level " : "") + shown(against[side]);
}

// Kernels of one kind that the other side does not have for one reason.
struct OnlyRow {
  std::size_t count = 0;
  std::string kernel, nodes, why, there, remedy;
  double time_ns = 0, change_ns = 0;
  bool timed = false, changed = false;
};

std::string names_of(const Json& names) {
  std::vector<std::string> list;
  for (const Json& one : names.items()) list.push_back(shown(one));
  if (constexpr std::size_t kMost = 6; list.size() > kMost)
    return fmt::format("{} to {} ({} nodes)", list.front(), list.back(), list.size());
  return core::join(list, ", ");
}

std::string why_of(const Json& one, const std::string& other) {
  std::string why;
  if (const Json& absent = one["absent"]; !absent.items().empty())
    why = fmt::format("{} {} not in {}", names_of(absent), absent.items().size() == 1 ? "is" : "are", other);
  if (one["wider_there"].as_bool().value_or(false)) return "part of a larger kernel there";
  if (one["reason"].is_null()) return why.empty() ? "no known condition tells why" : why;
  const std::string reason = fmt::format("{}: {}", one["reason"].text(),
                                         one["condition"].text().empty() ? shown(one["title"]) : shown(one["condition"]));
  return why.empty() ? reason : why + "; " + reason;
}

std::vector<OnlyRow> only_rows(const Json& list, const std::string& other) {
  std::map<std::string, OnlyRow> rows;
  for (const Json& one : list.items()) {
    const std::string kernel = shown(one["op_type"]) + " <- " + shown(one["pattern"]), why = why_of(one, other);
    std::vector<std::string> there;
    for (const Json& name : one["there"].items()) there.push_back(shown(name));
    OnlyRow& row = rows[kernel + "\n" + without_numbers(why) + "\n" + core::join(there, "\n") + "\n" +
                        without_numbers(names_of(one["nodes"]))];
    ++row.count;
    row.kernel = kernel;
    row.nodes = merged(row.nodes, names_of(one["nodes"]));
    row.why = merged(row.why, why);
    row.there = core::join(there, ", ");
    row.remedy = shown(one["remedy"]);
    row.timed = row.timed || one["time_ns"].as_f64();
    row.changed = row.changed || one["change_ns"].as_f64();
    row.time_ns += one["time_ns"].as_f64().value_or(0);
    row.change_ns += one["change_ns"].as_f64().value_or(0);
  }
  std::vector<OnlyRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [](const OnlyRow& a, const OnlyRow& b) { return a.count < b.count; });
  return sorted;
}

void print_only(const Context& context, const std::string& side, const std::string& other, const Json& list, bool with_remedy) {
  const auto rows = only_rows(list, other);
  if (rows.empty()) return;
  context.print(fmt::format("\nFused only with {}\n", side));
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxShown); ++i) {
    const OnlyRow& row = rows[i];
    std::string line = row.kernel;
    if (row.timed) line += ", " + core::format_duration(row.time_ns);
    if (row.changed)
      line += fmt::format(" ({} against the same nodes on the other side)", core::format_signed_duration(row.change_ns));
    context.print(fmt::format("{:>5}  {}\n         nodes: {}\n         why:   {}\n", row.count, line, row.nodes, row.why));
    if (!row.there.empty()) context.print(fmt::format("         there: {}\n", row.there));
    if (with_remedy && !row.remedy.empty()) context.print(fmt::format("         hint:  {}\n", row.remedy));
  }
  if (rows.size() > kMaxShown) context.print(fmt::format("       {} more (--json lists them)\n", rows.size() - kMaxShown));
}

// "    3  Identity: a, b, c", and what became of them.
void print_nodes(const Context& context, const std::string& title, const Json& nodes) {
  std::map<std::string, std::pair<std::size_t, std::map<std::string, std::string>>> rows;
  for (const Json& one : nodes.items()) {
    std::string what = fmt::format("{} ({}", shown(one["op_type"]), one["fate"].text());
    if (!one["fate_there"].is_null())
      what += fmt::format(" -> {}{}", one["fate_there"].text(),
                          one["op_type_there"].is_null() ? "" : ", " + shown(one["op_type_there"]) + " there");
    auto& [count, names] = rows[what + ")"];
    ++count;
    std::string& text = names[without_numbers(place_of(one, "node"))];
    text = merged(text, place_of(one, "node"));
  }
  if (rows.empty()) return;
  context.print(fmt::format("\n{}\n", title));
  for (const auto& [what, row] : rows) {
    std::vector<std::string> names;
    for (const auto& [key, name] : row.second) names.push_back(name);
    const std::size_t more = names.size() > kMaxShown ? names.size() - kMaxShown : 0;
    names.resize(names.size() - more);
    context.print(fmt::format("{:>5}  {}: {}{}\n", row.first, what, core::join(names, ", "),
                              more > 0 ? fmt::format(" and {} more", more) : ""));
  }
}

void print_counts(const Context& context, std::string_view name, const Json& counts, int width) {
  context.print(fmt::format("{:<{}} {:>8}{:>8}{:>11}{:>8}{:>8}{:>9}{:>10}\n", name, width, whole(counts["kernels"]),
                            whole(counts["kept"]), whole(counts["rewritten"]), whole(counts["fused"]), whole(counts["folded"]),
                            whole(counts["removed"]), whole(counts["inserted"])));
}

void print_moved(const Context& context, const Json& against) {
  if (against["provider"].is_null()) return;
  const std::string provider = shown(against["provider"]);
  context.print("\n");
  for (const char* side : {"here", "there"})
    for (const auto& [name, nodes] : against[std::string("providers_") + side].members())
      context.print(fmt::format("{:>5}  nodes on {} in {}\n", whole(nodes), name, shown(against[side])));
  if (against["moved"].items().empty()) return context.print(fmt::format("\n{} takes the same nodes of both\n", provider));
  context.print(fmt::format("\nMoved between providers, from {} to {}\n", shown(against["here"]), shown(against["there"])));
  for (std::size_t i = 0; i < std::min(against["moved"].items().size(), kMaxShown); ++i) {
    const Json& one = against["moved"].items()[i];
    const bool away = one["from"].text() == provider;
    context.print(fmt::format("       {} ({}): {} -> {}\n         {}{}: {}\n", place_of(one, "node"), shown(one["op_type"]),
                              shown(one["from"]), shown(one["to"]), one["reason"].text(),
                              away ? "" : " in " + shown(against["here"]), shown(one["condition"])));
  }
  if (against["moved"].items().size() > kMaxShown)
    context.print(fmt::format("       {} more (--json lists them)\n", against["moved"].items().size() - kMaxShown));
}

}  // namespace

void print_fused_differences(const Context& context, const Json& against) {
  const bool is_model = against["kind"].text() == "model";
  if (against["call_here_ns"].as_f64() && against["call_there_ns"].as_f64())
    context.print(fmt::format("\nCall with the profiler on: {} with {}, {} with {}\n",
                              core::format_duration(*against["call_here_ns"].as_f64()), side_name(against, "here"),
                              core::format_duration(*against["call_there_ns"].as_f64()), side_name(against, "there")));
  print_only(context, side_name(against, "here"), side_name(against, "there"), against["only_here"], is_model);
  print_only(context, side_name(against, "there"), side_name(against, "here"), against["only_there"], false);
  if (against["only_here"].items().empty() && against["only_there"].items().empty())
    context.print(fmt::format("\n{} and {} fuse the same nodes\n", side_name(against, "here"), side_name(against, "there")));
}

void print_model_difference(const Context& context, const Json& against) {
  const std::string here = shown(against["here"]), there = shown(against["there"]);
  const std::string runtime_here = shown(against["runtime_here"]), runtime_there = shown(against["runtime_there"]);
  context.print(
      fmt::format("{} -> {}\n{}{}\n\n", here, there, runtime_here, runtime_here == runtime_there ? "" : " -> " + runtime_there));
  const int width = static_cast<int>(std::max<std::size_t>({here.size(), there.size(), 9}));
  context.print(fmt::format("{:<{}} {:>8}{:>8}{:>11}{:>8}{:>8}{:>9}{:>10}\n", "MODEL", width, "KERNELS", "KEPT", "REWRITTEN",
                            "FUSED", "FOLDED", "REMOVED", "INSERTED"));
  print_counts(context, here, against["counts_here"], width);
  print_counts(context, there, against["counts_there"], width);
  print_nodes(context, "Nodes only in " + here, against["nodes_here"]);
  print_nodes(context, "Nodes only in " + there, against["nodes_there"]);
  if (against["paired_by_name_only"].as_bool().value_or(false))
    context.print(
        "\nToo many nodes have no name to pair them by their place: some that are listed as only in one model may be in both\n");
  print_fused_differences(context, against);
  print_nodes(context, "Other fate, from " + here + " to " + there, against["changed"]);
  print_moved(context, against);
}

}  // namespace aaco::cli
