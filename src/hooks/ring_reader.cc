#include "hooks/ring_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "core/handles.h"

namespace aaco::hooks {
namespace {

template <class T>
T load(const T& value) {
  return std::atomic_ref<T>(const_cast<T&>(value)).load(std::memory_order_acquire);
}

wire::Ring& ring_at(void* address) { return *static_cast<wire::Ring*>(address); }

const wire::Record& record_at(void* address, std::uint64_t index) {
  return reinterpret_cast<const wire::Record*>(static_cast<char*>(address) + wire::kHeaderBytes)[index];
}

}  // namespace

std::optional<RingReader> RingReader::open(const std::string& path) {
  const core::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat facts {};
  if (!file.valid() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  if (bytes < wire::kHeaderBytes + wire::kMinRecords * sizeof(wire::Record)) return std::nullopt;
  void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) return std::nullopt;
  RingReader reader(address, bytes);
  const wire::Ring& ring = ring_at(address);
  if (load(ring.magic) != wire::kMagic) return std::nullopt;
  reader.records_ = ring.records;
  const bool power = reader.records_ != 0 && (reader.records_ & (reader.records_ - 1)) == 0;
  if (!power || bytes != wire::kHeaderBytes + std::size_t{reader.records_} * sizeof(wire::Record)) return std::nullopt;
  reader.process_id_ = ring.process_id;
  reader.thread_id_ = ring.thread_id;
  return reader;
}

RingReader::RingReader(void* address, std::size_t bytes) : address_(address), bytes_(bytes) {}

RingReader::RingReader(RingReader&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)),
      bytes_(other.bytes_),
      records_(other.records_),
      process_id_(other.process_id_),
      thread_id_(other.thread_id_),
      next_(other.next_),
      unfinished_(other.unfinished_) {}

RingReader::~RingReader() {
  if (address_ != nullptr) munmap(address_, bytes_);
}

void RingReader::drain(const std::function<void(const wire::Record&)>& take, bool last) {
  wire::Ring& ring = ring_at(address_);
  // Never more than a lap, whatever a damaged ring says.
  for (std::uint32_t i = 0; i < records_; ++i) {
    const wire::Record& place = record_at(address_, next_ & (records_ - 1));
    if (load(place.sequence) != next_ + 1) {
      if (!last || load(ring.next) <= next_) break;
      ++unfinished_;
    } else {
      wire::Record record;
      std::memcpy(&record, &place, sizeof record);
      take(record);
    }
    ++next_;
  }
  std::atomic_ref<std::uint64_t>(ring.tail).store(next_, std::memory_order_release);
}

bool RingReader::ended() const { return load(ring_at(address_).ended) != 0; }
std::uint64_t RingReader::lost() const { return load(ring_at(address_).lost); }

}  // namespace aaco::hooks
