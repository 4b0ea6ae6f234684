#include "estimation/energy.h"

#include <algorithm>
#include <cmath>

#include "estimation/serving/aspects.h"

namespace aaco::estimation {
namespace {

// Of the specification's power, either way, as for one run of a graph (docs/estimation.md).
constexpr double kPowerFactor = 2.0;
constexpr double kNsPerS = 1e9;

// `watts`: what the boards draw at most while they work; 0: unknown.
Estimate with_bounds(double joules, const Estimate& time, double watts) {
  const double doubt = std::log(kPowerFactor);
  Estimate out{joules, "J", Level::theoretical, "specification"};
  out.lower = joules * std::exp(-std::hypot(doubt, std::log(time.value / time.lower)));
  out.upper = joules * std::exp(std::hypot(doubt, std::log(time.upper / time.value)));
  if (watts > 0) out.upper = std::max(joules, std::min(out.upper, watts * time.upper / kNsPerS));
  return out;
}

}  // namespace

void fill_energy(const hardware::Device& device, const WeightType& type, ServingEstimate& out) {
  const auto power = power_model(device, type.flops_per_s);
  if (!power) return;
  const double board = device.power.board_watts ? device.power.board_watts->value : 0;
  const auto joules_of = [&](double seconds, const ClassWork& work, double exchanged) {
    const double joules =
        power->static_watts() * seconds + work.flops * power->joules_per_op + (work.bytes - exchanged) * power->joules_per_byte;
    return board > 0 ? std::min(joules, board * seconds) : joules;
  };
  const ClassWork step = out.decode.total(), prompt = out.prefill.total();
  const double output_tokens = static_cast<double>(out.load.output_tokens), ranks = static_cast<double>(out.plan.ranks());
  const double share = out.load.disaggregated ? 0 : std::max(0.0, out.running - 1) / output_tokens;
  ClassWork mixed = step;
  mixed.flops += share * prompt.flops;
  mixed.bytes += share * prompt.bytes;
  const double token =
      joules_of(out.output_token.value / kNsPerS, mixed, out.decode[WorkClass::exchange].bytes) * ranks / out.running;
  out.joules_per_token = with_bounds(token, out.output_token, board * ranks / out.running);
  // A request's own prompt beside its tokens; those of the others are among the steps already.
  const double own = 1 - share / std::max(1.0, out.running) * output_tokens;
  const double first = joules_of(out.prefill_seconds, prompt, out.prefill[WorkClass::exchange].bytes) * ranks;
  out.joules_per_request = with_bounds(token * output_tokens + std::max(0.0, own) * first, out.request, board * ranks);
}

}  // namespace aaco::estimation
