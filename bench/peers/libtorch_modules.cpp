// SPDX-License-Identifier: Apache-2.0
// The work of bench/peers with LibTorch's C++ modules and torch::optim::AdamW, the data resident in
// a tensor. Prints the seconds of each epoch and the accuracy on the test part as one line of JSON.
// Usage: libtorch_modules WORK_FOLDER EPOCHS SEED [ROWS]    (ROWS: train with the first ones only)
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "trainer/table/schema/scaling.h"
#include "trainer/table/source/idx.h"
#include "trainer/table/source/table_reader.h"

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct Part {
  torch::Tensor x;  // [n, features], scaled
  torch::Tensor y;  // [n], int64
};

trainer::data::Table read_table(const fs::path& folder, const Json& files,
                                const std::string& part) {
  if (files.contains(part)) {
    return trainer::data::read_table({folder / files[part].get<std::string>()},
                                     {.targets = {"label"}});
  }
  return trainer::data::read_idx_pair(folder / files[part + "_images"].get<std::string>(),
                                      folder / files[part + "_labels"].get<std::string>());
}

Part make_part(const trainer::data::Table& table, const trainer::data::Scaling& scaling) {
  const trainer::data::Matrix& matrix = table.features;
  const torch::Tensor x = std::visit(
      [&](const auto& values) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        return torch::tensor(at::ArrayRef<Value>(values.data(), values.size()))
            .to(torch::kFloat32)
            .view({matrix.num_rows, matrix.num_columns});
      },
      matrix.values);
  std::vector<int64_t> classes;
  classes.reserve(table.targets.size());
  for (size_t row = 0; row < table.targets.size(); ++row) {
    classes.push_back(static_cast<int64_t>(table.targets.number(row)));
  }
  return {(x - torch::tensor(scaling.shift)) * torch::tensor(scaling.scale),
          torch::tensor(classes)};
}

torch::nn::Sequential make_model(const std::vector<int64_t>& layers) {
  torch::nn::Sequential model;
  for (size_t i = 0; i + 1 < layers.size(); ++i) {
    if (i > 0) model->push_back(torch::nn::ReLU());
    model->push_back(torch::nn::Linear(layers[i], layers[i + 1]));
  }
  return model;
}

torch::optim::AdamW make_optimizer(const std::vector<torch::Tensor>& parameters, const Json& work) {
  const auto options = torch::optim::AdamWOptions(work["learning_rate"].get<double>())
                           .betas({work["beta1"].get<double>(), work["beta2"].get<double>()})
                           .eps(work["epsilon"].get<double>())
                           .weight_decay(work["weight_decay"].get<double>());
  return torch::optim::AdamW(parameters, options);
}

double train_epoch(torch::nn::Sequential& model, torch::optim::AdamW& optimizer, const Part& train,
                   const Json& work) {
  const auto batch_size = work["batch_size"].get<int64_t>();
  const auto clip_norm = work["gradient_clip_norm"].get<double>();
  const std::vector<torch::Tensor> parameters = model->parameters();
  const auto start = std::chrono::steady_clock::now();
  for (const torch::Tensor& rows : torch::randperm(train.y.size(0)).split(batch_size)) {
    // What zero_grad does from LibTorch 2.0 on, and what is faster.
    for (const torch::Tensor& parameter : parameters) parameter.mutable_grad().reset();
    const torch::Tensor scores = model->forward(train.x.index_select(0, rows));
    torch::nn::functional::cross_entropy(scores, train.y.index_select(0, rows)).backward();
    torch::nn::utils::clip_grad_norm_(parameters, clip_norm);
    optimizer.step();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double accuracy(torch::nn::Sequential& model, const Part& test) {
  const torch::NoGradGuard no_grad;
  return model->forward(test.x).argmax(1).eq(test.y).to(torch::kFloat64).mean().item<double>();
}

void run(const fs::path& folder, int64_t num_epochs, int64_t seed, int64_t num_rows) {
  const Json work = Json::parse(std::ifstream(folder / "work.json"));
  const trainer::data::Table table = read_table(folder, work["files"], "train");
  const trainer::data::Scaling scaling =
      trainer::data::fit_scaling(table.features, trainer::config::ScalingMethod::kStandard);
  Part train = make_part(table, scaling);
  const Part test = make_part(read_table(folder, work["files"], "test"), scaling);
  if (num_rows > 0) train = {train.x.slice(0, 0, num_rows), train.y.slice(0, 0, num_rows)};

  torch::manual_seed(static_cast<uint64_t>(seed));
  torch::nn::Sequential model = make_model(work["layers"].get<std::vector<int64_t>>());
  torch::optim::AdamW optimizer = make_optimizer(model->parameters(), work);
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(num_epochs));
  for (int64_t epoch = 0; epoch < num_epochs; ++epoch) {
    seconds.push_back(train_epoch(model, optimizer, train, work));
  }
  const Json report = {{"epoch_seconds", seconds}, {"accuracy", accuracy(model, test)}};
  fmt::print("{}\n", report.dump());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: libtorch_modules WORK_FOLDER EPOCHS SEED [ROWS]\n");
    return 2;
  }
  try {
    run(argv[1], std::stoll(argv[2]), std::stoll(argv[3]), argc > 4 ? std::stoll(argv[4]) : 0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
