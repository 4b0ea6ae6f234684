#include "workflows/session/traced_devices.h"

#include <set>

namespace aaco::workflows {

using core::Json;

std::string traced_devices(const Json& files) {
  std::set<std::string> names;
  for (const Json& file : files.items())
    for (const Json& device : file["facts"]["devices"].items())
      if (!device["name"].text().empty()) names.emplace(device["name"].text());
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

std::string described_files(const Json& files) {
  if (files.items().empty()) return {};
  std::string text(files.items().front()["file"].text());
  if (const std::size_t more = files.items().size() - 1; more > 0)
    text += " and " + std::to_string(more) + (more == 1 ? " more file" : " more files");
  if (const std::string devices = traced_devices(files); !devices.empty()) text += ", " + devices;
  return text;
}

}  // namespace aaco::workflows
