#include "laboratory/faults/call_fault.h"
#include "laboratory/faults/limit.h"
#include "laboratory/faults/neighbour.h"

namespace aaco::laboratory::faults {

core::Result<std::unique_ptr<Injection>> inject(const Fault& fault, const FaultWorld& world) {
  switch (fault.kind->place) {
    case Place::neighbour: return start_neighbours(fault);
    case Place::limit: return set_limit(fault, world);
    case Place::call: return start_call_fault(fault);
    case Place::request: break;
  }
  return std::make_unique<Injection>();
}

}  // namespace aaco::laboratory::faults
