#include "graph/pt2/arguments.h"

#include <algorithm>

namespace aaco::graph::pt2 {
namespace {

using core::Json;
using Ints = std::vector<std::int64_t>;

// A size, or the name of one whose value the graph holds.
std::optional<std::int64_t> symbol_size(const Json& argument, const Json& symbols) {
  if (const auto size = argument["as_int"].as_i64()) return size;
  if (const auto name = argument["as_name"].as_string()) return symbols[*name]["as_int"].as_i64();
  return std::nullopt;
}

template <class T, class Read>
std::optional<AttributeValue> list_of(const Json& value, const Read& read) {
  std::vector<T> out;
  for (const Json& item : value.items()) {
    const auto number = read(item);
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

std::optional<AttributeValue> boolean(const Json& value) {
  const auto held = value.as_bool();
  return held ? std::optional<AttributeValue>(std::int64_t{*held ? 1 : 0}) : std::nullopt;
}

// One number stands for all axes in PyTorch; an empty list of strides means the window itself.
void spread(Ints& numbers, std::size_t count) {
  if (numbers.size() == 1 && count > 1) numbers.resize(count, numbers[0]);
}

void put(Node& node, const std::string& name, Ints numbers) { node.attributes.push_back({name, std::move(numbers)}); }

Ints list_attribute(const Node& node, std::string_view name) {
  if (const AttributeValue* held = node.attribute(name))
    if (const auto* one = std::get_if<std::int64_t>(held)) return {*one};
  return node.ints_or(name, {});
}

void rename(Node& node, std::string_view from, const std::string& to, std::size_t spatial) {
  Ints numbers = list_attribute(node, from);
  if (numbers.empty()) return;
  spread(numbers, spatial);
  put(node, to, std::move(numbers));
}

void rename_pads(Node& node, std::size_t spatial) {
  if (node.string_or("padding", "") == "same") {
    node.attributes.push_back({"auto_pad", std::string("SAME_UPPER")});
    return;
  }
  Ints pads = list_attribute(node, "padding");
  if (pads.empty()) return;
  spread(pads, spatial);
  const Ints ends = pads;
  pads.insert(pads.end(), ends.begin(), ends.end());
  put(node, "pads", std::move(pads));
}

}  // namespace

std::optional<AttributeValue> attribute_of(std::string_view kind, const Json& value, const Json& symbols) {
  const auto integer = [](const Json& item) { return item.as_i64(); };
  const auto real = [](const Json& item) { return item.as_f64(); };
  const auto text = [](const Json& item) { return item.as_string(); };
  if (kind == "as_int" || kind == "as_scalar_type" || kind == "as_memory_format" || kind == "as_layout") {
    if (const auto number = value.as_i64()) return *number;
  } else if (kind == "as_float") {
    if (const auto number = value.as_f64()) return *number;
  } else if (kind == "as_bool") {
    return boolean(value);
  } else if (kind == "as_string") {
    if (auto held = value.as_string()) return *std::move(held);
  } else if (kind == "as_ints") {
    return list_of<std::int64_t>(value, integer);
  } else if (kind == "as_floats") {
    return list_of<double>(value, real);
  } else if (kind == "as_strings") {
    return list_of<std::string>(value, text);
  } else if (kind == "as_sym_int") {
    if (const auto size = symbol_size(value, symbols)) return *size;
  } else if (kind == "as_sym_ints") {
    return list_of<std::int64_t>(value, [&](const Json& item) { return symbol_size(item, symbols); });
  } else if (kind == "as_sym_bool") {
    return boolean(value["as_bool"]);
  } else if (kind == "as_sym_float") {
    if (const auto number = value["as_float"].as_f64()) return *number;
  }
  return std::nullopt;
}

void name_as_onnx(Node& node, std::size_t spatial) {
  const std::string& op = node.op_type;
  const bool convolution = op.find("conv") != std::string::npos;
  const bool pool = op.find("_pool") != std::string::npos;
  if (op.starts_with("upsample_"))
    node.attributes.push_back({"mode", std::string(op.find("nearest") != std::string::npos ? "nearest" : "linear")});
  if (!convolution && !pool) return;
  rename(node, "stride", "strides", spatial);
  rename(node, "dilation", "dilations", spatial);
  rename(node, "kernel_size", "kernel_shape", spatial);
  rename_pads(node, spatial);
  if (op.starts_with("conv_transpose")) node.attributes.push_back({"transposed", std::int64_t{1}});
}

std::string plain_formula(std::string_view text) {
  constexpr std::string_view kSymbol = "Symbol('";
  std::string out;
  while (!text.empty()) {
    const std::size_t found = text.find(kSymbol);
    out.append(text.substr(0, found));
    if (found == std::string_view::npos) break;
    text.remove_prefix(found + kSymbol.size());
    const std::size_t end = text.find('\'');
    if (end == std::string_view::npos) break;
    out.append(text.substr(0, end));
    const std::size_t close = text.find(')', end);
    if (close == std::string_view::npos) break;
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace aaco::graph::pt2
