#include "report/paper.h"
#include "report/quantity.h"
#include "report/terminal.h"

namespace aaco::report {
namespace {

using core::Json;

std::string page_text(const std::string& text) { return with_micro_signs(printable(text)); }

Json texts_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(page_text(text));
  return list;
}

Json table_json(const PaperTable& table) {
  Json numeric = Json::array(), rows = Json::array();
  for (std::size_t i = 0; i < table.header.size(); ++i) numeric.push(i < table.numeric.size() && table.numeric[i]);
  for (const auto& row : table.rows) rows.push(texts_json(row));
  return Json::object({{"header", texts_json(table.header)}, {"numeric", std::move(numeric)}, {"rows", std::move(rows)}});
}

Json section_json(const PaperSection& section) {
  Json facts = Json::array();
  for (const auto& [name, text] : section.facts) facts.push(texts_json({name, text}));
  Json out =
      Json::object({{"title", page_text(section.title)}, {"facts", std::move(facts)}, {"lines", texts_json(section.lines)}});
  if (!section.table.header.empty()) out.set("table", table_json(section.table));
  return out;
}

Json curve_json(const PaperCurve& curve) {
  Json points = Json::array();
  for (const PaperCurve::Point& point : curve.points) {
    Json one = Json::object(
        {{"label", page_text(point.label)}, {"items_per_second", point.items_per_second}, {"latency_ns", point.latency_ns}});
    if (point.low_ns && point.high_ns) one.set("ci95", Json::array({*point.low_ns, *point.high_ns}));
    one.set_if("tail_ns", point.tail_ns);
    points.push(std::move(one));
  }
  Json out = Json::object({{"name", page_text(curve.name)}, {"points", std::move(points)}});
  if (curve.knee) out.set("knee", *curve.knee);
  return out;
}

}  // namespace

Json paper_json(const Paper& paper) {
  Json sections = Json::array(), curves = Json::array();
  for (const PaperSection& section : paper.sections) sections.push(section_json(section));
  for (const PaperCurve& curve : paper.curves) curves.push(curve_json(curve));
  return Json::object({{"schema", "aaco.paper"},
                       {"schema_version", 1},
                       {"title", page_text(paper.title)},
                       {"sections", std::move(sections)},
                       {"curves", std::move(curves)}});
}

}  // namespace aaco::report
