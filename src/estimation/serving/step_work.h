#pragma once

#include <string>
#include <string_view>

#include "estimation/serving.h"
#include "estimation/serving/operator_times.h"

namespace aaco::estimation {

// How a type of weights is kept and computed with on a device.
struct WeightType {
  std::string name;
  double bytes = 2;        // of one weight, with its scales
  double flops_per_s = 0;  // achieved share of the peak
  bool native = true;      // the device multiplies it, or no stack does (int4); else weights are widened on the way
};
// `what`: "weight" or "KV cache", for the error.
core::Result<WeightType> weight_type_on(const hardware::Device& device, const std::string& type, const ServingRules& rules,
                                        std::string_view what = "weight");

// What one GPU works with.
struct ServedModel {
  DecoderArchitecture model;
  ParallelPlan plan;
  WeightType dense, experts, plain;  // plain: of the vocabulary's tables and of attention, 16 bits
  double cache_bytes = 2;            // of one cached value
  double bytes_per_s = 0;            // memory
  double link_bytes_per_s = 0;       // one direction, to the ranks of the tensor group
  bool direct_links = true;          // between them
  ExpertRouting routing = {};
  OperatorTimes times{nullptr, {}, {}};
};

// The tokens of a step.
struct StepTokens {
  double rows = 0;                 // through the products of every layer
  double sampled = 0;              // through the vocabulary's product
  double decoding = 0;             // sequences with one new token each
  double cached = 0;               // mean tokens of a decoding sequence's cache
  double prompts = 0, prompt = 0;  // prompts from their first token, and tokens of one
};

// A step of the whole depth on one GPU of a tensor group: with a pipeline, the sum of all stages.
StepWork step_work(const ServedModel& served, const StepTokens& tokens);

// Bytes of weights on one GPU, of the fullest stage.
double weight_bytes(const ServedModel& served);
// Bytes of one token in the cache of one layer on one GPU.
double cached_layer_bytes(const ServedModel& served);
// Of all layers of a stage, by kind of attention: a window keeps no more than its length of every sequence.
struct CachedBytes {
  double full = 0, windowed = 0;  // of one token
};
CachedBytes cached_bytes_per_token(const ServedModel& served);

}  // namespace aaco::estimation
