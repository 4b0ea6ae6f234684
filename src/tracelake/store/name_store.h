#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/handles.h"
#include "core/result.h"
#include "trace/names.h"

namespace aaco::tracelake::store {

// The texts of an open bundle. As trace::NameTable, but in bounded memory, and the texts may be read on other threads:
// a NameId is the place of its text, so there is no table; what exceeds kMemoryBytes lies in a file that the kernel can page out;
// after kIndexedTexts different texts a new one is no longer remembered for reuse (it gets an id of its own each time).
//
// One thread interns. Others may ask for the text of an id that was handed to them through a lock.
class NameStore {
 public:
  static constexpr std::size_t kSegmentBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMemoryBytes = std::size_t{48} << 20;
  static constexpr std::size_t kIndexedTexts = std::size_t{1} << 20;
  static constexpr std::size_t kMaxSegments = std::size_t{1} << 15;  // 32 GiB of text: what ids of 32 bits can tell apart

  // `spill_file` is made when it is needed, and has no name afterwards.
  explicit NameStore(std::string spill_file);
  ~NameStore();
  NameStore(const NameStore&) = delete;
  NameStore& operator=(const NameStore&) = delete;

  // Fails where the disk is full or there are more than 32 GiB of texts; the id is then that of the empty text.
  core::Result<trace::NameId> intern(std::string_view text);
  [[nodiscard]] std::string_view text(trace::NameId id) const;

 private:
  struct Place {
    std::uint32_t unit;
    char* address;
  };
  core::Result<Place> reserve(std::size_t bytes);
  core::Status add_segments(std::size_t count);
  void grow_index();

  std::string spill_file_;
  core::FileDescriptor file_;
  std::unique_ptr<char*[]> segments_;  // kMaxSegments addresses; a long text takes several neighbours
  std::size_t segment_count_ = 0;
  std::size_t memory_segments_ = 0;
  std::size_t used_ = kSegmentBytes;  // of the last segment
  struct Allocation {
    char* address;
    std::size_t bytes;
    bool in_file;
  };
  std::vector<Allocation> allocations_;
  std::size_t released_ = 0;  // allocations before this one were handed back to the kernel

  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = 0;  // 0: free (the empty text is not in the index)
  };
  std::vector<Slot> index_;
  std::size_t indexed_ = 0;
};

}  // namespace aaco::tracelake::store
