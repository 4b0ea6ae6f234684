#pragma once

#include <vector>

#include "core/json.h"
#include "importers/grouping.h"
#include "importers/importer.h"
#include "workflows/gpu_roofline.h"
#include "workflows/import/import_sink.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

struct Read {
  std::vector<importers::ImportResult> results;  // of the files that could be read
  core::Json files = core::Json::array();        // what each was, with its facts
  std::vector<importers::PassedFile> passed;     // that say nothing new
  core::Error first_error;
  core::ClockId clock = core::ClockId::trace;
  SeenDevices devices;
  bool same_machine = true;     // devices are numbered by the machine, and it is one
  bool counters_apart = false;  // of other executions than the kernels
  // The files say that they are of different ranks.
  [[nodiscard]] bool states_ranks() const;
};

// Says which share of a job the files are, where they name its size.
void warn_of_missing_ranks(const Read& read, SessionDraft& draft);

// Reads the files one after the other into `sink`; accounts and warnings go to the draft's manifest. A file that cannot be read
// is a warning where others could be; fails where none could.
core::Result<Read> read_files(const importers::grouping::Inputs& inputs, ImportSink& sink, SessionDraft& draft,
                              const Services& services);

}  // namespace aaco::workflows
