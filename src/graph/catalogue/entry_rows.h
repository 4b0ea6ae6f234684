#pragma once

#include "graph/catalogue/costs.h"
#include "graph/catalogue/entry.h"

// Rows of the lists whose files say every shape. `flops`: as the cost function uses it.
namespace aaco::graph {

constexpr Entry each_row(std::string_view name, double flops) {
  return {name, OperatorClass::elementwise, nullptr, &costs::elementwise, flops};
}
constexpr Entry view_row(std::string_view name) { return {name, OperatorClass::view, nullptr, &costs::view, 0}; }
constexpr Entry copy_row(std::string_view name) { return {name, OperatorClass::copy, nullptr, &costs::moved, 0}; }
constexpr Entry reduction_row(std::string_view name, double flops) {
  return {name, OperatorClass::reduction, nullptr, &costs::reduced, flops};
}

}  // namespace aaco::graph
