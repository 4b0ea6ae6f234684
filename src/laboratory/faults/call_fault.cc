#include "laboratory/faults/call_fault.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/clock.h"
#include "core/handles.h"

namespace aaco::laboratory::faults {
namespace {

constexpr std::size_t kLearning = 6;     // calls left alone first
constexpr std::int64_t kMinNs = 60'000;  // shorter waits are not to be had
constexpr std::size_t kPage = 4096;
constexpr std::size_t kRegion = std::size_t{64} * kPage;  // memory touched at a time
constexpr std::size_t kBlock = std::size_t{256} << 10;    // of storage, at a time
constexpr std::size_t kFileBytes = std::size_t{64} << 20;

class CallFault : public Injection {
 public:
  explicit CallFault(double intensity) : intensity_(intensity) {}

  void before_call() final {
    const std::int64_t now = core::monotonic_ns();
    if (last_ns_ != 0 && calls_.size() < kLearning) calls_.push_back(now - last_ns_);
    if (calls_.size() == kLearning) {
      if (extra_ns_ == 0) {
        const std::int64_t call = *std::min_element(calls_.begin(), calls_.end());
        extra_ns_ = std::max(kMinNs, static_cast<std::int64_t>(intensity_ * static_cast<double>(call)));
      }
      work_until(now + extra_ns_);
    }
    last_ns_ = core::monotonic_ns();
  }

 protected:
  virtual void work_until(std::int64_t deadline_ns) = 0;

 private:
  double intensity_;
  std::vector<std::int64_t> calls_;
  std::int64_t last_ns_ = 0, extra_ns_ = 0;
};

class Sleep final : public CallFault {
 public:
  Sleep(double intensity, bool futex) : CallFault(intensity), futex_(futex) {}

 private:
  void work_until(std::int64_t deadline_ns) override {
    if (!futex_) return core::SystemClock().sleep_until(deadline_ns);
    // Waits for a word that nobody changes.
    for (std::int64_t left = deadline_ns - core::monotonic_ns(); left > 0; left = deadline_ns - core::monotonic_ns()) {
      const timespec time{left / 1'000'000'000, left % 1'000'000'000};
      ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 0, &time, nullptr, 0);
    }
  }
  bool futex_;
  std::uint32_t word_ = 0;
};

class SlowHost final : public CallFault {
 public:
  SlowHost(double intensity, bool sort) : CallFault(intensity), sort_(sort) {}

 private:
  void work_until(std::int64_t deadline_ns) override {
    while (core::monotonic_ns() < deadline_ns) {
      for (std::uint32_t& value : values_) value = state_ = state_ * 1664525U + 1013904223U;
      if (sort_) std::sort(values_.begin(), values_.end());
      for (const std::uint32_t value : values_) state_ ^= value * 2654435761U;
    }
  }
  bool sort_;
  std::array<std::uint32_t, 512> values_{};
  std::uint32_t state_ = 1;
};

class PageFaults final : public CallFault {
 public:
  PageFaults(double intensity, bool release, char* region) : CallFault(intensity), release_(release), region_(region) {}
  PageFaults(const PageFaults&) = delete;
  PageFaults& operator=(const PageFaults&) = delete;
  ~PageFaults() override { ::munmap(region_, kRegion); }

 private:
  static void touch(char* memory) {
    for (std::size_t at = 0; at < kRegion; at += kPage) static_cast<volatile char*>(memory)[at] = 1;
  }
  void work_until(std::int64_t deadline_ns) override {
    while (core::monotonic_ns() < deadline_ns) {
      if (release_) {
        touch(region_);
        ::madvise(region_, kRegion, MADV_DONTNEED);
        continue;
      }
      void* fresh = ::mmap(nullptr, kRegion, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (fresh == MAP_FAILED) return;
      ::madvise(fresh, kRegion, MADV_NOHUGEPAGE);
      touch(static_cast<char*>(fresh));
      ::munmap(fresh, kRegion);
    }
  }
  bool release_;
  char* region_;
};

// Storage that is really waited for: past the page cache, in a file that has no name any more.
class Storage final : public CallFault {
 public:
  Storage(double intensity, bool write, core::FileDescriptor file, char* buffer)
      : CallFault(intensity), write_(write), file_(std::move(file)), buffer_(buffer) {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() override { ::munmap(buffer_, kBlock); }

  // Writes a block, so that there is something to read.
  bool fill(std::size_t at) {
    return ::pwrite(file_.get(), buffer_, kBlock, static_cast<off_t>(at)) == static_cast<ssize_t>(kBlock);
  }

 private:
  void work_until(std::int64_t deadline_ns) override {
    do {
      at_ = (at_ + kBlock) % kFileBytes;
      const auto offset = static_cast<off_t>(at_);
      const ssize_t moved =
          write_ ? ::pwrite(file_.get(), buffer_, kBlock, offset) : ::pread(file_.get(), buffer_, kBlock, offset);
      if (moved < 0 || (write_ && ::fdatasync(file_.get()) != 0)) return;
    } while (core::monotonic_ns() < deadline_ns);
  }
  bool write_;
  core::FileDescriptor file_;
  char* buffer_;
  std::size_t at_ = 0;
};

core::Result<char*> map_memory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return core::fail_errno(errno, "allocating memory for the fault");
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  return static_cast<char*>(memory);
}

core::Result<std::unique_ptr<Injection>> start_storage(const Fault& fault) {
  core::FileDescriptor file(::open("/var/tmp", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
  if (!file.valid())
    return core::fail(core::ErrorCode::unsupported, std::string("/var/tmp does not support direct I/O: ") + std::strerror(errno),
                      "the fault needs /var/tmp on a disk-backed file system");
  AACO_ASSIGN(char* const buffer, map_memory(kBlock));
  auto storage = std::make_unique<Storage>(fault.intensity, fault.generator == "write", std::move(file), buffer);
  for (std::size_t at = 0; at < kFileBytes; at += kBlock)
    if (!storage->fill(at)) return core::fail_errno(errno, "writing the test file");
  return std::unique_ptr<Injection>(std::move(storage));
}

}  // namespace

core::Result<std::unique_ptr<Injection>> start_call_fault(const Fault& fault) {
  const std::string& id = fault.kind->id;
  if (id == "sleep") return std::unique_ptr<Injection>(std::make_unique<Sleep>(fault.intensity, fault.generator == "futex"));
  if (id == "slow_host")
    return std::unique_ptr<Injection>(std::make_unique<SlowHost>(fault.intensity, fault.generator == "sort"));
  if (id == "io_storm") return start_storage(fault);
  AACO_ASSIGN(char* const region, map_memory(kRegion));
  return std::unique_ptr<Injection>(std::make_unique<PageFaults>(fault.intensity, fault.generator == "release", region));
}

}  // namespace aaco::laboratory::faults
