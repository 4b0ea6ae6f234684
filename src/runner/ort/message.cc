#include "runner/ort/message.h"

#include <array>
#include <cctype>
#include <optional>

#include "core/strings.h"

namespace aaco::runner::ort {
namespace {

constexpr std::size_t kMaxLength = 400;

constexpr std::string_view kProvider =
    "another execution provider (--provider NAME; aaco doctor lists those that work here) or another build (--ort-lib FILE) may "
    "run this operator with these types";
constexpr std::string_view kUnsound = "export the model again, or check it with onnx.checker";

struct Known {
  std::string_view part, remedy;
};
// The first whose part is in the message.
constexpr std::array kKnown = {
    Known{"Could not find an implementation", kProvider},
    Known{"is not a registered function/op",
          "replace the operator, export it as functions or operators of ONNX, or use a build that has it (--ort-lib FILE)"},
    Known{"OrtValue indexes should have been populated", "the graph has neither inputs nor outputs: export the model again"},
    Known{"Unsupported model IR version",
          "save the model with an older IR version, or use a newer ONNX Runtime (--ort-lib FILE)"},
    Known{"two nodes with same node name", "give each node its own name, or none"},
    Known{"Protobuf parsing failed", "the file is damaged or no ONNX model: download or export it again"},
    Known{"is not a graph input, initializer, or output of a previous node", kUnsound},
    Known{"Type Error", kUnsound},
    Known{"ShapeInferenceError", kUnsound},
    Known{"This is an invalid model", kUnsound},
};

// The end of "void f(int, g<h>) const": behind its last parameter list. npos: the text begins with no signature.
std::size_t end_of_signature(std::string_view text) {
  std::size_t at = text.find('(');
  if (at == std::string_view::npos || text.substr(0, at).find_first_of(".:;'\"") == 0) return std::string_view::npos;
  while (at < text.size() && text[at] == '(') {
    int depth = 0;
    for (; at < text.size(); ++at) {
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    if (at == text.size()) return std::string_view::npos;
    ++at;
    while (at < text.size() && text[at] == '>') ++at;                  // "f(int)::<lambda(int)>"
    if (at < text.size() && text[at] != ' ') at = text.find('(', at);  // "f(int)::<lambda()>", "operator()(int)"
    if (at == std::string_view::npos) return at;
  }
  constexpr std::string_view kConst = " const", kWith = " [with ";
  if (text.substr(at).starts_with(kConst)) at += kConst.size();
  if (text.substr(at).starts_with(kWith)) at = std::min(text.find(']', at), text.size() - 1) + 1;
  return at;
}

// Where "/path/file.cc:46 void f(int) " begins, and behind it.
std::optional<std::pair<std::size_t, std::size_t>> place_in_source(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    const std::string_view before = text.substr(0, colon);
    const bool is_source =
        before.ends_with(".cc") || before.ends_with(".h") || before.ends_with(".cpp") || before.ends_with(".hpp");
    std::size_t end = colon + 1;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (!is_source || end == colon + 1) continue;
    const std::size_t start = before.find_last_of(" \n") + 1;   // npos + 1 is 0
    const std::size_t glued = before.substr(start).find(":/");  // "failed:/src/f.cc"
    const std::size_t signature = end_of_signature(text.substr(end));
    if (signature != std::string_view::npos) end += signature;
    while (end < text.size() && text[end] == ' ') ++end;
    return std::pair(glued == std::string_view::npos ? start : start + glued + 1, end);
  }
  return std::nullopt;
}

std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(behind));
}

// "Opset 99 is under development ... support for domain ai.onnx is till opset 26."
std::optional<ShortMessage> newer_opset(std::string_view text) {
  const auto given = between(text, "Opset ", " "), domain = between(text, "support for domain ", " "),
             last = between(text, "is till opset ", ".");
  if (given.empty() || domain.empty() || last.empty()) return std::nullopt;
  return ShortMessage{
      "opset " + std::string(given) + " of " + std::string(domain) + " is newer than this build of ONNX Runtime knows (" +
          std::string(last) + ")",
      "export the model with opset " + std::string(last) + " or older, or use a newer ONNX Runtime (--ort-lib FILE)"};
}

}  // namespace

ShortMessage shorten(std::string_view message, std::string_view doing) {
  if (auto opset = newer_opset(message)) return std::move(*opset);
  std::string text(message);
  while (const auto place = place_in_source(text)) text.erase(place->first, place->second - place->first);
  constexpr std::string_view kLoad = "Load model from ", kFailed = " failed:", kStart = "Exception during initialization: ";
  if (text.starts_with(kStart)) text.erase(0, kStart.size());
  if (const auto failed = text.find(kFailed);
      text.starts_with(kLoad) && failed != std::string::npos &&
      doing.find(text.substr(kLoad.size(), failed - kLoad.size())) != std::string_view::npos)
    text.erase(0, failed + kFailed.size());
  text = core::trim(text);
  if (text.empty()) text = message;
  ShortMessage out;
  for (const Known& known : kKnown)
    if (out.remedy.empty() && text.find(known.part) != std::string::npos) out.remedy = known.remedy;
  out.text = text.size() > kMaxLength ? text.substr(0, kMaxLength) + " ..." : std::move(text);
  return out;
}

bool is_schema_noise(std::string_view line) { return line.starts_with("Schema error: Trying to register schema with name "); }

}  // namespace aaco::runner::ort
