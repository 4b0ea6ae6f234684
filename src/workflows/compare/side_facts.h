#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "hardware/fingerprint.h"
#include "workflows/diff_sides.h"
#include "workflows/services.h"

namespace aaco::workflows {

// What the request of a run says beyond the facts stored with it: measured_with, its collectors and passes ("--ebpf --profile" or
// "none"), and that inputs were given whose content was not recorded; of a recording its program and command.
void add_request_facts(const core::Json& request, hardware::Fingerprint& fingerprint);

// How an imported trace was recorded, as measured_with: the options of PyTorch's profiler that were on, or "none"; and job.ranks,
// the number of ranks of the job that its files state. `files`: of env.json; without such facts nothing is added.
void add_recording_facts(const core::Json& files, hardware::Fingerprint& fingerprint);

// The fingerprint in a session's env.json, of an imported trace with its devices and how it was recorded; empty without the file.
core::Result<hardware::Fingerprint> stored_fingerprint(const std::string& path);

// Why the host's time in two traces cannot be judged: they were recorded with different options. Empty: it can.
std::string host_not_judged(const std::vector<hardware::Difference>& differences, bool traced);

// Says by name which models differ, where the names are known.
void name_models(std::vector<hardware::Difference>& differences, const std::string& model_a, const std::string& model_b);

// Why memory cannot be judged: a collector ran in the process of one side only, and its buffers are in the process's memory.
// Empty: it can.
std::string memory_not_judged(const std::vector<hardware::Difference>& differences);

// The sessions of a baseline as they are stored, where all of them are in the store: what caused a difference is in their tables,
// which a baseline file does not have. Null: some are missing or unreadable.
std::shared_ptr<const ComparedSide> stored_sessions(const ComparedSide& side, const Services& services);

}  // namespace aaco::workflows
