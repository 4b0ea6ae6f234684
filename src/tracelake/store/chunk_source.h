#pragma once

#include <duckdb.h>

#include <cstddef>

#include "core/result.h"

namespace aaco::tracelake::store {

// Rows for a COPY that runs on a thread of its own.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  // Fills an empty chunk and answers the rows, 0 at the end; waits until there are some. An error ends the COPY.
  virtual core::Result<std::size_t> fill(duckdb_data_chunk chunk) = 0;
  // The COPY has ended, well or not: nobody will call fill() again.
  virtual void consumer_ended() = 0;
};

}  // namespace aaco::tracelake::store
