#pragma once

#include <optional>

#include "estimation/mapping.h"
#include "estimation/roofline.h"

namespace aaco::estimation::mappers {

// What every mapper starts from: the engine that computes the kernel fastest, and the memory that feeds it.
struct Ground {
  const hardware::Device& device;
  const Kernel& kernel;
  const Work& work;
  const hardware::Engine* engine = nullptr;
  std::optional<GemmShape> product;  // the kernel as a product of matrices
  double element_bytes = 4;          // as it lies in memory
  double computed_bytes = 4;         // as the engine holds it: wider where it lacks the type
};

Mapping on_cpu(const Ground& ground, Mapping mapping);
Mapping on_gpu(const Ground& ground, Mapping mapping);
Mapping on_grid(const Ground& ground, Mapping mapping);

// The part of `count` that is useful where it is rounded up to whole pieces of `piece`.
double fill_ratio(double count, double piece);
// The part of all units that works, over all waves of `pieces`.
double wave_ratio(double pieces, double units);

}  // namespace aaco::estimation::mappers
