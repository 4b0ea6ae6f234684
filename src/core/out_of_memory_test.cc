#include "core/out_of_memory.h"

#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <new>
#include <stdexcept>

namespace aaco::core {
namespace {

template <typename Problem>
void fail_with(const Problem& problem) {
  exit_when_out_of_memory("program", 3);
  const std::exception_ptr thrown = std::make_exception_ptr(problem);
  [&thrown]() noexcept { std::rethrow_exception(thrown); }();
}

TEST(OutOfMemory, IsSaidAndEndsTheProcessWithItsCode) {
  EXPECT_EXIT(fail_with(std::bad_alloc()), testing::ExitedWithCode(3), "^program: out of memory\n  hint: ");
}

TEST(OutOfMemory, ALaterCallReplacesTheCode) {
  const auto fail_twice = [] {
    exit_when_out_of_memory("program", 125);
    fail_with(std::bad_alloc());
  };
  EXPECT_EXIT(fail_twice(), testing::ExitedWithCode(3), "out of memory");
  const auto fail_otherwise = [] {
    exit_when_out_of_memory("program", 125);
    fail_with(std::runtime_error("other"));
  };
  EXPECT_EXIT(fail_otherwise(), testing::KilledBySignal(SIGABRT), "other");
}

TEST(OutOfMemory, OtherExceptionsTerminateAsBefore) {
  EXPECT_EXIT(fail_with(std::runtime_error("other")), testing::KilledBySignal(SIGABRT), "other");
}

}  // namespace
}  // namespace aaco::core
