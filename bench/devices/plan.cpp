// SPDX-License-Identifier: Apache-2.0
#include "devices/plan.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/config/load.h"
#include "trainer/config/recipe.h"
#include "trainer/table/cached/load.h"
#include "trainer/torch/device/precision.h"

#include "training.h"

namespace trainer::bench {
namespace {

// A model, a batch size and data.
struct ConfiguredWorkload {
  std::string model;
  config::Config config;
};

// Steps of a benchmark belong to no run: each takes one whole batch, their learning rate is
// constant, and one that does not fit into memory is not silently replaced by smaller ones.
void prepare(config::Config& config) {
  config.training.gradient_accumulation_steps = 1;
  config.training.drop_last = true;
  config.training.schedule = {};
  config.training.schedule.name = config::ScheduleName::kConstant;
  config.training.on_out_of_memory = config::OnOutOfMemory::kStop;
}

// The configuration of --config, with what its recipe derives from the data.
config::Config load_config(const Options& options, const std::vector<config::Override>& overrides) {
  std::vector<config::Document> documents;
  documents.reserve(options.config_files.size());
  for (const std::string& file : options.config_files) {
    documents.push_back(config::read_document(file));
  }
  config::Config config = config::load(documents, overrides).config;
  const data::Datasets data = cache::load(config.data, static_cast<uint64_t>(config.seed));
  config::complete_recipe(config, data::recipe_facts(data));
  config.training.batch_size = std::min(config.training.batch_size, data.train.size());
  return config;
}

std::vector<ConfiguredWorkload> configured_workloads(const Options& options) {
  std::vector<ConfiguredWorkload> workloads;
  workloads.reserve(options.workloads.size() + options.batch_sizes.size() + 1);
  for (const Workload& workload : options.workloads) {
    workloads.push_back({workload.name, make_config(workload)});
  }
  if (!options.config_files.empty()) {
    const std::string model = std::filesystem::path(options.config_files.back()).stem().string();
    if (options.batch_sizes.empty()) {
      workloads.push_back({model, load_config(options, options.overrides)});
    }
    for (const int64_t size : options.batch_sizes) {
      std::vector<config::Override> overrides = options.overrides;
      overrides.push_back({"training.batch_size", fmt::format("{}", size), "--batch-size"});
      workloads.push_back({model, load_config(options, overrides)});
    }
  }
  for (ConfiguredWorkload& workload : workloads) prepare(workload.config);
  return workloads;
}

const PrecisionChoice& precision_choice(const std::string& name) {
  const auto& choices = precision_choices();
  return *std::find_if(choices.begin(), choices.end(),
                       [&](const PrecisionChoice& choice) { return choice.name == name; });
}

// Why a device cannot train with a precision; empty if it can.
std::string obstacle(c10::Device device, config::Precision precision) {
  const device::PrecisionLimit limit =
      device::precision_limit(device, precision, device::probe_precision(device, precision));
  return limit.support == device::Support::kNone ? limit.text : "";
}

// The requested steps that differ.
std::vector<std::string> distinct_steps(const Options& options, c10::Device device,
                                        config::Precision precision) {
  const bool has_fused = device.is_cpu() && precision == config::Precision::kFp32;
  if (has_fused || options.train_steps.size() == 1) return options.train_steps;
  return {"fused"};  // named like the default of a run, which it is
}

void plan_device(const Options& options, const std::string& name, c10::Device device,
                 const std::vector<ConfiguredWorkload>& workloads, Plan& plan) {
  for (const std::string& precision_name : options.precisions) {
    const PrecisionChoice& precision = precision_choice(precision_name);
    if (const std::string reason = obstacle(device, precision.value); !reason.empty()) {
      plan.absent.push_back({fmt::format("{}_{}", name, precision_name), reason});
      continue;
    }
    for (const std::string& train_step : distinct_steps(options, device, precision.value)) {
      for (const ConfiguredWorkload& workload : workloads) {
        RowPlan row{{name, precision_name, train_step, workload.model,
                     workload.config.training.batch_size, options.pass},
                    workload.config,
                    device,
                    precision.max_loss_difference};
        row.config.precision = precision.value;
        row.config.training.step =
            train_step == "autograd" ? config::StepKind::kAutograd : config::StepKind::kAuto;
        plan.rows.push_back(std::move(row));
      }
    }
  }
}

}  // namespace

Plan make_plan(const Options& options, const device::AvailableDevices& available) {
  const std::vector<ConfiguredWorkload> workloads = configured_workloads(options);
  Plan plan;
  for (const std::string& name : options.devices) {
    try {
      const c10::Device device =
          device::choose_device(name, device::Fallback::kForbidden, available).device;
      plan_device(options, name, device, workloads, plan);
    } catch (const Error&) {
      plan.absent.push_back({name, "LibTorch finds none on this machine"});
    }
  }
  return plan;
}

}  // namespace trainer::bench
