#include "hardware/secrets.h"

#include <gtest/gtest.h>

#include "hardware/secrets/names.h"

namespace aaco::hardware {
namespace {

std::string kept(const std::string& name, const std::string& value) {
  core::Environment environment;
  environment.set(name, value);
  const auto filtered = filter_environment(environment);
  return filtered.variables.empty() ? "(not listed)" : filtered.variables[0].second;
}

TEST(Secrets, KeepsWhatChangesSpeed) {
  EXPECT_EQ(kept("OMP_NUM_THREADS", "2"), "2");
  EXPECT_EQ(kept("HIP_VISIBLE_DEVICES", "0,1"), "0,1");
  EXPECT_EQ(kept("LD_LIBRARY_PATH", "/opt/rocm/lib:/usr/lib"), "/opt/rocm/lib:/usr/lib");
  EXPECT_EQ(kept("TOKENIZERS_PARALLELISM", "false"), "false");
  EXPECT_EQ(kept("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0"), "glibc.malloc.tcache_count=0");
  EXPECT_EQ(kept("SLURM_JOB_NODELIST", "node[01-04]"), "node[01-04]");
}
TEST(Secrets, OmitsUnlistedVariables) {
  for (const char* name : {"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "HOME", "USER", "DATABASE_URL", "SSH_AUTH_SOCK"})
    EXPECT_EQ(kept(name, "x"), "(not listed)");
}
TEST(Secrets, RemovesValuesOfSecretNamesInListedFamilies) {
  for (const char* name : {"VLLM_API_KEY", "AACO_SERVER_TOKEN", "NVIDIA_APITOKEN", "SLURM_JWT", "TORCH_HUB_PASSWORD",
                           "ORT_AUTH_HEADER", "AACO_WEBHOOK", "TF_MYPASSWORD2", "CUDA_PRIVATE_KEY", "AACO_DB_DSN"})
    EXPECT_EQ(kept(name, "v"), kRemoved) << name;
}
TEST(Secrets, RemovesValuesThatLookLikeCredentials) {
  for (const char* value :
       {"postgres://bob:hunter2@db/x", "https://user@host/path", "/a:https://x:y@z", "https://h/?sig=abc",
        "https://h/?x=1&access_token=abc", "password=abc", "{\"token\": \"abc\"}", "user:u password : p", "ghp_0123456789abcdef",
        "list,sk-abcdefghijklmnop", "hf_abcdefghijklmnop", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiJ9.e30.x", "Bearer abc",
        "-----BEGIN RSA PRIVATE KEY-----", "https://user:PW@host/p?token=x"})
    EXPECT_EQ(kept("AACO_X", value), kRemoved) << value;
}
TEST(Secrets, KeepsHarmlessValues) {
  for (const char* value : {"/home/u/project", "https://example.org/a?b=c", "1x3x224x224", "max-autotune", "0000:c1:00.0", "a@b",
                            "key", "sk-1", "0123456789abcdef0123456789abcdef01234567"})
    EXPECT_EQ(kept("AACO_X", value), value);
}
TEST(Secrets, CountsWhatItRemovedAndLeftOut) {
  const auto filtered =
      filter_environment(core::Environment({{"OMP_NUM_THREADS", "1"}, {"AACO_TOKEN", "t"}, {"HOME", "/root"}, {"EDITOR", "vi"}}));
  EXPECT_EQ(filtered.variables.size(), 2U);
  EXPECT_EQ(filtered.removed, 1);
  EXPECT_EQ(filtered.unlisted, 2);
}
TEST(Secrets, ValueStartingWithDashIsAValue) {
  EXPECT_EQ(without_secrets({"--token=\t\tabcdefghijklmnop"}), (std::vector<std::string>{"--token=(removed)"}));
  EXPECT_EQ(without_secrets({"--password", "-x1", "-n"}), (std::vector<std::string>{"--password", "(removed)", "-n"}));
  EXPECT_EQ(without_secrets({"--auth", "--batch"}), (std::vector<std::string>{"--auth", "--batch"}));
}
TEST(Secrets, KeepsWhatSurroundsASecret) {
  EXPECT_EQ(without_secrets({"sh", "-c", "tool --api-key abc1 --epochs 3"})[2], "tool --api-key (removed) --epochs 3");
  EXPECT_EQ(without_secrets({"mysql", "-pX", "shop"}), (std::vector<std::string>{"mysql", "-p(removed)", "shop"}));
  EXPECT_EQ(without_secrets({"curl", "-u", "user:X"}), (std::vector<std::string>{"curl", "-u", "(removed)"}));
  EXPECT_EQ(without_secrets({"tool", "--pw", "X"}), (std::vector<std::string>{"tool", "--pw", "(removed)"}));
}
TEST(Secrets, AHeaderWithoutQuotesIsSeveralWords) {
  const auto clean = [](const std::vector<std::string>& words) { return without_secrets(words); };
  using Words = std::vector<std::string>;
  EXPECT_EQ(clean({"-H", "Authorization:", "Basic", "X", "url"}), (Words{"-H", "Authorization:", "Basic", "(removed)", "url"}));
  EXPECT_EQ(clean({"proxy-authorization:", "digest", "plum"}), (Words{"proxy-authorization:", "digest", "(removed)"}));
  EXPECT_EQ(clean({"X-Api-Key:", "plum7x"}), (Words{"X-Api-Key:", "(removed)"}));
  EXPECT_EQ(clean({"sh", "-c", "curl -H Authorization: Basic X u"})[2], "curl -H Authorization: Basic (removed) u");
  const Words harmless = {"Accept:", "Basic", "X", "basic", "tier", "max-tokens:", "128", "Content-Type:", "text/plain"};
  EXPECT_EQ(clean(harmless), harmless);
}
TEST(Secrets, CountsWhatWasRemovedFromACommandLine) {
  EXPECT_EQ(clean_command({"tool", "--pw", "X", "sh", "TOKEN=y"}).removed, 2);
  EXPECT_EQ(clean_command({"tool", "-p8080", "-pthread"}).removed, 0);
}
TEST(Secrets, NamesAreClassified) {
  EXPECT_EQ(secrets::kind_of_name("--max-new-tokens"), secrets::NameKind::plain);
  EXPECT_EQ(secrets::kind_of_name("tokenizer"), secrets::NameKind::plain);
  EXPECT_EQ(secrets::kind_of_name("password-file"), secrets::NameKind::plain);
  EXPECT_EQ(secrets::kind_of_name("clientSecret"), secrets::NameKind::secret);
  EXPECT_EQ(secrets::kind_of_name("PGPASSWORD"), secrets::NameKind::password);
}
TEST(Secrets, CleansCommandLines) {
  const std::vector<std::string> command = {"serve",         "--api-key",        "abc",    "--model", "m.onnx", "--token=abc",
                                            "DB_PASSWORD=x", "postgres://a:b@c", "--auth", "--batch", "1"};
  const std::vector<std::string> clean = {
      "serve",     "--api-key", "(removed)", "--model", "m.onnx", "--token=(removed)", "DB_PASSWORD=(removed)",
      "(removed)", "--auth",    "--batch",   "1"};
  EXPECT_EQ(without_secrets(command), clean);
}

}  // namespace
}  // namespace aaco::hardware
