#pragma once

#include "graph/catalogue/rules.h"

// Shape functions of TFLite's builtin operators (tensorflow/lite/g3doc and the Prepare functions of tensorflow/lite/kernels). A
// file says most shapes; these find the sizes that it leaves open, and follow the numbers that shapes are made of.
namespace aaco::graph::rules::lite {

// Sets the output's shape unless the file says all of it. Types are always the file's.
void give(ShapeContext& c, std::size_t output, Shape shape);
// The only number of an input; empty where it is not known.
std::optional<std::int64_t> number_of(const ShapeContext& c, std::size_t input);

// rules_tflite_layout.cc
void reshaped(ShapeContext&);
void squeezed(ShapeContext&);
void expand_dims(ShapeContext&);
void transposed(ShapeContext&);
void concatenated(ShapeContext&);
void packed(ShapeContext&);
void unpacked(ShapeContext&);
void split_evenly(ShapeContext&);
void split_by_sizes(ShapeContext&);
void sliced(ShapeContext&);
void strided_slice(ShapeContext&);
void gathered(ShapeContext&);
void looked_up(ShapeContext&);
void tiled(ShapeContext&);
void padded(ShapeContext&);
void blocks(ShapeContext&);

}  // namespace aaco::graph::rules::lite
