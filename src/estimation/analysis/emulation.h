#pragma once

#include <string>

#include "estimation/analysis.h"

// Types that a device has no units for, and types that a library puts in another's place.
namespace aaco::estimation {

// What is not floating point (indices, masks, comparisons) takes the lanes of single precision; a device that has none (a TPU, an
// edge NPU) does it in the widest type it computes. Floating-point work is left as it is: its type is what was asked for.
void move_to_units(const graph::NodeCost& cost, const hardware::Device& device, Kernel& kernel);

// On a GPU, weights of four or eight bits are widened on the way into a product of 16 bits: they are read as they are stored.
void use_narrow_weights(const graph::NodeCost& cost, const hardware::Device& device, Kernel& kernel);

// Libraries compute float32 convolutions in TF32 where the device has it, unless they are told not to: the low end says so.
void widen_for_narrower_type(const Kernel& kernel, const Work& work, const hardware::Device& device, LatencyEstimate& latency);

// An eager framework on a processor without units for a 16-bit type computes element by element, in one lane, converting to and
// fro.
void emulate_type(const Kernel& kernel, const hardware::Device& device, LatencyEstimate& latency);

// What emulate_type() did, for people; empty: nothing.
std::string emulation_note(const GraphEstimate& graph, const hardware::Device& device);

}  // namespace aaco::estimation
