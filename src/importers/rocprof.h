#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::rocprof {

// The CSV tables of rocprof (v1: "results.csv" with one column per counter, and its statistics) and rocprofv2.
std::unique_ptr<Importer> make_csv_importer();

// rocprof's JSON: a Chrome trace whose numbers are strings. Exact times come from the arguments, launches are joined by its
// flow events.
std::unique_ptr<Importer> make_json_importer();

}  // namespace aaco::importers::rocprof
