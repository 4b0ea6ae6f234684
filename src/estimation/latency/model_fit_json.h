#pragma once

#include "core/json.h"
#include "core/result.h"
#include "estimation/calibrated.h"

namespace aaco::estimation {

// What the coefficients of a fit are of.
enum class Fitted : std::uint8_t { time, memory };

// The part of a calibration's document that a fit of whole models is.
core::Json to_json(const ModelFit& fit, Fitted fitted);
core::Result<ModelFit> model_fit_from_json(const core::Json& document, Fitted fitted);

}  // namespace aaco::estimation
