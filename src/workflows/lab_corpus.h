#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "laboratory/corpus.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct CorpusRequest {
  std::string folder;      // of the cases
  std::string data;        // root of the files that they name
  bool show_held = false;  // name held cases too; else they are reported as totals only, so that nobody tunes on them
};

struct CorpusReport {
  laboratory::corpus::Score tune, held;
  std::vector<laboratory::corpus::Judgement> judgements;  // those that may be named
  std::int64_t files = 0;
  std::int64_t missing = 0;  // cases whose files the data do not have
  bool shows_held = false;
};

// Imports what the cases name into a lake that is thrown away, and judges what the program says of it: the headline of a file,
// the cause of a gap, the limit of a kernel, the verdict on a pair, the coverage of an attribution.
core::Result<CorpusReport> score_corpus(const CorpusRequest& request, const Services& services);
core::Json to_json(const CorpusReport& report);

}  // namespace aaco::workflows
