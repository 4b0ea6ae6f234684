#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "importers/stream/text_ids.h"
#include "importers/stream/trace_events.h"
#include "trace/rows.h"

namespace aaco::importers::kineto {

// When an event began and ended, ns on the file's clock.
struct Span {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// A device's number where it is a number, or empty.
trace::KernelRow kernel_row(const TraceEvent& event, Span span, std::int32_t rank, TextIds& ids);
// `memset`: the event is one; else the direction is read from its name ("Memcpy HtoD (Pageable -> Device)").
trace::CopyRow copy_row(const TraceEvent& event, Span span, std::int32_t rank, bool memset, TextIds& ids);

// The collective that a kernel of NCCL, RCCL or MSCCL carries out, or empty for any other kernel. Bytes are those of the
// input message of this rank, where the event has its element count and type.
std::optional<trace::CollectiveRow> collective_row(const TraceEvent& event, const trace::KernelRow& kernel, TextIds& ids);

}  // namespace aaco::importers::kineto
