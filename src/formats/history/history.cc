#include "formats/history.h"

#include <cmath>

#include "core/strings.h"
#include "formats/history/readers.h"

namespace aaco::formats::history {
namespace {

using core::ErrorCode;

// "window.BENCHMARK_DATA = {...};" -> "{...}"
std::string_view without_assignment(std::string_view text) {
  if (!text.starts_with("window.") && !text.starts_with("const ") && !text.starts_with("var ")) return text;
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return text;
  text = core::trim(text.substr(equals + 1));
  while (text.ends_with(';')) text = core::trim(text.substr(0, text.size() - 1));
  return text;
}

}  // namespace

void add_value(std::optional<double> value, Point point, Series& series, Document& document) {
  ++document.read;
  if (!value) {
    ++document.dropped["not a number"];
    return;
  }
  if (!std::isfinite(*value)) {
    ++document.dropped["not finite"];
    return;
  }
  point.value = *value;
  series.points.push_back(std::move(point));
}

core::Result<Document> read(std::string_view bytes, const std::string& name, const Filter& filter) {
  std::string_view text = core::trim(bytes);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.empty()) return core::fail(ErrorCode::invalid_input, name + " is empty", "give a CSV table or benchmark JSON");
  text = without_assignment(text);
  if (text.empty())
    return core::fail(ErrorCode::invalid_input, name + " contains an empty assignment", "check whether it is truncated");
  Document document;
  if (text.front() == '{' || text.front() == '[') {
    auto root = core::Json::parse(text);
    if (!root) return tl::unexpected<core::Error>(std::move(root).error().with("reading " + name));
    AACO_ASSIGN(document, read_json(*root, name));
  } else {
    AACO_ASSIGN(document, read_table(text, name, filter));
  }
  std::erase_if(document.series, [](const Series& series) { return series.points.empty(); });
  if (document.series.empty())
    return core::fail(ErrorCode::invalid_input, name + " has no numeric series to build a history from",
                      "see docs/formats/history.md for the supported formats");
  return document;
}

}  // namespace aaco::formats::history
