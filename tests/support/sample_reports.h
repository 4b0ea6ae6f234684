#pragma once

#include <cstdint>

#include "report/model.h"

// Report models written by hand (seeded noise, plausible figures): for tests of the renderers and of the page only.
namespace aaco::sample {

report::ReportModel cpu_run();  // a convolutional network on a CPU: every section a machine without a GPU can fill
report::ReportModel gpu_run();  // a decoder on a GPU: kernels under nodes, roofline, gaps
report::ReportModel full();     // every optional member set: what the JSON document can have
report::ReportModel sweep();    // four points that scale, one that failed
report::ReportModel empty();    // nothing measured
report::ReportModel hostile();  // names that try to break out of JSON, HTML, CSV, Markdown and the terminal
// `nodes` nodes and `iterations` iterations, a span each.
report::ReportModel large(std::int64_t nodes, std::int64_t iterations);

}  // namespace aaco::sample
