#include "core/json.h"

#include <utility>

#include "core/numbers.h"
#include "core/strings.h"
#include "formats/smi_text/cells.h"

namespace aaco::formats::smi_text {
namespace {

using core::Json;

constexpr int kDeepest = 16;

std::string text_of(const Json& value) {
  if (value.is_string()) return std::string(value.text());
  return value.is_null() || value.is_object() || value.is_array() ? std::string() : value.dump(-1);
}

// Objects nest names; {"value": 5, "unit": "W"} is one value.
void walk(const Json& value, const std::string& path, Cells& cells, int depth) {
  if (depth > kDeepest) return;
  if (value.is_object() && value.contains("value") && value["value"].members().empty()) {
    cells.add(path, text_of(value["value"]), value["unit"].text());
    return;
  }
  if (value.is_object()) {
    for (const auto& [key, member] : value.members()) walk(member, path.empty() ? key : path + '.' + key, cells, depth + 1);
    return;
  }
  if (!value.is_array()) cells.add(path, text_of(value));
}

bool read_amd_smi(const Json& list, Cells& cells) {
  bool any = false;
  for (const Json& entry : list.items()) {
    const auto device = entry["gpu"].as_i64();
    if (!device || *device < 0) continue;
    any = true;
    cells.set_time(entry.contains("timestamp") ? realtime_ns(text_of(entry["timestamp"])) : std::nullopt);
    cells.begin_device(*device);
    for (const auto& [key, member] : entry.members())
      if (key != "gpu" && key != "timestamp") walk(member, key, cells, 0);
  }
  return any;
}

// {"card0": {"GPU use (%)": "0", ...}, ...}
bool read_rocm_smi(const Json& document, Cells& cells) {
  bool any = false;
  for (const auto& [key, card] : document.members()) {
    const auto device = key.starts_with("card") ? core::parse_i64(std::string_view(key).substr(4)) : std::nullopt;
    if (!device || *device < 0 || !card.is_object()) continue;
    any = true;
    cells.begin_device(*device);
    for (const auto& [name, value] : card.members()) cells.add(name, text_of(value));
  }
  return any;
}

// Takes the next document off the text: a tool that watches prints one behind the other. One that is cut reaches to the end.
std::string_view next_document(std::string_view& text) {
  const auto start = text.find_first_of("[{");
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start);
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && quoted) {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      ++depth;
    } else if (!quoted && (c == ']' || c == '}') && --depth == 0) {
      const std::string_view document = text.substr(0, at + 1);
      text.remove_prefix(at + 1);
      return document;
    }
  }
  return std::exchange(text, std::string_view());
}

bool read_document(const Json& document, Log& log, Cells& cells) {
  const Json& list = document.is_array() ? document : document["gpu_data"];
  if (list.is_array()) return read_amd_smi(list, cells);
  log.tool = Tool::rocm_smi;
  return read_rocm_smi(document, cells);
}

}  // namespace

bool read_json(std::string_view text, Log& log) {
  Cells cells(log);
  log.layout = "JSON";
  bool any = false;
  for (std::string_view document = next_document(text); !document.empty(); document = next_document(text)) {
    if (const auto parsed = Json::parse(document))
      any = read_document(*parsed, log, cells) || any;
    else
      cells.pass_line();
  }
  return any;
}

}  // namespace aaco::formats::smi_text
