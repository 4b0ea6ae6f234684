#include "core/json_keys.h"

#include <gtest/gtest.h>

namespace aaco::core {
namespace {

TEST(RepeatedKey, Found) {
  for (const char* json : {R"({"a":1,"a":1})", R"({"a":1,"b":2,"a":3})", R"({"a":1,"\u0061":2})", R"([{"b":{"a":1,"a":2}}])"})
    EXPECT_TRUE(has_repeated_key(json)) << json;
}
TEST(RepeatedKey, NotInOtherObjects) {
  for (const char* json : {R"({"a":{"a":1},"b":{"a":2}})", R"([{"a":1},{"a":2}])", R"({"a":"a","A":1})", "{}", "1"})
    EXPECT_FALSE(has_repeated_key(json)) << json;
}
TEST(RepeatedKey, IgnoresInvalidJson) {
  for (const char* json : {"", "{", R"({"a":1,)", R"({"a":1 "a":2})", "\xff"}) EXPECT_FALSE(has_repeated_key(json)) << json;
}

}  // namespace
}  // namespace aaco::core
