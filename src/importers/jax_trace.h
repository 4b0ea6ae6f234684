#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::jax_trace {

// trace.json.gz of the XLA profiler (JAX, TensorFlow): Chrome events whose processes are planes and whose threads are lines. The
// profiler limits it to a million events; its *.xplane.pb has all.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::jax_trace
