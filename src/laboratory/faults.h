#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

// Known causes of slowness, injected on purpose, so that root-cause analysis can be scored against the truth.
namespace aaco::laboratory::faults {

// Where a fault is injected.
enum class Place : std::uint8_t {
  neighbour,  // load from another process
  limit,      // a resource limit on this process
  call,       // extra work in every call
  request,    // a changed run configuration
};

struct FaultKind {
  std::string id;     // "cpu_hog_same_core"
  std::string cause;  // the expected diagnosis: one of analytics/cause_classes.h
  Place place = Place::neighbour;
  std::string title;                    // one line
  std::string intensity;                // what an intensity of 1 means
  std::vector<std::string> generators;  // available generators, the default first
};

const std::vector<FaultKind>& fault_kinds();

struct Fault {
  const FaultKind* kind = nullptr;
  double intensity = 0.5;  // above 0, at most 1
  std::string generator;
};

// Refuses an unknown name (suggesting near ones), an intensity out of range, and a generator that the fault does not have.
core::Result<Fault> make_fault(std::string_view name, double intensity, std::string_view generator);
// For session.json.
core::Json to_json(const Fault& fault);

// An active fault; it ends with its owner, and with the owning process however that exits.
class Injection {
 public:
  virtual ~Injection() = default;
  // Call at the beginning of every call of the model: runs faults of Place::call, costs nothing otherwise.
  virtual void before_call() {}
};

struct FaultWorld {
  std::string root = "/";      // of /proc and /sys
  std::string journal_folder;  // records changes outside this process until they are undone
};

// Starts the fault (nothing for Place::request). Call before this process has threads: neighbours are forked from it.
// unsupported, with the reason, if this machine does not allow it.
core::Result<std::unique_ptr<Injection>> inject(const Fault& fault, const FaultWorld& world);

// Undoes changes left by killed processes; returns their number.
core::Result<std::int64_t> clean_up(const FaultWorld& world);

}  // namespace aaco::laboratory::faults
