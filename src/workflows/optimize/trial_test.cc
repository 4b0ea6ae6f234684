#include "workflows/optimize/trial.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

Trial measured(double median_ns, std::int64_t rss, std::optional<double> error) {
  Trial trial;
  trial.median_ns = median_ns;
  trial.rss_peak_bytes = rss;
  if (error) {
    trial.agreement = analytics::agreement::Agreement{};
    trial.agreement->max_error_ratio = *error;
  }
  return trial;
}

std::vector<bool> front(std::vector<Trial> trials) {
  mark_pareto(trials);
  std::vector<bool> marks;
  for (const Trial& trial : trials) marks.push_back(trial.pareto);
  return marks;
}

TEST(Pareto, FasterAndSmallerBeatsTheOther) {
  EXPECT_EQ(front({measured(10, 100, 0), measured(11, 110, 0)}), (std::vector<bool>{true, false}));
}
TEST(Pareto, EveryTradeOffStays) {
  EXPECT_EQ(front({measured(10, 110, 0), measured(11, 100, 0)}), (std::vector<bool>{true, true}));
}
TEST(Pareto, UnknownErrorIsTheLargest) {
  EXPECT_EQ(front({measured(10, 100, {}), measured(10, 100, 0.5)}), (std::vector<bool>{false, true}));
}
TEST(Pareto, EqualOnesStay) { EXPECT_EQ(front({measured(10, 100, 0), measured(10, 100, 0)}), (std::vector<bool>{true, true})); }
TEST(Pareto, FailedTrialsDoNotCount) {
  Trial failed = measured(1, 1, 0);
  failed.outcome = "tolerance";
  EXPECT_EQ(front({failed, measured(10, 100, 0)}), (std::vector<bool>{false, true}));
}
TEST(Pareto, UnmeasuredTrialsDoNotCount) { EXPECT_EQ(front({Trial()}), std::vector<bool>{false}); }

}  // namespace
}  // namespace aaco::workflows
