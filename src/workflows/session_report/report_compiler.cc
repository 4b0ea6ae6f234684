#include "workflows/session_report/report_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/files.h"

namespace aaco::workflows {
namespace {

using core::Json;
using report::Compiler;

std::string text_of(const Json& value) { return std::string(value.text()); }
std::int64_t whole(const Json& value) { return value.as_i64().value_or(0); }

// Adds what is there, so that a sum of nothing stays empty.
void add_to(std::optional<double>& sum, const Json& value) {
  if (const auto number = value.as_f64()) sum = sum.value_or(0) + *number;
}

template <class Row, class Key>
std::vector<Row> most_first(const std::map<Key, Row>& rows) {
  std::vector<Row> out;
  for (const auto& [key, row] : rows) out.push_back(row);
  std::stable_sort(out.begin(), out.end(), [](const Row& a, const Row& b) { return a.count > b.count; });
  return out;
}

Compiler::Block block_of(const Json& block) {
  Compiler::Block out{std::max<std::int64_t>(1, whole(block["repeats"])), {}};
  for (const Json& one : block["rows"].items()) {
    Compiler::Row row{text_of(one["fate"]), text_of(one["before"]), text_of(one["after"]), text_of(one["node"]), {}, {}, {}};
    row.detail = text_of(one["precision"].is_null() ? one["kind"] : one["precision"]);
    row.time_ns = one["time_ns"].as_f64();
    for (const Json& place : one["from"].items()) row.from.push_back(whole(place));
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::vector<Compiler::Missed> missed_of(const Json& list) {
  std::map<std::pair<std::string, std::string>, Compiler::Missed> rows;
  for (const Json& one : list.items()) {
    if (one["reason"].text() == "other_fusion") continue;  // nothing is lost
    auto& row = rows[{text_of(one["reason"]), text_of(one["pattern"])}];
    if (row.count++ == 0)
      row = {text_of(one["reason"]),
             text_of(one["pattern"]),
             text_of(one["first"]),
             text_of(one["second"]),
             text_of(one["condition"].text().empty() ? one["title"] : one["condition"]),
             text_of(one["remedy"]),
             1,
             {}};
    add_to(row.both_ns, one["both_ns"]);
  }
  return most_first(rows);
}

std::vector<Compiler::Difference> differences_of(const Json& list, const std::string& side) {
  std::map<std::pair<std::string, std::string>, Compiler::Difference> rows;
  for (const Json& one : list.items()) {
    auto& row = rows[{text_of(one["op_type"]), text_of(one["pattern"])}];
    row.side = side;
    row.after = text_of(one["op_type"]);
    row.before = text_of(one["pattern"]);
    ++row.count;
    add_to(row.time_ns, one["time_ns"]);
    add_to(row.change_ns, one["change_ns"]);
  }
  return most_first(rows);
}

void fill_provider(Compiler& out, const Json& against) {
  out.link = text_of(against["link"]["name"]);
  for (const Json& one : against["parts"].items())
    out.parts.push_back({text_of(one["target"]), text_of(one["first"]), text_of(one["last"]), whole(one["nodes"])});
  std::map<std::pair<std::string, std::string>, Compiler::Refused> refused;
  for (const Json& one : against["refused"].items()) {
    auto& row = refused[{text_of(one["reason"]), text_of(one["op_type"])}];
    if (row.count++ == 0)
      row = {text_of(one["reason"]), text_of(one["op_type"]), text_of(one["node"]), text_of(one["condition"]), 1};
  }
  out.refused = most_first(refused);
  for (const Json& one : against["seams"].items()) {
    out.seams.push_back({text_of(one["first"]),
                         text_of(one["second"]),
                         text_of(one["from"]),
                         text_of(one["to"]),
                         one["bytes"].as_f64(),
                         one["least_ns"].as_f64(),
                         {}});
    add_to(out.seams_least_ns, one["least_ns"]);
  }
  std::stable_sort(out.seams.begin(), out.seams.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
}

// A backend with its own build says how many nodes each provider runs, and with --time what it costs to go from one to another.
void fill_backend(Compiler& out, const Json& against) {
  for (const auto& [provider, nodes] : against["nodes_by_provider"].members())
    out.parts.push_back({provider, {}, {}, whole(nodes)});
  for (const Json& one : against["seams"].items())
    out.seams.push_back({text_of(one["first"]),
                         text_of(one["second"]),
                         text_of(one["from"]),
                         text_of(one["to"]),
                         {},
                         {},
                         one["time_ns"].as_f64()});
  std::stable_sort(out.seams.begin(), out.seams.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  const Json& timed = against["seams_timed"];
  out.seams_ns = timed["total_ns"].as_f64();
  out.usual_ns = timed["usual_ns"].as_f64();
  out.call_there_ns = timed["call_ns"].as_f64();
}

}  // namespace

Compiler compiler_section(const Json& document) {
  Compiler out;
  const Json& runtime = document["runtime"];
  if (runtime.is_object())
    out.runtime = fmt::format("ONNX Runtime {}, {}", runtime["version"].text(), runtime["provider"].text());
  out.level = text_of(document["level"]);
  out.nodes = whole(document["nodes"]);
  out.call_ns = document["timed"]["call_ns"].as_f64();
  for (const Json& one : document["levels"].items())
    out.levels.push_back({text_of(one["level"]), whole(one["kernels"]), whole(one["kept"]), whole(one["rewritten"]),
                          whole(one["fused"]), whole(one["folded"]), whole(one["removed"]), whole(one["inserted"])});
  for (const Json& block : document["drawing"].items()) out.blocks.push_back(block_of(block));
  out.missed = missed_of(document["not_fused"]);
  const Json& against = document["against"];
  const std::string of = against["kind"].text() == "level" ? "level " : "";
  if (against.is_object()) out.against = of + text_of(against["there"]);
  out.call_there_ns = against["call_there_ns"].as_f64();
  out.differences = differences_of(against["only_here"], of + text_of(against["here"]));
  for (auto& one : differences_of(against["only_there"], out.against)) out.differences.push_back(std::move(one));
  if (against["kind"].text() == "provider") fill_provider(out, against);
  if (against["kind"].text() == "backend") fill_backend(out, against);
  return out;
}

core::Status fill_compiler(report::ReportModel& model, const std::string& session_path) {
  if (model.session.kind != "compiler") return {};
  const std::string path = core::join_path(session_path, "metrics/compiler.json");
  if (!core::exists(path)) return {};
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  model.sections.compiler = compiler_section(document);
  model.verdict = model.session.outcome.model + ": " + report::compiled_sentence(*model.sections.compiler) + ".";
  return {};
}

}  // namespace aaco::workflows
