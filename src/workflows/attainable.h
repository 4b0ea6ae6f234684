#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "report/model.h"
#include "workflows/services.h"

namespace aaco::workflows {

// The least time each of the model's nodes takes on this machine by its measured ceilings, and what is expected of it, as
// predict/attainable.json holds it (docs/formats/bundle.md). `inputs`: name, type and shape of each, as session.json has them.
// not_found where the hardware registry does not have this machine.
core::Result<core::Json> attainable_json(const graph::Graph& graph, const core::Json& inputs, const std::string& dtype,
                                         const Services& services);

// The section "attainable" of the report: each measured node beside its attainable time, the gap and its reason; surprises, whose
// time lies outside the prediction's interval, are flagged. Fills the roofline too where nothing else has.
void fill_attainable(report::ReportModel& model, const core::Json& attainable);

}  // namespace aaco::workflows
