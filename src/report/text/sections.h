#pragma once

#include "report/model.h"
#include "report/text/page.h"

// What every terminal report has, in order. Each writes nothing where there is no data. The sections of report/sections.h come
// between them, by their place.
namespace aaco::report {

void write_head(TextPage& page, const ReportModel& model);      // title, verdict, the three numbers, warnings
void write_time(TextPage& page, const ReportModel& model);      // where the time went
void write_why(TextPage& page, const ReportModel& model);       // bottleneck, advice
void write_hardware(TextPage& page, const ReportModel& model);  // how far from the hardware
void write_phases(TextPage& page, const ReportModel& model);    // the timeline in words
void write_latency(TextPage& page, const ReportModel& model);   // distributions
void write_telemetry(TextPage& page, const ReportModel& model);
void write_environment(TextPage& page, const ReportModel& model);
void write_accounts(TextPage& page, const ReportModel& model);
void write_metrics(TextPage& page, const ReportModel& model);

}  // namespace aaco::report
