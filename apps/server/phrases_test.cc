#include "server/phrases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/message.h"
#include "workflows/jobs.h"

namespace aaco::server {
namespace {

using testing::HasSubstr;
using testing::Not;

// What a client may set has a name of its own, which errors of the command then use.
TEST(Phrases, EveryParameterOfAJobHasItsName) {
  for (const workflows::JobVerb& verb : workflows::job_verbs())
    for (const workflows::JobOption& option : verb.options) {
      if (option.argument.empty()) continue;
      const std::string words = "use another " + std::string(option.argument) + ", or none";
      EXPECT_THAT(rest_phrasing().of(words), Not(HasSubstr("--"))) << verb.name;
    }
}

TEST(Phrases, EveryParameterOfAJobHasATitle) {
  for (const workflows::JobVerb& verb : workflows::job_verbs())
    for (const workflows::JobOption& option : verb.options) {
      EXPECT_FALSE(option.title.empty()) << verb.name << " " << option.name;
      EXPECT_NE(option.title, option.name);
      EXPECT_THAT(std::string(option.title), Not(HasSubstr("_")));
    }
}

TEST(Phrases, RefusalsNameRequests) {
  const Response refused = refusal({core::ErrorCode::not_found, "no session 'x'", "'aaco ls' lists the sessions", {}});
  EXPECT_EQ(refused.status, 404);
  EXPECT_THAT(refused.body, HasSubstr("GET /api/v1/sessions lists the sessions"));
  EXPECT_THAT(refused.body, Not(HasSubstr("aaco ls")));
}

TEST(Phrases, CommandsWithoutARequestAreOfTheMachine) {
  EXPECT_EQ(rest_phrasing().of("run 'aaco hardware probe' to measure it"),
            "run 'aaco hardware probe' on the server's machine to measure it");
}

}  // namespace
}  // namespace aaco::server
