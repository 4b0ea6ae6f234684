#include "workflows/gpu/gpu_books.h"

#include "core/files.h"

namespace aaco::workflows {

core::Result<GpuBooks> GpuBooks::load(const core::Paths& paths) {
  const auto data = [&](const char* file) { return core::join_path(paths.share, core::join_path("data", file)); };
  GpuBooks books;
  AACO_ASSIGN(books.kernels, analytics::fingerprint::PatternBook::load(data("kernels")));
  AACO_ASSIGN(books.causes, analytics::gaps::CauseBook::load(data("gaps/causes.yaml")));
  AACO_ASSIGN(books.confidences, analytics::confidence::Table::load(data("rules/confidence.yaml")));
  return books;
}

}  // namespace aaco::workflows
