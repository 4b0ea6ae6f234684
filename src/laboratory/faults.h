#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

// Known causes of slowness, put on purpose, so that what looks for causes can be scored against the truth.
namespace aaco::laboratory::faults {

// Where a fault is put.
enum class Place : std::uint8_t {
  neighbour,  // another process disturbs
  limit,      // this process may use less
  call,       // every call does something more
  request,    // the run is asked for otherwise
};

struct FaultKind {
  std::string id;     // "cpu_hog_same_core"
  std::string cause;  // the class that finding it means: one of analytics/cause_classes.h
  Place place = Place::neighbour;
  std::string title;                    // one line
  std::string intensity;                // what an intensity of 1 means
  std::vector<std::string> generators;  // ways to bring it about, the default first
};

const std::vector<FaultKind>& fault_kinds();

struct Fault {
  const FaultKind* kind = nullptr;
  double intensity = 0.5;  // above 0, at most 1
  std::string generator;
};

// Refuses an unknown name (and says which is near), an intensity out of range, a generator that the fault does not have.
core::Result<Fault> make_fault(std::string_view name, double intensity, std::string_view generator);
// What session.json tells of it.
core::Json to_json(const Fault& fault);

// A fault at work; it ends with its owner, and with the process that owns it, however that ends.
class Injection {
 public:
  virtual ~Injection() = default;
  // To be called at the beginning of every call of the model: what a fault of Place::call does. Costs nothing otherwise.
  virtual void before_call() {}
};

struct FaultWorld {
  std::string root = "/";      // of /proc and /sys
  std::string journal_folder;  // where changes outside this process are noted until they are undone
};

// Starts the fault (nothing for Place::request). To be called before this process has threads: neighbours are forked from it.
// unsupported, with the reason, where this machine does not allow it.
core::Result<std::unique_ptr<Injection>> inject(const Fault& fault, const FaultWorld& world);

// Undoes what processes that were killed left behind; answers how many changes there were.
core::Result<std::int64_t> clean_up(const FaultWorld& world);

}  // namespace aaco::laboratory::faults
