#pragma once

#include <string>

#include "core/environment.h"
#include "core/result.h"

namespace aaco::workflows {

struct ExportRequest {
  std::string session = "latest";
  std::string format = "perfetto";  // perfetto, chrome, csv, prometheus
  std::string output;               // file, or folder for csv; empty: named after the session in the current folder
};

// Writes the export and answers its path.
core::Result<std::string> export_session(const ExportRequest& request, const core::Paths& paths);

}  // namespace aaco::workflows
