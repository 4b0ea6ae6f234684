#include <array>
#include <charconv>

#include "core/strings.h"
#include "estimation/kernel.h"

namespace aaco::estimation {
namespace {

struct TypeName {
  std::string_view spelled;
  std::string_view canonical;
};
// Without underscores: torch writes float8_e4m3fn where others write float8e4m3fn.
constexpr std::array kTypeNames{
    TypeName{"float64", "fp64"},     TypeName{"f64", "fp64"},
    TypeName{"double", "fp64"},      TypeName{"float32", "fp32"},
    TypeName{"f32", "fp32"},         TypeName{"float", "fp32"},
    TypeName{"single", "fp32"},      TypeName{"float16", "fp16"},
    TypeName{"f16", "fp16"},         TypeName{"half", "fp16"},
    TypeName{"bfloat16", "bf16"},    TypeName{"float8", "fp8"},
    TypeName{"f8", "fp8"},           TypeName{"e4m3", "fp8"},
    TypeName{"e5m2", "fp8"},         TypeName{"fp8e4m3", "fp8"},
    TypeName{"fp8e5m2", "fp8"},      TypeName{"fp8e4m3fn", "fp8"},
    TypeName{"fp8e4m3fnuz", "fp8"},  TypeName{"float8e4m3", "fp8"},
    TypeName{"float8e4m3fn", "fp8"}, TypeName{"float8e4m3fnuz", "fp8"},
    TypeName{"float8e5m2", "fp8"},   TypeName{"float8e5m2fnuz", "fp8"},
    TypeName{"i8", "int8"},          TypeName{"u8", "int8"},
    TypeName{"uint8", "int8"},       TypeName{"i4", "int4"},
    TypeName{"uint4", "int4"},       TypeName{"float4", "fp4"},
    TypeName{"float4e2m1", "fp4"},   TypeName{"float4e2m1fnx2", "fp4"},
};

struct Element {
  std::string_view name;
  double bytes;
};
constexpr std::array kElements{Element{"fp64", 8},  Element{"fp32", 4},  Element{"tf32", 4}, Element{"fp16", 2},
                               Element{"bf16", 2},  Element{"fp8", 1},   Element{"int8", 1}, Element{"fp6", 0.75},
                               Element{"fp4", 0.5}, Element{"int4", 0.5}};

constexpr double kSixteen = 2;  // bytes

// What of a product of `weights` bits by activations in `activations` is multiplied in. Eight bits may be fp8 or int8: aiter's
// "a8w8" rows are of fp8, which has int8's ceiling on all devices that ran it; elsewhere int8, which older devices have too.
std::optional<Operands> of_widths(int activations, int weights, bool activations_first) {
  if (weights != 4 && weights != 8 && weights != 16) return std::nullopt;
  const double bytes = activations / 8.0, weight_bytes = weights / 8.0;
  if (activations == 4) return Operands{"fp4", bytes, weight_bytes};
  if (activations == 8) return Operands{activations_first ? "fp8" : "int8", bytes, weight_bytes};
  if (activations == 16) return Operands{"bf16", bytes, weight_bytes};
  return std::nullopt;
}

// A letter and a number at the front of `text`, which moves behind them.
std::optional<int> width_after(char letter, std::string_view& text) {
  if (!text.starts_with(letter)) return std::nullopt;
  int width = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), width);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return width;
}

// "a8w8_blockscale", "w4a16", "w4afp8": the widths of activations and weights, and what kernels of it there are.
std::optional<Operands> of_two_widths(std::string_view type) {
  std::string_view rest = type.substr(0, type.find('_'));
  const bool activations_first = rest.starts_with('a');
  const auto first = width_after(activations_first ? 'a' : 'w', rest);
  if (first && !activations_first && rest == "afp8" && *first == 4) return Operands{"fp8", 1, 0.5};
  const auto second = width_after(activations_first ? 'w' : 'a', rest);
  if (!first || !second || (!rest.empty() && !activations_first)) return std::nullopt;
  return activations_first ? of_widths(*first, *second, true) : of_widths(*second, *first, false);
}

// Variants whose weights alone are narrow: they are widened on the way into the product, whose activations have 16 bits.
bool weights_alone(std::string_view variant) {
  for (const std::string_view name : {"_wo", "_weight_only", "_awq", "_gptq"})
    if (core::to_lower(variant).starts_with(name)) return true;
  return false;
}

}  // namespace

std::string canonical_type(std::string_view name) {
  std::string lower = core::to_lower(core::trim(name));
  for (const std::string_view library : {"torch.", "tf.", "np.", "numpy."})
    if (lower.starts_with(library)) lower.erase(0, library.size());
  const std::string joined = core::replace_all(lower, "_", "");
  for (const TypeName& type : kTypeNames)
    if (joined == type.spelled) return std::string(type.canonical);
  return lower;
}

std::optional<Operands> operands_of(std::string_view type) {
  if (auto mixed = of_two_widths(core::to_lower(type))) return mixed;
  const std::string_view head = type.substr(0, type.find('_'));
  std::string element = canonical_type(head);
  if (element == "sq") element = "int8";  // SmoothQuant: activations and weights in int8
  // Formats with a scale for each block of values, NVIDIA's and the OCP's: of their element's rate.
  if (element.starts_with("nvfp") || element.starts_with("mxfp")) element.erase(0, 2);
  const auto bytes = element_bytes(element);
  if (!bytes) return std::nullopt;
  if (weights_alone(type.substr(head.size()))) return Operands{"bf16", kSixteen, *bytes};
  return Operands{element, *bytes, *bytes};
}

std::optional<std::string> element_of(std::string_view type) {
  auto operands = operands_of(type);
  if (!operands) return std::nullopt;
  return std::move(operands->computed);
}

std::optional<double> element_bytes(std::string_view element) {
  for (const Element& known : kElements)
    if (element == known.name) return known.bytes;
  return std::nullopt;
}

}  // namespace aaco::estimation
