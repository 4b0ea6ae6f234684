#include "tracelake/store/name_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "core/files.h"

namespace aaco::tracelake::store {
namespace {

// A text is stored as its length and its bytes, at a multiple of 8: an id counts these.
constexpr std::size_t kUnit = 8;
constexpr std::size_t kUnitsPerSegment = NameStore::kSegmentBytes / kUnit;
constexpr std::size_t kKeptSegments = 32;  // newest file-backed segments that stay mapped in
using Length = std::uint32_t;

}  // namespace

NameStore::NameStore(std::string spill_file)
    : spill_file_(std::move(spill_file)), segments_(std::make_unique<char*[]>(kMaxSegments)), index_(1024) {}

NameStore::~NameStore() {
  for (const Allocation& allocation : allocations_) ::munmap(allocation.address, allocation.bytes);
}

core::Status NameStore::add_segments(std::size_t count) {
  if (segment_count_ + count > kMaxSegments)
    return core::fail(core::ErrorCode::exhausted, "the session's strings exceed 32 GiB",
                      "record fewer arguments, or record for a shorter time");
  const std::size_t bytes = count * kSegmentBytes;
  const bool in_file = segment_count_ * kSegmentBytes >= kMemoryBytes;
  void* address = MAP_FAILED;
  if (in_file) {
    if (!file_.valid()) {
      AACO_TRY(core::make_directories(core::parent_path(spill_file_)));
      file_ = core::FileDescriptor(::open(spill_file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      if (!file_.valid()) return core::fail_errno(errno, spill_file_);
      ::unlink(spill_file_.c_str());
      memory_segments_ = segment_count_;
    }
    // Blocks are taken before they are mapped: a full disk is an error here and would be a signal later.
    const auto offset = static_cast<off_t>((segment_count_ - memory_segments_) * kSegmentBytes);
    if (const int error = ::posix_fallocate(file_.get(), offset, static_cast<off_t>(bytes)); error != 0)
      return core::fail_errno(error, "strings of the open session (" + spill_file_ + ")");
    address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), offset);
  } else {
    address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (address == MAP_FAILED) return core::fail_errno(errno, "memory for the session's strings");
  allocations_.push_back({static_cast<char*>(address), bytes, in_file});
  for (std::size_t i = 0; i < count; ++i) segments_[segment_count_ + i] = static_cast<char*>(address) + i * kSegmentBytes;
  segment_count_ += count;
  while (released_ + kKeptSegments < allocations_.size()) {
    const Allocation& old = allocations_[released_++];
    if (old.in_file) ::madvise(old.address, old.bytes, MADV_DONTNEED);  // stays in the file, leaves this process
  }
  return {};
}

core::Result<NameStore::Place> NameStore::reserve(std::size_t bytes) {
  const std::size_t count = (bytes + kSegmentBytes - 1) / kSegmentBytes;
  if (used_ + bytes > kSegmentBytes) {
    AACO_TRY(add_segments(count));
    used_ = 0;
  }
  const std::size_t segment = segment_count_ - count;
  const Place place{static_cast<std::uint32_t>(segment * kUnitsPerSegment + used_ / kUnit), segments_[segment] + used_};
  used_ += bytes - (count - 1) * kSegmentBytes;
  return place;
}

core::Result<trace::NameId> NameStore::intern(std::string_view text) {
  if (text.empty()) return trace::NameId{};
  if (text.size() > UINT32_MAX) return core::fail(core::ErrorCode::exhausted, "string longer than 4 GiB");
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = hash & mask;
  for (; index_[slot].id != 0; slot = (slot + 1) & mask)
    if (index_[slot].hash == hash && this->text({index_[slot].id}) == text) return trace::NameId{index_[slot].id};

  const std::size_t bytes = (sizeof(Length) + text.size() + kUnit - 1) / kUnit * kUnit;
  if (segment_count_ == 0) AACO_TRY(reserve(kUnit));  // so that no text has id 0
  AACO_ASSIGN(const Place place, reserve(bytes));
  const auto length = static_cast<Length>(text.size());
  std::memcpy(place.address, &length, sizeof length);
  std::memcpy(place.address + sizeof length, text.data(), text.size());
  const trace::NameId id{place.unit};
  if (indexed_ < kIndexedTexts) {
    index_[slot] = {hash, id.value};
    if (++indexed_ * 2 > index_.size()) grow_index();
  }
  return id;
}

std::string_view NameStore::text(trace::NameId id) const {
  if (id.value == 0) return {};
  const char* at = segments_[id.value / kUnitsPerSegment] + id.value % kUnitsPerSegment * kUnit;
  Length length = 0;
  std::memcpy(&length, at, sizeof length);
  return {at + sizeof length, length};
}

void NameStore::grow_index() {
  std::vector<Slot> old(index_.size() * 2);
  old.swap(index_);
  const std::size_t mask = index_.size() - 1;
  for (const Slot& entry : old) {
    if (entry.id == 0) continue;
    std::size_t slot = entry.hash & mask;
    while (index_[slot].id != 0) slot = (slot + 1) & mask;
    index_[slot] = entry;
  }
}

}  // namespace aaco::tracelake::store
