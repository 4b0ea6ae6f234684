#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/catalogue/context.h"
#include "graph/cost.h"

namespace aaco::graph {

class CostContext;
using CostFunction = void (*)(CostContext&);

// What the catalogue knows of one operator. `flops` is a factor that the cost function uses: per element of the output or of the
// input, as its comment says.
struct Entry {
  std::string_view op_type;
  OperatorClass kind = OperatorClass::unknown;
  ShapeFunction shape = nullptr;  // null: the file says every shape (PyTorch exports, TFLite)
  CostFunction cost = nullptr;    // null: no model, named as such
  double flops = 0;
};

// The rows of each domain.
std::span<const Entry> standard_entries();   // ai.onnx
std::span<const Entry> microsoft_entries();  // com.microsoft and its relatives
std::span<const Entry> aten_entries();       // core ATen, by name without overload ("addmm"), domain "aten"
std::span<const Entry>
aten_whole_entries();  // what stays whole without decompositions, aliases, torchvision's, those that run graphs
std::span<const Entry> tflite_entries();  // builtin operators by their schema name, domain "tflite"

// Null for an operator that the catalogue does not have.
const Entry* find_entry(std::string_view domain, std::string_view op_type);

}  // namespace aaco::graph
