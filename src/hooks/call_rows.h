#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "hooks/functions.h"
#include "hooks/wire.h"
#include "trace/sink.h"

namespace aaco::hooks {

// Memory that the recorded processes took of their devices.
struct Allocations {
  std::int64_t count = 0, freed_count = 0;
  std::int64_t bytes = 0;       // of all allocations
  std::int64_t live_bytes = 0;  // now
  std::int64_t peak_bytes = 0;  // most at a time, all processes
};

// Records of calls -> rows of api_calls. Names of kernels are remembered, so text() comes before the calls that use them.
class CallRows {
 public:
  // `numbered`: each call gets a correlation id of its own, from 1, for kernels to be joined to it.
  explicit CallRows(trace::Sink& sink, bool numbered = false);

  void text(std::int32_t process_id, const wire::Record& record);
  void alias(std::int32_t process_id, const wire::Record& record);
  void call(std::int32_t process_id, std::int32_t thread_id, const wire::Record& record, std::int64_t start_ns,
            std::int64_t end_ns);
  [[nodiscard]] const Allocations& allocations() const { return allocations_; }

 private:
  using Pointer = std::pair<std::int32_t, std::uint64_t>;  // process, address
  [[nodiscard]] trace::NameId arguments_of(std::int32_t process_id, const Function& function, const wire::Record& record);
  [[nodiscard]] const std::string* kernel_of(const Pointer& handle) const;
  void count_memory(std::int32_t process_id, const Function& function, const wire::Record& record);
  std::int32_t rank_of(std::int32_t process_id);

  static constexpr std::size_t kMaxTexts = 200'000;       // different arguments; those beyond are left out of the rows
  static constexpr std::size_t kMaxPointers = 5'000'000;  // live allocations
  trace::Sink& sink_;
  bool numbered_;
  std::uint64_t calls_ = 0;
  std::vector<trace::NameId> names_;  // by function
  std::vector<trace::NameId> domains_;
  std::unordered_map<std::string, trace::NameId> arguments_;
  std::map<Pointer, std::string> kernels_;
  std::map<Pointer, std::uint64_t> aliases_;
  std::map<Pointer, std::int64_t> live_;
  std::map<std::int32_t, std::int32_t> ranks_;
  Allocations allocations_;
};

// The domain of a group's rows in api_calls.
std::string_view domain_of(Group group);
// The function that is recorded under this name; null: none.
const Function* find_recorded(std::string_view name);

}  // namespace aaco::hooks
