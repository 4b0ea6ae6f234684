#pragma once

#include <memory>

#include "trace/source.h"

namespace aaco::importers {

// The same bytes, read by a thread of its own a few blocks ahead of who reads them here. Holds about 4 MiB.
std::unique_ptr<trace::ByteSource> make_read_ahead(std::unique_ptr<trace::ByteSource> source);

}  // namespace aaco::importers
