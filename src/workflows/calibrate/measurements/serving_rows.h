#pragma once

#include "core/result.h"
#include "estimation/kernel.h"
#include "workflows/calibrate/measurements/measurement_row.h"

// Rows of the operators that language models are served with; docs/formats/calibration.md has the columns.
namespace aaco::workflows {

core::Result<estimation::Kernel> decode_attention(const MeasurementRow& row);
core::Result<estimation::Kernel> prefill_attention(const MeasurementRow& row);
core::Result<estimation::Kernel> latent_attention(const MeasurementRow& row);
core::Result<estimation::Kernel> experts(const MeasurementRow& row);
core::Result<estimation::Kernel> collective(const MeasurementRow& row);

}  // namespace aaco::workflows
