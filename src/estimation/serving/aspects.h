#pragma once

#include <array>
#include <string>

#include "estimation/serving.h"
#include "estimation/serving/step_work.h"

namespace aaco::estimation {

// The floor of a load whose steps decode `rows` sequences a stage: with `decode` one step and `prompt` one prompt. Steps carry
// the others' prompts as well unless these have GPUs of their own; a prompt's stages may work on chunks of it at the same time.
ServingFloor floor_of(const ServedModel& served, const ServingLoad& load, const StepWork& decode, const StepWork& prompt,
                      double rows);

// The parts of the time to first token, seconds, but that of the stack. `prefill_s`: of one prompt, through all stages of `plan`;
// `output_token_s`: of a step in this load; `requests`: of one replica that run at a time, at least 1. At a rate, the wait is
// that of Poisson arrivals; a rate beyond what the prompts alone allow has none (add_notes says so).
std::array<double, kFirstTokenTerms> first_token_terms(const ServingLoad& load, const ParallelPlan& plan, double requests,
                                                       double prefill_s, double output_token_s, double steps);

// Joules per token and request of a finished estimate, at the mean power of decode steps and the prompts among them, by the
// specification's power model. Nothing where the registry has no power for the device.
void fill_energy(const hardware::Device& device, const WeightType& type, ServingEstimate& out);

// Of the weights that take most of the memory.
const std::string& heaviest_type(const ServingEstimate& out);

// What a reader must know of a finished estimate. `context`: the model's longest request; 0: unknown. `sustained`: whether the
// plan keeps up with the rate.
void add_notes(const ServingRequest& request, const ServingRules& rules, std::int64_t context, bool sustained,
               ServingEstimate& out);

}  // namespace aaco::estimation
