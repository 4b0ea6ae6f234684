#pragma once

#include <string>
#include <string_view>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::tracelake::perfetto {

// A file that is written beside its place in large pieces, and appears there when finish() succeeds.
class OutputFile {
 public:
  static core::Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Keeps the first error for finish().
  void write(std::string_view bytes);
  core::Status finish();

 private:
  OutputFile(std::string path, std::string temporary, core::FileDescriptor file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {}
  void write_out();
  std::string path_;
  std::string temporary_;  // empty once the file has its name
  core::FileDescriptor file_;
  std::string buffer_;
  core::Status status_;
};

}  // namespace aaco::tracelake::perfetto
