#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "estimation/calibrated.h"
#include "estimation/latency.h"
#include "estimation/roofline.h"

namespace aaco::estimation {

// What trees, of which there is one at least, answer on average.
double mean_of(const std::vector<stats::BoostedTrees>& trees, std::span<const float> row);

// Time to compute over time to move, by the specification.
double intensity(const Roofline& roof);

// The least time the ceilings allow; what they do not say is no limit.
double least_seconds(const Ceilings& ceilings, const Roofline& roof, const DeviceFacts& device);

// What the trees of a model correct: roofline and floor, or the mean cost of the stack's kernel.
double nominal_seconds(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof, const LatencyModel& model);

// The part of an estimate that its roofline and floor explain; where they overlap, all of it.
double explained_ratio(const Explanation& why, double seconds);

// Whether the stack's kernel that is asked for is among those the model was fitted to, or one of its stack's where only that is
// named. Of kernels that belong to no stack, always.
bool knows_program(const LatencyModel& model, const Kernel& kernel);

// `model` has its trees.
LatencyEstimate calibrated(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof, const LatencyModel& model);

// Kernels of two types with the same element may be two programs (fp8 with one scale, or with one a block): they differ by half
// as much again either way, and one may be issued in several steps by a framework where the other is a single launch. H200's
// products in blocks, which take 50 us and more, beside H100's plain ones, of 5 us and more (docs/results.md). The roofline stays
// the least.
void widen_for_another_type(std::string_view measured, std::string_view asked, const Roofline& roof, LatencyEstimate& estimate);

// From the calibrations of other devices: those of the same architecture, else of the same vendor, else all, by how near their
// ceilings are. Each lends its time, stretched by the ratio of both devices' smooth rooflines. Empty: nobody can lend.
core::Result<std::optional<LatencyEstimate>> interpolated(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof,
                                                          const CalibrationSet& set);

}  // namespace aaco::estimation
