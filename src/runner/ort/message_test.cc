#include "runner/ort/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::runner::ort {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string text(std::string_view message) { return shorten(message, "loading /m/net.onnx").text; }
std::string remedy(std::string_view message) { return shorten(message, "loading /m/net.onnx").remedy; }

// As ONNX Runtime 1.30 says it.
constexpr std::string_view kOpset =
    "Load model from /m/net.onnx failed:/onnxruntime_src/onnxruntime/core/graph/model_load_utils.h:46 void "
    "onnxruntime::model_load_utils::ValidateOpsetForDomain(const std::unordered_map<std::__cxx11::basic_string<char>, int>&, "
    "const "
    "onnxruntime::logging::Logger&, bool, const std::string&, int) ONNX Runtime only *guarantees* support for models stamped "
    "with "
    "official released onnx opset versions. Opset 99 is under development and support for this is limited. The operator schemas "
    "and "
    "or other functionality may change before next ONNX release and in this case ONNX Runtime will not guarantee backward "
    "compatibility. Current official support for domain ai.onnx is till opset 26.";
constexpr std::string_view kValues =
    "Exception during initialization: /onnxruntime_src/onnxruntime/core/framework/session_state_utils.cc:264 "
    "onnxruntime::common::Status onnxruntime::session_state_utils::SaveInitializedTensors(const onnxruntime::Env&, const "
    "std::vector<int>&, const SaveTensorFunction&) ort_value_name_idx_map.MaxIdx() > -1 was false. OrtValue indexes should have "
    "been "
    "populated.";

TEST(Shorten, ANewerOperatorSetIsOneSentence) {
  EXPECT_EQ(text(kOpset), "opset 99 of ai.onnx is newer than this build of ONNX Runtime knows (26)");
  EXPECT_THAT(remedy(kOpset), HasSubstr("opset 26 or older"));
}
TEST(Shorten, PlacesAndSignaturesGo) {
  EXPECT_EQ(text(kValues), "ort_value_name_idx_map.MaxIdx() > -1 was false. OrtValue indexes should have been populated.");
  EXPECT_THAT(remedy(kValues), HasSubstr("neither inputs nor outputs"));
  EXPECT_EQ(text("a/b.cc:12 int f(g<void(int)>) const [with T = float] No room."), "No room.");
  EXPECT_EQ(text("a/b.cc:12 auto x::y(int)::<lambda(const char*)> Bad (thing)."), "Bad (thing).");
  EXPECT_EQ(text("a/b.cc:12 operator()(int) Bad."), "Bad.");
  EXPECT_EQ(text("first a.cc:1 f() second b.h:22 g(int) third"), "first second third");
}
TEST(Shorten, OtherTextIsKept) {
  for (const char* one :
       {"x.cc: 12 items", "shape (2, 3) at 10:30", "Non-zero status code returned", "node 'a.h' is bad", "", "f("})
    EXPECT_EQ(text(one), one);
}
TEST(Shorten, TheModelsPathAppearsOnce) {
  EXPECT_EQ(text("Load model from /m/net.onnx failed:Fatal error: a.b:C(-1) is not a registered function/op"),
            "Fatal error: a.b:C(-1) is not a registered function/op");
  EXPECT_THAT(text("Load model from /other.onnx failed:no"), HasSubstr("/other.onnx"));
}
TEST(Shorten, KnownErrorsHaveARemedyAndUnknownOnesNone) {
  for (const char* one : {"Fatal error: a:B(-1) is not a registered function/op", "Unsupported model IR version: 99",
                          "This is an invalid model. Error: two nodes with same node name (c).", "Protobuf parsing failed.",
                          "Could not find an implementation for Conv(11)"})
    EXPECT_THAT(remedy(one), Not(IsEmpty())) << one;
  EXPECT_THAT(remedy("something else"), IsEmpty());
}
TEST(Shorten, LongTextEnds) { EXPECT_LT(text(std::string(5000, 'x')).size(), 500U); }
TEST(SchemaNoise, OnlyRegistrations) {
  EXPECT_TRUE(is_schema_noise("Schema error: Trying to register schema with name Abs (domain:  version: 1) from file"));
  EXPECT_FALSE(is_schema_noise("Schema error: another"));
  EXPECT_FALSE(is_schema_noise(""));
}

}  // namespace
}  // namespace aaco::runner::ort
