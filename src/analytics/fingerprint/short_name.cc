#include "analytics/short_name.h"

#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "core/strings.h"

namespace aaco::analytics::fingerprint {
namespace {

using core::Json;

std::string_view family_word(Family family) {
  if (family == Family::gemm) return "GEMM";
  if (family == Family::convolution) return "Conv";
  if (family == Family::attention) return "Attention";
  return {};
}

// Types as libraries write them. Longer spellings before those that they begin with.
constexpr std::array<std::pair<std::string_view, std::string_view>, 23> kShownTypes = {
    {{"bf16", "bf16"}, {"bfloat16", "bf16"}, {"b16", "bf16"},  {"fp16", "f16"},  {"f16", "f16"},       {"float16", "f16"},
     {"half", "f16"},  {"tf32", "tf32"},     {"xf32", "tf32"}, {"fp32", "f32"},  {"f32", "f32"},       {"float32", "f32"},
     {"fp64", "f64"},  {"f64", "f64"},       {"fp8", "f8"},    {"f8", "f8"},     {"e4m3", "f8"},       {"e5m2", "f8"},
     {"int8", "i8"},   {"i8", "i8"},         {"sgemm", "f32"}, {"hgemm", "f16"}, {"s1688gemm", "tf32"}}};

// The type that a token begins with: "f16f16" is f16, "s16816gemm" none.
std::string_view type_of_token(std::string_view token) {
  for (const auto& [word, type] : kShownTypes)
    if (token.starts_with(word)) {
      const std::string_view rest = token.substr(word.size());
      if (rest.empty() || std::isdigit(static_cast<unsigned char>(rest.front())) == 0) return type;
    }
  return {};
}

std::string_view shown_type(const NamedKernel& kernel, std::string& storage) {
  for (const char* key : {"input_type", "type"})
    if (const std::string_view stated = kernel.parameters[key].text(); !stated.empty()) {
      storage = core::to_lower(stated);
      const std::string_view known = type_of_token(storage);
      return known.empty() ? std::string_view(storage) : known;
    }
  // Template arguments of C++ names are types of many things: only the name's own words count.
  storage = core::to_lower(kernel.name.substr(0, kernel.name.find('(')));
  const std::size_t inner = storage.find("cutlass_");
  std::string_view words = storage;
  if (inner != std::string::npos) words.remove_prefix(inner);
  words = words.substr(0, words.find_first_of("<>, "));
  for (const std::string_view token : core::split(words, '_'))
    if (const auto type = type_of_token(token); !type.empty()) return type;
  return {};
}

std::string shown_tile(const Json& parameters) {
  const Json& tile = parameters.contains("macro_tile") ? parameters["macro_tile"] : parameters["tile"];
  std::string out;
  for (const Json& part : tile.items()) out += (out.empty() ? "MT" : "x") + std::to_string(part.as_i64().value_or(0));
  if (tile.items().size() == 2)
    if (const auto depth = parameters["tile_k"].as_i64()) out += "x" + std::to_string(*depth);
  return out;
}

// "TN": A transposed, B not.
std::string shown_layout(const Json& parameters) {
  const auto a = parameters["transpose_a"].as_bool(), b = parameters["transpose_b"].as_bool();
  if (!a || !b) return {};
  return std::string(*a ? "T" : "N") + (*b ? "T" : "N");
}

// Adds to each name of `shown` that several kernels have what tells them apart; names stay whole keys.
template <class Addition>
void tell_apart(std::map<std::string_view, std::string>& shown, Addition addition) {
  std::map<std::string, int> times;
  for (const auto& [name, text] : shown) ++times[text];
  for (auto& [name, text] : shown)
    if (!text.empty() && times[text] > 1) text += addition(name, text);
}

}  // namespace

std::string short_name(const NamedKernel& kernel) {
  const std::string_view word = family_word(kernel.family);
  if (word.empty()) return {};
  std::string storage;
  const std::string_view type = shown_type(kernel, storage);
  const std::string tile = shown_tile(kernel.parameters);
  if (type.empty() && tile.empty()) return {};
  std::string out(word);
  if (const std::string_view direction = kernel.parameters["direction"].text(); !direction.empty())
    out += " " + std::string(direction);
  if (!type.empty()) out += " " + std::string(type);
  if (!tile.empty()) out += " " + tile;
  return out;
}

std::vector<std::string> short_names(std::span<const NamedKernel> kernels) {
  std::map<std::string_view, std::string> shown;  // by whole name
  std::map<std::string_view, std::string> layouts;
  for (const NamedKernel& kernel : kernels) {
    shown.try_emplace(kernel.name, short_name(kernel));
    layouts.try_emplace(kernel.name, shown_layout(kernel.parameters));
  }
  tell_apart(shown, [&](std::string_view name, const std::string&) {
    return layouts[name].empty() ? std::string() : " " + layouts[name];
  });
  std::map<std::string, int> times;
  for (const auto& [name, text] : shown) ++times[text];
  std::map<std::string, int> numbers;
  std::set<std::string_view> numbered;
  for (const NamedKernel& kernel : kernels) {
    std::string& text = shown[kernel.name];
    const auto found = times.find(text);
    if (text.empty() || found == times.end() || found->second < 2 || !numbered.insert(kernel.name).second) continue;
    text += " #" + std::to_string(++numbers[found->first]);
  }
  std::vector<std::string> out;
  for (const NamedKernel& kernel : kernels) out.push_back(shown[kernel.name]);
  return out;
}

}  // namespace aaco::analytics::fingerprint
