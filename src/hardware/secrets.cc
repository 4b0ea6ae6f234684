#include "hardware/secrets.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "core/strings.h"

namespace aaco::hardware {
namespace {

// What changes speed or behaviour of a workload, or says where it runs.
constexpr std::string_view kPrefixes[] = {
    "AACO_",     "ORT_",      "ONNX_",     "OMP_",       "KMP_",      "GOMP_",   "MKL_",      "OPENBLAS_",     "BLIS_",
    "DNNL_",     "ONEDNN_",   "HIP_",      "HSA_",       "ROCR_",     "ROCM_",   "ROCBLAS_",  "HIPBLAS",       "ROCPROF",
    "ROCTX_",    "MIOPEN_",   "MIGRAPHX_", "TENSILE_",   "AMD_",      "AMDGPU_", "GPU_",      "CUDA_",         "CUDNN_",
    "CUBLAS_",   "NVIDIA_",   "NCCL_",     "RCCL_",      "UCX_",      "FI_",     "TORCH_",    "PYTORCH_",      "TORCHINDUCTOR_",
    "TF_",       "XLA_",      "JAX_",      "TRITON_",    "AITER_",    "VLLM_",   "SGLANG_",   "TRANSFORMERS_", "SLURM_",
    "PMI_",      "PMIX_",     "OMPI_",     "MV2_",       "PBS_",      "LSB_",    "FLUX_",     "MALLOC_",       "MIMALLOC_",
    "JEMALLOC_", "TCMALLOC_", "LD_BIND_",  "PYTHONHASH", "PYTHONOPT", "TBB_",    "OPENVINO_", "TENSORRT_",     "WEBGPU_"};
constexpr std::string_view kNames[] = {"RANK",
                                       "WORLD_SIZE",
                                       "LOCAL_RANK",
                                       "LOCAL_WORLD_SIZE",
                                       "GROUP_RANK",
                                       "NODE_RANK",
                                       "LD_LIBRARY_PATH",
                                       "LD_PRELOAD",
                                       "GLIBC_TUNABLES",
                                       "NUMEXPR_NUM_THREADS",
                                       "VECLIB_MAXIMUM_THREADS",
                                       "TOKENIZERS_PARALLELISM",
                                       "POD_NAME",
                                       "POD_NAMESPACE",
                                       "VIRTUAL_ENV",
                                       "CONDA_DEFAULT_ENV",
                                       "LANG"};

constexpr std::string_view kSecretWords[] = {"key",         "keys",        "apikey", "token",      "tokens",        "secret",
                                             "secrets",     "password",    "passwd", "passphrase", "pass",          "pwd",
                                             "credential",  "credentials", "creds",  "auth",       "authorization", "oauth",
                                             "cookie",      "cookies",     "bearer", "private",    "signature",     "cert",
                                             "certificate", "webhook",     "dsn",    "jwt"};
// Words that are telling wherever they stand inside a segment ("APITOKEN", "MYPASSWORD2").
constexpr std::string_view kSecretParts[] = {"token", "secret", "passw", "credential", "apikey", "privatekey", "accesskey"};
// Names of settings that contain such a word and hold no secret.
constexpr std::string_view kHarmlessNames[] = {"tokenizers_parallelism", "max_num_batched_tokens", "vllm_max_tokens"};

constexpr std::string_view kSecretBeginnings[] = {"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-",
                                                  "hf_",  "AKIA", "ASIA", "xoxb-",       "xoxp-",  "xapp-",
                                                  "eyJ",  "AIza", "npm_", "pypi-",       "nvapi-"};
constexpr std::size_t kShortestToken = 12;
constexpr std::size_t kLongRandomRun = 40;

bool alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The runs of letters and digits of a text.
template <class F>
bool any_run(std::string_view text, F&& matches) {
  for (std::size_t begin = 0; begin < text.size();) {
    if (!alnum(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && alnum(text[end])) ++end;
    if (matches(text.substr(begin, end - begin))) return true;
    begin = end;
  }
  return false;
}

bool listed(std::string_view name) {
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// "scheme://user:pass@host", also in the middle of a list.
bool has_url_user(std::string_view value) {
  for (std::size_t at = value.find("://"); at != std::string_view::npos; at = value.find("://", at + 3)) {
    const std::string_view authority = value.substr(at + 3, value.find_first_of("/?# ,;", at + 3) - (at + 3));
    if (authority.find('@') != std::string_view::npos) return true;
  }
  return false;
}

// "?sig=...", "&access_token=...", "password=...", "{\"token\": ..." inside a value.
bool has_secret_assignment(std::string_view value) {
  constexpr std::string_view kQuotes = "\"' ";
  for (std::size_t sign = value.find_first_of("=:"); sign != std::string_view::npos; sign = value.find_first_of("=:", sign + 1)) {
    std::size_t end = sign;
    while (end > 0 && kQuotes.find(value[end - 1]) != std::string_view::npos) --end;
    std::size_t begin = end;
    while (begin > 0 && (alnum(value[begin - 1]) || value[begin - 1] == '_' || value[begin - 1] == '-')) --begin;
    const std::string_view name = value.substr(begin, end - begin);
    if (names_secret(name) || name == "sig") return true;
  }
  return false;
}

// Places where a token may begin: the text's start, and after white space, quotes and separators.
bool has_token_beginning(std::string_view value) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i > 0 && std::string_view(" \t\n,;:='\"/@").find(value[i - 1]) == std::string_view::npos) continue;
    const std::string_view rest = value.substr(i);
    for (const std::string_view beginning : kSecretBeginnings)
      if (rest.starts_with(beginning) && rest.substr(0, rest.find_first_of(" \t\n,;'\"/")).size() >= kShortestToken) return true;
  }
  return false;
}

bool has_long_random_run(std::string_view value) {
  return any_run(value, [](std::string_view run) {
    const bool digit =
        std::any_of(run.begin(), run.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
    const bool letter =
        std::any_of(run.begin(), run.end(), [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
    return run.size() >= kLongRandomRun && digit && letter;
  });
}

}  // namespace

bool names_secret(std::string_view name) {
  const std::string lower = core::to_lower(name);
  if (std::find(std::begin(kHarmlessNames), std::end(kHarmlessNames), lower) != std::end(kHarmlessNames)) return false;
  return any_run(lower, [](std::string_view word) {
    return std::find(std::begin(kSecretWords), std::end(kSecretWords), word) != std::end(kSecretWords) ||
           std::any_of(std::begin(kSecretParts), std::end(kSecretParts),
                       [&](std::string_view part) { return word.find(part) != std::string_view::npos; });
  });
}

bool looks_secret(std::string_view value) {
  return has_url_user(value) || has_secret_assignment(value) || has_token_beginning(value) || has_long_random_run(value) ||
         value.find("-----BEGIN") != std::string_view::npos || core::to_lower(value).find("bearer ") != std::string::npos;
}

FilteredEnvironment filter_environment(const core::Environment& environment) {
  FilteredEnvironment filtered;
  for (const auto& [name, value] : environment.all()) {
    if (!listed(name)) {
      ++filtered.unlisted;
    } else if (names_secret(name) || looks_secret(value)) {
      ++filtered.removed;
      filtered.variables.emplace_back(name, kRemoved);
    } else {
      filtered.variables.emplace_back(name, value);
    }
  }
  return filtered;
}

std::vector<std::string> without_secrets(const std::vector<std::string>& arguments) {
  std::vector<std::string> clean;
  bool next_is_secret = false;
  for (const std::string& argument : arguments) {
    const bool is_option = argument.starts_with('-');
    const std::size_t equals = argument.find('=');
    if (next_is_secret && !argument.starts_with("--")) {
      clean.emplace_back(kRemoved);
    } else if (equals != std::string::npos && names_secret(std::string_view(argument).substr(0, equals))) {
      clean.push_back(argument.substr(0, equals + 1) + std::string(kRemoved));
    } else {
      clean.push_back(looks_secret(argument) ? std::string(kRemoved) : argument);
    }
    next_is_secret = is_option && equals == std::string::npos && names_secret(argument);
  }
  return clean;
}

}  // namespace aaco::hardware
