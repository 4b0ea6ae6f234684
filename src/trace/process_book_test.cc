#include "trace/process_book.h"

#include <gtest/gtest.h>

namespace aaco::trace {
namespace {

TEST(ProcessBook, ProcessesWithWorkAreRanksInOrderOfTheirFirstRow) {
  ProcessBook book;
  EXPECT_EQ(book.of_work("200"), (ProcessPlace{0, true}));
  EXPECT_EQ(book.of_work("100"), (ProcessPlace{1, true}));
  EXPECT_EQ(book.of_work("200"), (ProcessPlace{0, true}));
  EXPECT_EQ(book.of_call("100"), (ProcessPlace{1, true}));
  EXPECT_EQ(book.working(), 2U);
}

TEST(ProcessBook, WithOneProcessAtWorkAllIsRank0AndTheOthersIdsAreHidden) {
  ProcessBook book;
  EXPECT_EQ(book.of_work("7").rank, 0);
  EXPECT_EQ(book.of_call("7"), (ProcessPlace{0, true}));
  EXPECT_EQ(book.of_call("8"), (ProcessPlace{0, false}));
  EXPECT_EQ(book.working(), 1U);
}

TEST(ProcessBook, AProcessThatOnlyCallsIsARankBehindSeveralThatWork) {
  ProcessBook book;
  book.of_work("7");
  book.of_work("8");
  EXPECT_EQ(book.of_call("parent"), (ProcessPlace{2, true}));
  EXPECT_EQ(book.working(), 2U);
}

TEST(ProcessBook, CallsBeforeAnyWorkAreCounted) {
  ProcessBook book;
  EXPECT_EQ(book.of_call("7"), ProcessPlace());
  EXPECT_EQ(book.of_call("7"), ProcessPlace());
  EXPECT_EQ(book.early_callers(), 1U);
  book.of_call("8");
  EXPECT_EQ(book.early_callers(), 2U);
}

TEST(ProcessBook, EmptyNameIsNotAProcess) {
  ProcessBook book;
  EXPECT_EQ(book.of_work(""), ProcessPlace());
  EXPECT_EQ(book.of_call(""), ProcessPlace());
  EXPECT_EQ(book.working() + book.early_callers(), 0U);
}

TEST(ProcessBook, GarbageColumnDoesNotCreateRanks) {
  ProcessBook book;
  for (std::size_t i = 0; i < 2 * ProcessBook::kMax; ++i) book.of_work(std::to_string(i));
  EXPECT_EQ(book.ranks().size(), ProcessBook::kMax);
  EXPECT_TRUE(book.overflowed());
}

}  // namespace
}  // namespace aaco::trace
