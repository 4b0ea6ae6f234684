#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/numbers.h"

namespace aaco::analytics::roofline {

using Shape = std::vector<double>;

inline constexpr double kLargestExtent = 1e12;

struct Type {  // of elements, as PyTorch and as the roofline call them
  std::string_view theirs, ours;
  double bytes;
};
inline constexpr std::array<Type, 13> kTypes = {{{"float", "float32", 4},
                                                 {"c10::Half", "float16", 2},
                                                 {"c10::BFloat16", "bfloat16", 2},
                                                 {"double", "float64", 8},
                                                 {"c10::Float8_e4m3fn", "float8", 1},
                                                 {"c10::Float8_e5m2", "float8", 1},
                                                 {"c10::Float8_e4m3fnuz", "float8", 1},
                                                 {"c10::Float8_e5m2fnuz", "float8", 1},
                                                 {"signed char", "int8", 1},
                                                 {"Half", "float16", 2},
                                                 {"BFloat16", "bfloat16", 2},
                                                 {"Float", "float32", 4},
                                                 {"Double", "float64", 8}}};

inline std::int64_t whole(double extent) { return static_cast<std::int64_t>(extent); }

// The arguments of one call of an operator, as the profiler recorded them; `arguments` must outlive it.
class Call {
 public:
  explicit Call(const core::Json& arguments)
      : dims_(arguments.contains("Input Dims") ? arguments["Input Dims"] : arguments["Input dims"]),
        types_(arguments["Input type"]),
        concrete_(arguments["Concrete Inputs"]) {}

  // Of a tensor with `least` to `most` dimensions; empty: no such tensor.
  [[nodiscard]] Shape shape(std::size_t index, std::size_t least, std::size_t most) const {
    if (index >= dims_.items().size()) return {};
    Shape shape;
    for (const core::Json& extent : dims_.items()[index].items()) {
      const auto value = extent.as_f64();
      if (!value || *value < 1 || *value > kLargestExtent) return {};
      shape.push_back(*value);
    }
    return shape.size() < least || shape.size() > most ? Shape() : shape;
  }
  [[nodiscard]] const Type* type(std::size_t index) const {
    if (index >= types_.items().size()) return nullptr;
    const auto place =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& type) { return type.theirs == types_.items()[index].text(); });
    return place == kTypes.end() ? nullptr : place;
  }
  [[nodiscard]] std::string_view text(std::size_t index) const {
    return index < concrete_.items().size() ? concrete_.items()[index].text() : std::string_view();
  }
  [[nodiscard]] std::optional<double> number(std::size_t index) const { return core::parse_f64(text(index)); }
  // "[1, 2]"; one number stands for all. Empty where it is not that.
  [[nodiscard]] Shape list(std::size_t index, std::size_t size) const {
    const auto parsed = core::Json::parse(text(index));
    if (!parsed) return {};
    Shape values;
    for (const core::Json& item : parsed->items()) values.push_back(item.as_f64().value_or(-1));
    if (values.size() == 1) values.resize(size, values.front());
    const bool odd = std::any_of(values.begin(), values.end(), [](double v) { return v < 0 || v > kLargestExtent; });
    return odd || values.size() != size ? Shape() : values;
  }

 private:
  const core::Json& dims_;
  const core::Json& types_;
  const core::Json& concrete_;
};

}  // namespace aaco::analytics::roofline
