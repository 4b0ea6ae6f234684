#include <algorithm>
#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/dnn.hpp>

#include "graph/graph.h"
#include "graph/onnx.h"
#include "runner/opencv/engine_entry.h"

namespace aaco::runner::opencv {
namespace {

using core::ErrorCode;
using core::Json;

// What OpenCV throws, as ours.
template <class Work>
core::Status guarded(const std::string& doing, ErrorCode code, const Work& work) {
  try {
    work();
    return {};
  } catch (const cv::Exception& problem) {
    return core::fail(code, doing + ": OpenCV: " + problem.err);
  } catch (const std::bad_alloc&) {
    return core::fail(ErrorCode::exhausted, doing + ": out of memory");
  } catch (const std::exception& problem) {
    return core::fail(code, doing + ": " + problem.what());
  }
}

std::vector<TensorInfo> declared(const graph::Graph& graph, const std::vector<graph::TensorId>& ids) {
  std::vector<TensorInfo> out;
  for (const graph::TensorId id : ids) {
    const auto& tensor = graph.tensor(id);
    TensorInfo info{tensor.name, tensor.type, {}, {}};
    for (const auto& dimension : tensor.shape.value_or(graph::Shape())) {
      info.shape.push_back(dimension.size);
      info.symbols.push_back(dimension.symbol);
    }
    out.push_back(std::move(info));
  }
  return out;
}

class Model final : public Backend {
 public:
  Model(const cv::dnn::Net& net, const graph::Graph& graph, BackendOptions options)
      : net_(net),
        options_(std::move(options)),
        inputs_(declared(graph, graph.inputs)),
        outputs_(declared(graph, graph.outputs)) {
    for (const TensorInfo& output : outputs_) names_.push_back(output.name);
  }
  [[nodiscard]] const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  [[nodiscard]] const std::vector<TensorInfo>& outputs() const override { return outputs_; }

  core::Status bind(const std::vector<TensorData>& inputs) override {
    return guarded("binding the inputs", ErrorCode::unsupported, [&] {
      for (const TensorData& input : inputs) {
        const std::vector<int> sizes(input.shape.begin(), input.shape.end());
        cv::Mat values(sizes, CV_32F);
        std::memcpy(values.data, input.bytes.data(), std::min(input.bytes.size(), values.total() * values.elemSize()));
        net_.setInput(values, input.name);
      }
    });
  }
  core::Status bind_next(std::vector<TensorData> /*inputs*/, const std::vector<CarriedValue>& /*carried*/) override {
    return core::fail(ErrorCode::unsupported, "the backend 'opencv' does not run models with a state", "use --backend cpu");
  }
  core::Status run_once() override {
    return guarded("running the model", ErrorCode::unsupported, [&] { net_.forward(results_, names_); });
  }
  core::Result<TensorView> view_output(std::string_view name) override {
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (outputs_[i].name == name)
        return TensorView{ElementType::float32, shape_of(results_[i]), reinterpret_cast<const std::byte*>(results_[i].data)};
    return core::fail(ErrorCode::not_found, "the model has no output '" + std::string(name) + "'");
  }
  core::Result<std::vector<TensorData>> read_outputs() override {
    std::vector<TensorData> out;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const cv::Mat dense = results_[i].isContinuous() ? results_[i] : results_[i].clone();
      const auto* bytes = reinterpret_cast<const std::byte*>(dense.data);
      out.push_back({outputs_[i].name, ElementType::float32, shape_of(dense), {bytes, bytes + dense.total() * dense.elemSize()}});
    }
    return out;
  }
  [[nodiscard]] Json describe() const override {
    return Json::object({{"runtime", "opencv"},
                         {"version", cv::getVersionString()},
                         {"library", "libopencv_dnn"},
                         {"provider", options_.provider},
                         {"provider_options", Json::object()},
                         {"available_providers", Json::texts(std::vector<std::string>{options_.provider})},
                         {"nodes_by_provider", Json::object({{options_.provider, net_.getLayerNames().size()}})},
                         {"graph_level", options_.graph_level},
                         {"intra_op_threads", options_.intra_op_threads},
                         {"pool_threads", cv::getNumThreads()},
                         {"inter_op_threads", 1},
                         {"io_binding", false},
                         {"messages", Json::array()}});
  }
  core::Result<Profile> end_profile() override {
    return core::fail(ErrorCode::unsupported, "the backend 'opencv' has no profiler that AACO reads");
  }

 private:
  static std::vector<std::int64_t> shape_of(const cv::Mat& values) {
    std::vector<std::int64_t> shape;
    for (int i = 0; i < values.dims; ++i) shape.push_back(values.size[i]);
    return shape;
  }

  mutable cv::dnn::Net net_;
  BackendOptions options_;
  std::vector<TensorInfo> inputs_, outputs_;
  std::vector<cv::String> names_;
  std::vector<cv::Mat> results_;
};

// OpenCV 4 computes in float32 only.
core::Status check_types(const graph::Graph& graph) {
  for (const graph::TensorId id : graph.inputs)
    if (graph.tensor(id).type != ElementType::float32)
      return core::fail(ErrorCode::unsupported,
                        "the backend 'opencv' does not support " + std::string(to_string(graph.tensor(id).type)) + " inputs ('" +
                            graph.tensor(id).name + "')",
                        "use --backend cpu");
  return {};
}

core::Result<std::unique_ptr<Backend>> load(const std::string& path, const BackendOptions& options) {
  AACO_ASSIGN(const graph::Graph graph, graph::onnx::load(path));
  AACO_TRY(check_types(graph));
  cv::dnn::Net net;
  AACO_TRY(guarded("loading " + path, ErrorCode::unsupported, [&] {
    cv::setNumThreads(options.intra_op_threads > 0 ? options.intra_op_threads
                      : options.pool_threads > 0   ? options.pool_threads
                                                   : -1);
    net = cv::dnn::readNetFromONNX(path);
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    net.enableFusion(options.graph_level != "disabled");
  }));
  return std::make_unique<Model>(net, graph, options);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void aaco_opencv_open_model(const std::string& model_path,
                                                                              const BackendOptions& options,
                                                                              core::Result<std::unique_ptr<Backend>>& model) {
  model = load(model_path, options);
}

}  // namespace aaco::runner::opencv
