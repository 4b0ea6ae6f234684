#pragma once

#include "report/model.h"

namespace aaco::workflows {

// The bar of a recorded program: CPU time, waits for a CPU, and sleep by cause where the scheduler was watched; sums over the
// threads of the whole process tree. Nothing where the CPU time is unknown, or the report has parts already.
void fill_record_time(report::ReportModel& model);

}  // namespace aaco::workflows
