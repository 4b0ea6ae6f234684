#include "report/compiler_section.h"

#include <fmt/format.h>

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const Compiler::Level& one) {
  return Json::object({{"level", one.level},
                       {"kernels", one.kernels},
                       {"kept", one.kept},
                       {"rewritten", one.rewritten},
                       {"fused", one.fused},
                       {"folded", one.folded},
                       {"removed", one.removed},
                       {"inserted", one.inserted}});
}

Json to_json(const Compiler::Row& row) {
  Json from = Json::array();
  for (const std::int64_t place : row.from) from.push(place);
  return Json::object({{"fate", row.fate},
                       {"before", row.before},
                       {"after", row.after},
                       {"node", row.node},
                       {"detail", row.detail},
                       {"from", std::move(from)}})
      .set_if("time_ns", row.time_ns);
}

Json to_json(const Compiler::Block& block) {
  Json rows = Json::array();
  for (const Compiler::Row& row : block.rows) rows.push(to_json(row));
  return Json::object({{"repeats", block.repeats}, {"rows", std::move(rows)}});
}

Json to_json(const Compiler::Missed& one) {
  return Json::object({{"reason", one.reason},
                       {"pattern", one.pattern},
                       {"first", one.first},
                       {"second", one.second},
                       {"condition", one.condition},
                       {"remedy", one.remedy},
                       {"count", one.count}})
      .set_if("both_ns", one.both_ns);
}

Json to_json(const Compiler::Difference& one) {
  return Json::object({{"side", one.side}, {"after", one.after}, {"before", one.before}, {"count", one.count}})
      .set_if("time_ns", one.time_ns)
      .set_if("change_ns", one.change_ns);
}

Json to_json(const Compiler::Refused& one) {
  return Json::object(
      {{"reason", one.reason}, {"op_type", one.op_type}, {"node", one.node}, {"condition", one.condition}, {"count", one.count}});
}

Json to_json(const Compiler::Seam& one) {
  return Json::object({{"first", one.first}, {"second", one.second}, {"from", one.from}, {"to", one.to}})
      .set_if("bytes", one.bytes)
      .set_if("least_ns", one.least_ns)
      .set_if("time_ns", one.time_ns);
}

Json to_json(const Compiler::Part& one) {
  return Json::object({{"target", one.target}, {"first", one.first}, {"last", one.last}, {"nodes", one.nodes}});
}

template <class T>
Json list_of(const std::vector<T>& rows) {
  Json out = Json::array();
  for (const T& row : rows) out.push(to_json(row));
  return out;
}

}  // namespace

Json to_json(const Compiler& section) {
  return Json::object({{"runtime", section.runtime},
                       {"level", section.level},
                       {"against", section.against},
                       {"link", section.link},
                       {"nodes", section.nodes},
                       {"summary", compiled_sentence(section)},
                       {"levels", list_of(section.levels)},
                       {"blocks", list_of(section.blocks)},
                       {"missed", list_of(section.missed)},
                       {"differences", list_of(section.differences)},
                       {"parts", list_of(section.parts)},
                       {"refused", list_of(section.refused)},
                       {"seams", list_of(section.seams)}})
      .set_if("call_ns", section.call_ns)
      .set_if("call_there_ns", section.call_there_ns)
      .set_if("seams_least_ns", section.seams_least_ns)
      .set_if("seams_ns", section.seams_ns)
      .set_if("usual_ns", section.usual_ns);
}

std::string compiled_sentence(const Compiler& section) {
  for (const Compiler::Level& one : section.levels)
    if (one.level == section.level)
      return fmt::format("{} {} become{} {} {} at level {}", section.nodes, section.nodes == 1 ? "node" : "nodes",
                         section.nodes == 1 ? "s" : "", one.kernels, one.kernels == 1 ? "kernel" : "kernels", section.level);
  return fmt::format("{} nodes", section.nodes);
}

}  // namespace aaco::report
