#include "importers/migraphx/instruction.h"

#include <cmath>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::importers::migraphx {
namespace {

constexpr std::string_view kOpen = "[({";
constexpr std::string_view kClose = "])}";

// Where the bracket at `at` closes; npos where it does not.
std::size_t matching(std::string_view text, std::size_t at) {
  std::int64_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (kOpen.find(text[i]) != std::string_view::npos) ++depth;
    if (kClose.find(text[i]) != std::string_view::npos && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Splits at commas outside brackets.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  std::int64_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size()) {
      if (kOpen.find(list[i]) != std::string_view::npos) ++depth;
      if (kClose.find(list[i]) != std::string_view::npos) --depth;
      if (list[i] != ',' || depth > 0) continue;
    }
    if (const auto part = core::trim(list.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 512 && name.find_first_of(" \t()[]{},\"") == std::string_view::npos;
}

// Takes ": 0.212592ms, 52%" off the end.
std::optional<std::int64_t> take_duration(std::string_view& text) {
  const auto percent = text.rfind("ms, ");
  if (percent == std::string_view::npos || !text.ends_with('%')) return std::nullopt;
  const auto colon = text.rfind(": ", percent);
  if (colon == std::string_view::npos) return std::nullopt;
  const auto duration = parse_milliseconds(text.substr(colon + 2, percent - colon));
  if (duration) text = text.substr(0, colon);
  return duration;
}

// "debug_symbols={conv1, relu1}" wherever it stands.
std::string_view find_symbols(std::string_view text) {
  constexpr std::string_view kWord = "debug_symbols";
  const auto at = text.find(kWord);
  if (at == std::string_view::npos) return {};
  const auto open = text.find_first_not_of("=: ", at + kWord.size());
  if (open == std::string_view::npos) return {};
  if (kOpen.find(text[open]) == std::string_view::npos) return text.substr(open, text.find_first_of(",] \t", open) - open);
  const auto close = matching(text, open);
  return close == std::string_view::npos ? std::string_view() : core::trim(text.substr(open + 1, close - open - 1));
}

// "float_type, {1, 128}, {128, 1}, target_id=0" or "[float_type, {1}, {1}, int32_type, ...]".
bool read_shape(std::string_view text, Instruction& instruction) {
  text = core::trim(text);
  if (text.empty()) return false;
  if (text.front() == '[') {
    instruction.data_type = "tuple";
    return matching(text, 0) != std::string_view::npos;
  }
  const auto comma = text.find(',');
  instruction.data_type = core::trim(text.substr(0, comma));
  if (!instruction.data_type.ends_with("_type")) return false;
  if (comma == std::string_view::npos) return true;
  const auto open = text.find_first_not_of(" \t", comma + 1);
  if (open == std::string_view::npos || text[open] != '{') return true;
  const auto close = matching(text, open);
  if (close == std::string_view::npos) return false;
  instruction.lengths = core::trim(text.substr(open + 1, close - open - 1));
  return true;
}

}  // namespace

std::optional<std::int64_t> parse_milliseconds(std::string_view text) {
  text = core::trim(text);
  if (!text.ends_with("ms")) return std::nullopt;
  const auto value = core::parse_f64(core::trim(text.substr(0, text.size() - 2)));
  if (!value || !std::isfinite(*value) || *value < 0 || *value > 1e12) return std::nullopt;
  return std::llround(*value * 1e6);
}

std::optional<Instruction> parse_instruction(std::string_view line) {
  line = core::trim(line);
  const auto equals = line.find(" = ");
  if (equals == std::string_view::npos) return std::nullopt;
  Instruction instruction;
  instruction.name = line.substr(0, equals);
  std::string_view rest = line.substr(equals + 3);
  if (!is_name(instruction.name) || rest.empty()) return std::nullopt;
  instruction.duration_ns = take_duration(rest);
  instruction.symbols = find_symbols(rest);
  const auto op_end = rest.find_first_of("[({ ");
  instruction.op = rest.substr(0, op_end);
  if (!is_name(instruction.op)) return std::nullopt;
  rest.remove_prefix(op_end == std::string_view::npos ? rest.size() : op_end);
  while (!rest.empty() && kOpen.find(rest.front()) != std::string_view::npos) {
    const auto close = matching(rest, 0);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view inside = rest.substr(1, close - 1);
    if (rest.front() == '[' && instruction.attributes.empty()) instruction.attributes = inside;
    if (rest.front() == '(') instruction.arguments = split(inside);
    rest.remove_prefix(close + 1);
    if (rest.starts_with(", [")) rest.remove_prefix(2);  // modules that are called
  }
  const auto arrow = rest.find("-> ");
  if (arrow == std::string_view::npos) {
    if (instruction.op != "@return") return std::nullopt;
    return instruction;
  }
  if (!core::trim(rest.substr(0, arrow)).empty() || !read_shape(rest.substr(arrow + 3), instruction)) return std::nullopt;
  return instruction;
}

std::string_view attribute(std::string_view attributes, std::string_view key) {
  for (const std::string_view part : split(attributes))
    if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=') return part.substr(key.size() + 1);
  return {};
}

std::optional<std::vector<std::int64_t>> parse_lengths(std::string_view lengths) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view part : split(lengths)) {
    const auto number = core::parse_i64(part);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace aaco::importers::migraphx
