#include <algorithm>

#include "estimation/serving/aspects.h"

namespace aaco::estimation {

ServingFloor floor_of(const ServedModel& served, const ServingLoad& load, const StepWork& decode, const StepWork& prompt,
                      double rows) {
  const auto moving = [&](const ClassWork& work) {
    return work.resident_bytes > served.on_chip_bytes ? work.resident_bytes / served.bytes_per_s : 0;
  };
  const ClassWork step = decode.total(), whole = prompt.total();
  const double prompts =
      load.disaggregated ? 0 : std::max(0.0, rows - 1) / static_cast<double>(std::max<std::int64_t>(1, load.output_tokens));
  ServingFloor floor;
  floor.first_token_s = std::max(whole.peak_seconds / static_cast<double>(served.plan.pipeline), moving(whole));
  floor.output_token_s = std::max(step.peak_seconds + prompts * whole.peak_seconds, moving(step));
  return floor;
}

}  // namespace aaco::estimation
