#pragma once

#include <cstdint>
#include <memory>

#include "tracelake/columns.h"

// Tables for other libraries in the same process, by Arrow's C data and C stream interfaces
// (https://arrow.apache.org/docs/format/CDataInterface.html): three structs whose layout is the interface, so no Arrow library
// is needed on this side.
namespace aaco::tracelake {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

// Fill `out`, which belongs to the caller, who calls its release(). The stream has one batch with all rows. Its buffers are those
// of `columns` (booleans apart, which Arrow has as bits) and keep it alive.
void export_schema(const Columns& columns, ArrowSchema* out);
void export_stream(std::shared_ptr<const Columns> columns, ArrowArrayStream* out);

}  // namespace aaco::tracelake
