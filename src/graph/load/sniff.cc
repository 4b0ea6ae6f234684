#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/handles.h"
#include "graph/load.h"

namespace aaco::graph {
namespace {

using core::ErrorCode;
using core::fail;
using namespace std::string_view_literals;

core::Result<std::string> head_of(const std::string& path) {
  const core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  std::array<char, 64> buffer{};
  const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
  if (count < 0) return core::fail_errno(errno, path);
  return std::string(buffer.data(), static_cast<std::size_t>(count));
}

struct Other {
  std::string_view magic;
  std::size_t offset;
  std::string_view what;
  std::string_view remedy;
};
// Files that people have beside their models.
constexpr Other kOthers[] = {
    {"GGUF"sv, 0, "a GGUF file (llama.cpp): weights without a graph", "export the model to ONNX"},
    {"\x89HDF"sv, 0, "an HDF5 file (Keras)", "convert it with tf2onnx, or export a .tflite"},
    {"\x80\x02"sv, 0, "a Python pickle (a PyTorch checkpoint): weights without a graph",
     "export the model with torch.export.save or torch.onnx.export"},
    {"\x7F"
     "ELF"sv,
     0, "a program or a library", "give the path of the model file"},
    {"{"sv, 0, "a text file", "give the path of the .onnx, .pt2 or .tflite file"},
    {"<"sv, 0, "a text file", "give the path of the .onnx, .pt2 or .tflite file"},
    {"version https://git-lfs"sv, 0, "a Git LFS pointer, not the model file itself", "fetch the file with 'git lfs pull'"},
    {"\x1F\x8B"sv, 0, "a gzip file", "decompress it first"},
    {"\x93NUMPY"sv, 0, "a NumPy array", "give the path of the model file; pass arrays with --input"},
    {"mxr"sv, 0, "a compiled MIGraphX program", "give the model it was compiled from"},
};

// Random bytes may begin with a bracket as well.
bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\r' || c == '\t'; });
}

// The first eight bytes of a safetensors file are the length of the JSON that follows.
bool is_safetensors(std::string_view head) { return head.size() > 9 && head[8] == '{' && head[6] == 0 && head[7] == 0; }

}  // namespace

std::string_view to_string(ModelFormat format) {
  return format == ModelFormat::onnx ? "onnx" : format == ModelFormat::pt2 ? "pt2" : "tflite";
}

core::Result<ModelFormat> sniff_model(const std::string& path) {
  AACO_ASSIGN(const std::string head, head_of(path));
  if (head.empty()) return fail(ErrorCode::invalid_input, path + " is empty", "download or copy the file again");
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return ModelFormat::pt2;
  if (head.size() >= 8 && head.compare(4, 4, "TFL3") == 0) return ModelFormat::tflite;
  for (const Other& other : kOthers)
    if (head.size() >= other.offset && std::string_view(head).substr(other.offset).starts_with(other.magic) &&
        (other.magic.size() > 1 || is_text(head)))
      return fail(ErrorCode::invalid_input, path + " is " + std::string(other.what) + ", not a supported model format",
                  std::string(other.remedy));
  if (is_safetensors(head))
    return fail(ErrorCode::invalid_input, path + " is a safetensors file: weights without a graph",
                "export the model to ONNX or with torch.export.save");
  return ModelFormat::onnx;
}

}  // namespace aaco::graph
