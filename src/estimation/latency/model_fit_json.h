#pragma once

#include "core/json.h"
#include "core/result.h"
#include "estimation/calibrated.h"

namespace aaco::estimation {

// The part of a calibration's document that a fit of whole models is.
core::Json to_json(const ModelFit& fit);
core::Result<ModelFit> model_fit_from_json(const core::Json& document);

}  // namespace aaco::estimation
