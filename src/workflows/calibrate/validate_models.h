#pragma once

#include "core/result.h"
#include "workflows/calibrate/validate_kernels.h"

namespace aaco::workflows {

// Every measured model estimated by a fit that has not seen it, as the split says; the rows' own devices and relatives (of the
// same kind and maker) are fitted together, each with its factor. `notes` gets what was left out and why.
// `level`: theoretical takes the specifications alone, and no fit.
core::Result<KernelJudgement> judge_models(const KernelTrial& trial, const hardware::Device& device, estimation::Level level,
                                           std::vector<std::string>& notes);

}  // namespace aaco::workflows
