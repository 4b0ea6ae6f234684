#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "hooks/wire.h"

namespace aaco::hooks {

// Reads the ring of one thread while the thread writes it. What the writer's file says is not trusted: a damaged ring is refused
// or ends.
class RingReader {
 public:
  // Empty: no ring, or one that is not ready yet.
  static std::optional<RingReader> open(const std::string& path);
  RingReader(RingReader&& other) noexcept;
  RingReader& operator=(RingReader&& other) = delete;
  ~RingReader();

  [[nodiscard]] std::int32_t process_id() const { return process_id_; }
  [[nodiscard]] std::int32_t thread_id() const { return thread_id_; }
  // Passes all finished records on and frees their places. `last`: the writer is gone, so records that it did not finish are
  // passed over and counted.
  void drain(const std::function<void(const wire::Record&)>& take, bool last);
  [[nodiscard]] bool ended() const;          // its thread is over
  [[nodiscard]] std::uint64_t lost() const;  // found no room
  [[nodiscard]] std::uint64_t unfinished() const { return unfinished_; }
  [[nodiscard]] std::uint64_t read() const { return next_; }

 private:
  RingReader(void* address, std::size_t bytes);
  void* address_;
  std::size_t bytes_;
  std::uint32_t records_ = 0;
  std::int32_t process_id_ = 0, thread_id_ = 0;
  std::uint64_t next_ = 0, unfinished_ = 0;
};

}  // namespace aaco::hooks
