#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "report/model.h"
#include "workflows/run.h"
#include "workflows/session_json.h"

namespace aaco::cli {

struct Context;

using workflows::session_json;

// The text report on standard output.
// `brief`: what one wants right after a run; else everything.
void print_report(Context& context, const report::ReportModel& model, bool brief);

// Ends a verb that made a session: the report (text, or JSON; the id alone under --quiet), the page beside it unless
// `no_report`, and where it all lies.
void finish_session(Context& context, const core::Result<workflows::SessionOutcome>& outcome, bool json, bool no_report);
// The same for `record`, whose standard output is its child's: the text report goes to standard error, or what is to be printed
// to the file `report_to` where it is given.
void finish_recorded_session(Context& context, const workflows::SessionOutcome& outcome, bool json, bool no_report,
                             const std::string& report_to);

}  // namespace aaco::cli
