#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "importers/importer.h"
#include "importers/stream/source_testing.h"

// For fuzz targets.
namespace aaco::importers {

// What is read is kept or dropped by reason, whatever the bytes, and no row has a negative length.
inline void fuzz_database(const Importer& importer, const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)importer.sniff(bytes, "trace.db");
  TextSource source(bytes);
  trace::MemorySink sink;
  const auto result = importer.import(source, sink);
  if (!result) return;
  if (result->account.read != result->account.kept + result->account.dropped_total()) std::abort();
  for (const auto& row : sink.rows<trace::KernelRow>())
    if (row.end_ns < row.start_ns || row.start_ns < 0) std::abort();
  for (const auto& row : sink.rows<trace::ApiCallRow>())
    if (row.end_ns < row.start_ns) std::abort();
  for (const auto& row : sink.rows<trace::CopyRow>())
    if (row.end_ns < row.start_ns || (row.bytes && *row.bytes < 0)) std::abort();
}

}  // namespace aaco::importers
